#include "volvox/world/open_docks.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::world {

void OpenDocks::clear() {
  docks_.clear(), links_.clear(), owners_.clear();
  listed_reach_ = -1;
}

void OpenDocks::add(DockIndex dock, PlacementIndex owner, std::uint32_t body, double arm) {
  VOLVOX_ASSERT(docks_.empty() || docks_.back() < dock);
  if (owners_.empty() || last_owner_ != owner) {
    owners_.push_back({narrow<std::uint32_t>(docks_.size()), narrow<std::uint32_t>(links_.size())});
    last_owner_ = owner;
  }
  docks_.push_back(dock);
  const auto own = std::find_if(links_.begin() + owners_.back().first_link, links_.end(),
                                [&](const Link& link) { return link.body == body; });
  if (own == links_.end()) links_.push_back({body, arm});
  else own->arm = std::max(own->arm, arm);
}

void OpenDocks::finish() {
  if (!owners_.empty()) owners_.push_back({narrow<std::uint32_t>(docks_.size()), narrow<std::uint32_t>(links_.size())});
}

OpenDocks::Box OpenDocks::box_of(std::uint32_t owner, std::span<const Pose> poses) const {
  const auto around = [&](const Link& link) -> Box {
    const Vec3 arm{link.arm, link.arm, link.arm};
    return {poses[link.body].position - arm, poses[link.body].position + arm};
  };
  std::uint32_t link = owners_[owner].first_link;
  Box all = around(links_[link]);
  while (++link < owners_[owner + 1].first_link) {
    const Box box = around(links_[link]);
    all.low = {std::min(all.low.x, box.low.x), std::min(all.low.y, box.low.y), std::min(all.low.z, box.low.z)};
    all.high = {std::max(all.high.x, box.high.x), std::max(all.high.y, box.high.y), std::max(all.high.z, box.high.z)};
  }
  return all;
}

bool OpenDocks::within(const Box& inner, const Box& outer) {
  return inner.low.x >= outer.low.x && inner.low.y >= outer.low.y && inner.low.z >= outer.low.z &&
         inner.high.x <= outer.high.x && inner.high.y <= outer.high.y && inner.high.z <= outer.high.z;
}

// True where rounding could decide.
bool OpenDocks::near(const Box& a, const Box& b, double reach) {
  const double least = 1.000001 * reach;
  return a.low.x - b.high.x <= least && b.low.x - a.high.x <= least && a.low.y - b.high.y <= least &&
         b.low.y - a.high.y <= least && a.low.z - b.high.z <= least && b.low.z - a.high.z <= least;
}

const std::vector<std::uint32_t>& OpenDocks::owners_within(double reach, std::span<const Pose> poses) {
  owners_found_.clear();
  if (size() < 2 || reach <= 0) return owners_found_;
  boxes_.resize(size());
  bool holds = listed_reach_ == reach;
  for (std::uint32_t i = 0; i < size(); ++i) {
    boxes_[i] = box_of(i, poses);
    holds = holds && within(boxes_[i], listed_boxes_[i]);
  }
  if (!holds) list_pairs(reach);
  found_.assign(size(), all_);
  for (const auto& [a, b] : pairs_)
    if (near(boxes_[a], boxes_[b], reach)) found_[a] = found_[b] = 1;
  for (std::uint32_t i = 0; i < size(); ++i)
    if (found_[i] != 0) owners_found_.push_back(i);
  return owners_found_;
}

void OpenDocks::list_pairs(double reach) {
  ++lists_made_;
  listed_reach_ = reach;
  pairs_.clear();
  double total = 0;
  for (const Box& box : boxes_) total += length(box.high - box.low);
  const double margin = total / (8 * real(size()));  // an eighth of a robot
  double largest = 0;
  listed_boxes_.clear(), centres_.clear();
  for (const Box& box : boxes_) {
    const Vec3 around{margin, margin, margin};
    listed_boxes_.push_back({box.low - around, box.high + around});
    centres_.push_back((box.low + box.high) * 0.5);
    largest = std::max(largest, length(listed_boxes_.back().high - listed_boxes_.back().low));
  }
  all_ = !(largest * real(size()) <= much_larger * (total + 2 * margin * real(size())));
  if (all_) return;
  const double wide = 1.000001 * (largest + 2 * reach);  // boxes that are near each other in x, y and z
  grid_.fill(centres_, 2 * wide);
  grid_.near_pairs(wide, [&](std::uint32_t a, std::uint32_t b, double) {
    if (pairs_.size() <= most_pairs_an_owner * size() && near(listed_boxes_[a], listed_boxes_[b], reach))
      pairs_.emplace_back(a, b);
  });
  all_ = pairs_.size() > most_pairs_an_owner * size();
  if (all_) pairs_.clear();
}

std::size_t OpenDocks::memory_bytes() const {
  return sizeof *this + docks_.capacity() * sizeof(DockIndex) + links_.capacity() * sizeof(Link) +
         owners_.capacity() * sizeof(Owner) + pairs_.capacity() * sizeof(pairs_[0]) +
         (boxes_.capacity() + listed_boxes_.capacity()) * sizeof(Box) + centres_.capacity() * sizeof(Vec3) +
         found_.capacity() + owners_found_.capacity() * 4 + grid_.memory_bytes();
}

}  // namespace volvox::world
