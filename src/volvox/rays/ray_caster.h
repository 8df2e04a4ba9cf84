// One ray caster for sensors, cameras and radios: all rays of a tick in one batch, through everything that
// is there, arenas of a million triangles and moving modules alike. A tree of boxes (Embree) finds
// what a ray may hit; solids are then hit in closed form (ray_shapes.h), meshes and height
// fields by their triangles, in double precision.
//
// Deterministic: the same hits at any number of threads and on any x86-64 processor. Of two things
// at the same distance the one that was added first is hit. cast() may run on several threads, and so may
// place() for different bodies; add and update may not.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "volvox/base/thread_pool.h"
#include "volvox/model/shape.h"
#include "volvox/rays/ray.h"

namespace volvox::rays {

class RayCaster {
 public:
  RayCaster();
  explicit RayCaster(model::Mesh mesh);  // of one mesh that stays where it is, ready to cast
  ~RayCaster();
  RayCaster(const RayCaster&) = delete;
  RayCaster& operator=(const RayCaster&) = delete;

  struct Body {
    std::shared_ptr<const model::Geometry> geometry;  // null: cannot be hit
    Pose pose;
    std::uint32_t owner = 0;  // 0: nobody
    bool moves = false;       // what does not move is sorted once, and well
  };
  // Bodies are numbered in the order in which they are added.
  std::uint32_t add(const Body& body);
  // Everything added must be in place before update(), and update() come before cast().
  void place(std::uint32_t body, const Pose& pose);
  void update();
  // Goes up with every update() that found something new or moved: with the same number, the same rays hit the same.
  std::uint64_t version() const;

  void cast(std::span<const Ray> rays, std::span<Hit> hits, ThreadPool* threads = nullptr) const;

 private:
  struct Scene;
  std::unique_ptr<Scene> scene_;
};

}  // namespace volvox::rays
