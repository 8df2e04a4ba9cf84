// The ray caster of sensors, cameras and radios: it casts all rays of a tick in one batch, against arenas of a million
// triangles as well as moving modules. Poses and rays are in the world frame, in metres. A tree of bounding boxes
// (Embree) finds the candidates; the exact hit is computed in double precision, for solids in closed form
// (ray_shapes.h), for meshes and height fields by their triangles.
//
// Deterministic: the same hits at any number of threads and on any x86-64 processor. Of two bodies at the same distance
// the one that was added first is hit. Several threads may call cast(), and place() for different bodies; add() and
// update() are for one thread.
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
  explicit RayCaster(model::Mesh mesh);  // of one mesh that does not move, ready to cast
  ~RayCaster();
  RayCaster(const RayCaster&) = delete;
  RayCaster& operator=(const RayCaster&) = delete;

  struct Body {
    std::shared_ptr<const model::Geometry> geometry;  // null: cannot be hit
    Pose pose;
    std::uint32_t owner = 0;  // 0: none
    bool moves = false;       // the tree of bodies that do not move is built once, with high quality
  };
  // Bodies are numbered in the order in which they are added.
  std::uint32_t add(const Body& body);
  // Call update() after the last add() or place() and before cast().
  void place(std::uint32_t body, const Pose& pose);
  void update();
  // Increases with every update() after which something was new or had moved: while it is the same, equal rays have
  // equal hits.
  std::uint64_t version() const;

  void cast(std::span<const Ray> rays, std::span<Hit> hits, ThreadPool* threads = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace volvox::rays
