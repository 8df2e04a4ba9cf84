// Whitened coordinates (see tree.h) of nodes in depth-first order: those of a tree, or those of a segment of one.
//
// They are cut into parts of few columns, since rows of contacts should be short. A part starts at a body, its handle,
// whose six motions are the part's first six columns (C C^T is the handle's response). Work goes on in one part at a
// time; moving to another carries impulses up (climb) and velocities down (descend).
// World frame. A part belongs to one tree, and one thread moves about in it; nodes of different segments may be
// whitened by several.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/physics/native/spatial.h"
#include "volvox/physics/native/tree_kernel.h"

namespace volvox::physics::native {

// What whitening needs of a node.
struct JointFactor {
  double r[3];
  struct Axis {
    double s[6], u[6], root_inv;
  } axes[3];
};

struct WhitenedPart {
  WhitenedPart* above = nullptr;  // null: none
  int number = 0;                 // among the parts of the tree
  int depth = 0;                  // how many are above it
  int columns = 0, width = 0;     // used, and with what fills the last block
  double* coordinates = nullptr;
  const double* handle_rows = nullptr;  // the handle's six rows in the part above
  double* way = nullptr;                // six rows of the same width: C^-1 times these
  double factor[6][6]{};                // C
  double known[6]{};                    // the handle's coordinates as the part above knows them

  // `response`: of the handle; its lower triangle is read.
  void hold(const double (&response)[6][6]);
  // After that, and after the handle's rows are there.
  void find_way();
  void hold_root(const InverseFactor<double>& root);
};

class Whitened {
 public:
  // Trees with no more columns than this are one part; longer ones are cut. Short parts keep the rows of a contact
  // short, long ones save moves between parts.
  static constexpr int most_columns = 64, most_columns_of_a_part = 16;

  // `columns`: of the first part before its nodes have theirs; 6: of its handle, or of a free root. `shift`: any
  // number; rows of those with different ones do not lie in the same places of the cache.
  void plan(const std::vector<NodeShape>& shapes, int columns, int most, int shift = 0);
  // Rows without the blocks that are zero in them, where there is one part. Columns are numbered from the root
  // outwards, so a node's blocks are its parent's, and perhaps some behind them.
  void plan_blocks(const std::vector<NodeShape>& shapes);

  std::vector<WhitenedPart>& parts() { return parts_; }
  const std::vector<WhitenedPart>& parts() const { return parts_; }
  WhitenedPart& part_of(std::size_t node) { return parts_[static_cast<std::size_t>(part_of_[node])]; }
  const WhitenedPart& part_of(std::size_t node) const { return parts_[static_cast<std::size_t>(part_of_[node])]; }
  double* y(std::size_t node) { return y_.data() + y_first_[node]; }
  const double* y(std::size_t node) const { return y_.data() + y_first_[node]; }
  const std::vector<double>& coordinates() const { return coordinates_; }
  std::vector<double>& coordinates() { return coordinates_; }
  double coordinate(std::size_t dof) const { return coordinates_[coordinate_[dof]]; }
  // Which blocks the rows of a node are for; null: all.
  const int* blocks(std::size_t node) const {
    return first_block_.empty() ? nullptr : blocks_.data() + first_block_[node];
  }
  int row_width(std::size_t node) const;

  // Which nodes are to be whitened: those on the way from the first to what a contact is on.
  void want_none() { wanted_.assign(wanted_.size(), 0); }
  // False if it, and all that is on its way, was wanted before.
  bool want(const std::vector<NodeShape>& shapes, int node);
  bool wanted(std::size_t node) const { return wanted_[node] != 0; }

  // `joint`: null for a free root. The first part must hold its handle, or root.
  void whiten(std::size_t node, const NodeShape& shape, const JointFactor* joint);
  void write_rows(std::size_t node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                  double* rows) const;
  void clear_coordinates();
  // Takes over the memory of one that is gone.
  void take_room(Whitened& old);

 private:
  bool starts_part(std::size_t node, const NodeShape& shape) const {
    return shape.parent < 0 || part_of_[static_cast<std::size_t>(shape.parent)] != part_of_[node];
  }

  std::vector<WhitenedPart> parts_;
  std::vector<int> part_of_;             // by node
  std::vector<int> column_;              // by dof
  std::vector<std::size_t> coordinate_;  // by dof: its column among all coordinates
  // Of nodes in one part: the blocks of columns of the axes between a node and the root, all others of its rows are
  // zero. Ascending, by node one behind the other; empty where there is only one block.
  std::vector<int> blocks_;
  std::vector<std::size_t> first_block_;  // by node; one more at the end
  std::vector<std::size_t> y_first_;
  std::vector<double> y_;  // by node: six rows of the width of its part
  std::vector<double> coordinates_;
  std::vector<double> ways_;
  std::vector<std::uint8_t> wanted_;  // by node
};

// Where in a tree of parts the work goes on.
class PartWalk {
 public:
  void begin(WhitenedPart& root) { current_ = &root; }
  void move_to(WhitenedPart& target);

 private:
  WhitenedPart* current_ = nullptr;
  std::vector<WhitenedPart*> way_;
};

// 2 x the product of rows of two parts of one tree, for the six entries of a 3x3 matrix.
void add_cross_terms(const WhitenedPart& part_a, const double* rows_a, const WhitenedPart& part_b, const double* rows_b,
                     double (&gram)[6]);

}  // namespace volvox::physics::native
