#include "volvox/physics/ode/ode_contacts.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/ode/convert.h"

namespace volvox::physics::ode {
namespace {

constexpr int most_asked = 32;  // contacts of a pair of geoms
constexpr std::size_t most_kept = 4;
// The angle by which a hull is tilted to find further contacts, and the largest gap of these.
constexpr double tip_angle = 0.02, tip_gap = 1e-3;  // rad, m
constexpr double corner_reach = 0.005;              // m

}  // namespace

ContactFinder::ContactFinder(const System& system, const std::vector<OdeBody>& bodies)
    : system_(system), bodies_(bodies), ray_(dCreateRay(nullptr, 2 * corner_reach)) {}

ContactFinder::~ContactFinder() { dGeomDestroy(ray_); }

void ContactFinder::near_callback(void* self, dGeomID first, dGeomID second) {
  ContactFinder& finder = *static_cast<ContactFinder*>(self);
  const auto mark_of = [](dGeomID geom) -> const Mark& { return *static_cast<const Mark*>(dGeomGetData(geom)); };
  const Mark &a = mark_of(first), &b = mark_of(second);
  if (!finder.system_.may_touch(a.body, b.body)) return;
  // The dynamic body comes first.
  const bool in_order = finder.system_.bodies[a.body].motion == Motion::dynamic &&
                        (a.body < b.body || finder.system_.bodies[b.body].motion != Motion::dynamic);
  finder.pairs_.push_back(in_order ? Pair{a.body, a.collider, b.body, b.collider}
                                   : Pair{b.body, b.collider, a.body, a.collider});
}

void ContactFinder::find(dSpaceID space, double step, std::vector<ContactCandidate>& out) {
  out.clear();
  pairs_.clear();
  dSpaceCollide(space, this, &ContactFinder::near_callback);
  std::sort(pairs_.begin(), pairs_.end());
  for (const Pair& pair : pairs_) collide(pair, out);
  collide_planes(step, out);
}

void ContactFinder::collide(const Pair& pair, std::vector<ContactCandidate>& out) {
  const dGeomID a = bodies_[pair.a].geoms[pair.collider_a], b = bodies_[pair.b].geoms[pair.collider_b];
  std::array<dContactGeom, most_asked> touches;
  const int count = dCollide(a, b, most_asked, touches.data(), sizeof(dContactGeom));
  const bool sheet = std::holds_alternative<model::Mesh>(collider(pair.b, pair.collider_b).shape);
  const Vec3 centre = from_ode(dBodyGetPosition(bodies_[pair.a].body));
  found_.clear();
  for (int i = 0; i < count; ++i) {
    const dContactGeom& touch = touches[i];
    const Vec3 normal = from_ode(touch.normal);
    if (length_squared(normal) < 0.5 || !finite(normal)) continue;
    // A hull touches the front and the back of a mesh at once: the side on which its body is counts.
    if (sheet && dot(normal, centre - from_ode(touch.pos)) < 0) continue;
    found_.push_back({from_ode(touch.pos), normal, touch.depth});
  }
  const ColliderShape &of_a = collider(pair.a, pair.collider_a), &of_b = collider(pair.b, pair.collider_b);
  const auto round = [](const ColliderShape& s) { return std::holds_alternative<model::Sphere>(s.shape); };
  if (!found_.empty() && of_a.one_contact && of_b.mesh) add_corners(of_a, a, b);
  else if (found_.size() == 1 && of_a.one_contact && !round(of_b)) tip(of_a, a, b, true);
  else if (found_.size() == 1 && of_b.one_contact && !round(of_a)) tip(of_b, b, a, false);
  keep(pair, out);
}

// The corners of a hull that lie on a surface. ODE finds points of single triangles, different ones in every step, on
// which the hull would never come to rest.
void ContactFinder::add_corners(const ColliderShape& shape, dGeomID geom, dGeomID surface) {
  const Touch known =
      *std::max_element(found_.begin(), found_.end(), [](const Touch& x, const Touch& y) { return x.depth < y.depth; });
  const Pose now = pose_of(geom);
  bool any = false;
  for (const Vec3& local : shape.points) {
    const Vec3 corner = now * local;
    if (std::fabs(dot(known.normal, corner - known.point)) > corner_reach) continue;
    const Vec3 from = corner + known.normal * corner_reach;
    dGeomRaySet(ray_, from.x, from.y, from.z, -known.normal.x, -known.normal.y, -known.normal.z);
    dContactGeom hit;
    if (dCollide(ray_, surface, 1, &hit, sizeof hit) == 0) continue;
    const double depth = corner_reach - hit.depth;  // ODE gives a ray's length as its depth
    if (depth < -tip_gap || std::fabs(dot(from_ode(hit.normal), known.normal)) < 0.99) continue;
    if (!any) found_.clear();
    any = true;
    found_.push_back({corner, known.normal, depth});
  }
  if (any && found_.size() < 3) found_.push_back(known);
}

// Tilts a hull about its middle to four sides, finds its contact there, and maps the point back to the pose before.
void ContactFinder::tip(const ColliderShape& shape, dGeomID geom, dGeomID other, bool first) {
  const Touch known = found_[0];
  const Pose now = pose_of(geom);
  const Vec3 u = perpendicular(known.normal), v = cross(known.normal, u);
  for (const Vec3& axis : {u + v, u - v, -u - v, v - u}) {
    const Quat turn = Quat::axis_angle(normalized(axis), tip_angle);
    place(shape.scratch, {now.position, turn * now.rotation});
    dContactGeom touch;
    const int count = first ? dCollide(shape.scratch, other, 1, &touch, sizeof touch)
                            : dCollide(other, shape.scratch, 1, &touch, sizeof touch);
    if (count == 0 || dot(from_ode(touch.normal), known.normal) < 0.9) continue;
    const Vec3 tipped = from_ode(touch.pos);
    const Vec3 point = now.position + turn.conjugate() * (tipped - now.position);
    // The tilt moved the point into the other body by this distance.
    const double sunk = dot(point - tipped, known.normal) * (first ? 1 : -1);
    const double depth = touch.depth - sunk;
    if (depth < -tip_gap) continue;
    const bool seen = std::any_of(found_.begin(), found_.end(),
                                  [&](const Touch& t) { return length(t.point - point) < 0.1 * shape.size; });
    if (!seen) found_.push_back({point, known.normal, std::min(depth, known.depth)});
  }
}

// Chooses the deepest contact, the farthest from it, the farthest from the line of both, and the farthest on the other
// side of that line.
void ContactFinder::keep(const Pair& pair, std::vector<ContactCandidate>& out) {
  if (found_.empty()) return;
  std::array<std::size_t, most_kept> chosen{};
  std::size_t count = 0;
  const auto choose = [&](auto measure) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < found_.size(); ++i) {
      if (measure(found_[i]) > measure(found_[best])) best = i;
    }
    if (std::find(chosen.begin(), chosen.begin() + count, best) == chosen.begin() + count) chosen[count++] = best;
    return best;
  };
  if (found_.size() <= most_kept) {
    for (; count < found_.size(); ++count) chosen[count] = count;
  } else {
    const Touch& deepest = found_[choose([](const Touch& t) { return t.depth; })];
    const Touch& far = found_[choose([&](const Touch& t) { return length(t.point - deepest.point); })];
    const Vec3 across = cross(deepest.normal, far.point - deepest.point);
    choose([&](const Touch& t) { return dot(across, t.point - deepest.point); });
    choose([&](const Touch& t) { return -dot(across, t.point - deepest.point); });
  }
  const model::Material &of_a = collider(pair.a, pair.collider_a).material,
                        &of_b = collider(pair.b, pair.collider_b).material;
  for (std::size_t i = 0; i < count; ++i) {
    const Touch& touch = found_[chosen[i]];
    out.push_back({pair.a, pair.b, touch.point, touch.normal, touch.depth, std::sqrt(of_a.friction * of_b.friction),
                   std::max(of_a.restitution, of_b.restitution)});
  }
}

void ContactFinder::collide_planes(double step, std::vector<ContactCandidate>& out) {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (!bodies_[b].shape) continue;
    for (std::size_t plane = 0; plane < bodies_[b].geoms.size(); ++plane) {
      if (bodies_[b].geoms[plane]) continue;
      for (std::size_t a = 0; a < bodies_.size(); ++a) {
        if (!bodies_[a].shape || system_.bodies[a].motion != Motion::dynamic || !system_.may_touch(a, b)) continue;
        for (std::size_t c = 0; c < bodies_[a].geoms.size(); ++c) collide_plane({a, c, b, plane}, step, out);
      }
    }
  }
}

void ContactFinder::collide_plane(const Pair& pair, double step, std::vector<ContactCandidate>& out) {
  const ColliderShape &of_a = collider(pair.a, pair.collider_a), &of_b = collider(pair.b, pair.collider_b);
  const dBodyID body = bodies_[pair.a].body;
  const Pose place = pose_of(bodies_[pair.a].geoms[pair.collider_a]);
  const Pose at = system_.poses[pair.b] * of_b.pose;
  const Vec3 normal = at.rotation * normalized(std::get<model::Plane>(of_b.shape).normal);
  const Twist moved = system_.velocities[pair.b];
  const Vec3 velocity = from_ode(dBodyGetLinearVel(body)) - moved.linear;
  const double turning = length(from_ode(dBodyGetAngularVel(body))) *
                         (of_a.size + length(place.position - from_ode(dBodyGetPosition(body))));
  const double reach = 1e-3 + step * (std::max(0.0, -dot(velocity, normal)) + turning);
  const double height = dot(normal, place.position - at.position);
  if (height > 2 * of_a.size + reach) return;
  plane_points(of_a, place.rotation.conjugate() * -normal, points_);
  found_.clear();
  for (const auto& [local, radius] : points_) {
    const Vec3 point = place * local;
    const double gap = dot(normal, point - at.position) - radius;
    if (gap < reach) found_.push_back({point - normal * (radius + gap), normal, -gap});
  }
  keep(pair, out);
}

void plane_points(const ColliderShape& shape, const Vec3& down, std::vector<std::pair<Vec3, double>>& out) {
  out.clear();
  if (const auto* s = std::get_if<model::Sphere>(&shape.shape)) out.push_back({{}, s->radius});
  if (const auto* c = std::get_if<model::Capsule>(&shape.shape)) {
    out.push_back({{0, 0, c->length / 2}, c->radius});
    out.push_back({{0, 0, -c->length / 2}, c->radius});
  }
  if (const auto* b = std::get_if<model::Box>(&shape.shape)) {
    for (int i = 0; i < 8; ++i)
      out.push_back({multiply(b->size / 2, {i & 1 ? 1. : -1., i & 2 ? 1. : -1., i & 4 ? 1. : -1.}), 0});
  }
  if (const auto* c = std::get_if<model::Cylinder>(&shape.shape)) {
    // The lowest point of each rim, and three more of a disc that is nearly flat.
    Vec3 low{down.x, down.y, 0};
    const bool flat = length(low) < 0.3;
    low = length(low) > 1e-9 ? normalized(low) : Vec3{1, 0, 0};
    for (const double end : {-c->length / 2, c->length / 2}) {
      const bool stands = flat && end * down.z > 0;
      const Vec3 side{-low.y, low.x, 0}, middle{0, 0, end};
      for (const Vec3& rim : {low, side, -side, -low}) {
        if (stands || rim == low) out.push_back({middle + rim * c->radius, 0});
      }
    }
  }
  for (const Vec3& p : shape.points) out.push_back({p, 0});
}

}  // namespace volvox::physics::ode
