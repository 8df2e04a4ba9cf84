// What rays meet in the world, for sensors, cameras and radios: one ray caster over every link, whichever physics
// engine moves it. Built at the first look; from then on only what has moved is put in place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "volvox/base/thread_pool.h"
#include "volvox/rays/ray.h"
#include "volvox/world/world.h"

namespace volvox::rays {
class RayCaster;
}

namespace volvox::exchange {

using rays::Ray;
using RayHit = rays::Hit;  // its body is the link of the world

class Sight {
 public:
  Sight();
  ~Sight();
  // Puts everything where the world has it. Comes before cast() once the world has moved.
  void update(const world::World& world, ThreadPool* threads = nullptr);
  // The owner that a ray ignores is a placement, plus one. May run on several threads.
  void cast(std::span<const Ray> rays, std::span<RayHit> hits, ThreadPool* threads = nullptr) const;
  // As RayCaster::version: the same number, the same hits.
  std::uint64_t version() const;

 private:
  void build(const world::World& world);
  std::unique_ptr<rays::RayCaster> caster_;  // its bodies are numbered as the world's links
};

}  // namespace volvox::exchange
