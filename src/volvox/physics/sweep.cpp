#include "volvox/physics/sweep.h"

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

void Sweep::add(std::size_t body, const BodyDesc& desc) {
  if (shapes_.size() <= body) shapes_.resize(body + 1), cores_.resize(body + 1);
  shapes_[body] = nullptr;
  cores_[body] = 0;
  if (!desc.geometry) return;
  cores_[body] = core_of(desc);
  std::weak_ptr<const rays::RayGeometry>& kept = cache_[desc.geometry.get()];
  shapes_[body] = kept.lock();
  if (shapes_[body]) return;
  shapes_[body] = std::make_shared<rays::RayGeometry>(desc.geometry);
  kept = shapes_[body];
}

Vec3 Sweep::hold_before_obstacles(const System& system, std::size_t body, const Vec3& from, const Vec3& to) const {
  const double core = cores_[body], distance = length(to - from);
  if (!(core > 0) || !(distance > 0.5 * core)) return to;
  const double margin = 0.9 * core;
  const Vec3 direction = (to - from) / distance;
  double free = distance + margin;
  bool met = false;
  for (std::size_t other = 0; other < shapes_.size(); ++other) {
    if (!shapes_[other] || !system.may_touch(body, other)) continue;
    const double found = distance_to(system, other, from, direction, free);
    if (found >= 0) free = found, met = true;
  }
  return met ? from + direction * std::max(0.0, free - margin) : to;
}

// The distance along a ray to another body; negative: none within the range.
double Sweep::distance_to(const System& system, std::size_t body, const Vec3& from, const Vec3& direction,
                          double range) const {
  const Pose& pose = system.poses[body];
  const Vec3 towards = pose.position - from;
  const double along = clamp(dot(towards, direction), 0, range);
  const double radius = shapes_[body]->radius() * (1 + 1e-9);
  if (length_squared(towards - direction * along) > radius * radius) return -1;
  const Quat inverse = pose.rotation.conjugate();
  return shapes_[body]->cast(inverse * (from - pose.position), inverse * direction, range).distance;
}

}  // namespace volvox::physics
