// The direct solution of a small group of contacts. Sweeps converge slowly where much rests on
// little (a heavy body on a light one, tall stacks); but after some of them it is known which
// contacts push, which of these stick and in which direction the others slide. Given that,
// the impulses solve a linear system,
//   G lambda = target - v,   one row for a contact that slides, three for one that sticks,
// with what contacts that give way give way by on the diagonal of G, and a hair more, since four
// points under a face are one too many. The impulses go towards the solution as far as no contact
// leaves its cone (of the normal impulses this is a descent step, whatever the guess was worth),
// and the sweeps go on from there.
#include <algorithm>
#include <cmath>

#include "volvox/physics/native/contact_solver.h"

namespace volvox::physics::native {
namespace {

// One side of a contact, as RowContact has it.
struct Side {
  double* coordinates;
  const double* rows;
  int width;
  const int* blocks;
  std::span<const int> places() const { return {blocks, static_cast<std::size_t>(width / row_block)}; }
};

double product(const RowContact& a, int i, const RowContact& b, int j) {
  double sum = 0;
  const auto add = [&](const Side& x, const Side& y) {
    if (!x.coordinates || x.coordinates != y.coordinates) return;
    const double *row_x = x.rows + i * x.width, *row_y = y.rows + j * y.width;
    if (x.blocks && y.blocks) sum += blocks_dot(row_x, x.places(), row_y, y.places());
    else if (x.blocks) sum += blocks_dot(row_x, x.blocks, x.width, row_y);
    else sum += blocks_dot(row_y, y.blocks, y.width, row_x);
  };
  const Side sides_a[2] = {{a.a, a.rows_a, a.width_a, a.blocks_a}, {a.b, a.rows_b, a.width_b, a.blocks_b}};
  const Side sides_b[2] = {{b.a, b.rows_a, b.width_a, b.blocks_a}, {b.b, b.rows_b, b.width_b, b.blocks_b}};
  for (const Side& x : sides_a) {
    for (const Side& y : sides_b) add(x, y);
  }
  return sum;
}

double along(const Side& side, int direction) {
  const double* row = side.rows + direction * side.width;
  return blocks_dot(row, side.blocks, side.width, side.coordinates);
}

void push(const Side& side, int direction, double impulse) {
  const double* row = side.rows + direction * side.width;
  if (!side.blocks) return wide_add(side.coordinates, row, impulse, side.width);
  for (int place : side.places())
    wide_add(side.coordinates + row_block * place, row, impulse, row_block), row += row_block;
}

// Solves a symmetric or nearly symmetric positive system in place by elimination. False: it
// has no solution.
bool eliminate_in_place(std::vector<double>& m, std::vector<double>& x, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = m[k * n + k];
    if (!(pivot > 0)) return false;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = m[i * n + k] / pivot;
      if (f == 0) continue;
      for (std::size_t j = k; j < n; ++j) m[i * n + j] -= f * m[k * n + j];
      x[i] -= f * x[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) x[k] -= m[k * n + j] * x[j];
    x[k] /= m[k * n + k];
  }
  return true;
}

}  // namespace

double velocity_of(const RowContact& c, int direction) {
  double v = c.free[direction] + along({c.a, c.rows_a, c.width_a, c.blocks_a}, direction);
  if (c.width_b > 0) v += along({c.b, c.rows_b, c.width_b, c.blocks_b}, direction);
  return v;
}

namespace {

void apply(RowContact& c, const double (&impulse)[3]) {
  for (int i = 0; i < 3; ++i) {
    const double change = impulse[i] - c.impulse[i];
    c.impulse[i] = impulse[i];
    push({c.a, c.rows_a, c.width_a, c.blocks_a}, i, change);
    if (c.width_b > 0) push({c.b, c.rows_b, c.width_b, c.blocks_b}, i, change);
  }
}

// How far the contacts are from their laws: the largest change of velocity that one more
// projected step of any would make.
double distance_from_laws(const GroupRoom& room) {
  double most = 0;
  for (const RowContact& c : room.hot) {
    const double normal = std::max(0.0, c.impulse[0] * c.keep - (velocity_of(c, 0) - c.target) * c.normal_gain);
    double t = c.impulse[1] - c.tangent_gain * velocity_of(c, 1), u = c.impulse[2] - c.tangent_gain * velocity_of(c, 2);
    const double size = std::sqrt(t * t + u * u), bound = c.friction * normal;
    if (size > bound) t *= bound / size, u *= bound / size;
    most = std::max({most, std::fabs(normal - c.impulse[0]) * c.gram[0], std::fabs(t - c.impulse[1]) * c.gram[3],
                     std::fabs(u - c.impulse[2]) * c.gram[5]});
  }
  return most;
}

// How much of a change keeps the impulse in its cone.
double share_within_cone(const RowContact& c, const double (&change)[3]) {
  const auto within = [&](double share) {
    const double normal = c.impulse[0] + share * change[0];
    const double t = c.impulse[1] + share * change[1], u = c.impulse[2] + share * change[2];
    return normal >= 0 && std::sqrt(t * t + u * u) <= c.friction * normal * (1 + 1e-9) + 1e-15;
  };
  if (within(1)) return 1;
  double low = 0, high = 1;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (within(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

bool solve_directly(GroupRoom& room) {
  room.direct.clear();
  if (room.direct.capacity() < 3 * room.hot.size()) {
    const std::size_t most = 6 * room.hot.size();
    room.direct.reserve(most), room.right.reserve(most), room.kept.reserve(most), room.matrix.reserve(most * most);
  }
  for (std::size_t i = 0; i < room.hot.size(); ++i) {
    const RowContact& c = room.hot[i];
    if (!(c.impulse[0] > 0)) continue;
    const double tangent = std::sqrt(c.impulse[1] * c.impulse[1] + c.impulse[2] * c.impulse[2]),
                 most = c.friction * c.impulse[0];
    const bool slides = tangent > most * (1 - 1e-6);
    GroupRoom::DirectRow row{i, 0, {0, 0}};
    if (slides) row.slide[0] = c.impulse[1] / c.impulse[0], row.slide[1] = c.impulse[2] / c.impulse[0];
    room.direct.push_back(row);
    if (slides) continue;
    room.direct.push_back({i, 1, {0, 0}});
    room.direct.push_back({i, 2, {0, 0}});
  }
  const std::size_t n = room.direct.size();
  if (n == 0) return false;
  room.matrix.assign(n * n, 0.0);
  room.right.assign(n, 0.0);
  for (std::size_t r = 0; r < n; ++r) {
    const GroupRoom::DirectRow& row = room.direct[r];
    const RowContact& c = room.hot[row.contact];
    const double give = row.direction == 0 ? c.gram[0] * (1 / c.keep - 1) : 0;  // see ContactSolver::fill
    room.right[r] =
        (row.direction == 0 ? c.target : 0) - velocity_of(c, row.direction) - give * c.impulse[row.direction];
    for (std::size_t k = 0; k < n; ++k) {
      const GroupRoom::DirectRow& column = room.direct[k];
      const RowContact& o = room.hot[column.contact];
      double g = product(c, row.direction, o, column.direction);
      for (int d = 0; d < 2; ++d) {
        if (column.slide[d] != 0) g += column.slide[d] * product(c, row.direction, o, d + 1);
      }
      room.matrix[r * n + k] = g;
    }
    room.matrix[r * n + r] += give + 1e-7 * c.gram[0];
  }
  if (!eliminate_in_place(room.matrix, room.right, n)) return false;
  const auto change_of = [&](std::size_t r, double(&change)[3]) {
    const GroupRoom::DirectRow& row = room.direct[r];
    const bool sticks = r + 1 < n && room.direct[r + 1].contact == row.contact;
    change[0] = room.right[r];
    for (std::size_t d = 0; d < 2; ++d) change[d + 1] = sticks ? room.right[r + 1 + d] : row.slide[d] * room.right[r];
  };
  double share = 1;
  for (std::size_t r = 0; r < n; ++r) {
    if (room.direct[r].direction != 0) continue;
    double change[3];
    change_of(r, change);
    share = std::min(share, share_within_cone(room.hot[room.direct[r].contact], change));
  }
  const double before = distance_from_laws(room);
  room.kept.clear();
  for (const RowContact& c : room.hot) room.kept.push_back({c.impulse[0], c.impulse[1], c.impulse[2]});
  for (std::size_t r = 0; r < n; ++r) {
    if (room.direct[r].direction != 0) continue;
    RowContact& c = room.hot[room.direct[r].contact];
    double change[3];
    change_of(r, change);
    const double impulse[3] = {std::max(0.0, c.impulse[0] + share * change[0]), c.impulse[1] + share * change[1],
                               c.impulse[2] + share * change[2]};
    apply(c, impulse);
  }
  if (distance_from_laws(room) <= before) return true;
  // The guess was no good: back to where it started.
  for (std::size_t i = 0; i < room.hot.size(); ++i)
    apply(room.hot[i], {room.kept[i].x, room.kept[i].y, room.kept[i].z});
  return false;
}

}  // namespace volvox::physics::native
