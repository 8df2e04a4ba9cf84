// A long tree, cut into segments (segment_cut.h): those with the same structure go side by side in lanes, and the tree
// is put together from what each shows of itself, in blocks of six numbers. Exact: cuts are no approximation.
//
// A tree is the list of its segments and little more, so that trees can be split and joined at the cost of what
// changes: segments stay, and what follows from the list is integers. Its nodes go by the numbers of their bodies.
//
// Which segments there are depends on the joints alone; what a segment comes to does not depend on who is beside it.
// So neither the registers of the machine, nor the number of threads, nor the order in which modules docked can be seen
// in the result. Threads share out packs.
// SI units, world frame. Laid out by one thread, between ticks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/island.h"
#include "volvox/physics/native/segment_join.h"

namespace volvox::physics::native {

// Where bodies are that belong to a segment.
struct SegmentSpot {
  Segment* segment = nullptr;
  int node = -1;
};
using SegmentSpots = std::vector<SegmentSpot>;  // by body

// Packs that nobody needs now. Robots that dock and undock all the time would otherwise pay more for new memory than
// for all else. As many lanes as the machine has, at most `most_lanes` (1, 4 or 8), which changes nothing but the time.
class SegmentPacks {
 public:
  explicit SegmentPacks(int most_lanes = SegmentPack::most_lanes);
  int lanes() const { return lanes_; }
  std::unique_ptr<SegmentPack> get(const std::shared_ptr<const SegmentPattern>& pattern, int lanes);
  void give(std::unique_ptr<SegmentPack> pack);
  void drop(std::size_t bodies);  // all but what holds so many bodies

 private:
  int lanes_;
  std::vector<std::unique_ptr<SegmentPack>> spare_;
};

class LongTree final : public Island {
 public:
  // Trees with more bodies may be cut.
  static constexpr std::size_t most_uncut = 96;

  explicit LongTree(const SegmentSpots& spots) : Island({}), spots_(spots) {}

  // The segments, what a segment hangs on before it. Those that have a lane bring their packs along: `packs`, of which
  // those are taken out that this tree needs.
  void take(std::vector<std::unique_ptr<Segment>> segments, std::vector<std::unique_ptr<SegmentPack>>& packs,
            const World& world, SegmentPacks& spare);
  // The other way round; the segments keep their lanes.
  std::vector<std::unique_ptr<Segment>> release(std::vector<std::unique_ptr<SegmentPack>>& packs);
  const std::vector<std::unique_ptr<Segment>>& segments() const { return segments_; }
  const std::vector<std::unique_ptr<SegmentPack>>& packs() const { return packs_; }

  void predict(World& world, double step, ThreadPool* threads) override;
  Vec3 predicted_velocity(int node, const Vec3& arm) const override;
  void clear_coordinates() override;
  std::span<const double> coordinates() const override { return {}; }  // it has several parts
  NodeRows node_rows(int node, bool whole) const override;
  void whiten(std::span<const int> nodes, ThreadPool* threads) override;
  RowSpan span(int node) override;
  void write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                  double* rows) const override;
  void move_to(int part) override { walk_.move_to(part_at(part)); }
  int parts() const override { return static_cast<int>(parts_.size()); }
  int part_above(int part) const override { return part_at(part).above ? part_at(part).above->number : -1; }
  void add_cross_terms(int part_a, const double* rows_a, int part_b, const double* rows_b, double (&gram)[6]) override;
  Verdict take_up(World& world, ThreadPool* threads) override;
  void predict_again(World& world, ThreadPool* threads) override;
  void finish(World& world, double step, ThreadPool* threads) override;
  void commit_joints(World& world, ThreadPool* threads) const override;

 private:
  template <class Visit>
  void for_packs(ThreadPool* threads, const Visit& visit) const {
    parallel_for(threads, packs_.size(), 1, [&](std::size_t i) { visit(*packs_[i]); });
  }
  const SegmentSpot& spot(int body) const { return spots_[static_cast<std::size_t>(body)]; }
  Segment& segment(int index) const { return *segments_[static_cast<std::size_t>(index)]; }
  WhitenedPart& part_at(int part) const { return *parts_[static_cast<std::size_t>(part)]; }
  void link_segments();
  void link_parts();
  void find_safe_pull(const World& world);
  void share_out_lanes(std::vector<std::unique_ptr<SegmentPack>>& packs, SegmentPacks& spare);
  bool load_drags(const World& world, double step, ThreadPool* threads);
  void read_tensions(const World& world, ThreadPool* threads);
  void solve(bool settle, DrivePass pass, ThreadPool* threads, bool& changed);
  void put_together();
  void find_responses();
  const SixBySix& response_above(const Segment& segment) const;

  const SegmentSpots& spots_;
  std::vector<std::unique_ptr<Segment>> segments_;
  std::vector<std::unique_ptr<SegmentPack>> packs_;
  std::vector<WhitenedPart*> parts_;  // by number
  std::vector<std::size_t> first_;    // by segment: its first node among all
  PartWalk walk_;
  bool touched_ = false;  // contacts have been whitened since the last solution
  Ground ground_;
  double safe_pull_ = 0;
  std::vector<double> tensions_;            // by node
  std::vector<V3<double>> drags_;           // by node
  std::vector<std::uint8_t> pulled_;        // by node: it may need to be held back
  std::uint64_t tick_ = ~std::uint64_t{0};  // of the state in the packs
  double most_tension_ = 0;
  InverseFactor<double> root_{};
  Spatial<double> root_fresh_{};  // of what the first segment hangs on
  SixBySix root_response_ = {};
};

}  // namespace volvox::physics::native
