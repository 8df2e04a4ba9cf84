// The sweep over the contacts of a tree that has its lane for itself, for GPUs: FlockStep::sweep, to the bit, written
// for threads that wait for memory and for each other.
// A thread's business.
#pragma once

#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/flock_data.h"

namespace volvox::physics::native {

// Of the contacts that take part, side by side in their order: the j-th of neighbouring robots then lie beside each
// other, whichever links they are at.
template <class T>
struct SweepRow {
  T along[3], free[3];
  T target, keep, normal_gain, tangent_gain, gram[6], friction;
  const T* rows;
};

// Columns that a node does not have are zero: to add zero to a sum that began with zero changes nothing, not even the
// sign of a zero. Coordinates stay in registers. One loop: a robot with few contacts that needs many sweeps does not
// wait, in each of them, for a neighbour that has many. Returns how many contacts were solved.
template <int columns, class T>
VOLVOX_KERNEL int sweep_alone(const ActiveContacts<T>& active, T* coordinates, int total, SweepRow<T>* rows) {
  T x[columns];
  for (int k = 0; k < columns; ++k) x[k] = k < total ? coordinates[k] : T{};
  const int count = static_cast<int>(active.count);
  for (int j = 0; j < count; ++j) {
    const FlockContact<T>& c = *active.all[j];
    SweepRow<T>& row = rows[j];
    for (int k = 0; k < 3; ++k) row.along[k] = c.along[k], row.free[k] = c.free[k];
    row.target = c.target, row.keep = c.keep, row.normal_gain = c.normal_gain, row.tangent_gain = c.tangent_gain;
    for (int k = 0; k < 6; ++k) row.gram[k] = c.gram[k];
    row.friction = c.friction, row.rows = c.rows;
  }
  int solves = 0, j = 0;
  std::size_t sweeps = 0;
  T most{};
  for (;;) {
    SweepRow<T>& c = rows[j];
    T own[3 * columns];
    for (int k = 0; k < 3 * columns; ++k) own[k] = c.rows[k];
    T n{}, s{}, t{};
    for (int k = 0; k < columns; ++k)
      n = n + x[k] * own[3 * k], s = s + x[k] * own[3 * k + 1], t = t + x[k] * own[3 * k + 2];
    const T normal = larger(T{}, c.along[0] * c.keep - (c.free[0] + n - c.target) * c.normal_gain);
    const T dn = normal - c.along[0];
    T lt = c.along[1] - c.tangent_gain * (c.free[1] + s + c.gram[1] * dn);
    T lu = c.along[2] - c.tangent_gain * (c.free[2] + t + c.gram[2] * dn);
    const T bound = c.friction * normal, size = lt * lt + lu * lu;
    if (any(size > bound * bound)) {
      const T scale = bound / square_root(size);
      lt = lt * scale, lu = lu * scale;
    }
    const T dt = lt - c.along[1], du = lu - c.along[2];
    c.along[0] = normal, c.along[1] = lt, c.along[2] = lu;
    for (int k = 0; k < columns; ++k)
      x[k] = x[k] + (own[3 * k] * dn + own[3 * k + 1] * dt + own[3 * k + 2] * du);
    most = larger(most, larger(magnitude(dn) * c.gram[0],
                               larger(magnitude(dt) * c.gram[3], magnitude(du) * c.gram[5])));
    ++solves;
    if (++j < count) continue;
    if (++sweeps == most_sweeps || !any(most >= settled)) break;
    most = T{}, j = 0;
  }
  for (int k = 0; k < columns && k < total; ++k) coordinates[k] = x[k];
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < 3; ++k) active.all[i]->along[k] = rows[i].along[k];
  return solves;
}

}  // namespace volvox::physics::native
