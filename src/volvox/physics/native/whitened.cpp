#include "volvox/physics/native/whitened.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "volvox/base/check.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

int padded(int columns) { return (columns + row_block - 1) / row_block * row_block; }

// a_above += (C^-1 Y_p)^T (change of the handle's coordinates).
void climb(WhitenedPart& part) {
  double* own = part.coordinates;
  double change[6];
  bool any = false;
  for (int i = 0; i < 6; ++i) {
    change[i] = own[i] - part.known[i];
    any = any || change[i] != 0;
    part.known[i] = own[i];
  }
  if (any) wide_add_six(part.above->coordinates, part.way, change, part.above->width);
}

// The handle's coordinates = C^-1 Y_p a_above.
void descend_to(WhitenedPart& part) {
  wide_dot_six(part.way, part.above->coordinates, part.above->width, part.known);
  std::copy(std::begin(part.known), std::end(part.known), part.coordinates);
}

// A row of one part, as the part `to` above it has it.
void carry(const double* row, const WhitenedPart* from, const WhitenedPart* to, double (&out)[Whitened::most_columns]) {
  std::copy(row, row + from->width, out);
  for (; from != to; from = from->above) {
    const WhitenedPart& above = *from->above;
    double z[6];
    std::copy(out, out + 6, z);
    std::fill(out, out + above.width, 0.0);
    wide_add_six(out, from->way, z, above.width);
  }
}

}  // namespace

// A direction in which the handle cannot move (it hangs on the ground) has no column.
void WhitenedPart::hold(const double (&response)[6][6]) {
  std::memset(factor, 0, sizeof factor);
  for (int j = 0; j < 6; ++j) {
    double pivot = response[j][j];
    for (int k = 0; k < j; ++k) pivot -= factor[j][k] * factor[j][k];
    if (!(pivot > 1e-11 * response[j][j])) continue;
    factor[j][j] = std::sqrt(pivot);
    for (int i = j + 1; i < 6; ++i) {
      double s = response[i][j];
      for (int k = 0; k < j; ++k) s -= factor[i][k] * factor[j][k];
      factor[i][j] = s / factor[j][j];
    }
  }
}

void WhitenedPart::find_way() {
  VOLVOX_ASSERT(above->width <= Whitened::most_columns_of_a_part);
  wide_solve_lower(way, handle_rows, factor, above->width);
}

// Nobody climbs from it.
void WhitenedPart::hold_root(const InverseFactor<double>& root) {
  for (int r = 0; r < 6; ++r) {
    for (int k = 0; k < 6; ++k) factor[r][k] = k < r ? 0 : root.e[k][r];
  }
}

void Whitened::plan(const std::vector<NodeShape>& shapes, int columns, int most, int shift) {
  int dofs = 0;
  for (const NodeShape& shape : shapes) dofs += shape.dofs;
  part_of_.resize(shapes.size()), column_.resize(at(dofs)), coordinate_.resize(at(dofs));
  parts_.assign(1, {});
  parts_[0].columns = columns;
  blocks_.clear(), first_block_.clear(), y_first_.clear();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const NodeShape& shape = shapes[i];
    int part = shape.parent < 0 ? 0 : part_of_[at(shape.parent)];
    if (shape.parent >= 0 && shape.dofs > 0 && parts_[at(part)].columns + shape.dofs > most) {
      WhitenedPart next;
      next.number = part;  // of the part above, until there are all
      next.depth = shape.parent;
      next.columns = 6;
      part = static_cast<int>(parts_.size());
      parts_.push_back(next);
    }
    part_of_[i] = part;
    for (int k = shape.dofs - 1; k >= 0; --k) column_[at(shape.first_dof + k)] = parts_[at(part)].columns++;
  }
  std::size_t coordinates = 0, rows = 64 * at(shift % 8);
  for (WhitenedPart& part : parts_) {
    part.width = std::max(row_block, padded(part.columns));
    coordinates += at(part.width);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    y_first_.push_back(rows);
    rows += 6 * at(part_of(i).width);
  }
  y_.resize(rows), coordinates_.resize(coordinates), wanted_.resize(shapes.size());
  constexpr std::size_t of_a_way = 6 * most_columns_of_a_part;
  ways_.resize(of_a_way * parts_.size());
  std::size_t first = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    WhitenedPart& part = parts_[p];
    part.coordinates = coordinates_.data() + first, part.way = ways_.data() + of_a_way * p;
    first += at(part.width);
    if (p == 0) continue;
    part.above = &parts_[at(part.number)];
    part.handle_rows = y(at(part.depth));
    part.number = static_cast<int>(p), part.depth = part.above->depth + 1;
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (int k = 0; k < shapes[i].dofs; ++k) {
      const std::size_t dof = at(shapes[i].first_dof + k);
      coordinate_[dof] = static_cast<std::size_t>(part_of(i).coordinates - coordinates_.data()) + at(column_[dof]);
    }
  }
}

void Whitened::plan_blocks(const std::vector<NodeShape>& shapes) {
  if (parts_.size() > 1 || parts_[0].width == row_block) return;
  first_block_.reserve(shapes.size() + 1);
  blocks_.reserve(shapes.size() * at(parts_[0].width / row_block));
  for (const NodeShape& shape : shapes) {
    const std::size_t first = blocks_.size();
    first_block_.push_back(first);
    if (shape.parent < 0) {
      blocks_.push_back(0);
    } else {
      const std::size_t parent = at(shape.parent);
      for (std::size_t k = first_block_[parent]; k < first_block_[parent + 1]; ++k) blocks_.push_back(blocks_[k]);
    }
    for (int k = shape.dofs - 1; k >= 0; --k) {
      const int block = column_[at(shape.first_dof + k)] / row_block;
      if (block != blocks_.back()) blocks_.push_back(block);
    }
  }
  first_block_.push_back(blocks_.size());
}

int Whitened::row_width(std::size_t node) const {
  if (first_block_.empty()) return part_of(node).width;
  return row_block * static_cast<int>(first_block_[node + 1] - first_block_[node]);
}

bool Whitened::want(const std::vector<NodeShape>& shapes, int node) {
  for (; node >= 0; node = shapes[at(node)].parent) {
    if (wanted_[at(node)]) return false;
    wanted_[at(node)] = 1;
  }
  return true;
}

void Whitened::whiten(std::size_t node, const NodeShape& shape, const JointFactor* joint) {
  WhitenedPart& part = part_of(node);
  const int width = part.width;
  double* out = y(node);
  const bool starts = starts_part(node, shape);
  if (starts) {
    if (shape.parent >= 0) {
      double response[6][6];
      wide_gram_six(part.handle_rows, part.above->width, response);
      part.hold(response);
      part.find_way();
    }
    std::fill(out, out + 6 * width, 0.0);
    for (int row = 0; row < 6; ++row) std::copy(part.factor[row], part.factor[row] + 6, out + row * width);
  }
  if (!joint) return;
  const double* above = starts ? out : y(at(shape.parent));
  if (shape.dofs == 0) wide_shift(out, above, joint->r, width);
  for (int k = shape.dofs - 1; k >= 0; --k) {
    const JointFactor::Axis& axis = joint->axes[k];
    if (k == shape.dofs - 1) wide_shift_project(out, above, joint->r, axis.s, axis.u, width);
    else wide_project(out, axis.s, axis.u, width);
    const int column = column_[at(shape.first_dof + k)];
    for (int row = 0; row < 6; ++row) out[row * width + column] = axis.s[row] * axis.root_inv;
  }
}

void Whitened::write_rows(std::size_t node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add,
                          bool whole, double* rows) const {
  const int all = part_of(node).width;
  if (whole || first_block_.empty()) wide_rows(y(node), all, nullptr, all, arm, directions, sign, add, rows);
  else wide_rows(y(node), all, blocks(node), row_width(node), arm, directions, sign, add, rows);
}

void Whitened::clear_coordinates() {
  std::fill(coordinates_.begin(), coordinates_.end(), 0.0);
  for (WhitenedPart& part : parts_) std::fill(std::begin(part.known), std::end(part.known), 0.0);
}

// What is left in it is written before it is read.
void Whitened::take_room(Whitened& old) { std::swap(*this, old); }

void PartWalk::move_to(WhitenedPart& target) {
  if (current_ == &target) return;
  WhitenedPart* common = &target;
  for (WhitenedPart* from = current_; from != common;) {
    VOLVOX_ASSERT(from && common);
    if (from->depth >= common->depth) {
      climb(*from);
      from = from->above;
    } else {
      common = common->above;
    }
  }
  way_.clear();
  for (WhitenedPart* part = &target; part != common; part = part->above) way_.push_back(part);
  for (std::size_t i = way_.size(); i-- > 0;) descend_to(*way_[i]);
  current_ = &target;
}

void add_cross_terms(const WhitenedPart& part_a, const double* rows_a, const WhitenedPart& part_b, const double* rows_b,
                     double (&gram)[6]) {
  const WhitenedPart *a = &part_a, *b = &part_b;
  while (a != b) {
    const WhitenedPart*& deeper = a->depth >= b->depth ? a : b;
    deeper = deeper->above;
  }
  double up_a[3][Whitened::most_columns], up_b[3][Whitened::most_columns];
  for (int r = 0; r < 3; ++r) {
    carry(rows_a + r * part_a.width, &part_a, a, up_a[r]);
    carry(rows_b + r * part_b.width, &part_b, a, up_b[r]);
  }
  int entry = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j)
      gram[entry++] += wide_dot(up_a[i], up_b[j], a->width) + wide_dot(up_a[j], up_b[i], a->width);
  }
}

}  // namespace volvox::physics::native
