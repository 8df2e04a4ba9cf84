// A long tree cut into segments (see segment_kernel.h): those with the same structure go side by side in lanes, and the
// tree is put together from what each shows of itself, in blocks of six numbers. Exact: cuts are no approximation.
//
// Where a tree is cut depends on its structure alone; what a segment comes to does not depend on who is beside it. So
// neither the registers of the machine nor the number of threads can be seen in the result. Threads share out packs.
// SI units, world frame. Owned by its Tree, which tells it the nodes' bodies and joints.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/island.h"
#include "volvox/physics/native/segment_kernel.h"

namespace volvox::physics::native {

// Nodes [first, last) of a tree in depth-first order. All but the first hang on others of the segment.
struct Segment {
  int first = 0, last = 0;
  int end = -1;    // the node that other segments hang on; -1: none
  int above = -1;  // the segment that this one hangs on; -1: none
  friend bool operator==(const Segment&, const Segment&) = default;
};

// Where to cut a tree whose nodes come in depth-first order, the largest subtree of a node last. A segment follows the
// way to the largest subtree, takes in the small ones beside it, and ends where it is long enough, before a dock if
// there is one, or where two large subtrees part. Segments come in the order of their nodes. Empty: too few of them are
// alike for lanes.
std::vector<Segment> cut_into_segments(const std::vector<NodeShape>& shapes);

// A tree as its segments see it: by node.
struct TreeNodes {
  const std::vector<NodeShape>& shapes;
  const std::vector<int>& bodies;
  const std::vector<int>& joints;  // -1: a free root
};

// What whitening needs of a node.
struct JointFactor {
  double r[3];
  struct Axis {
    double s[6], u[6], root_inv;
  } axes[3];
};

struct SegmentPattern;
class SegmentPack;
class Segments;

// Packs of trees that are gone. Robots that dock and undock all the time would otherwise pay more for new memory than
// for all else.
class SegmentPool {
 public:
  SegmentPool();
  ~SegmentPool();
  void give(Segments&& segments);
  void drop(std::size_t bodies);  // all but what holds so many bodies

 private:
  friend class Segments;
  std::vector<std::unique_ptr<SegmentPack>> packs_;
};

class Segments {
 public:
  // `pool`: of packs that may be used again; null: none. As many lanes as the machine has, at most `most_lanes` (1, 4
  // or 8), which changes nothing but the time.
  Segments(const TreeNodes& tree, std::vector<Segment> segments, SegmentPool* pool, std::size_t most_lanes = 8);
  ~Segments();

  const std::vector<Segment>& all() const { return segments_; }
  int segment_of(int node) const { return segment_of_[static_cast<std::size_t>(node)]; }
  // Calls visit(node) for every node: segments that are side by side go on together, while their data is at hand.
  // The nodes of a segment come in their order.
  template <class Visit>
  void for_nodes(ThreadPool* threads, const Visit& visit) const {
    parallel_for(threads, side_by_side_.size(), 1, [&](std::size_t i) {
      const std::vector<int>& lanes = side_by_side_[i];
      const Segment& one = segments_[static_cast<std::size_t>(lanes[0])];
      for (int node = 0; node < one.last - one.first; ++node) {
        for (const int segment : lanes) visit(segments_[static_cast<std::size_t>(segment)].first + node);
      }
    });
  }

  // As Island has them. `drags`: by node, empty where nothing is held back (see stability_drag). The tree's root hangs
  // on `ground`, unless it is free. From the first substep of a tick to its end, the state is kept in the packs: bodies
  // are written in every substep, joints and drives by commit_joints() at the end.
  void predict(World& world, const TreeNodes& tree, const Support<double>& ground, std::span<const V3<double>> drags,
               double step, ThreadPool* threads);
  void predict_again(ThreadPool* threads);
  // `where`: by dof of the tree, its whitened coordinate.
  Verdict take_up(std::span<const double> coordinates, std::span<const std::size_t> where, const TreeNodes& tree,
                  ThreadPool* threads);
  void finish(World& world, const TreeNodes& tree, double step, const Vec3& fall, ThreadPool* threads);

  void commit_joints(World& world, const TreeNodes& tree, ThreadPool* threads) const;
  void commit_tensions(World& world, const TreeNodes& tree, ThreadPool* threads) const;
  // Whether it holds a state that commit_joints() would write; then the greatest tension of its joints.
  bool ahead(const World& world) const { return tick_ == world.tick; }
  double most_tension() const { return most_tension_; }

  Spatial<double> predicted(int node) const;
  void joint_factor(int node, const NodeShape& shape, JointFactor& out) const;
  const InverseFactor<double>& root_factor() const { return root_; }
  // The response of every segment's end to impulses on it, for whitening.
  void find_responses();
  const double (&response_above(int segment) const)[6][6];

 private:
  friend class SegmentPool;
  // What hangs on the end of a segment, and how it then moves.
  struct Joined {
    S6<double> d{}, end_d{};  // felt by the body above; hanging on the end
    Spatial<double> z{}, end_z{};
    double phi[6][6] = {}, k[6][6] = {};  // v_end = phi v_above + c; its response with the body above at rest is k k^T
    Spatial<double> c{};
    Spatial<double> end_fresh{}, end_change{}, end_passed{};
    double response[6][6] = {};  // of the end
  };
  struct Lane {
    int pack = 0, lane = 0;
  };

  template <class Visit>
  void for_packs(ThreadPool* threads, const Visit& visit) const;
  void solve(bool settle, DrivePass pass, ThreadPool* threads, bool& changed);
  static std::unique_ptr<SegmentPack> find_pack(const SegmentPattern& pattern, int lanes, SegmentPool* pool);
  void put_together();

  std::vector<Segment> segments_;
  std::vector<Joined> joined_;                  // by segment
  std::vector<Lane> lanes_;                     // by segment
  std::vector<int> segment_of_;                 // by node
  std::vector<std::vector<int>> side_by_side_;  // by pack: its segments
  std::vector<std::unique_ptr<SegmentPack>> packs_;
  bool free_ = true;                        // the root hangs on nothing
  std::uint64_t tick_ = ~std::uint64_t{0};  // of the state in the packs
  double most_tension_ = 0;
  Spatial<double> ground_velocity_{};
  InverseFactor<double> root_{};
  Spatial<double> root_fresh_{};  // of the body above the first segment
  double root_response_[6][6] = {};
};

}  // namespace volvox::physics::native
