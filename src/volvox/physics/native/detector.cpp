#include "volvox/physics/native/detector.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "volvox/physics/native/surface.h"

namespace volvox::physics::native {
namespace {

using NormalOf = ContactPoint::NormalOf;

constexpr std::size_t pairs_of_a_chunk = 64;
// Of bodies that turn more than this, other corners may soon be the ones that touch.
constexpr double hasty_turn = 0.05;  // rad

bool before(const ContactPoint& x, const ContactPoint& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }

Vec3 felt_turning(const Body& body, const Shape& shape) { return shape.felt(body.angular, body.rotation); }

// How fast turning may move the surface of a body.
double turning_speed(const Body& body, const Shape& shape) { return length(felt_turning(body, shape)) * shape.swing; }

// Builds the contacts of one pair of bodies.
class PairCollision final {
 public:
  PairCollision(const Detector::View& view, BroadPhase::Pair pair, double horizon, double slack,
                std::vector<ContactPoint>& out, GjkCount& count, Manifold& room)
      : pair_(pair),
        a_(view.bodies[static_cast<std::size_t>(pair.a)]),
        b_(view.bodies[static_cast<std::size_t>(pair.b)]),
        shape_a_(*view.shapes[static_cast<std::size_t>(pair.a)]),
        shape_b_(*view.shapes[static_cast<std::size_t>(pair.b)]),
        out_(out),
        count_(count),
        room_(room) {
    horizon_ = horizon, slack_ = slack;
    turning_ = turning_speed(a_, shape_a_) + turning_speed(b_, shape_b_);
    margin_ = slack_ + horizon * (length(a_.linear - b_.linear) + turning_);
    place_ = placement_of(b_, a_);
    const M3<double>& m = place_.axes;
    back_.axes = {{m.r0.x, m.r1.x, m.r2.x}, {m.r0.y, m.r1.y, m.r2.y}, {m.r0.z, m.r1.z, m.r2.z}};
    back_.position = place_.to_second({});
  }

  // The pairs of polyhedra whose distance must be known. `old`: the contacts that these two bodies had.
  void list(std::size_t index, std::span<const ContactPoint> old, std::vector<ConvexPair>& listed) const {
    if (far_apart(shape_a_.bounds, shape_b_.bounds)) return;
    for (const Convex& b : shape_b_.convexes) {
      const Box3 box = bounds_in(b.bounds, place_.axes, place_.position, margin_);
      for (const Convex& a : shape_a_.convexes) {
        if (!NarrowPhase::handles(a, b) || !near(a, b, box)) continue;
        ConvexPair& pair = listed.emplace_back();
        pair.of = index, pair.a = &a, pair.b = &b, pair.place = place_, pair.reach = margin_;
        recall(old, pair);
      }
    }
  }

  // `listed`: what list() gave for these two bodies, with what the narrow phase found.
  void run(std::span<const ConvexPair> listed) {
    for (const HalfSpace& plane : shape_b_.half_spaces) collide_with(plane);
    if (shape_b_.convexes.empty() && shape_b_.surfaces.empty()) return;
    if (far_apart(shape_a_.bounds, shape_b_.bounds)) return;
    for (const Convex& b : shape_b_.convexes) {
      const Box3 box = bounds_in(b.bounds, place_.axes, place_.position, margin_);
      for (const Convex& a : shape_a_.convexes) {
        if (!NarrowPhase::handles(a, b)) {
          if (near(a, b, box)) collide_with(a, b);
        } else if (!listed.empty() && listed.front().a == &a && listed.front().b == &b) {
          collide_with(listed.front());
          listed = listed.subspan(1);
        }
      }
    }
    for (const Surface& b : shape_b_.surfaces) {
      for (const Convex& a : shape_a_.convexes) collide_with(a, b);
    }
  }

 private:
  void collide_with(const HalfSpace& plane) {
    Manifold& manifold = room_;
    int convex[Manifold::most_found];
    const Vec3 felt = felt_turning(a_, shape_a_);
    collide_half_space(shape_a_, plane_seen(a_, b_, place_, plane, felt, turning_, slack_, horizon_), manifold, convex);
    for (int i = 0; i < manifold.count; ++i) {
      const Convex& c = shape_a_.convexes[static_cast<std::size_t>(convex[i])];
      friction_of(c.material, plane.material);
      radius_ = radius_a_ = c.radius;
      feature_base_ = plane_feature(c.collider, plane.collider);
      add_point(manifold.points[i], manifold.normal, manifold.normal_of);
    }
  }

  void collide_with(const Convex& a, const Convex& b) {
    Manifold manifold;
    if (collide(a, b, place_, margin_, manifold, count_)) add_points(a, b, manifold);
  }

  void collide_with(const ConvexPair& pair) {
    Manifold manifold;
    if (!collide(*pair.a, *pair.b, place_, margin_, pair.found, manifold)) return;
    corners_ = pair.corners;
    add_points(*pair.a, *pair.b, manifold);
    corners_ = {};
  }

  // What is known of two polyhedra from the contacts that they had.
  void recall(std::span<const ContactPoint> old, ConvexPair& pair) const {
    const std::uint64_t base = feature_base(*pair.a, *pair.b);
    for (const ContactPoint& c : old) {
      if (c.feature >> 40 != base >> 40 || c.normal_of == NormalOf::centres) continue;
      if (!pair.known) {
        pair.normal = c.normal_of == NormalOf::a ? c.normal : place_.turn_to_first(c.normal);
        pair.separation = c.separation, pair.corners = c.corners, pair.known = true;
      }
      pair.separation = std::min(pair.separation, c.separation);
    }
  }

  void collide_with(const Convex& a, const Surface& b) {
    static thread_local std::vector<SurfacePoint> points;
    const Vec3 sweep = plain(transposed_times(a_.axes, lane((a_.linear - b_.linear) * horizon_))),
               in_b = place_.turn_to_second(sweep);
    const double slack = slack_ + horizon_ * turning_;
    Box3 box = bounds_in(a.bounds, back_.axes, back_.position, slack);
    box.centre += in_b * 0.5;
    box.half += Vec3{std::fabs(in_b.x), std::fabs(in_b.y), std::fabs(in_b.z)} * 0.5;
    collide_surface({a, b, place_, slack, sweep, box, a.reach + slack + length(in_b) * 0.5, count_}, points);
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

  static std::uint64_t feature_base(const Convex& a, const Convex& b) {
    return static_cast<std::uint64_t>(a.collider) << 52 | static_cast<std::uint64_t>(b.collider) << 40;
  }
  // `box`: of b, in a's frame.
  bool near(const Convex& a, const Convex& b, const Box3& box) const {
    return overlap(a.bounds, box) && overlap(b.bounds, bounds_in(a.bounds, back_.axes, back_.position, margin_));
  }
  // By the sides of the two boxes, the first in a's frame, the second in b's.
  bool far_apart(const Box3& a, const Box3& b) const {
    return !overlap(a, bounds_in(b, place_.axes, place_.position, margin_)) ||
           !overlap(b, bounds_in(a, back_.axes, back_.position, margin_));
  }

  void friction_of(const model::Material& a, const model::Material& b) {
    friction_ = std::sqrt(a.friction * b.friction);
    restitution_ = std::max(a.restitution, b.restitution);
  }
  void add_points(const Convex& a, const Convex& b, const Manifold& manifold) {
    friction_of(a.material, b.material);
    radius_ = a.radius + b.radius;
    radius_a_ = a.radius;
    feature_base_ = feature_base(a, b);
    for (int i = 0; i < manifold.count; ++i) add_point(manifold.points[i], manifold.normal, manifold.normal_of);
  }
  // The normal is given in a's frame.
  void add_point(const Manifold::Point& point, const Vec3& normal, NormalOf normal_of) {
    ContactPoint& contact = out_.emplace_back();
    contact.a = pair_.a, contact.b = pair_.b;
    contact.feature = feature_base_ | point.id;
    contact.radius = radius_, contact.radius_a = radius_a_;
    contact.friction = friction_, contact.restitution = restitution_;
    contact.corners = corners_;
    set_contact(contact, point, normal, normal_of, place_, shape_a_.axle);
  }

  BroadPhase::Pair pair_;
  const Body &a_, &b_;
  const Shape &shape_a_, &shape_b_;
  std::vector<ContactPoint>& out_;
  GjkCount& count_;
  Manifold& room_;  // for any; to make one takes longer than to look at a plane
  double horizon_ = 0, slack_ = 0, turning_ = 0, margin_ = 0;
  Placement place_, back_;  // of b in a's frame, and of a in b's
  double friction_ = 0, restitution_ = 0, radius_ = 0, radius_a_ = 0;
  std::uint64_t feature_base_ = 0;
  SimplexCorners corners_;
};

struct ByPair {
  bool operator()(const ConvexPair& pair, std::size_t of) const { return pair.of < of; }
  bool operator()(std::size_t of, const ConvexPair& pair) const { return of < pair.of; }
};

// The contacts that pairs had, for one pair after the other in their order.
class PastContacts {
 public:
  explicit PastContacts(std::span<ContactPoint> sorted) : rest_(sorted) {}

  std::span<ContactPoint> of(BroadPhase::Pair pair) {
    const auto earlier = [](const ContactPoint& c, const BroadPhase::Pair& p) {
      return c.a != p.a ? c.a < p.a : c.b < p.b;
    };
    auto first = rest_.begin();
    if (begun_) first = std::find_if(first, rest_.end(), [&](const ContactPoint& c) { return !earlier(c, pair); });
    else first = std::lower_bound(first, rest_.end(), pair, earlier);
    begun_ = true;
    rest_ = {first, rest_.end()};
    std::size_t count = 0;
    while (count < rest_.size() && rest_[count].a == pair.a && rest_[count].b == pair.b) ++count;
    return rest_.first(count);
  }

 private:
  std::span<ContactPoint> rest_;
  bool begun_ = false;
};

}  // namespace

void Detector::detect(const View& view, double horizon, double step, ThreadPool* threads,
                      std::vector<ContactPoint>& contacts, PlaneContacts* planes) {
  Work::add(work_.detections, 1);
  slack_ = slack, widest_ = std::max(slack_, hit_speed * step);
  hasty_.clear();
  find_pairs(view, {}, horizon, planes);
  foresee_hits(view, step);
  if (planes) planes->exchange(view.bodies, contacts, calm_count_);
  old_.swap(contacts);
  const OldContacts old = in_runs(old_);
  collide_pairs(view, pairs_, horizon, threads, old, contacts);
  keep_sleeping(view, old.calm, contacts), keep_sleeping(view, old.hasty, contacts);
  calm_count_ = contacts.size();
  add_hasty(view, step, threads, old, contacts);
}

void Detector::detect_again(const View& view, std::span<const std::uint8_t> alarmed, double horizon, double step,
                            ThreadPool* threads, std::vector<ContactPoint>& contacts) {
  const auto stale = [&](int a, int b) {
    return alarmed[static_cast<std::size_t>(a)] || alarmed[static_cast<std::size_t>(b)];
  };
  Work::add(work_.partial_detections, 1);
  // Whoever is met may have used up half of what is bearable since it was looked at.
  slack_ = slack + bearable_surprise / 2, widest_ = std::max(slack_, hit_speed * step);
  std::erase_if(hasty_, [&](const BroadPhase::Pair& pair) { return stale(pair.a, pair.b); });
  find_pairs(view, alarmed, horizon, nullptr);
  foresee_hits(view, step);
  // A contact is large: those that stay are copied once, to where they belong.
  kept_.swap(contacts);
  const auto stays = [&](std::size_t i) { return i < calm_count_ && !stale(kept_[i].a, kept_[i].b); };
  old_.clear();
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (!stays(i)) old_.push_back(kept_[i]);
  const OldContacts old = in_runs(old_);
  collide_pairs(view, pairs_, horizon, threads, old, fresh_);
  contacts.clear();
  auto fresh = fresh_.begin();
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (!stays(i)) continue;
    const auto first = fresh;
    while (fresh != fresh_.end() && before(*fresh, kept_[i])) ++fresh;
    contacts.insert(contacts.end(), first, fresh);
    contacts.push_back(kept_[i]);
  }
  contacts.insert(contacts.end(), fresh, fresh_.end());
  calm_count_ = contacts.size();
  add_hasty(view, step, threads, old, contacts);
}

void Detector::detect_hasty(const View& view, double step, ThreadPool* threads, std::vector<ContactPoint>& contacts) {
  Work::add(work_.hasty_detections, 1);
  old_.assign(contacts.begin() + static_cast<std::ptrdiff_t>(calm_count_), contacts.end());
  contacts.resize(calm_count_);
  add_hasty(view, step, threads, in_runs(old_), contacts);
}

void Detector::add_hasty(const View& view, double step, ThreadPool* threads, const OldContacts& old,
                         std::vector<ContactPoint>& contacts) {
  if (hasty_.empty()) return;
  collide_pairs(view, hasty_, step, threads, old, fresh_);
  contacts.insert(contacts.end(), fresh_.begin(), fresh_.end());
}

void Detector::find_pairs(const View& view, std::span<const std::uint8_t> alarmed, double horizon,
                          PlaneContacts* planes) {
  collect_items(view, alarmed, horizon);
  broad_phase_.find_pairs(items_, pairs_);
  std::erase_if(pairs_, [&](const BroadPhase::Pair& pair) {
    return out_of_reach(view, pair, horizon) || !may_touch(view, pair.a, pair.b);
  });
  for (const BroadPhase::Pair& pair : pairs_) {
    if (planes) planes->refuse(view.bodies[static_cast<std::size_t>(pair.a)].island);
    if (planes) planes->refuse(view.bodies[static_cast<std::size_t>(pair.b)].island);
  }
  let_round_lead(view);
  add_half_spaces(view, horizon, planes);
  set_hasty_apart(view, horizon);
}

// A contact's normal and a wheel's rim are kept in the frame of the second body, so that what is round can turn under
// them: of two bodies that move, the rounder one is the first.
void Detector::let_round_lead(const View& view) {
  const auto roundness = [&](int body) {
    const Shape& shape = *view.shapes[static_cast<std::size_t>(body)];
    return shape.swing == 0 ? 2 : shape.axle != Vec3{} ? 1 : 0;
  };
  bool any = false;
  for (BroadPhase::Pair& pair : pairs_) {
    if (!view.bodies[static_cast<std::size_t>(pair.b)].dynamic || roundness(pair.b) <= roundness(pair.a)) continue;
    std::swap(pair.a, pair.b);
    any = true;
  }
  if (any) std::sort(pairs_.begin(), pairs_.end());
}

// Adds them to those that are hasty already.
void Detector::set_hasty_apart(const View& view, double horizon) {
  const auto calm = [&](const BroadPhase::Pair& pair) { return !hasty(view, pair, horizon); };
  const std::size_t before = hasty_.size();
  std::copy_if(pairs_.begin(), pairs_.end(), std::back_inserter(hasty_), std::not_fn(calm));
  if (hasty_.size() > before) std::erase_if(pairs_, std::not_fn(calm));
  std::sort(hasty_.begin(), hasty_.end());
  is_hasty_.assign(view.bodies.size(), 0);
  for (const BroadPhase::Pair& pair : hasty_)
    is_hasty_[static_cast<std::size_t>(pair.a)] = is_hasty_[static_cast<std::size_t>(pair.b)] = 1;
}

// Nothing gets through a half-space, and all of a body's points are tried against it, with
// regard to how it turns. Points of a wheel a stay where they are as it turns; of b not.
bool Detector::hasty(const View& view, BroadPhase::Pair pair, double horizon) const {
  const std::size_t a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
  const Shape &x = *view.shapes[a], &y = *view.shapes[b];
  const bool flat = y.convexes.empty() && y.surfaces.empty();
  const double thick = flat ? x.reach : y.surfaces.empty() ? std::min(x.core, y.core) : x.core;
  if (length(view.bodies[a].linear - view.bodies[b].linear) * horizon > thick) return true;
  return !flat && length(felt_turning(view.bodies[a], x) - view.bodies[b].angular) * horizon > hasty_turn;
}

// Within a crowd (bodies near each other, from one to the next) nobody is hit faster than its fastest two meet. Where
// nothing moves fast, as in most heaps, the slack alone is enough.
void Detector::foresee_hits(const View& view, double step) {
  const auto dynamic = [&](int body) { return view.bodies[static_cast<std::size_t>(body)].dynamic; };
  const auto crowd = [&](int body) { return crowds_.root(static_cast<std::uint32_t>(body)); };
  if (pairs_.empty() && hasty_.empty()) return;
  crowds_.reset(view.bodies.size());
  hits_.assign(view.bodies.size(), 0);
  for (const Pairs* pairs : {&pairs_, &hasty_}) {
    for (const BroadPhase::Pair& pair : *pairs)
      if (dynamic(pair.b)) crowds_.join(static_cast<std::uint32_t>(pair.a), static_cast<std::uint32_t>(pair.b));
  }
  for (const Pairs* pairs : {&pairs_, &hasty_}) {
    for (const BroadPhase::Pair& pair : *pairs) {
      const Body &a = view.bodies[static_cast<std::size_t>(pair.a)], &b = view.bodies[static_cast<std::size_t>(pair.b)];
      double& fastest = hits_[crowd(pair.a)];
      fastest = std::max(fastest, length(a.linear - b.linear));
    }
  }
  crowd_reach_.resize(view.bodies.size());
  for (const Pairs* pairs : {&pairs_, &hasty_}) {
    for (const BroadPhase::Pair& pair : *pairs)
      crowd_reach_[static_cast<std::size_t>(pair.a)] = std::min(hits_[crowd(pair.a)], hit_speed) * step;
  }
}

// What stands is not hit; and its triangles, seen from afar, would hold what lies in a slit above it.
double Detector::slack_of(const View& view, const BroadPhase::Pair& pair) const {
  if (!view.bodies[static_cast<std::size_t>(pair.b)].dynamic) return slack;
  return std::max(slack_, crowd_reach_[static_cast<std::size_t>(pair.a)]);
}

// First which polyhedra are near each other by their boxes, then how far they are apart, all of a kind side by side,
// then where the bodies touch.
void Detector::collide_pairs(const View& view, const Pairs& pairs, double horizon, ThreadPool* threads,
                             const OldContacts& old, std::vector<ContactPoint>& contacts) {
  const std::size_t chunks = (pairs.size() + pairs_of_a_chunk - 1) / pairs_of_a_chunk;
  while (found_.size() < chunks) {
    found_.emplace_back(), listed_.emplace_back();
    found_.back().reserve(4 * pairs_of_a_chunk);
  }
  contacts.clear();
  // One thread finds them in their order, and need not move them.
  const bool in_order = !threads || threads->threads() == 1;
  const auto found_by = [&](std::size_t chunk) -> std::vector<ContactPoint>& {
    return in_order ? contacts : found_[chunk];
  };
  const auto for_chunks = [&](const auto& visit) {
    parallel_for(in_order ? nullptr : threads, chunks, 1, [&](std::size_t chunk) {
      GjkCount count;
      Manifold room;
      const auto collision_of = [&](std::size_t i) {
        return PairCollision(view, pairs[i], horizon, slack_of(view, pairs[i]), found_by(chunk), count, room);
      };
      PastContacts calm(old.calm), hasty(old.hasty);
      const auto old_of = [&](std::size_t i) {
        const std::span<ContactPoint> found = calm.of(pairs[i]);
        return found.empty() ? hasty.of(pairs[i]) : found;
      };
      const std::size_t last = std::min(pairs.size(), (chunk + 1) * pairs_of_a_chunk);
      for (std::size_t i = chunk * pairs_of_a_chunk; i < last; ++i)
        visit(chunk, i, *view.shapes[static_cast<std::size_t>(pairs[i].a)],
              *view.shapes[static_cast<std::size_t>(pairs[i].b)], collision_of, old_of);
      Work::add(work_.gjk_calls, count.calls), Work::add(work_.gjk_iterations, count.iterations);
    });
  };
  for (std::size_t i = 0; i < chunks; ++i) found_[i].clear(), listed_[i].clear();
  for_chunks([&](std::size_t chunk, std::size_t i, const Shape& a, const Shape& b, const auto& collision_of,
                 const auto& old_of) {
    if (a.polyhedra && b.polyhedra) collision_of(i).list(i, old_of(i), listed_[chunk]);
  });
  all_listed_.clear();
  for (std::size_t i = 0; i < chunks; ++i) {
    for (ConvexPair& pair : listed_[i]) all_listed_.push_back(&pair);
  }
  narrow_phase_.run(all_listed_, threads, work_);
  for_chunks([&](std::size_t chunk, std::size_t i, const Shape& a, const Shape& b, const auto& collision_of,
                 const auto& old_of) {
    const auto [first, last] = std::equal_range(listed_[chunk].begin(), listed_[chunk].end(), i, ByPair{});
    std::vector<ContactPoint>& found = found_by(chunk);
    const std::size_t before = found.size();
    if (first != last || a.others || b.others) collision_of(i).run({first, last});
    if (found.size() == before) return;
    const std::span<ContactPoint> past = old_of(i);
    keep_impulses(past.data(), past.size(), found.data() + before, found.size() - before);
  });
  Work::add(work_.pairs, pairs.size());
  for (std::size_t i = 0; i < chunks && !in_order; ++i)
    contacts.insert(contacts.end(), found_[i].begin(), found_[i].end());
}

// The contacts of calm pairs and, behind them, those of hasty ones are each in order. To sort them into one another
// would move them all. No pair is in both.
Detector::OldContacts Detector::in_runs(std::vector<ContactPoint>& contacts) {
  auto middle = std::is_sorted_until(contacts.begin(), contacts.end(), before);
  if (!std::is_sorted(middle, contacts.end(), before)) {  // by no detection of ours: from a snapshot, perhaps
    std::stable_sort(contacts.begin(), contacts.end(), before);
    middle = contacts.end();
  }
  return {{contacts.begin(), middle}, {middle, contacts.end()}};
}

// Between bodies that sleep or stand nothing is looked for: what was there is there still.
void Detector::keep_sleeping(const View& view, std::span<const ContactPoint> olds,
                             std::vector<ContactPoint>& contacts) {
  const auto rests = [&](int body) {
    return !view.bodies[static_cast<std::size_t>(body)].dynamic || !view.bodies[static_cast<std::size_t>(body)].awake;
  };
  merged_.clear();
  std::size_t next = 0;
  for (const ContactPoint& old : olds) {
    if (!rests(old.a) || !rests(old.b)) continue;
    while (next < contacts.size() && before(contacts[next], old)) merged_.push_back(contacts[next++]);
    merged_.push_back(old);
  }
  if (merged_.empty()) return;
  merged_.insert(merged_.end(), contacts.begin() + static_cast<std::ptrdiff_t>(next), contacts.end());
  contacts.swap(merged_);
}

// `alarmed`: only those ask who they may touch; empty: all do.
void Detector::collect_items(const View& view, std::span<const std::uint8_t> alarmed, double horizon) {
  items_.clear();
  flat_bodies_.clear();
  for (std::size_t i = 0; i < view.bodies.size(); ++i) {
    if (!view.system.body_ids.alive_index(i) || !view.shapes[i] || view.lags(i)) continue;
    const Shape& shape = *view.shapes[i];
    if (!shape.half_spaces.empty()) flat_bodies_.push_back(static_cast<int>(i));
    if (shape.convexes.empty() && shape.surfaces.empty()) continue;
    items_.push_back(item_of(view, i, horizon, widest_ / 2));
    items_.back().asks = alarmed.empty() || alarmed[i];
  }
}

// With the room that the body may take up within the horizon.
BroadPhase::Item Detector::item_of(const View& view, std::size_t i, double horizon, double margin) const {
  const Body& body = view.bodies[i];
  const Shape& shape = *view.shapes[i];
  const BodyDesc& desc = view.system.bodies[i];
  BroadPhase::Item item{
      static_cast<int>(i),
      body.dynamic && body.awake,
      desc.owner,
      desc.quiet,
      true,
      bounds_in(shape.bounds, body.axes, body.position, margin + horizon * turning_speed(body, shape))};
  item.box.half += Vec3{std::fabs(body.linear.x), std::fabs(body.linear.y), std::fabs(body.linear.z)} * horizon;
  return item;
}

// What lags was not alarmed. In the k-th of n substeps its speed was then at most bearable / 2(n - k) off, so that it
// is at most 1.3 bearable surprises away from where it was expected, for n = 8; half of one may follow, and its speed
// then was half of one off as well.
void Detector::find_laggards_near(const View& view, std::span<const std::uint8_t> alarmed, double horizon, double step,
                                  std::vector<int>& near) {
  widest_ = std::max(slack + bearable_surprise / 2, hit_speed * step);
  items_.clear(), near.clear();
  for (std::size_t i = 0; i < view.bodies.size(); ++i) {
    if (!alarmed[i] && !view.lags(i)) continue;
    if (!view.shapes[i] || (view.shapes[i]->convexes.empty() && view.shapes[i]->surfaces.empty())) continue;
    if (view.lags(i)) items_.push_back(item_of(view, i, view.lag[i] + horizon, widest_ / 2 + 2.5 * bearable_surprise));
    else items_.push_back(item_of(view, i, horizon, widest_ / 2));
    items_.back().asks = alarmed[i];
  }
  broad_phase_.find_pairs(items_, pairs_);
  for (const BroadPhase::Pair& pair : pairs_) {
    for (const int body : {pair.a, pair.b})
      if (view.lags(static_cast<std::size_t>(body))) near.push_back(body);
  }
}

bool Detector::one_plane_that_stands(const View& view, int ground) const {
  const std::size_t i = static_cast<std::size_t>(ground);
  const Shape& shape = *view.shapes[i];
  const Body& body = view.bodies[i];
  return shape.half_spaces.size() == 1 && shape.convexes.empty() && shape.surfaces.empty() && body.island < 0 &&
         body.linear == Vec3{} && body.angular == Vec3{};
}

// Half-spaces have no box: every body is tried against each.
void Detector::add_half_spaces(const View& view, double horizon, PlaneContacts* planes) {
  if (flat_bodies_.empty()) return;
  on_flat_.clear();
  for (const BroadPhase::Item& item : items_) {
    if (!item.moves || !item.asks) continue;
    for (int flat : flat_bodies_) {
      const Body& ground = view.bodies[static_cast<std::size_t>(flat)];
      for (const HalfSpace& plane : view.shapes[static_cast<std::size_t>(flat)]->half_spaces) {
        const Vec3 n = plain(ground.axes * lane(plane.normal));
        const double height = dot(n, item.box.centre - ground.position) - plane.offset;
        const double down =
            std::fabs(n.x) * item.box.half.x + std::fabs(n.y) * item.box.half.y + std::fabs(n.z) * item.box.half.z;
        if (height - down > widest_ + horizon * length(ground.linear) || !may_touch(view, item.body, flat)) continue;
        on_flat_.push_back({item.body, flat});
        const int island = view.bodies[static_cast<std::size_t>(item.body)].island;
        if (planes && planes->alone(island)) {
          if (one_plane_that_stands(view, flat) && !hasty(view, {item.body, flat}, horizon))
            planes->set_near(view.bodies, static_cast<std::size_t>(item.body), flat);
          else planes->refuse(island);
        }
        break;
      }
    }
  }
  if (planes) {
    const std::size_t all = on_flat_.size();
    std::erase_if(on_flat_, [&](const BroadPhase::Pair& pair) {
      return planes->alone(view.bodies[static_cast<std::size_t>(pair.a)].island);
    });
    Work::add(work_.pairs, all - on_flat_.size());
  }
  // (std::inplace_merge allocates.)
  merged_pairs_.resize(pairs_.size() + on_flat_.size());
  std::merge(pairs_.begin(), pairs_.end(), on_flat_.begin(), on_flat_.end(), merged_pairs_.begin());
  pairs_.swap(merged_pairs_);
}

// By the balls around their centres of mass, which turning does not move.
bool Detector::out_of_reach(const View& view, BroadPhase::Pair pair, double horizon) const {
  const std::size_t a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
  const Body &x = view.bodies[a], &y = view.bodies[b];
  if (!view.shapes[b]->half_spaces.empty()) return false;
  const double reach = view.shapes[a]->reach + view.shapes[b]->reach + widest_ + horizon * length(x.linear - y.linear);
  return length_squared(x.position - y.position) > reach * reach;
}

// Bodies that cannot move against each other have nothing to settle by contacts.
bool Detector::may_touch(const View& view, int a, int b) const {
  const Body &body_a = view.bodies[static_cast<std::size_t>(a)], &body_b = view.bodies[static_cast<std::size_t>(b)];
  if (body_a.cluster >= 0 && body_a.cluster == body_b.cluster) return false;
  return view.system.may_touch(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
}

}  // namespace volvox::physics::native
