// What a run was made of: its snapshots keep it, so that none is taken for one of another run.
// A plain value that owns its texts. Differences come in a fixed order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/model/sources.h"

namespace volvox::sim {

struct Origin {
  std::string experiment;  // empty: a file, whose name changes with its path
  std::string engine, dt;
  double max_substep = 0;  // s
  std::string precision;   // of the engine
  std::uint64_t seed = 0;
  std::map<std::string, std::string> settings;
  model::Sources files;

  void archive(Archive& ar) {
    ar("experiment", experiment), ar("engine", engine), ar("dt", dt), ar("substep", max_substep);
    ar("precision", precision), ar("seed", seed);
    ar("settings", settings), ar("files", files);
  }
};

// What differs, in words: "height was 0.3, now it is 0.5", "world.sdf has changed". Engines may differ: one goes on
// from the state of another. A file and an experiment that has a
// C++ class differ by what they read.
std::vector<std::string> differences(const Origin& then, const Origin& now);

}  // namespace volvox::sim
