#include "volvox/physics/overlap.h"

#include <algorithm>
#include <tuple>

#include "volvox/base/index.h"
#include "volvox/base/union_find.h"
#include "volvox/physics/native/detector.h"

namespace volvox::physics {
namespace {

// Bodies that are rigidly joined, through whatever others, never collide.
void find_clusters(const System& system, std::vector<native::Body>& bodies) {
  UnionFind rigid(bodies.size());
  for (std::size_t i = 0; i < system.joint_descs.size(); ++i) {
    const JointDesc& joint = system.joint_descs[i];
    const bool stiff = joint.type == JointType::fixed || joint.type == JointType::dock;
    if (stiff && system.joint_ids.alive_index(i) && joint.a.valid()) rigid.join(joint.a.index, joint.b.index);
  }
  for (const std::uint32_t i : indices(bodies)) bodies[i].cluster = narrow<int>(rigid.root(i));
}

}  // namespace

std::vector<Overlap> find_overlaps(const System& system, double allowed) {
  native::ShapeCache cache;
  std::vector<native::Body> bodies(system.bodies.size());
  std::vector<std::shared_ptr<const native::Shape>> shapes(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (!system.body_ids.alive_index(i)) continue;
    const BodyDesc& desc = system.bodies[i];
    native::Body& body = bodies[i];
    body.dynamic = desc.motion == Motion::dynamic;
    body.from_link = {desc.inertial.position, normalized(desc.inertial.rotation)};
    body.place(system.poses[i], {});
    body.axes = native::rotation_matrix(native::lane(body.rotation));
    if (desc.geometry) shapes[i] = cache.shape(desc.geometry, body.from_link);
  }
  find_clusters(system, bodies);
  native::Work work;
  native::Detector detector(work);
  std::vector<native::ContactPoint> points;
  detector.detect({system, bodies, shapes}, 0, 0, nullptr, points);
  std::vector<Overlap> found;
  for (const native::ContactPoint& point : points) {
    if (-point.separation <= allowed) continue;
    const BodyId a = system.body_ids.at(std::min(point.a, point.b)), b = system.body_ids.at(std::max(point.a, point.b));
    if (!found.empty() && found.back().a == a && found.back().b == b)
      found.back().depth = std::max(found.back().depth, -point.separation);
    else found.push_back({a, b, -point.separation});
  }
  std::sort(found.begin(), found.end(), [](const Overlap& x, const Overlap& y) {
    return std::tuple(-x.depth, x.a.index, x.b.index) < std::tuple(-y.depth, y.a.index, y.b.index);
  });
  return found;
}

}  // namespace volvox::physics
