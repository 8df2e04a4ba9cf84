// The part of MixedWorld that holds and rolls catoms in dynamics by their magnets.
#include <algorithm>
#include <cmath>

#include "volvox/base/union_find.h"
#include "volvox/mixed/mixed_world.h"
#include "volvox/physics/system.h"

namespace volvox::mixed {

// With magnets in single substeps: their forces are those of the poses at the beginning of each.
StepStatus MixedWorld::advance(Time begin, Time end) {
  physics::Engine& engine = bodies_.engine();
  if (!rings_) {
    for (const Loose& one : loose_) bodies_.slow_down(one.body);
    return engine.advance(begin, end);
  }
  set_magnets();
  const int count = physics::substep_count((end - begin).seconds(), options_.max_substep);
  const auto start_of = [&](int substep) { return begin + Time{(end - begin).ns * substep / count}; };
  for (int i = 0; i < count; ++i) {
    for (const Loose& one : loose_) bodies_.slow_down(one.body);
    rings_->pull(engine);
    if (StepStatus status = engine.advance(start_of(i), start_of(i + 1)); !status.ok()) return status;
  }
  return {};
}

// One at a time in a group, and only who holds nothing together: its neighbours hang together without it.
bool MixedWorld::may_roll(std::uint32_t catom, std::uint32_t pivot) const {
  const auto index = [&](std::uint32_t id) { return find_loose(id) - loose_.data(); };
  if (find_loose(pivot) == nullptr) return false;
  UnionFind all(loose_.size()), others(loose_.size());
  std::vector<std::uint32_t> neighbors;
  for (const lattice::Touch& touch : touches_) {
    if (find_loose(touch.a) == nullptr || find_loose(touch.b) == nullptr) continue;
    const auto a = narrow<std::uint32_t>(index(touch.a)), b = narrow<std::uint32_t>(index(touch.b));
    (void)all.join(a, b);
    if (touch.a != catom && touch.b != catom) (void)others.join(a, b);
    else neighbors.push_back(touch.a == catom ? b : a);
  }
  if (neighbors.empty()) return false;
  const auto own = narrow<std::uint32_t>(index(catom));
  for (const Rolling& one : rolling_)
    if (all.root(narrow<std::uint32_t>(index(one.catom))) == all.root(own)) return false;
  return std::all_of(neighbors.begin(), neighbors.end(),
                     [&](std::uint32_t other) { return others.root(other) == others.root(neighbors.front()); });
}

void MixedWorld::begin_rolls() {
  for (const lattice::Move& wish : catoms_.loose_wishes()) {
    const int port = wish.motion / 2;  // motion.h, roll_about
    const std::uint32_t pivot = catoms_.neighbor(wish.catom, port);
    if (find_loose(wish.catom) == nullptr || pivot == lattice::nobody || !may_roll(wish.catom, pivot)) {
      ++changes_.rolls_refused;
      continue;
    }
    const Pose own = pose(wish.catom), about = this->pose(pivot);
    const Vec3 way = about.position - own.position;
    Rolling rolling{wish.catom,
                    pivot,
                    narrow<std::int8_t>(wish.motion % 2 == 0 ? 1 : -1),
                    rings_->facing(own, way),
                    rings_->facing(about, -way),
                    0};
    const auto place = std::lower_bound(rolling_.begin(), rolling_.end(), wish.catom,
                                        [](const Rolling& one, std::uint32_t id) { return one.catom < id; });
    rolling_.insert(place, rolling);
    ++changes_.rolls;
  }
}

void MixedWorld::set_magnets() {
  rings_->clear();
  const auto rolls = [&](std::uint32_t catom) {
    return std::any_of(rolling_.begin(), rolling_.end(), [&](const Rolling& one) { return one.catom == catom; });
  };
  for (const lattice::Touch& touch : touches_) {
    const Loose *a = find_loose(touch.a), *b = find_loose(touch.b);
    if (a == nullptr || b == nullptr || rolls(touch.a) || rolls(touch.b)) continue;
    rings_->hold(a->body, bodies_.pose(a->body), b->body, bodies_.pose(b->body));
  }
  for (const Rolling& one : rolling_)
    rings_->roll(one, options_.rings->features / 6, find_loose(one.catom)->body, find_loose(one.pivot)->body);
}

void MixedWorld::end_rolls(double dt) {
  const int steps = options_.rings->features / 6;
  for (Rolling& one : rolling_) one.time += dt;
  std::erase_if(rolling_, [&](const Rolling& one) {
    if (one.time < rings_->roll_time(steps)) return false;
    // Which feature of the pivot it faces now, and which it should.
    const Pose pivot = pose(one.pivot);
    const int features = options_.rings->features;
    const int made =
        (one.turn * (rings_->facing(pivot, pose(one.catom).position - pivot.position) - one.of_pivot) + 2 * features) %
        features;
    changes_.steps_missed += narrow<std::uint64_t>(made > steps ? steps : steps - made);
    changed_ = true;
    return true;
  });
}

}  // namespace volvox::mixed
