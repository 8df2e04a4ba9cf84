// One ray caster for every range sensor: all rays of a tick in one batch, through everything that
// is there, arenas of a million triangles and moving modules alike. A tree of boxes (Embree) finds
// what a ray may hit; solids are then hit in closed form (model/ray_shapes.h), meshes and height
// fields by their triangles, in double precision. What a ray sees is what physics::Ray says.
//
// Deterministic: the same hits at any number of threads and on any x86-64 processor. Of two things
// at the same distance the one that was added first is hit. cast() may run on several threads, and so may
// place() for different bodies; add and update may not.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "volvox/base/thread_pool.h"
#include "volvox/model/ray.h"
#include "volvox/model/shape.h"

namespace volvox::scan {

using Ray = model::Ray;

struct RayHit {
  double distance = -1;  // negative: nothing within the range
  std::uint32_t body = 0;
  std::uint32_t triangle = 0;  // of a mesh
  Vec3 normal;                 // of a mesh or height field: facing the ray
  bool hit() const { return distance >= 0; }
};

class RayCaster {
 public:
  RayCaster();
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

  void cast(std::span<const Ray> rays, std::span<RayHit> hits, ThreadPool* threads = nullptr) const;

 private:
  struct Scene;
  std::unique_ptr<Scene> scene_;
};

}  // namespace volvox::scan
