// The whitened coordinates of a tree: see tree.h.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "volvox/physics/native/segments.h"
#include "volvox/physics/native/tree.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

// Trees with no more columns than this are one part; longer ones are cut. Short parts keep
// the rows of a contact short, long ones save moves between parts.
constexpr int most_columns_flat = Tree::most_columns;
constexpr int most_columns_of_a_part = 16;

int padded(int columns) { return (columns + row_block - 1) / row_block * row_block; }

// Lower Cholesky factor of m and its inverse. A direction in which the handle cannot move (it
// hangs on the ground) has no column.
void factor_handle(const double (&m)[6][6], double (&c)[6][6], double (&inverse)[6][6]) {
  std::memset(c, 0, sizeof c);
  std::memset(inverse, 0, sizeof inverse);
  for (int j = 0; j < 6; ++j) {
    double pivot = m[j][j];
    for (int k = 0; k < j; ++k) pivot -= c[j][k] * c[j][k];
    if (!(pivot > 1e-11 * m[j][j])) continue;
    c[j][j] = std::sqrt(pivot);
    for (int i = j + 1; i < 6; ++i) {
      double s = m[i][j];
      for (int k = 0; k < j; ++k) s -= c[i][k] * c[j][k];
      c[i][j] = s / c[j][j];
    }
  }
  for (int j = 0; j < 6; ++j) {
    if (c[j][j] == 0) continue;
    inverse[j][j] = 1 / c[j][j];
    for (int i = j + 1; i < 6; ++i) {
      if (c[i][i] == 0) continue;
      double s = 0;
      for (int k = j; k < i; ++k) s -= c[i][k] * inverse[k][j];
      inverse[i][j] = s / c[i][i];
    }
  }
}

}  // namespace

void Tree::plan_parts() {
  const int total = (!anchored_ ? 6 : 0) + static_cast<int>(dof_count_);
  const int most = total <= most_columns_flat ? most_columns_flat : most_columns_of_a_part;
  part_of_.resize(shapes_.size());
  column_.resize(dof_count_);
  parts_.push_back({});
  parts_[0].columns = !anchored_ ? 6 : 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const NodeShape& shape = shapes_[i];
    int part = shape.parent < 0 ? 0 : part_of_[static_cast<std::size_t>(shape.parent)];
    const bool full = shape.dofs > 0 && parts_[static_cast<std::size_t>(part)].columns + shape.dofs > most;
    if (shape.parent >= 0 && (full || starts_segment(i))) {
      Part next;
      next.handle = shape.parent;
      next.above = part;
      next.depth = parts_[static_cast<std::size_t>(part)].depth + 1;
      next.columns = 6;
      part = static_cast<int>(parts_.size());
      parts_.push_back(next);
    }
    part_of_[i] = part;
    for (int k = shape.dofs - 1; k >= 0; --k)
      column_[static_cast<std::size_t>(shape.first_dof + k)] = parts_[static_cast<std::size_t>(part)].columns++;
  }
  std::size_t coordinates = 0, rows = 0;
  for (Part& part : parts_) {
    part.width = std::max(row_block, padded(part.columns));
    part.first = coordinates;
    coordinates += static_cast<std::size_t>(part.width);
  }
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    y_first_.push_back(rows);
    rows += 6 * static_cast<std::size_t>(parts_[static_cast<std::size_t>(part_of_[i])].width);
  }
  for (Part& part : parts_) {
    part.handle_rows = part.handle >= 0 ? y_first_[static_cast<std::size_t>(part.handle)] : 0;
  }
  coordinate_.resize(dof_count_);
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(shapes_[i].dofs); ++k) {
      const std::size_t dof = static_cast<std::size_t>(shapes_[i].first_dof) + k;
      coordinate_[dof] = parts_[static_cast<std::size_t>(part_of_[i])].first + static_cast<std::size_t>(column_[dof]);
    }
  }
  y_.resize(rows);
  coordinates_.resize(coordinates);
  wanted_.resize(shapes_.size());
  way_.reserve(parts_.size());
}

// Columns are numbered from the root outwards, so a node's blocks are its parent's, and perhaps some behind them.
void Tree::plan_blocks() {
  if (parts_.size() > 1 || parts_[0].width == row_block) return;
  first_block_.reserve(shapes_.size() + 1);
  blocks_.reserve(shapes_.size() * static_cast<std::size_t>(parts_[0].width / row_block));
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const std::size_t first = blocks_.size();
    first_block_.push_back(first);
    if (shapes_[i].parent < 0) {
      blocks_.push_back(0);
    } else {
      const std::size_t parent = static_cast<std::size_t>(shapes_[i].parent);
      for (std::size_t k = first_block_[parent]; k < first_block_[parent + 1]; ++k) blocks_.push_back(blocks_[k]);
    }
    for (int k = shapes_[i].dofs - 1; k >= 0; --k) {
      const int block = column_[static_cast<std::size_t>(shapes_[i].first_dof + k)] / row_block;
      if (block != blocks_.back()) blocks_.push_back(block);
    }
  }
  first_block_.push_back(blocks_.size());
}

bool Tree::starts_segment(std::size_t node) const {
  if (!segments_) return false;
  const int segment = segments_->segment_of(static_cast<int>(node));
  return segments_->all()[static_cast<std::size_t>(segment)].first == static_cast<int>(node);
}

bool Tree::starts_part(std::size_t node) const {
  const int parent = shapes_[node].parent;
  return parent < 0 || part_of_[static_cast<std::size_t>(parent)] != part_of_[node];
}

void Tree::whiten(std::span<const int> nodes, ThreadPool* threads) {
  std::fill(wanted_.begin(), wanted_.end(), std::uint8_t{0});
  for (int node : nodes) {
    for (; node >= 0 && !wanted_[static_cast<std::size_t>(node)];
         node = shapes_[static_cast<std::size_t>(node)].parent) {
      wanted_[static_cast<std::size_t>(node)] = 1;
    }
  }
  touched_ = true;
  const auto visit = [&](int node) {
    const std::size_t i = static_cast<std::size_t>(node);
    if (!wanted_[i]) return;
    if (i > 0 && starts_part(i)) start_part(parts_[static_cast<std::size_t>(part_of_[i])], i);
    whiten_node(node);
  };
  if (segments_) {
    segments_->find_responses();
    segments_->for_nodes(threads, visit);
    return;
  }
  visit(0);
  for_branches(threads, [&](Range branch) {
    for (std::size_t i = branch.first; i < branch.last; ++i) visit(static_cast<int>(i));
  });
}

void Tree::clear_coordinates() {
  std::fill(coordinates_.begin(), coordinates_.end(), 0.0);
  for (Part& part : parts_) std::fill(std::begin(part.known), std::end(part.known), 0.0);
  current_ = 0;
}

void Tree::start_part(Part& part, std::size_t node) {
  if (starts_segment(node)) {
    const int segment = segments_->segment_of(static_cast<int>(node));
    return factor_handle(segments_->response_above(segment), part.factor, part.inverse);
  }
  const int width = parts_[static_cast<std::size_t>(part.above)].width;
  const double* rows = y_.data() + part.handle_rows;
  double response[6][6];
  for (int i = 0; i < 6; ++i) wide_dot_six(rows, rows + i * width, width, response[i]);
  factor_handle(response, part.factor, part.inverse);
}

void Tree::whiten_node(int node) {
  const std::size_t i = static_cast<std::size_t>(node);
  const NodeShape& shape = shapes_[i];
  const Part& part = parts_[static_cast<std::size_t>(part_of_[i])];
  const int width = part.width;
  double* out = y(node);
  if (joints_[i] < 0) {
    std::fill(out, out + 6 * width, 0.0);
    const InverseFactor<double>& root = segments_ ? segments_->root_factor() : root_;
    for (int r = 0; r < 6; ++r) {
      for (int k = r; k < 6; ++k) out[r * width + k] = root.e[k][r];
    }
    return;
  }
  JointFactor factor;
  joint_factor(i, factor);
  if (starts_part(i)) {
    std::fill(out, out + 6 * width, 0.0);
    if (part.handle >= 0) {
      for (int row = 0; row < 6; ++row) std::copy(part.factor[row], part.factor[row] + 6, out + row * width);
    }
  }
  const double* above = starts_part(i) ? out : y(shape.parent);
  if (shape.dofs == 0) wide_shift(out, above, factor.r, width);
  for (int k = shape.dofs - 1; k >= 0; --k) {
    const JointFactor::Axis& axis = factor.axes[k];
    if (k == shape.dofs - 1) wide_shift_project(out, above, factor.r, axis.s, axis.u, width);
    else wide_project(out, axis.s, axis.u, width);
    const int column = column_[static_cast<std::size_t>(shape.first_dof + k)];
    for (int row = 0; row < 6; ++row) out[row * width + column] = axis.s[row] * axis.root_inv;
  }
}

void Tree::joint_factor(std::size_t node, JointFactor& out) const {
  const NodeShape& shape = shapes_[node];
  if (segments_) return segments_->joint_factor(static_cast<int>(node), shape, out);
  const V3<double>& r = nodes_[node].r;
  out.r[0] = r.x, out.r[1] = r.y, out.r[2] = r.z;
  for (int k = 0; k < shape.dofs; ++k) {
    const Dof<double>& f = dofs_[static_cast<std::size_t>(shape.first_dof + k)];
    out.axes[k] = {{f.s.a.x, f.s.a.y, f.s.a.z, f.s.l.x, f.s.l.y, f.s.l.z},
                   {f.u.a.x, f.u.a.y, f.u.a.z, f.u.l.x, f.u.l.y, f.u.l.z},
                   f.root_inv};
  }
}

Spatial<double> Tree::velocity_change(int node, const double* coordinates) const {
  double v[6];
  wide_dot_six(y(node), coordinates, parts_.front().width, v);
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

RowSpan Tree::span(int node) {
  if (first_block_.empty()) return whole_span(node);
  const std::size_t first = first_block_[static_cast<std::size_t>(node)],
                    last = first_block_[static_cast<std::size_t>(node) + 1];
  return {coordinates_.data(), row_block * static_cast<int>(last - first), 0, blocks_.data() + first};
}

RowSpan Tree::whole_span(int node) {
  const int part = part_of_[static_cast<std::size_t>(node)];
  Part& p = parts_[static_cast<std::size_t>(part)];
  return {coordinates_.data() + p.first, p.width, part};
}

void Tree::write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                      double* rows) const {
  const std::size_t i = static_cast<std::size_t>(node);
  const int all = parts_[static_cast<std::size_t>(part_of_[i])].width;
  if (whole || first_block_.empty()) return wide_rows(y(node), all, nullptr, all, arm, directions, sign, add, rows);
  const int width = row_block * static_cast<int>(first_block_[i + 1] - first_block_[i]);
  wide_rows(y(node), all, blocks_.data() + first_block_[i], width, arm, directions, sign, add, rows);
}

// a_above += Y_p^T C^-T (change of the handle's coordinates).
void Tree::climb(int index) {
  Part& part = parts_[static_cast<std::size_t>(index)];
  double* own = coordinates_.data() + part.first;
  double change[6];
  bool any = false;
  for (int i = 0; i < 6; ++i) {
    change[i] = own[i] - part.known[i];
    any = any || change[i] != 0;
    part.known[i] = own[i];
  }
  if (!any) return;
  const Part& above = parts_[static_cast<std::size_t>(part.above)];
  double z[6] = {};
  for (int i = 0; i < 6; ++i) {
    for (int k = i; k < 6; ++k) z[i] += part.inverse[k][i] * change[k];
  }
  wide_add_six(coordinates_.data() + above.first, y_.data() + part.handle_rows, z, above.width);
}

// The handle's coordinates = C^-1 (Y_p a_above).
void Tree::descend_to(int index) {
  Part& part = parts_[static_cast<std::size_t>(index)];
  const Part& above = parts_[static_cast<std::size_t>(part.above)];
  double velocity[6];
  wide_dot_six(y_.data() + part.handle_rows, coordinates_.data() + above.first, above.width, velocity);
  double* own = coordinates_.data() + part.first;
  for (int i = 0; i < 6; ++i) {
    double c = 0;
    for (int k = 0; k <= i; ++k) c += part.inverse[i][k] * velocity[k];
    own[i] = part.known[i] = c;
  }
}

void Tree::move_to(int target) {
  if (current_ == target) return;
  int common = target;
  for (int from = current_; from != common;) {
    if (parts_[static_cast<std::size_t>(from)].depth >= parts_[static_cast<std::size_t>(common)].depth) {
      climb(from);
      from = parts_[static_cast<std::size_t>(from)].above;
    } else {
      common = parts_[static_cast<std::size_t>(common)].above;
    }
  }
  way_.clear();
  for (int part = target; part != common; part = parts_[static_cast<std::size_t>(part)].above) way_.push_back(part);
  for (std::size_t i = way_.size(); i-- > 0;) descend_to(way_[i]);
  current_ = target;
}

// A row of one part, as the part `to` above it has it.
void Tree::carry(const double* row, int from, int to, double (&out)[most_columns]) const {
  std::copy(row, row + parts_[static_cast<std::size_t>(from)].width, out);
  while (from != to) {
    const Part& part = parts_[static_cast<std::size_t>(from)];
    const Part& above = parts_[static_cast<std::size_t>(part.above)];
    double z[6] = {};
    for (int i = 0; i < 6; ++i) {
      for (int k = i; k < 6; ++k) z[i] += part.inverse[k][i] * out[k];
    }
    std::fill(out, out + above.width, 0.0);
    for (int i = 0; i < 6; ++i) wide_add(out, y_.data() + part.handle_rows + i * above.width, z[i], above.width);
    from = part.above;
  }
}

void Tree::add_cross_terms(int part_a, const double* rows_a, int part_b, const double* rows_b, double (&gram)[6]) {
  int a = part_a, b = part_b;
  while (a != b) {
    int& deeper = parts_[static_cast<std::size_t>(a)].depth >= parts_[static_cast<std::size_t>(b)].depth ? a : b;
    deeper = parts_[static_cast<std::size_t>(deeper)].above;
  }
  const int width_a = parts_[static_cast<std::size_t>(part_a)].width,
            width_b = parts_[static_cast<std::size_t>(part_b)].width;
  double up_a[3][most_columns], up_b[3][most_columns];
  for (int r = 0; r < 3; ++r) {
    carry(rows_a + r * width_a, part_a, a, up_a[r]);
    carry(rows_b + r * width_b, part_b, a, up_b[r]);
  }
  const int width = parts_[static_cast<std::size_t>(a)].width;
  int entry = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) gram[entry++] += wide_dot(up_a[i], up_b[j], width) + wide_dot(up_a[j], up_b[i], width);
  }
}

}  // namespace volvox::physics::native
