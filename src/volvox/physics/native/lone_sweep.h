// The sweep over the contacts of a tree that has its lane for itself, for GPUs: FlockStep::sweep, to the bit, written
// for threads that wait for memory and for each other.
// A thread's business.
#pragma once

#include <cstring>

#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/flock_data.h"

namespace volvox::physics::native {

// A contact that takes part: its numbers lie together, because in most sweeps few of the neighbours in a warp are still
// at work; what lies side by side for all of them would be fetched for those who wait. `columns`: of the tree; those
// that the contact's node does not have are zero: to add zero to a sum that began with zero changes nothing, not even
// the sign of a zero.
template <class T, int columns>
struct alignas(16) SweepRow {
  T along[3], free[3];
  T target, keep, normal_gain, tangent_gain, gram[5], friction;
  T rows[(3 * columns + 1) / 2 * 2];

  // All but the rows.
  VOLVOX_KERNEL void take(const FlockContact<T>& c) {
    for (int k = 0; k < 3; ++k) along[k] = c.along[k], free[k] = c.free[k];
    target = c.target, keep = c.keep, normal_gain = c.normal_gain, tangent_gain = c.tangent_gain;
    // That of the two tangents with each other is not asked for.
    gram[0] = c.gram[0], gram[1] = c.gram[1], gram[2] = c.gram[2], gram[3] = c.gram[3], gram[4] = c.gram[5];
    friction = c.friction;
  }
};

// Coordinates stay in registers. One loop: a robot with few contacts that needs many sweeps does not wait, in each of
// them, for a neighbour that has many. Returns how many contacts were solved. `all`: one for each of the contacts.
template <class T, int columns>
VOLVOX_KERNEL int sweep_alone(const ActiveContacts<T>& active, T* coordinates, int total, SweepRow<T, columns>* all) {
  const int count = static_cast<int>(active.count);
  T x[columns];
  for (int k = 0; k < columns; ++k) x[k] = k < total ? coordinates[k] : T{};
  int solves = 0, j = 0;
  std::size_t sweeps = 0;
  T most{};
  for (;;) {
    SweepRow<T, columns> c;
    std::memcpy(&c, __builtin_assume_aligned(all + j, 16), sizeof c);
    T n{}, s{}, t{};
    for (int k = 0; k < columns; ++k)
      n = n + x[k] * c.rows[3 * k], s = s + x[k] * c.rows[3 * k + 1], t = t + x[k] * c.rows[3 * k + 2];
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
    all[j].along[0] = normal, all[j].along[1] = lt, all[j].along[2] = lu;
    for (int k = 0; k < columns; ++k)
      x[k] = x[k] + (c.rows[3 * k] * dn + c.rows[3 * k + 1] * dt + c.rows[3 * k + 2] * du);
    most =
        larger(most, larger(magnitude(dn) * c.gram[0], larger(magnitude(dt) * c.gram[3], magnitude(du) * c.gram[4])));
    ++solves;
    if (++j < count) continue;
    if (++sweeps == most_sweeps || !any(most >= settled)) break;
    most = T{}, j = 0;
  }
  for (int k = 0; k < columns && k < total; ++k) coordinates[k] = x[k];
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < 3; ++k) active.all[i]->along[k] = all[i].along[k];
  return solves;
}

}  // namespace volvox::physics::native
