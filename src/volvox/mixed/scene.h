// The scene by which mixed fidelity is measured (`volvox bench lattice --scenes mixed`): n catoms on a lattice run a
// program, and n / 500 balls fall onto them in dynamics; against the lattice alone and an engine with the same balls
// alone. SI units. Has worlds and threads of its own; the hash is the same at any number of threads, times are
// measured.
#pragma once

#include "volvox/lattice/scenes.h"

namespace volvox::mixed {

inline constexpr const char* scene_name = "mixed";
inline constexpr const char* scene_description =
    "a program on a lattice, and one catom in 500 falls onto it in dynamics";
inline constexpr std::size_t scene_size = 100'000;

struct MixedMeasure {
  lattice::SceneMeasure all;
  std::size_t in_dynamics = 0;
  double lattice_cpu = 0, dynamics_cpu = 0;  // s, each alone; in turn with the mixed world, so that load hits all three
  double ratio() const { return all.cpu / (lattice_cpu + dynamics_cpu); }
};
// Result errors: a part went wrong, or something other came out than in the lattice alone.
Result<MixedMeasure> run_scene(std::size_t n, int threads, std::uint64_t seed);

}  // namespace volvox::mixed
