// What `volvox bench lattice --scenes meld` measures: a full cube finds its spanning tree by a program in Meld.
// Has a world and threads of its own. The hash is the same at any number of threads; times and memory are measured.
#pragma once

#include "volvox/lattice/scenes.h"

namespace volvox::meld {

inline constexpr const char* scene_name = "meld";
inline constexpr const char* scene_description =
    "a full cube; a spanning tree that counts itself, by a program in Meld";
inline constexpr std::size_t scene_size = 1'000'000;

Result<lattice::SceneMeasure> run_scene(std::size_t n, int threads, std::uint64_t seed,
                                        cluster::Exchange* ranks = nullptr);

}  // namespace volvox::meld
