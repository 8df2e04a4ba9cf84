#include "volvox/physics/native/detector.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "volvox/base/check.h"
#include "volvox/base/isa.h"

namespace volvox::physics::native {
namespace {

constexpr std::size_t pairs_of_a_chunk = 64;
// Of bodies that turn more than this, other corners may soon be the ones that touch.
constexpr double hasty_turn = 0.05;  // rad

// How far a body that is not alarmed may be from where it was expected when the last of n substeps begins, and how much
// farther it may be after that one if it keeps its speed: in the k-th its speed is at most bearable / 2(n - k) off.
double ways_strayed(double substeps) {
  double sum = substeps > 1.5 ? 1 : 0;
  for (double left = 1; left < substeps - 0.5; ++left) sum += 1 / left;
  return sum * Detector::bearable_surprise / 2;
}

bool before(const ContactPoint& x, const ContactPoint& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }
bool earlier(const ContactPoint& c, const BroadPhase::Pair& p) { return c.a != p.a ? c.a < p.a : c.b < p.b; }

Vec3 felt_turning(const Body& body, const Shape& shape) { return shape.felt(body.angular, body.rotation); }

// How fast turning may move the surface of a body.
double turning_speed(const Body& body, const Shape& shape) { return length(felt_turning(body, shape)) * shape.swing; }

// The contacts that pairs had, for one pair after the other in their order.
class PastContacts {
 public:
  explicit PastContacts(std::span<ContactPoint> sorted) : rest_(sorted) {}

  std::span<ContactPoint> of(BroadPhase::Pair pair) {
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

void place_pairs(std::span<BodyPair> pairs, double horizon) {
  if (isa() == Isa::avx512) place_pairs_avx512(pairs.data(), pairs.size(), horizon);
  else if (isa() == Isa::avx2) place_pairs_avx2(pairs.data(), pairs.size(), horizon);
  else place_pairs_sse2(pairs.data(), pairs.size(), horizon);
}

}  // namespace

void Detector::detect(const View& view, double horizon, double step, ThreadPool* threads,
                      std::vector<ContactPoint>& contacts, PlaneContacts* planes) {
  Work::add(work_.detections, 1);
  slack_ = slack, widest_ = std::max(slack_, hit_speed * step);
  hasty_.clear();
  find_pairs(view, {}, horizon, step, threads, planes);
  foresee_hits(view, step);
  if (planes) planes->exchange(view.bodies, contacts, calm_count_);
  old_.swap(contacts);
  const OldContacts old = in_runs(old_);
  contacts.clear();
  collide_pairs(view, pairs_, horizon, threads, old, contacts);
  keep_sleeping(view, old.calm, contacts), keep_sleeping(view, old.hasty, contacts);
  calm_count_ = contacts.size();
  collide_pairs(view, hasty_, step, threads, old, contacts);
}

void Detector::detect_again(const View& view, std::span<const std::uint8_t> alarmed, double horizon, double step,
                            ThreadPool* threads, std::vector<ContactPoint>& contacts, PlaneContacts& planes) {
  const auto stale = [&](int a, int b) {
    return alarmed[static_cast<std::size_t>(a)] || alarmed[static_cast<std::size_t>(b)];
  };
  Work::add(work_.partial_detections, 1);
  // Whoever is met may have used up half of what is bearable since it was looked at.
  slack_ = slack + bearable_surprise / 2, widest_ = std::max(slack_, hit_speed * step);
  std::erase_if(hasty_, [&](const BroadPhase::Pair& pair) { return stale(pair.a, pair.b); });
  find_pairs(view, alarmed, horizon, step, threads, &planes);
  foresee_hits(view, step);
  calm_count_ += planes.hand_over_refused(view.bodies, contacts, calm_count_);
  // A contact is large: those that stay are copied once, to where they belong.
  old_.swap(contacts);
  VOLVOX_ASSERT(calm_count_ <= old_.size());
  const std::span<ContactPoint> calm = std::span(old_).first(calm_count_), rest = std::span(old_).subspan(calm_count_);
  contacts.clear();
  collide_pairs(view, pairs_, horizon, threads, {calm, rest, alarmed}, contacts);
  calm_count_ = contacts.size();
  collide_pairs(view, hasty_, step, threads, {calm, rest, {}}, contacts);
}

void Detector::detect_hasty(const View& view, double step, ThreadPool* threads, std::vector<ContactPoint>& contacts) {
  Work::add(work_.hasty_detections, 1);
  old_.assign(contacts.begin() + static_cast<std::ptrdiff_t>(calm_count_), contacts.end());
  contacts.resize(calm_count_);
  for (const BroadPhase::Pair& pair : hasty_) {
    for (const int body : {pair.a, pair.b}) {
      const std::size_t i = static_cast<std::size_t>(body);
      turning_[i] = turning_speed(view.bodies[i], *view.shapes[i]);
    }
  }
  collide_pairs(view, hasty_, step, threads, in_runs(old_), contacts);
}

void Detector::find_pairs(const View& view, std::span<const std::uint8_t> alarmed, double horizon, double step,
                          ThreadPool* threads, PlaneContacts* planes) {
  collect_items(view, alarmed, horizon, threads);
  (alarmed.empty() ? broad_phase_ : of_alarmed_).find_pairs(items_, pairs_, threads);
  std::erase_if(pairs_, [&](const BroadPhase::Pair& pair) {
    return out_of_reach(view, pair, horizon) || !may_touch(view, pair.a, pair.b);
  });
  if (alarmed.empty()) drop_neighbours_that_do_not_meet(view, horizon, step);
  for (const BroadPhase::Pair& pair : pairs_) {
    if (planes) planes->refuse(view.bodies[static_cast<std::size_t>(pair.a)].island);
    if (planes) planes->refuse(view.bodies[static_cast<std::size_t>(pair.b)].island);
  }
  let_round_lead(view);
  add_half_spaces(view, horizon, threads, planes);
  set_hasty_apart(view, horizon);
  if (alarmed.empty()) items_of_all_.swap(items_), widest_of_all_ = widest_;
}

// Robots that are beside each other, and near each other by their boxes, but do not meet before the next look, are as
// alone as those that are far apart. Neighbours are all whom such pairs join; they are dropped together or not at all.
// Nothing is lost by it: they are farther apart than the widest slack of any look until the next full one (after an
// alarm it is half of what is bearable wider) and the ways that two may stray. So none of these looks would find a
// contact of a pair that was dropped, unless one of the two has been alarmed before it; and who is alarmed is looked
// for among all.
void Detector::drop_neighbours_that_do_not_meet(const View& view, double horizon, double step) {
  const double within = std::max(slack + bearable_surprise / 2, hit_speed * step) + 2 * ways_strayed(horizon / step);
  const auto island = [&](int body) { return view.bodies[static_cast<std::size_t>(body)].island; };
  const auto between_robots = [&](const BroadPhase::Pair& pair) {
    return island(pair.b) >= 0 && island(pair.a) != island(pair.b);
  };
  const auto neighbours = [&](const BroadPhase::Pair& pair) {
    return neighbours_.root(static_cast<std::uint32_t>(island(pair.a)));
  };
  int islands = 0;
  for (const BroadPhase::Pair& pair : pairs_)
    if (between_robots(pair)) islands = std::max({islands, island(pair.a) + 1, island(pair.b) + 1});
  if (islands == 0) return;
  neighbours_.reset(static_cast<std::size_t>(islands)), meeting_.assign(static_cast<std::size_t>(islands), 0);
  for (const BroadPhase::Pair& pair : pairs_)
    if (between_robots(pair))
      neighbours_.join(static_cast<std::uint32_t>(island(pair.a)), static_cast<std::uint32_t>(island(pair.b)));
  for (const BroadPhase::Pair& pair : pairs_) {
    if (!between_robots(pair)) continue;
    std::uint8_t& meeting = meeting_[neighbours(pair)];
    if (meeting == 0) meeting = may_meet(view, pair, within, horizon) ? 1 : 0;
  }
  std::erase_if(pairs_,
                [&](const BroadPhase::Pair& pair) { return between_robots(pair) && meeting_[neighbours(pair)] == 0; });
}

// Whether two bodies may come so near each other within the horizon if they move as expected.
bool Detector::may_meet(const View& view, const BroadPhase::Pair& pair, double within, double horizon) {
  BodyPair both = body_pair(view, pair, within);
  place_pairs({&both, 1}, horizon);
  if (!both.near) return false;
  if (!both.shape_a->surfaces.empty() || !both.shape_b->surfaces.empty()) return true;
  if (chunks_.empty()) add_chunk();
  Chunk& scratch = chunks_.front();
  scratch.listed.clear();
  list_convexes(both, scratch.room, scratch.listed);
  const bool found = std::ranges::any_of(scratch.listed, [&](const ConvexPair& convexes) {
    return collide(*convexes.a, *convexes.b, both.place, both.margin, scratch.room.manifold, scratch.room.count);
  });
  Work::add(work_.gjk_calls, scratch.room.count.calls), Work::add(work_.gjk_iterations, scratch.room.count.iterations);
  scratch.room.count = {};
  return found;
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
  const std::size_t before = hasty_.size();
  std::size_t calm = 0;
  for (const BroadPhase::Pair& pair : pairs_) {
    if (hasty(view, pair, horizon)) hasty_.push_back(pair);
    else pairs_[calm++] = pair;
  }
  pairs_.resize(calm);
  merge(hasty_, before);
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

// First which bodies and which of their convexes are near each other by their boxes, then how far polyhedra are apart,
// then where the bodies touch. Adds the contacts of the pairs, and among them, in order, those of before that stay.
void Detector::collide_pairs(const View& view, const Pairs& pairs, double horizon, ThreadPool* threads,
                             const OldContacts& old, std::vector<ContactPoint>& contacts) {
  const std::size_t chunks = (pairs.size() + pairs_of_a_chunk - 1) / pairs_of_a_chunk;
  while (chunks_.size() < chunks) add_chunk();
  // One thread finds contacts in their order, and need not move them.
  const bool in_order = !threads || threads->threads() == 1;
  const auto for_chunks = [&](const auto& visit) {
    parallel_for(in_order ? nullptr : threads, chunks, 1, [&](std::size_t i) { visit(i, chunks_[i]); });
  };
  for_chunks([&](std::size_t i, Chunk& chunk) {
    const std::size_t first = i * pairs_of_a_chunk;
    find_near(view, {pairs.data() + first, std::min(pairs_of_a_chunk, pairs.size() - first)}, horizon, old, chunk);
  });
  all_listed_.clear();
  for (std::size_t i = 0; i < chunks; ++i) {
    for (ConvexPair& pair : chunks_[i].listed)
      if (NarrowPhase::handles(*pair.a, *pair.b)) all_listed_.push_back(&pair);
  }
  narrow_phase_.run(all_listed_, threads, work_);
  for_chunks([&](std::size_t i, Chunk& chunk) {
    std::vector<ContactPoint>& found = in_order ? contacts : chunk.found;
    if (!in_order) found.clear();
    // What stays and comes before the first pair of the next chunk.
    const auto begin = [&](std::size_t k) {
      return k == 0 ? old.calm.begin()
                    : std::lower_bound(old.calm.begin(), old.calm.end(), pairs[k * pairs_of_a_chunk], earlier);
    };
    auto stay = begin(i);
    const auto end = old.alarmed.empty() ? stay : i + 1 < chunks ? begin(i + 1) : old.calm.end();
    for (const BodyPair& pair : chunk.pairs) {
      VOLVOX_ASSERT(pair.end_listed <= chunk.listed.size());
      for (; stay != end && earlier(*stay, {pair.a, pair.b}); ++stay)
        if (old.stays(*stay)) found.push_back(*stay);
      add_contacts(pair, std::span(chunk.listed).subspan(pair.first_listed, pair.end_listed - pair.first_listed),
                   horizon, chunk.room, found);
    }
    std::copy_if(stay, end, std::back_inserter(found), [&](const ContactPoint& c) { return old.stays(c); });
    Work::add(work_.gjk_calls, chunk.room.count.calls), Work::add(work_.gjk_iterations, chunk.room.count.iterations);
    chunk.room.count = {};
  });
  for (std::size_t i = 0; i < chunks && !in_order; ++i)
    contacts.insert(contacts.end(), chunks_[i].found.begin(), chunks_[i].found.end());
  if (chunks == 0)
    std::ranges::copy_if(old.calm, std::back_inserter(contacts), [&](const ContactPoint& c) { return old.stays(c); });
  Work::add(work_.pairs, pairs.size());
}

void Detector::add_chunk() {
  Chunk& chunk = chunks_.emplace_back();
  chunk.pairs.reserve(pairs_of_a_chunk), chunk.found.reserve(4 * pairs_of_a_chunk);
}

BodyPair Detector::body_pair(const View& view, const BroadPhase::Pair& pair, double within) const {
  const std::size_t a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
  BodyPair both;
  both.a = pair.a, both.b = pair.b, both.body_a = &view.bodies[a], both.body_b = &view.bodies[b];
  both.shape_a = view.shapes[a].get(), both.shape_b = view.shapes[b].get();
  both.slack = within, both.turning = turning_[a] + turning_[b];
  return both;
}

void Detector::find_near(const View& view, std::span<const BroadPhase::Pair> pairs, double horizon,
                         const OldContacts& old, Chunk& chunk) const {
  chunk.pairs.clear(), chunk.listed.clear();
  for (const BroadPhase::Pair& pair : pairs) chunk.pairs.push_back(body_pair(view, pair, slack_of(view, pair)));
  place_pairs(chunk.pairs, horizon);
  PastContacts calm(old.calm), hasty(old.hasty);
  std::erase_if(chunk.pairs, [&](BodyPair& pair) {
    if (!pair.near && pair.shape_b->half_spaces.empty()) return true;
    pair.past = calm.of({pair.a, pair.b});
    if (pair.past.empty()) pair.past = hasty.of({pair.a, pair.b});
    if (pair.near) list_convexes(pair, chunk.room, chunk.listed);
    return pair.first_listed == pair.end_listed && pair.shape_b->half_spaces.empty() && pair.shape_b->surfaces.empty();
  });
}

// The contacts of calm pairs and, behind them, those of hasty ones are each in order. To sort them into one another
// would move them all. No pair is in both.
Detector::OldContacts Detector::in_runs(std::vector<ContactPoint>& contacts) {
  auto middle = std::is_sorted_until(contacts.begin(), contacts.end(), before);
  if (!std::is_sorted(middle, contacts.end(), before)) {  // by no detection of ours: from a snapshot, perhaps
    std::stable_sort(contacts.begin(), contacts.end(), before);
    middle = contacts.end();
  }
  return {{contacts.begin(), middle}, {middle, contacts.end()}, {}};
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
void Detector::collect_items(const View& view, std::span<const std::uint8_t> alarmed, double horizon,
                             ThreadPool* threads) {
  solid_bodies_.clear(), flat_bodies_.clear();
  turning_.resize(view.bodies.size());
  for (std::size_t i = 0; i < view.bodies.size(); ++i) {
    if (view.lags(i) || !view.system.body_ids.alive_index(i) || !view.shapes[i]) continue;
    const Shape& shape = *view.shapes[i];
    if (!shape.half_spaces.empty()) flat_bodies_.push_back(static_cast<int>(i)), turning_[i] = 0;
    if (!shape.convexes.empty() || !shape.surfaces.empty()) solid_bodies_.push_back(static_cast<int>(i));
  }
  items_.resize(solid_bodies_.size()), islands_.resize(solid_bodies_.size());
  parallel_for(threads, items_.size(), 500, [&](std::size_t k) {
    const std::size_t i = static_cast<std::size_t>(solid_bodies_[k]);
    turning_[i] = turning_speed(view.bodies[i], *view.shapes[i]);
    items_[k] = item_of(view, i, view.bodies[i], horizon, widest_ / 2);
    items_[k].asks = alarmed.empty() || alarmed[i];
    islands_[k] = view.bodies[i].island;
  });
}

// With the room that the body may take up within the horizon.
BroadPhase::Item Detector::item_of(const View& view, std::size_t i, const Body& body, double horizon,
                                   double margin) const {
  const Shape& shape = *view.shapes[i];
  BroadPhase::Item item{static_cast<int>(i),
                        body.dynamic && body.awake,
                        body.owner,
                        body.quiet,
                        true,
                        bounds_in(shape.bounds, body.axes, body.position, margin + horizon * turning_[i])};
  item.box.half += Vec3{std::fabs(body.linear.x), std::fabs(body.linear.y), std::fabs(body.linear.z)} * horizon;
  return item;
}

// What lags was not alarmed. In the k-th of n substeps its speed was then at most bearable / 2(n - k) off, so that it
// is at most 1.3 bearable surprises away from where it was expected, for n = 8; half of one may follow, and its speed
// then was half of one off as well.
// When all contacts were looked for, what lags had a box around all of its way to the end of the look, so that few need
// be asked again.
void Detector::find_laggards_near(const View& view, std::span<const std::uint8_t> alarmed, const Laggards& laggards,
                                  double horizon, double step, std::vector<int>& near) {
  widest_ = std::max(slack + bearable_surprise / 2, hit_speed * step);
  constexpr double strayed = 2.5 * bearable_surprise;
  const double farther = std::max(0.0, widest_ / 2 + strayed - widest_of_all_ / 2) + 1e-6;
  near.clear(), asked_.clear();
  turning_.resize(view.bodies.size());
  const auto touches = [&](std::size_t i) {
    return view.shapes[i] && (!view.shapes[i]->convexes.empty() || !view.shapes[i]->surfaces.empty());
  };
  // Where many are alarmed, to ask everybody is less than to look around each of them.
  constexpr std::size_t bodies_asked_meanwhile = 12;
  const std::size_t alarms = static_cast<std::size_t>(std::ranges::count(alarmed, 1));
  const bool ask_all = alarms * bodies_asked_meanwhile > view.bodies.size();
  for (std::size_t i = 0; i < view.bodies.size(); ++i) {
    if (!alarmed[i] && !(ask_all && view.lags(i))) continue;
    if (!touches(i)) continue;
    asked_.push_back(static_cast<int>(i));
    if (ask_all) continue;
    turning_[i] = turning_speed(view.bodies[i], *view.shapes[i]);
    broad_phase_.for_clusters_near(item_of(view, i, view.bodies[i], horizon, widest_ / 2).box, farther,
                                   [&](std::size_t first, std::size_t last) {
                                     for (std::size_t k = first; k < last; ++k) {
                                       const int body = items_of_all_[k].body;
                                       if (view.lags(static_cast<std::size_t>(body))) asked_.push_back(body);
                                     }
                                   });
  }
  for (const int body : laggards.late)
    if (view.lags(static_cast<std::size_t>(body)) && touches(static_cast<std::size_t>(body))) asked_.push_back(body);
  std::ranges::sort(asked_);
  asked_.erase(std::ranges::unique(asked_).begin(), asked_.end());
  items_.clear();
  for (const int body : asked_) {
    const std::size_t i = static_cast<std::size_t>(body);
    if (view.lags(i)) {
      const Body before = laggards.before(body);
      turning_[i] = turning_speed(before, *view.shapes[i]);
      items_.push_back(item_of(view, i, before, laggards.lag(body) + horizon, widest_ / 2 + strayed));
    } else {
      turning_[i] = turning_speed(view.bodies[i], *view.shapes[i]);
      items_.push_back(item_of(view, i, view.bodies[i], horizon, widest_ / 2));
    }
    items_.back().asks = alarmed[i];
  }
  of_alarmed_.find_pairs(items_, pairs_, nullptr);
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

namespace {

// What a body is to one with half-spaces.
enum NearFlat : std::uint8_t { is_far, is_near, is_calm };

}  // namespace

// Half-spaces have no box: every body is tried against each. First side by side, then in order.
void Detector::add_half_spaces(const View& view, double horizon, ThreadPool* threads, PlaneContacts* planes) {
  const std::size_t flats = flat_bodies_.size();
  if (flats == 0) return;
  on_flat_.clear();
  near_flats_.resize(items_.size() * flats);
  parallel_for(threads, items_.size(), 500,
               [&](std::size_t k) { look_at_half_spaces(view, items_[k], horizon, near_flats_.data() + k * flats); });
  const auto for_each_near = [&](const auto& visit) {
    for (std::size_t k = 0; k < items_.size(); ++k)
      for (std::size_t f = 0; f < flats; ++f)
        if (near_flats_[k * flats + f] != is_far) visit(k, f);
  };
  if (planes) {
    for_each_near([&](std::size_t k, std::size_t f) {
      if (!planes->alone(islands_[k])) return;
      if (near_flats_[k * flats + f] == is_calm)
        planes->set_near(view.bodies, static_cast<std::size_t>(items_[k].body), flat_bodies_[f]);
      else planes->refuse(islands_[k]);
    });
  }
  std::uint64_t alone = 0;
  for_each_near([&](std::size_t k, std::size_t f) {
    if (planes && planes->alone(islands_[k])) ++alone;
    else on_flat_.push_back({items_[k].body, flat_bodies_[f]});
  });
  Work::add(work_.pairs, alone);
  const std::size_t others = pairs_.size();
  pairs_.insert(pairs_.end(), on_flat_.begin(), on_flat_.end());
  merge(pairs_, others);
}

// Calm is who is near one plane that stands, and not in haste: he may be alone there.
void Detector::look_at_half_spaces(const View& view, const BroadPhase::Item& item, double horizon,
                                   std::uint8_t* is) const {
  for (std::size_t f = 0; f < flat_bodies_.size(); ++f) {
    is[f] = is_far;
    if (!item.moves || !item.asks) continue;
    const int flat = flat_bodies_[f];
    const Body& ground = view.bodies[static_cast<std::size_t>(flat)];
    for (const HalfSpace& plane : view.shapes[static_cast<std::size_t>(flat)]->half_spaces) {
      const Vec3 n = plain(ground.axes * lane(plane.normal));
      const double height = dot(n, item.box.centre - ground.position) - plane.offset;
      const double down =
          std::fabs(n.x) * item.box.half.x + std::fabs(n.y) * item.box.half.y + std::fabs(n.z) * item.box.half.z;
      if (height - down > widest_ + horizon * length(ground.linear) || !may_touch(view, item.body, flat)) continue;
      const bool calm = one_plane_that_stands(view, flat) && !hasty(view, {item.body, flat}, horizon);
      is[f] = calm ? is_calm : is_near;
      break;
    }
  }
}

// Both parts are in order. (std::inplace_merge allocates.)
void Detector::merge(Pairs& pairs, std::size_t first_part) {
  const auto middle = pairs.begin() + static_cast<std::ptrdiff_t>(first_part);
  merged_pairs_.resize(pairs.size());
  std::merge(pairs.begin(), middle, middle, pairs.end(), merged_pairs_.begin());
  pairs.swap(merged_pairs_);
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
  // What has no joints, most often the ground, is asked about without a look at descriptions.
  if (view.system.joints_of[static_cast<std::size_t>(b)].empty())
    return (body_a.dynamic || body_b.dynamic) && !quiet_together(body_a, body_b);
  return view.system.may_touch(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
}

}  // namespace volvox::physics::native
