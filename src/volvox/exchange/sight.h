// Ray casting in the world for sensors, cameras and radios: one ray caster over all links, independent of the physics
// engine. It is built at the first update; later updates move only the links that have moved. Rays are in the world
// frame, in m.
// The world may change after update: its poses were copied. update belongs to the thread of the loop. Hits have the
// same bits at any number of threads and on every machine.
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
  // Takes the poses of all links from the world. Must be called before cast() after the world has moved.
  void update(const world::World& world, ThreadPool* threads = nullptr);
  // The owner that a ray ignores is a placement, plus one. Several threads may cast at once.
  void cast(std::span<const Ray> rays, std::span<RayHit> hits, ThreadPool* threads = nullptr) const;
  // See RayCaster::version: the same number means the same hits.
  std::uint64_t version() const;

 private:
  void build(const world::World& world);
  std::unique_ptr<rays::RayCaster> caster_;  // its bodies are numbered as the world's links
};

}  // namespace volvox::exchange
