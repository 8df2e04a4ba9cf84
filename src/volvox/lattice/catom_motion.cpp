// The part of CatomWorld that moves catoms.
#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/lattice/catom_world.h"

namespace volvox::lattice {

std::int64_t CatomWorld::duration(int motion) const {
  return truncated<std::int64_t>(std::ceil(motions_[motion].steps * options_.motion.ticks - 1e-6));
}

bool CatomWorld::is_held_by(const UnderWay& moving, const Cell& holder) const {
  const Cell from = ensemble_.cell(moving.catom);
  for (int place = 0; place < motions_.places(); ++place)
    if ((motions_[moving.motion].holds >> place & 1) != 0 && motions_.cell(from, place) == holder) return true;
  return false;
}

void CatomWorld::arrive(std::uint32_t catom, int motion) {
  VOLVOX_ASSERT(motion_.moves > 0);  // the referee has counted it
  const Cell from = ensemble_.cell(catom), to = motions_.target(from, motion);
  // A catom stays where it is if its target is blocked or beyond the largest coordinates, or if a catom was put there
  // while it was under way.
  const bool blocked = !blocked_.empty() && std::binary_search(blocked_.begin(), blocked_.end(), pack(to));
  if (blocked || !ensemble_.move(catom, to).ok()) --motion_.moves, ++motion_.blocked;
  else if (somebody_wakes_) wake_around(from), wake_around(to);
}

bool CatomWorld::needs_blocked(const Move& move) const {
  if (blocked_.empty()) return false;
  const Cell from = ensemble_.cell(move.catom);
  for (int place = 0; place < motions_.places(); ++place)
    if ((motions_[move.motion].free >> place & 1) != 0 &&
        std::binary_search(blocked_.begin(), blocked_.end(), pack(motions_.cell(from, place))))
      return true;
  return false;
}

void CatomWorld::move_catoms() {
  loose_wishes_.clear();
  if (ensemble_.loose() > 0) {
    std::erase_if(wishes_, [&](const Move& move) {
      if (ensemble_.has(move.catom)) return false;
      loose_wishes_.push_back(move);
      return true;
    });
    std::sort(loose_wishes_.begin(), loose_wishes_.end(),
              [](const Move& a, const Move& b) { return a.catom < b.catom; });
  }
  if (wishes_.empty() && under_way_.empty()) return;
  if (!blocked_.empty())
    motion_.blocked += std::erase_if(wishes_, [&](const Move& move) { return needs_blocked(move); });
  referee_.decide(ensemble_, key_, wishes_, motion_, threads_);
  if (options_.motion.keep_connected) {
    const std::uint64_t refused = referee_.keep_connected(ensemble_, key_, wishes_);
    VOLVOX_ASSERT(refused <= motion_.moves);
    cuts_refused_ += refused, motion_.moves -= refused;
  }
  // First the catoms that arrive in this tick, by their numbers; then those that set out.
  std::erase_if(under_way_, [&](const UnderWay& moving) {
    if (moving.ends > tick_) return false;
    referee_.release(moving.catom);
    arrive(moving.catom, moving.motion);
    return true;
  });
  const std::size_t earlier = under_way_.size();
  for (const Move& move : wishes_) {
    if (const std::int64_t ticks = duration(move.motion); ticks > 1) {
      under_way_.push_back({move.catom, move.motion, tick_, tick_ + ticks - 1});
      referee_.hold(ensemble_, move);
    } else {
      arrive(move.catom, move.motion);
    }
  }
  wishes_.clear();
  if (under_way_.size() == earlier) return;
  std::sort(under_way_.begin(), under_way_.end(),
            [](const UnderWay& a, const UnderWay& b) { return a.catom < b.catom; });
}

Vec3 CatomWorld::position(const UnderWay& catom) const {
  VOLVOX_ASSERT(catom.begun <= tick_ && tick_ <= catom.ends);
  const double part = real(tick_ - catom.begun) / real(catom.ends - catom.begun + 1);
  return ensemble_.lattice().position(ensemble_.cell(catom.catom)) + motions_.path(catom.motion, part);
}

// Writes nothing if no catom has moved yet, or if every motion takes one tick: then no catom can be under way.
void CatomWorld::archive_motion(Archive& ar) {
  if (ar.loading()) referee_.forget(), under_way_.clear();
  std::int64_t longest = 1;
  for (int motion = 0; motion < motions_.size(); ++motion) longest = std::max(longest, duration(motion));
  const bool nobody_moved = motion_.moves + motion_.blocked + motion_.lost == 0;
  if (options_.motion.usual() && (longest == 1 || nobody_moved)) return;
  ar.section("lattice", "motion");
  ar("cuts_refused", cuts_refused_);
  ar("under_way", under_way_);
  if (!ar.loading()) return;
  std::uint32_t least = 0;
  for (const UnderWay& moving : under_way_) {
    const bool sound = ensemble_.has(moving.catom) && moving.catom >= least && moving.motion < motions_.size() &&
                       moving.begun < tick_ && moving.begun >= tick_ - longest && moving.ends >= tick_ &&
                       moving.ends - tick_ == duration(moving.motion) - 1 - (tick_ - moving.begun);
    if (!sound) ar.fail("the snapshot has a damaged motion");
    if (!ar.ok()) break;
    least = moving.catom + 1;
    referee_.hold(ensemble_, {moving.catom, moving.motion});
  }
  if (!ar.ok()) referee_.forget(), under_way_.clear();
}

}  // namespace volvox::lattice
