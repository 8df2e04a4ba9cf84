#include "volvox/physics/ray_scene.h"

#include <algorithm>

namespace volvox::physics {

namespace {

double core_of(const BodyDesc& desc) {
  model::Bounds box;
  for (const model::Collider& collider : desc.geometry->colliders) {
    if (std::holds_alternative<model::Plane>(collider.shape)) return 0;
    box.add(model::bounds(collider.shape, collider.pose));
  }
  if (box.empty()) return 0;
  const Vec3 low = desc.inertial.position - box.low, high = box.high - desc.inertial.position;
  return std::max(0.0, std::min({low.x, low.y, low.z, high.x, high.y, high.z}));
}

}  // namespace

void RayScene::add(std::size_t body, const BodyDesc& desc) {
  if (rays_.size() <= body) rays_.resize(body + 1), cores_.resize(body + 1);
  rays_[body] = nullptr;
  cores_[body] = 0;
  if (!desc.geometry) return;
  cores_[body] = core_of(desc);
  std::weak_ptr<const RayGeometry>& kept = cache_[desc.geometry.get()];
  rays_[body] = kept.lock();
  if (rays_[body]) return;
  rays_[body] = std::make_shared<RayGeometry>(desc.geometry);
  kept = rays_[body];
}

Vec3 RayScene::hold_before_obstacles(const Scene& scene, std::size_t body, const Vec3& from, const Vec3& to) const {
  const double core = cores_[body], distance = length(to - from);
  if (!(core > 0) || !(distance > 0.5 * core)) return to;
  const double margin = 0.9 * core;
  const Ray ray{from, (to - from) / distance, distance + margin};
  const RayHit hit = cast(scene, ray, [&](std::size_t other) { return scene.may_touch(body, other); });
  return hit.hit() ? from + ray.direction * std::max(0.0, hit.distance - margin) : to;
}

// Rays that leave from one place, as those of a range sensor do, share the bodies within reach.
void RayScene::cast(const Scene& scene, std::span<const Ray> rays, std::span<RayHit> hits) const {
  std::vector<std::size_t> near;
  for (std::size_t first = 0, last; first < rays.size(); first = last) {
    const Ray& fan = rays[first];
    double range = fan.range;
    for (last = first + 1;
         last < rays.size() && rays[last].origin == fan.origin && rays[last].ignore_owner == fan.ignore_owner; ++last)
      range = std::max(range, rays[last].range);
    near.clear();
    for (std::size_t body = 0; body < rays_.size(); ++body) {
      if (!rays_[body] || (fan.ignore_owner != 0 && scene.bodies[body].owner == fan.ignore_owner)) continue;
      const double reach = (range + rays_[body]->radius()) * (1 + 1e-6);
      if (length_squared(scene.poses[body].position - fan.origin) <= reach * reach) near.push_back(body);
    }
    for (std::size_t i = first; i < last; ++i) {
      hits[i] = {};
      double left = rays[i].range;
      for (const std::size_t body : near) try_body(scene, body, rays[i], left, hits[i]);
    }
  }
}

void RayScene::try_body(const Scene& scene, std::size_t body, const Ray& ray, double& range, RayHit& best) const {
  const Pose& pose = scene.poses[body];
  const Vec3 towards = pose.position - ray.origin;
  const double along = clamp(dot(towards, ray.direction), 0, range);
  const double radius = rays_[body]->radius() * (1 + 1e-9);
  if (length_squared(towards - ray.direction * along) > radius * radius) return;
  const Quat inverse = pose.rotation.conjugate();
  const ShapeHit hit = rays_[body]->cast(inverse * (ray.origin - pose.position), inverse * ray.direction, range);
  // Of two at the same distance the one with the lower index stays.
  if (hit.distance < 0 || (best.hit() && hit.distance >= range)) return;
  range = hit.distance;
  best = {hit.distance, scene.body_ids.at(body), pose.rotation * hit.normal};
}

}  // namespace volvox::physics
