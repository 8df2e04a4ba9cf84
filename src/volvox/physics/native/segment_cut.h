// Where a long tree is cut into segments.
//
// A segment follows the way to the largest subtree, takes in the twigs beside it, and ends where it is long enough,
// before a dock if there is one, or where two large subtrees part. In trees of 512 bodies and more, docks between
// bodies with numbers near each other are cut where a block of numbers begins (as many whole modules as 64 bodies
// hold): a chain whose modules stand in order is then cut in the same places wherever else it is opened, closed or
// joined to others, and all its segments look alike. Every choice is made from what is near it and lies away from the
// root, so that segments elsewhere stay (docs/decisions/0027); what comes out is deterministic: it depends on the
// joints that there are alone, not on how they came to be. By one thread, between ticks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "volvox/physics/native/island.h"
#include "volvox/physics/native/segment.h"

namespace volvox::physics::native {

// How trees of so many bodies are cut.
struct CutRule {
  int target = 0;       // bodies of a segment
  int twig = 0;         // subtrees up to this size are taken in
  bool blocks = false;  // of numbers

  static constexpr std::size_t fewest_in_blocks = 512;
  explicit CutRule(std::size_t bodies);
};

// Patterns of which there are segments or packs: each once.
class SegmentPatterns {
 public:
  std::shared_ptr<const SegmentPattern> find(SegmentPattern pattern);

 private:
  std::map<std::size_t, std::vector<std::weak_ptr<const SegmentPattern>>> known_;  // by hash
  std::size_t sweep_at_ = 64;
};

class SegmentCutter {
 public:
  SegmentCutter(const World& world, const CutRule& rule, SegmentPatterns& patterns)
      : world_(world), rule_(rule), patterns_(patterns) {}

  // The segment that begins with a body and hangs by a joint on the body above (-1: on the ground or on nothing).
  // There must be no loop behind it.
  void cut(const Segment::Link& first, int above_body, Segment& out);
  // Whether what hangs there is more than a twig.
  bool large(const Segment::Link& link) { return count(link, rule_.twig + 1) > rule_.twig; }

 private:
  struct Child {
    int size;
    Segment::Link link;
  };
  template <class Visit>
  void for_links(int body, int but_joint, const Visit& visit) const;
  int count(const Segment::Link& link, int most);
  int add(Segment& out, const Segment::Link& link, int parent) const;
  void add_twig(Segment& out, const Segment::Link& link, int parent);
  bool is_dock(const Segment::Link& link) const {
    return world_.system.joint_descs[static_cast<std::size_t>(link.joint)].type == JointType::dock;
  }
  bool ends_before(const Segment& out, const Segment::Link& here, int module, const Segment::Link& next) const;
  void describe(Segment& out) const;

  const World& world_;
  CutRule rule_;
  SegmentPatterns& patterns_;
  std::vector<Segment::Link> open_;
};

// Whether so many of them are alike that lanes gain more than segments cost.
bool enough_alike(const std::vector<std::unique_ptr<Segment>>& segments);

}  // namespace volvox::physics::native
