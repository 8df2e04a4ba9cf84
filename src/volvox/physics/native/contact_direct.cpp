// The direct solution of a small group of contacts. Sweeps converge slowly where much rests on
// little (a heavy body on a light one, tall stacks); but after some of them it is known which
// contacts push, which of these stick and in which direction the others slide. Given that,
// the impulses solve a linear system,
//   G lambda = target - v,   one row for a contact that slides, three for one that sticks,
// which is solved with a hair of regularisation, since four points under a face are one too
// many. The impulses go towards the solution as far as no contact leaves its cone (of the
// normal impulses this is a descent step, whatever the guess was worth), and the sweeps go on
// from there.
#include <algorithm>
#include <cmath>

#include "volvox/physics/native/contact_solver.h"

namespace volvox::physics::native {
namespace {

double product(const RowContact& a, int i, const RowContact& b, int j) {
  double sum = 0;
  const auto add = [&](const double* coordinates_a, const double* row_a, int width, const double* coordinates_b, const double* row_b) {
    if (coordinates_a && coordinates_a == coordinates_b) sum += wide_dot(row_a, row_b, width);
  };
  const auto row = [](const double* rows, int width, int k) { return rows + k * width; };
  add(a.a, row(a.rows_a, a.width_a, i), a.width_a, b.a, row(b.rows_a, b.width_a, j));
  add(a.a, row(a.rows_a, a.width_a, i), a.width_a, b.b, row(b.rows_b, b.width_b, j));
  add(a.b, row(a.rows_b, a.width_b, i), a.width_b, b.a, row(b.rows_a, b.width_a, j));
  add(a.b, row(a.rows_b, a.width_b, i), a.width_b, b.b, row(b.rows_b, b.width_b, j));
  return sum;
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

double velocity_of(const RowContact& c, int direction) {
  double v = c.free[direction] + wide_dot(c.rows_a + direction * c.width_a, c.a, c.width_a);
  if (c.width_b > 0) v += wide_dot(c.rows_b + direction * c.width_b, c.b, c.width_b);
  return v;
}

void apply(RowContact& c, const double (&impulse)[3]) {
  for (int i = 0; i < 3; ++i) {
    const double change = impulse[i] - c.impulse[i];
    c.impulse[i] = impulse[i];
    wide_add(c.a, c.rows_a + i * c.width_a, change, c.width_a);
    if (c.width_b > 0) wide_add(c.b, c.rows_b + i * c.width_b, change, c.width_b);
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
    most = std::max({most, std::fabs(normal - c.impulse[0]) * c.gram[0], std::fabs(t - c.impulse[1]) * c.gram[3], std::fabs(u - c.impulse[2]) * c.gram[5]});
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
    const double tangent = std::sqrt(c.impulse[1] * c.impulse[1] + c.impulse[2] * c.impulse[2]), most = c.friction * c.impulse[0];
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
    room.right[r] = (row.direction == 0 ? c.target : 0) - velocity_of(c, row.direction);
    for (std::size_t k = 0; k < n; ++k) {
      const GroupRoom::DirectRow& column = room.direct[k];
      const RowContact& o = room.hot[column.contact];
      double g = product(c, row.direction, o, column.direction);
      for (int d = 0; d < 2; ++d) {
        if (column.slide[d] != 0) g += column.slide[d] * product(c, row.direction, o, d + 1);
      }
      room.matrix[r * n + k] = g;
    }
    room.matrix[r * n + r] += 1e-7 * c.gram[0];
  }
  if (!eliminate_in_place(room.matrix, room.right, n)) return false;
  const auto change_of = [&](std::size_t r, double (&change)[3]) {
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
    const double impulse[3] = {std::max(0.0, c.impulse[0] + share * change[0]), c.impulse[1] + share * change[1], c.impulse[2] + share * change[2]};
    apply(c, impulse);
  }
  if (distance_from_laws(room) <= before) return true;
  // The guess was no good: back to where it started.
  for (std::size_t i = 0; i < room.hot.size(); ++i) apply(room.hot[i], {room.kept[i].x, room.kept[i].y, room.kept[i].z});
  return false;
}

}  // namespace volvox::physics::native
