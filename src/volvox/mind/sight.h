// What the rays of all sensors meet: one ray caster over every link of the world, whichever physics
// engine moves it. Built once; what has moved is put in place before every batch.
#pragma once

#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/scan/ray_caster.h"
#include "volvox/world/world.h"

namespace volvox::mind {

class Sight {
 public:
  explicit Sight(const world::World& world);
  void look(const world::World& world, std::span<const physics::Ray> rays, std::span<physics::RayHit> hits,
            ThreadPool& threads);

 private:
  scan::RayCaster caster_;  // its bodies are numbered as the world's links
  // Scratch.
  std::vector<scan::Ray> rays_;
  std::vector<scan::RayHit> hits_;
};

}  // namespace volvox::mind
