// The scene that measures mixed fidelity (`volvox bench lattice --scenes mixed`): n catoms on a lattice run a program,
// and n / 500 balls fall onto them in dynamics. It is compared with the lattice alone and with an engine that has only
// the balls. SI units. Owns its worlds and threads. The hash is the same at any number of threads; times are measured.
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
  double lattice_cpu = 0,
         dynamics_cpu =
             0;  // s, each alone; measured in turn with the mixed world, so that other load affects all three
  double ratio() const { return all.cpu / (lattice_cpu + dynamics_cpu); }
};
// An error: a part failed, or the result differs from that of the lattice alone.
Result<MixedMeasure> run_scene(std::size_t n, int threads, std::uint64_t seed);

}  // namespace volvox::mixed
