// index.html of an evolution: fitness over the generations with its spread, diversity, lineage, the map of MAP-Elites,
// and a gallery of the best. It stands alone: no scripts, no other files, no network. Only reads,
// in one thread. The same evolution gives the same bytes, but for the times of the clock in PageFacts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "volvox/evolve/evolution.h"

namespace volvox::evolve {

struct Shown {
  const Individual* individual = nullptr;
  std::filesystem::path picture;  // may be missing
  std::filesystem::path film{};   // likewise; empty: none
  std::string file{};             // its genome, relative to the page
};

struct PageFacts {
  double wall_time = 0;  // s, of this process
  std::int64_t trials_here = 0;
  bool running = false;  // the page asks the browser to load it again every few seconds
};

std::string evolution_page(const Evolution& evolution, const std::vector<Shown>& gallery, const PageFacts& facts);

}  // namespace volvox::evolve
