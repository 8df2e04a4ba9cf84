#include "volvox/physics/native/plane_contacts.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/flock_load.h"
#include "volvox/physics/native/plane_kernel.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool before(const ContactPoint& x, const ContactPoint& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }

template <class T>
void set_frame(ContactPoint& c, const Body& ground) {
  FlockContact<T> own;
  clear(own, 0);
  load_contact(own, 0, c, ground);
  set_frames(own);
  for (int i = 0; i < 3; ++i) c.frame[i] = take(own.frame[i], 0);
}

// Whether it is a dock that is not closed yet.
bool latches(const World& world, int joint) {
  return joint >= 0 && world.system.joint_descs[at(joint)].type == JointType::dock &&
         !world.system.latches[at(joint)].closed();
}

// What a point keeps from one detection to the next.
struct PastPoint {
  std::uint64_t feature;
  Vec3 on_b, impulse;
  double rebound;
};

}  // namespace

void PlaneContacts::begin(const World& world, const Islands& islands, std::uint64_t version, ThreadPool* threads) {
  of_body_.resize(world.bodies.size());
  points_.resize(world.bodies.size() * Manifold::most_kept);
  if (version != version_) list_small(world, islands);
  version_ = version;
  alone_.assign(islands.size(), 0);
  parallel_for(threads, small_.size(), 100, [&](std::size_t i) {
    const Small& small = small_[i];
    const Tree& tree = *small.tree;
    bool ready = true;
    for (const int body : tree.bodies()) {
      ready = ready && world.bodies[at(body)].awake;
      of_body_[at(body)].near = -1;
    }
    if (small.docked)
      ready = ready && std::ranges::none_of(tree.joints(), [&](int joint) { return latches(world, joint); });
    alone_[at(small.island)] = ready;
  });
}

void PlaneContacts::begin_again(const std::vector<Body>& bodies, std::span<const std::uint8_t> alarmed) {
  for (std::size_t i = 0; i < alarmed.size(); ++i)
    if (alarmed[i] && alone(bodies[i].island)) of_body_[i].near = -1;
}

void PlaneContacts::list_small(const World& world, const Islands& islands) {
  small_.clear();
  for (std::size_t i = 0; i < islands.size(); ++i) {
    const auto* tree = dynamic_cast<const Tree*>(islands[i].get());
    if (!tree || tree->pattern() < 0) continue;
    const bool docked = std::ranges::any_of(tree->joints(), [&](int joint) {
      return joint >= 0 && world.system.joint_descs[at(joint)].type == JointType::dock;
    });
    small_.push_back({static_cast<int>(i), tree, docked});
  }
}

void PlaneContacts::set_near(const std::vector<Body>& bodies, std::size_t body, int ground) {
  OfBody& own = of_body_[body];
  if (own.near >= 0) refuse(bodies[body].island);
  own.near = ground;
}

void PlaneContacts::exchange(const std::vector<Body>& bodies, std::vector<ContactPoint>& contacts, std::size_t calm) {
  // What a robot had with another ground than it is near now, it has no longer.
  for (const ContactPoint& c : contacts) {
    OfBody& own = of_body_[at(c.a)];
    if (!alone(bodies[at(c.a)].island) || own.near != c.b) continue;
    if (own.ground != c.b) own.ground = c.b, own.count = 0;
    if (own.count == Manifold::most_kept) continue;  // by no detection of ours: from a snapshot, perhaps
    PlanePoint& point = points_[at(c.a) * Manifold::most_kept + at(own.count++)];
    point.feature = c.feature, point.on_b = c.on_b, point.impulse = c.impulse, point.rebound = c.rebound;
  }
  hand_over_refused(bodies, contacts, calm);
}

int PlaneContacts::find(const std::vector<Body>& bodies, std::span<const std::shared_ptr<const Shape>> shapes,
                        std::size_t body, double horizon, Manifold& room) {
  OfBody& own = of_body_[body];
  if (own.near < 0) {
    own.count = 0, own.ground = -1;
    return 0;
  }
  PastPoint past[Manifold::most_kept];
  const std::size_t before = own.ground == own.near ? at(own.count) : 0;
  PlanePoint* points = points_.data() + body * Manifold::most_kept;
  for (std::size_t i = 0; i < before; ++i)
    past[i] = {points[i].feature, points[i].on_b, points[i].impulse, points[i].rebound};
  const Body &a = bodies[body], &b = bodies[at(own.near)];
  const Shape& shape = *shapes[body];
  const HalfSpace& plane = shapes[at(own.near)]->half_spaces.front();
  const Placement place = placement_of(b, a);
  const Vec3 felt = shape.felt(a.angular, a.rotation);
  int convex[Manifold::most_found];
  collide_half_space(shape, plane_seen(a, b, place, plane, felt, length(felt) * shape.swing, Detector::slack, horizon),
                     room, convex);
  own.ground = own.near, own.count = room.count;
  for (int i = 0; i < room.count; ++i) {
    const Convex& c = shape.convexes[at(convex[i])];
    PlanePoint& point = points[i];
    // Number by number: not all of it is written, and GCC sets a whole line to zero slowly.
    point.impulse = point.arm_a = point.outward = {}, point.rebound = point.rim = 0, point.active = false;
    point.feature = plane_feature(c.collider, plane.collider) | room.points[i].id;
    point.radius = c.radius;
    point.friction = std::sqrt(c.material.friction * plane.material.friction);
    point.restitution = std::max(c.material.restitution, plane.material.restitution);
    set_contact(point, room.points[i], room.normal, room.normal_of, place, shape.axle);
  }
  keep_impulses(past, before, points, at(own.count));
  return own.count;
}

ContactPoint PlaneContacts::written(const std::vector<Body>& bodies, std::size_t body, const PlanePoint& point) const {
  ContactPoint c;
  c.a = static_cast<int>(body), c.b = of_body_[body].ground;
  c.feature = point.feature, c.on_a = point.on_a, c.on_b = point.on_b;
  c.radius = c.radius_a = point.radius, c.rim = point.rim, c.outward = point.outward, c.normal = point.normal;
  c.friction = point.friction, c.restitution = point.restitution;
  c.impulse = point.impulse, c.rebound = point.rebound;
  c.active = point.active, c.separation = point.separation, c.arm_a = point.arm_a;
  const Body& ground = bodies[at(c.b)];
  if (precision_ == Precision::mixed) set_frame<Floats<1>>(c, ground);
  else set_frame<double>(c, ground);
  c.arm_b = bodies[body].position + c.arm_a - ground.position;
  return c;
}

Vec3 PlaneContacts::normal(const std::vector<Body>& bodies, std::size_t body, const PlanePoint& point) const {
  const Vec3 n = plain(bodies[at(of_body_[body].ground)].axes * lane(point.normal));
  if (precision_ == Precision::double_) return n;
  V3<Floats<1>> coarse;
  put(coarse, 0, n);
  return take(coarse, 0);
}

// Both are in order.
void PlaneContacts::merge(std::vector<ContactPoint>& contacts, std::size_t calm, std::span<const ContactPoint> leaving,
                          std::vector<ContactPoint>& all) {
  if (leaving.empty()) return;
  calm = std::min(calm, contacts.size());
  all.resize(contacts.size() + leaving.size());
  const auto middle = contacts.begin() + static_cast<std::ptrdiff_t>(calm);
  const auto end = std::merge(contacts.begin(), middle, leaving.begin(), leaving.end(), all.begin(), before);
  std::copy(middle, contacts.end(), end);
  contacts.swap(all);
}

}  // namespace volvox::physics::native
