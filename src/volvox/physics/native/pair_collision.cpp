#include "volvox/physics/native/pair_collision.h"

#include <cmath>

#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/plane_kernel.h"
#include "volvox/physics/native/surface.h"

namespace volvox::physics::native {
namespace {

using NormalOf = ContactPoint::NormalOf;

std::uint64_t feature_base(const Convex& a, const Convex& b) {
  return static_cast<std::uint64_t>(a.collider) << 52 | static_cast<std::uint64_t>(b.collider) << 40;
}

// Of a in b's frame.
Placement placed_back(const Placement& place) {
  const M3<double>& m = place.axes;
  return {{{m.r0.x, m.r1.x, m.r2.x}, {m.r0.y, m.r1.y, m.r2.y}, {m.r0.z, m.r1.z, m.r2.z}}, place.to_second({})};
}

// What is known of two polyhedra from the contacts that they had.
void recall(std::span<const ContactPoint> past, ConvexPair& pair) {
  const std::uint64_t base = feature_base(*pair.a, *pair.b);
  for (const ContactPoint& c : past) {
    if (c.feature >> 40 != base >> 40 || c.normal_of == NormalOf::centres) continue;
    if (!pair.known) {
      pair.normal = c.normal_of == NormalOf::a ? c.normal : pair.place.turn_to_first(c.normal);
      pair.separation = c.separation, pair.corners = c.corners, pair.known = true;
    }
    pair.separation = std::min(pair.separation, c.separation);
  }
}

class ContactWriter {
 public:
  ContactWriter(const BodyPair& pair, double horizon, PairRoom& room, std::vector<ContactPoint>& out)
      : pair_(pair), a_(*pair.body_a), b_(*pair.body_b), horizon_(horizon), room_(room), out_(out) {}

  void collide_with(const HalfSpace& plane) {
    const Shape& shape = *pair_.shape_a;
    int convex[Manifold::most_found];
    const Vec3 felt = shape.felt(a_.angular, a_.rotation);
    collide_half_space(shape, plane_seen(a_, b_, pair_.place, plane, felt, pair_.turning, pair_.slack, horizon_),
                       room_.manifold, convex);
    for (int i = 0; i < room_.manifold.count; ++i) {
      const Convex& c = shape.convexes[static_cast<std::size_t>(convex[i])];
      friction_of(c.material, plane.material);
      radius_ = radius_a_ = c.radius;
      feature_base_ = plane_feature(c.collider, plane.collider);
      add_point(room_.manifold.points[i], room_.manifold.normal, room_.manifold.normal_of);
    }
  }

  void collide_with(const ConvexPair& pair) {
    const Convex &a = *pair.a, &b = *pair.b;
    Manifold& manifold = room_.manifold;
    const bool polyhedra = NarrowPhase::handles(a, b);
    if (polyhedra ? !collide(a, b, pair_.place, pair_.margin, pair.found, manifold)
                  : !collide(a, b, pair_.place, pair_.margin, manifold, room_.count))
      return;
    if (polyhedra) corners_ = pair.corners;
    friction_of(a.material, b.material);
    radius_ = a.radius + b.radius;
    radius_a_ = a.radius;
    feature_base_ = feature_base(a, b);
    for (int i = 0; i < manifold.count; ++i) add_point(manifold.points[i], manifold.normal, manifold.normal_of);
    corners_ = {};
  }

  void collide_with(const Convex& a, const Surface& b, const Placement& back) {
    static thread_local std::vector<SurfacePoint> points;
    const Vec3 sweep = plain(transposed_times(a_.axes, lane((a_.linear - b_.linear) * horizon_))),
               in_b = pair_.place.turn_to_second(sweep);
    const double slack = pair_.slack + horizon_ * pair_.turning;
    Box3 box = bounds_in(a.bounds, back.axes, back.position, slack);
    box.centre += in_b * 0.5;
    box.half += Vec3{std::fabs(in_b.x), std::fabs(in_b.y), std::fabs(in_b.z)} * 0.5;
    collide_surface({a, b, pair_.place, slack, sweep, box, a.reach + slack + length(in_b) * 0.5, room_.count}, points);
    friction_of(a.material, b.material);
    radius_ = radius_a_ = a.radius;
    for (const SurfacePoint& p : points) {
      // Corners of the convex stay themselves from one triangle to the next; where it was cut it
      // matters by which.
      const std::uint64_t where =
          p.point.id < 0x100 ? std::uint64_t{0x80000000} + static_cast<std::uint64_t>(b.collider) : p.triangle + 1;
      feature_base_ = static_cast<std::uint64_t>(a.collider) << 52 | where << 20;
      add_point(p.point, p.normal, p.normal_of);
    }
  }

 private:
  void friction_of(const model::Material& a, const model::Material& b) {
    friction_ = std::sqrt(a.friction * b.friction);
    restitution_ = std::max(a.restitution, b.restitution);
  }
  // The normal is given in a's frame.
  void add_point(const Manifold::Point& point, const Vec3& normal, NormalOf normal_of) {
    ContactPoint& contact = out_.emplace_back();
    contact.a = pair_.a, contact.b = pair_.b;
    contact.feature = feature_base_ | point.id;
    contact.radius = radius_, contact.radius_a = radius_a_;
    contact.friction = friction_, contact.restitution = restitution_;
    contact.corners = corners_;
    set_contact(contact, point, normal, normal_of, pair_.place, pair_.shape_a->axle);
  }

  const BodyPair& pair_;
  const Body &a_, &b_;
  double horizon_;
  PairRoom& room_;
  std::vector<ContactPoint>& out_;
  double friction_ = 0, restitution_ = 0, radius_ = 0, radius_a_ = 0;
  std::uint64_t feature_base_ = 0;
  SimplexCorners corners_;
};

}  // namespace

void list_convexes(BodyPair& pair, PairRoom& room, std::vector<ConvexPair>& listed) {
  pair.first_listed = listed.size();
  const Placement back = placed_back(pair.place);
  room.boxes.clear();  // of a's convexes in b's frame
  for (const Convex& a : pair.shape_a->convexes)
    room.boxes.push_back(bounds_in(a.bounds, back.axes, back.position, pair.margin));
  for (const Convex& b : pair.shape_b->convexes) {
    const Box3 box = bounds_in(b.bounds, pair.place.axes, pair.place.position, pair.margin);
    for (std::size_t i = 0; i < room.boxes.size(); ++i) {
      const Convex& a = pair.shape_a->convexes[i];
      if (!overlap(a.bounds, box) || !overlap(b.bounds, room.boxes[i])) continue;
      ConvexPair& convexes = listed.emplace_back();
      convexes.a = &a, convexes.b = &b, convexes.place = pair.place, convexes.reach = pair.margin;
      if (NarrowPhase::handles(a, b)) recall(pair.past, convexes);
    }
  }
  pair.end_listed = listed.size();
}

void add_contacts(const BodyPair& pair, std::span<const ConvexPair> listed, double horizon, PairRoom& room,
                  std::vector<ContactPoint>& contacts) {
  const std::size_t before = contacts.size();
  ContactWriter writer(pair, horizon, room, contacts);
  for (const HalfSpace& plane : pair.shape_b->half_spaces) writer.collide_with(plane);
  for (const ConvexPair& convexes : listed) writer.collide_with(convexes);
  if (pair.near && !pair.shape_b->surfaces.empty()) {
    const Placement back = placed_back(pair.place);
    for (const Surface& b : pair.shape_b->surfaces) {
      for (const Convex& a : pair.shape_a->convexes) writer.collide_with(a, b, back);
    }
  }
  if (contacts.size() > before)
    keep_impulses(pair.past.data(), pair.past.size(), contacts.data() + before, contacts.size() - before);
}

}  // namespace volvox::physics::native
