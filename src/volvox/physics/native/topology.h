// Which bodies hang together, and how each island is laid out. What comes out depends only on
// the bodies and joints that there are, not on the order in which they came and went.
//
// Islands whose joints change are taken apart, and what hangs together is laid out anew; long trees only where they are
// touched: their other segments stay what they are (docs/decisions/0027).
// By one thread, when joints have changed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "volvox/physics/native/contact_solver.h"
#include "volvox/physics/native/island.h"
#include "volvox/physics/native/long_tree.h"
#include "volvox/physics/native/segment_cut.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {

class Topology {
 public:
  // As many lanes as the machine has for segments of long trees, at most `most_lanes` (1, 4 or 8), which changes
  // nothing but the time.
  explicit Topology(int most_lanes = SegmentPack::most_lanes) : spare_packs_(most_lanes) {}
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const Islands& islands() const { return islands_; }
  Islands& islands() { return islands_; }

  // A body came, went or changed its joints: its island is laid out anew at the next update.
  void touch(World& world, std::size_t body);
  void update(World& world);
  // Another number whenever islands have changed.
  std::uint64_t version() const { return version_; }

 private:
  // Its segments are loose, and its slot waits for who gets most of them.
  struct Broken {
    int slot = -1;
    std::size_t bodies = 0;
    std::unique_ptr<LongTree> tree;
  };

  void dissolve(World& world, int island);
  void open(World& world, int body);
  void break_up_long_trees(World& world);
  void break_up(World& world, int island, std::span<const int> edited);
  bool whole(int body) const;
  void melt(World& world, Segment& segment);
  void melt_units(World& world);
  void gather(const World& world, std::size_t body);
  void find_ends(const World& world);
  void build(World& world);
  bool build_long_tree(World& world);
  std::vector<std::unique_ptr<Segment>> lay_out_segments(World& world, const CutRule& rule);
  std::unique_ptr<Segment> keep_or_cut(World& world, SegmentCutter& cutter, const Segment::Link& first, int above_body);
  std::unique_ptr<Segment> spare_segment();
  void put_spare(std::unique_ptr<Segment> segment);
  int slot_for(const std::vector<std::unique_ptr<Segment>>& segments, std::unique_ptr<LongTree>& tree);
  int free_slot();
  void find_clusters(World& world, std::span<const int> bodies, std::span<const int> joints) const;
  void find_changed_clusters(World& world);
  int pattern_of(const Tree& tree);
  std::unique_ptr<Tree> spare_tree(std::size_t nodes);
  void drop_spares(std::size_t bodies);

  Islands islands_;
  std::uint64_t version_ = 0;
  struct Pattern {
    int number;
    std::vector<NodeShape> shapes;
    std::vector<LinkPlan> links;
  };
  std::map<std::size_t, std::vector<Pattern>> patterns_;  // by hash
  int pattern_count_ = 0;
  std::vector<int> free_slots_;
  std::vector<std::unique_ptr<Tree>> spares_;  // gone; their memory serves others
  std::vector<int> member_;                    // by body: its place among the members of its island, when it was built
  std::vector<int> touched_;                   // bodies whose island is gone
  std::vector<std::uint8_t> open_;             // by body: waits for an island
  std::vector<int> members_;                   // bodies of the island being built, in the order found
  std::vector<int> joints_;                    // its joints, each once, by index

  SegmentSpots spots_;  // by body
  SegmentPatterns segment_patterns_;
  SegmentPacks spare_packs_;
  std::vector<std::unique_ptr<Segment>> spare_segments_;
  std::vector<int> edited_;            // bodies of long trees whose joints have changed
  std::vector<std::uint8_t> reached_;  // by body: see find_changed_clusters; zero
  // Of long trees that are broken up, until they are put together again: the segments that stay, by their order in
  // here; their packs.
  std::vector<Broken> broken_;
  std::vector<std::unique_ptr<Segment>> loose_;
  std::vector<std::unique_ptr<SegmentPack>> loose_packs_;
  // Of the island being built: segments that stay; what it hangs on the ground by; how many joints hold two of its
  // bodies together.
  std::vector<Segment*> units_;
  Segment::Link root_;
  std::size_t anchors_ = 0, inner_ = 0;
};

}  // namespace volvox::physics::native
