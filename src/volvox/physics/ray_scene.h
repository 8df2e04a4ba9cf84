// Ray casts against all bodies of a scene, for engines without an exact caster of their own:
// every body in turn, those that the ray misses by their bounding sphere left out.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "volvox/physics/ray_shapes.h"
#include "volvox/physics/scene.h"

namespace volvox::physics {

class RayScene {
 public:
  void add(std::size_t body, const BodyDesc& desc);
  void remove(std::size_t body) { rays_[body] = nullptr; }

  void cast(const Scene& scene, std::span<const Ray> rays, std::span<RayHit> hits) const;
  // How far a body's centre of mass may go from one place to another within a substep, for
  // engines that look where bodies are and not where they go: all the way, unless it is more
  // than half its thickness and something that it may touch is in between.
  Vec3 hold_before_obstacles(const Scene& scene, std::size_t body, const Vec3& from, const Vec3& to) const;
  // The nearest body along one ray for which keep(body index) is true.
  template <class Keep>
  RayHit cast(const Scene& scene, const Ray& ray, const Keep& keep) const {
    RayHit best;
    double range = ray.range;
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      if (rays_[i] && keep(i)) try_body(scene, i, ray, range, best);
    }
    return best;
  }

 private:
  void try_body(const Scene& scene, std::size_t body, const Ray& ray, double& range, RayHit& best) const;

  std::vector<std::shared_ptr<const RayGeometry>> rays_;  // by body index; null: cannot be hit
  std::vector<double> cores_;  // by body index, from the centre of mass to the nearest side; 0: none
  std::map<const model::Geometry*, std::weak_ptr<const RayGeometry>> cache_;  // for look-up only
};

}  // namespace volvox::physics
