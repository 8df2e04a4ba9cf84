// An island without loops. See tree_kernel.h for the recursion.
//
// Its inverse has the square root that contacts need. With inv, u, s, T of the factor and the
// root's inertia D = L L^T:
//   Y_root = L^-T;   Y_b[:, k] = (I - s u^T) T Y_p[:, k];   Y_b[:, own] = s sqrt(inv)
// so that W_ij = Y_i Y_j^T. Coordinates of trees with many columns are cut into parts (whitened.h).
//
// The subtrees that hang on the root, its branches, know nothing of each other: the threads
// share them out, each pass over the nodes ends with the root or begins with it.
//
// A long tree whose pieces are alike, a snake, is a LongTree. This one is the oracle of its tests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/island.h"
#include "volvox/physics/native/link_plan.h"
#include "volvox/physics/native/tree_kernel.h"
#include "volvox/physics/native/whitened.h"

namespace volvox::physics::native {

// How a tree is laid out: a root, and for every other body the joint to its parent. In
// depth-first order, parents first.
struct TreePlan {
  struct Step {
    int body = -1;
    int parent = -1;  // a step; -1: the root
    int joint = -1;   // to the parent, or, at the root, to the ground; -1: a free root
  };
  std::vector<Step> steps;
};

// The whitened columns that each node of a tree can move by: those of the root and of the
// axes between it and the root.
struct TreeColumns {
  std::vector<int> columns;        // of all nodes, one behind the other
  std::vector<std::size_t> first;  // by node; one more at the end
  std::vector<int> own;            // by dof
  int total = 0, most = 0;         // in the tree; of a node
  int count(std::size_t node) const { return static_cast<int>(first[node + 1] - first[node]); }
};

class Tree final : public Island {
 public:
  // Trees up to this size may go in a flock.
  static constexpr int most_flock_nodes = most_planned_links, most_flock_columns = 16;

  // `old`: a tree that is gone, whose memory is used again; null: none.
  Tree(const World& world, const TreePlan& plan, std::unique_ptr<Tree> old = nullptr);
  std::size_t room() const { return shapes_.capacity(); }  // how many nodes its memory holds

  const std::vector<NodeShape>& shapes() const { return shapes_; }
  const std::vector<int>& joints() const { return joints_; }
  const std::vector<LinkPlan>& links() const { return links_; }  // by node, where it fits a flock
  const TreeColumns& columns() const { return columns_; }
  double safe_pull() const { return safe_pull_; }
  // Trees with the same number are alike; -1: not small enough for a flock.
  int pattern() const { return pattern_; }
  void set_pattern(int pattern) { pattern_ = pattern; }
  bool fits_flock() const {
    return !anchored_ && shapes_.size() <= most_flock_nodes && dof_count_ + 6 <= most_flock_columns;
  }

  void predict(World& world, double step, ThreadPool* threads) override;
  Vec3 predicted_velocity(int node, const Vec3& arm) const override;
  void whiten(std::span<const int> nodes, ThreadPool* threads) override;
  void clear_coordinates() override;
  std::span<const double> coordinates() const override { return whitened_.coordinates(); }
  int used_columns() const override { return whitened_.parts().front().columns; }
  NodeRows node_rows(int node, bool whole) const override;
  RowSpan span(int node) override;
  RowSpan whole_span(int node) override;
  void write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                  double* rows) const override;
  void move_to(int part) override { walk_.move_to(whitened_.parts()[static_cast<std::size_t>(part)]); }
  int parts() const override { return static_cast<int>(whitened_.parts().size()); }
  int part_above(int part) const override {
    const WhitenedPart* above = whitened_.parts()[static_cast<std::size_t>(part)].above;
    return above ? above->number : -1;
  }
  void add_cross_terms(int part_a, const double* rows_a, int part_b, const double* rows_b, double (&gram)[6]) override;
  Verdict take_up(World& world, ThreadPool* threads) override;
  void predict_again(World& world, ThreadPool* threads) override;
  void finish(World& world, double step, ThreadPool* threads) override;

 private:
  void take_room(Tree& old);
  void add_node(const World& world, const TreePlan& plan, std::size_t step);
  void plan_columns();
  void plan_links(const World& world);
  // Nodes one behind the other.
  struct Range {
    std::size_t first = 0, last = 0;
  };
  template <class Visit>
  void for_branches(ThreadPool* threads, const Visit& visit) const {
    parallel_for(threads, branches_.size(), 1, [&](std::size_t i) { visit(branches_[i]); });
  }
  void plan_branches();
  void load(World& world, double step, ThreadPool* threads);
  void load_node(World& world, std::size_t node, double step, bool drags);
  bool load_drags(World& world, double step, ThreadPool* threads);
  void joint_factor(std::size_t node, JointFactor& out) const;
  void find_safe_pull();
  void tell_drives(World& world, std::size_t node, double step);
  void solve_and_settle(World& world, ThreadPool* threads);
  // `started`: every node is still without what its children add.
  void factor(bool started, ThreadPool* threads);
  void descend_node(std::size_t node);
  template <class Look>
  bool descend(ThreadPool* threads, const Look& look);
  void eliminate_branch(Range branch);
  void give_to_parent(std::size_t node);
  bool settle_drives(World& world, std::size_t node, DrivePass pass);
  Verdict take_up_node(World& world, std::size_t node);
  void book_joint(World& world, std::size_t node, double step) const;
  void finish_node(World& world, std::size_t node, double step, const Vec3& fall);
  Support<double> support(int node) const;

  std::vector<NodeShape> shapes_;
  std::vector<Range> branches_;  // of the nodes behind the root
  std::vector<int> joints_;      // by node; -1: a free root
  std::vector<LinkPlan> links_;
  std::vector<V3<double>> drags_;     // by node
  std::vector<std::uint8_t> pulled_;  // by node: it may need to be held back
  std::vector<Node<double>> nodes_;
  std::vector<Dof<double>> dofs_;
  std::size_t dof_count_ = 0;
  Ground ground_;  // what the root hangs on, if it has a joint
  double safe_pull_ = 0;
  TreeColumns columns_;  // where it fits a flock
  int pattern_ = -1;
  InverseFactor<double> root_{};

  Whitened whitened_;
  PartWalk walk_;
  bool touched_ = false;  // contacts have been whitened since the last solution
};

}  // namespace volvox::physics::native
