// How a long tree is made of its segments: what follows from their list.
#include <algorithm>
#include <utility>

#include "volvox/base/check.h"
#include "volvox/physics/native/long_tree.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// A pattern with fewer segments is not worth wide lanes.
constexpr int fewest_side_by_side = 3;

// Of the segments of one pattern.
struct Kind {
  std::shared_ptr<const SegmentPattern> pattern;
  std::vector<Segment*> segments;
  std::vector<SegmentPack*> packs;
};

std::vector<Kind> by_pattern(const std::vector<std::unique_ptr<Segment>>& segments) {
  std::vector<Kind> kinds;
  for (const auto& segment : segments) {
    auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.pattern == segment->pattern; });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {segment->pattern, {}, {}});
    kind->segments.push_back(segment.get());
  }
  return kinds;
}

// What is in the least full of several packs goes into the others, as long as it fits.
void close_up(std::vector<SegmentPack*>& packs) {
  while (packs.size() > 1) {
    int room = 0;
    SegmentPack* least = packs.front();
    for (SegmentPack* pack : packs) {
      room += pack->lanes() - pack->taken();
      if (pack->taken() < least->taken()) least = pack;
    }
    if (room - (least->lanes() - least->taken()) < least->taken()) return;
    std::erase(packs, least);
    std::size_t to = 0;
    for (int lane = 0; lane < least->lanes(); ++lane) {
      Segment* const segment = least->owner(lane);
      if (!segment) continue;
      while (packs[to]->taken() == packs[to]->lanes()) ++to;
      least->drop(*segment);
      packs[to]->take(*segment);
    }
  }
}

}  // namespace

SegmentPacks::SegmentPacks(int most_lanes) : lanes_(std::min(SegmentPack::lanes_of_machine(), most_lanes)) {}

std::unique_ptr<SegmentPack> SegmentPacks::get(const std::shared_ptr<const SegmentPattern>& pattern, int lanes) {
  for (std::size_t i = spare_.size(); i-- > 0;) {
    if (spare_[i]->lanes() != lanes || spare_[i]->pattern() != pattern) continue;
    std::unique_ptr<SegmentPack> found = std::move(spare_[i]);
    spare_.erase(spare_.begin() + static_cast<std::ptrdiff_t>(i));
    return found;
  }
  return SegmentPack::make(pattern, lanes);
}

void SegmentPacks::give(std::unique_ptr<SegmentPack> pack) {
  VOLVOX_ASSERT(pack->taken() == 0);
  spare_.push_back(std::move(pack));
}

// The latest are the likeliest to fit.
void SegmentPacks::drop(std::size_t bodies) {
  std::size_t room = 0, kept = 0;
  while (kept < spare_.size() && room + spare_[spare_.size() - 1 - kept]->room() <= bodies)
    room += spare_[spare_.size() - 1 - kept++]->room();
  spare_.erase(spare_.begin(), spare_.end() - static_cast<std::ptrdiff_t>(kept));
}

void LongTree::take(std::vector<std::unique_ptr<Segment>> segments, std::vector<std::unique_ptr<SegmentPack>>& packs,
                    const World& world, SegmentPacks& spare) {
  VOLVOX_ASSERT(!segments.empty() && segments_.empty() && packs_.empty());
  segments_ = std::move(segments);
  const Segment& root = *segments_[0];
  anchored_ = root.joints[0] >= 0;
  if (anchored_) {
    const JointDesc& desc = world.system.joint_descs[at(root.joints[0])];
    ground_.body = root.shapes[0].flipped ? desc.b : desc.a;
  }
  tick_ = ~std::uint64_t{0};
  touched_ = false;
  link_segments();
  link_parts();
  find_safe_pull(world);
  share_out_lanes(packs, spare);
}

std::vector<std::unique_ptr<Segment>> LongTree::release(std::vector<std::unique_ptr<SegmentPack>>& packs) {
  for (auto& pack : packs_) packs.push_back(std::move(pack));
  packs_.clear();
  return std::exchange(segments_, {});
}

void LongTree::link_segments() {
  std::size_t bodies = 0;
  first_.clear();
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    Segment& own = *segments_[i];
    own.order = static_cast<int>(i);
    own.above = own.above_body < 0 ? -1 : spot(own.above_body).segment->order;
    // What it hangs on is there before it, and it hangs on the end.
    VOLVOX_ASSERT(i == 0 ? own.above < 0 : own.above >= 0 && own.above < own.order);
    VOLVOX_ASSERT(i == 0 || spot(own.above_body).node == segment(own.above).end);
    first_.push_back(bodies);
    bodies += own.bodies.size();
  }
  bodies_.clear();
  bodies_.reserve(bodies);
  for (const auto& own : segments_) bodies_.insert(bodies_.end(), own->bodies.begin(), own->bodies.end());
}

void LongTree::link_parts() {
  parts_.clear();
  for (const auto& own : segments_) {
    own->first_part = static_cast<int>(parts_.size());
    for (WhitenedPart& part : own->whitened.parts()) {
      if (&part == &own->whitened.parts()[0]) {
        Segment* const above = own->above >= 0 ? &segment(own->above) : nullptr;
        part.above = above ? &above->whitened.part_of(at(above->end)) : nullptr;
        part.handle_rows = above ? above->whitened.y(at(above->end)) : nullptr;
      }
      part.number = static_cast<int>(parts_.size());
      part.depth = part.above ? part.above->depth + 1 : 0;
      parts_.push_back(&part);
    }
  }
  walk_.begin(*parts_[0]);
}

// The force times step squared below which no link of the tree can need to be held back.
void LongTree::find_safe_pull(const World& world) {
  safe_pull_ = 1e300;
  for (const auto& own : segments_) {
    double arm = own->end_arm;
    for (const Segment::Link& link : own->below) {
      const JointFrames& frames = world.frames[at(link.joint)];
      const bool flipped = static_cast<int>(world.system.joint_descs[at(link.joint)].b.index) != link.body;
      arm += length((flipped ? frames.b : frames.a).position);
    }
    const Vec3& m = own->shapes[at(own->end)].moments;
    safe_pull_ = std::min(safe_pull_, own->safe_pull);
    if (arm > 0) safe_pull_ = std::min(safe_pull_, std::min({m.x, m.y, m.z}) / arm);
  }
}

// Who has a lane keeps it where that costs nobody else more.
void LongTree::share_out_lanes(std::vector<std::unique_ptr<SegmentPack>>& packs, SegmentPacks& spare) {
  const auto is_own = [&](const Segment& segment) {
    return at(segment.order) < segments_.size() && segments_[at(segment.order)].get() == &segment;
  };
  for (const auto& segment : segments_) {
    if (segment->pack) ++segment->pack->visits;
  }
  for (auto& pack : packs) {
    const int mine = pack ? std::exchange(pack->visits, 0) : 0;
    if (mine == 0) continue;
    if (2 * mine >= pack->taken()) {
      for (int lane = 0; lane < pack->lanes(); ++lane) {  // of another tree: it finds another lane
        Segment* const segment = pack->owner(lane);
        if (segment && !is_own(*segment)) pack->drop(*segment);
      }
      packs_.push_back(std::move(pack));
    } else {
      for (int lane = 0; lane < pack->lanes(); ++lane) {
        Segment* const segment = pack->owner(lane);
        if (segment && is_own(*segment)) pack->drop(*segment);
      }
    }
  }
  std::erase(packs, nullptr);
  std::vector<Kind> kinds = by_pattern(segments_);
  for (const auto& pack : packs_) {
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.pattern == pack->pattern(); });
    VOLVOX_ASSERT(kind != kinds.end());
    kind->packs.push_back(pack.get());
  }
  for (Kind& kind : kinds) {
    const bool side_by_side = static_cast<int>(kind.segments.size()) >= fewest_side_by_side;
    const int lanes = side_by_side ? spare.lanes() : 1;
    for (SegmentPack* pack : kind.packs) {
      if (pack->lanes() == lanes) continue;
      for (int lane = 0; lane < pack->lanes(); ++lane)
        if (Segment* const segment = pack->owner(lane)) pack->drop(*segment);
    }
    std::erase_if(kind.packs, [&](const SegmentPack* pack) { return pack->lanes() != lanes; });
    for (Segment* segment : kind.segments) {
      if (segment->pack) continue;
      auto room = std::find_if(kind.packs.begin(), kind.packs.end(),
                               [](const SegmentPack* pack) { return pack->taken() < pack->lanes(); });
      if (room == kind.packs.end()) {
        packs_.push_back(spare.get(kind.pattern, lanes));
        room = kind.packs.insert(kind.packs.end(), packs_.back().get());
      }
      (*room)->take(*segment);
    }
    close_up(kind.packs);
  }
  for (auto& pack : packs_) {
    if (pack->taken() > 0) pack->prepare();
    else spare.give(std::move(pack));
  }
  std::erase(packs_, nullptr);
}

}  // namespace volvox::physics::native
