// Bodies and contacts with planes put into the lanes of a flock, and taken out again, by turning rows into columns in
// registers: number by number that took a tenth of a tick. Copies, and what is rounded is rounded as put() does. One
// thread for each flock.
#pragma once

#include "volvox/physics/native/flock_end.h"
#include "volvox/physics/native/flock_kernel.h"
#include "volvox/physics/native/flock_load.h"
#include "volvox/physics/native/lane_rows.h"

namespace volvox::physics::native {

// The numbers of a body that flocks ask for, as they lie in Body.
struct BodyRow {
  static constexpr int state = 16;  // position, rotation, angular, linear, spin
  static constexpr int count = 24;  // and weight, axle, swing, shaped
};

// The rows of a node's bodies, a lane each. What they are seen to move with is what they move with; nothing pushes them
// from outside.
template <class T>
VOLVOX_KERNEL void load_bodies(FlockBody<T>& to, const double* const* rows, double step) {
  // The state lies in FlockBody as in Body.
  static_assert(sizeof(V3<Exact<T>>) == 3 * sizeof(Exact<T>) && sizeof(Q4<Exact<T>>) == 4 * sizeof(Exact<T>) &&
                sizeof(Spatial<Exact<T>>) == 6 * sizeof(Exact<T>));
  alignas(64) Exact<T> all[BodyRow::count];
  rows_to_lanes<T>(rows, BodyRow::count, all);
  to.x = {all[0], all[1], all[2]}, to.q = {all[3], all[4], all[5], all[6]};
  to.v.a = {all[7], all[8], all[9]}, to.v.l = {all[10], all[11], all[12]}, to.spin = {all[13], all[14], all[15]};
  to.seen = {rounded<T>(to.v.a), rounded<T>(to.v.l)};
  const V3<Exact<T>> weight{all[16], all[17], all[18]}, axle{all[19], all[20], all[21]};
  const Exact<T> none = exactly<T>(0), h = exactly<T>(step);
  to.weight = rounded<T>(weight);
  to.outside.a = V3<T>{};
  to.outside.l = rounded<T>(V3<Exact<T>>{(weight.x + none) * h, (weight.y + none) * h, (weight.z + none) * h});
  to.axle = rounded<T>(axle), to.swing = rounded<T>(all[22]), to.shaped = rounded<T>(all[23]);
}

template <class T>
VOLVOX_KERNEL void store_bodies(const FlockBody<T>& from, double* const* rows) {
  alignas(64) const Exact<T> all[BodyRow::state] = {
      from.x.x,   from.x.y,   from.x.z,   from.q.w,   from.q.x,   from.q.y,    from.q.z,    from.v.a.x,
      from.v.a.y, from.v.a.z, from.v.l.x, from.v.l.y, from.v.l.z, from.spin.x, from.spin.y, from.spin.z};
  lanes_to_rows<T>(all, BodyRow::state, rows);
}

// Of all nodes: rows[node * lanes + lane].
template <class T>
VOLVOX_KERNEL void load_all_bodies(const FlockView<T>& flock, const double* const* rows, double step) {
  for (std::size_t i = 0; i < flock.bodies.size(); ++i) load_bodies(flock.bodies[i], rows + i * lane_count<T>, step);
}
template <class T>
VOLVOX_KERNEL void store_all_bodies(const Row<const FlockBody<T>>& bodies, double* const* rows) {
  for (std::size_t i = 0; i < bodies.size(); ++i) store_bodies(bodies[i], rows + i * lane_count<T>);
}

// The drives of an axis, as they lie in Drive<double>: what they are told, and what they remember.
struct DriveRow {
  static constexpr int slip = 16, count = 24;
};
// As put() rounds: a number that is too large for a float becomes the largest one.
template <class T>
VOLVOX_KERNEL T rounded_within(const Exact<T>& x) {
  if constexpr (!coarse<T>) {
    return x;
  } else if constexpr (lane_count<T> == 1) {
    T out;
    put(out, 0, x);
    return out;
  } else {
    typedef typename Exact<T>::Half Half;
    constexpr double most = std::numeric_limits<float>::max();
    const Half high = Half{} + most, low = Half{} - most;
    const auto within = [&](const Half& v) {
      const Half below = v < low ? low : v;
      return below > high ? high : below;
    };
    return rounded<T>(Exact<T>{within(x.low), within(x.high)});
  }
}
// Drives that a substep has not told yet.
template <class T>
VOLVOX_KERNEL void load_drive(Drive<T>& to, const double* const* rows) {
  alignas(64) Exact<T> all[DriveRow::count];
  rows_to_lanes<T>(rows, DriveRow::count, all);
  T* const told[] = {&to.gain,     &to.most, &to.constant,   &to.damping,
                     &to.friction, &to.base, &to.per_second, &to.fastest};
  for (int k = 0; k < 8; ++k) *told[k] = rounded_within<T>(all[k]);
  to.target = all[8], to.lower = all[9], to.upper = all[10];
  to.slip = rounded_within<T>(all[DriveRow::slip]), to.limit = rounded_within<T>(all[DriveRow::slip + 1]);
  to.cap = rounded_within<T>(all[DriveRow::slip + 2]);
}

// The numbers of a contact with a plane, as they lie in PlanePoint.
struct PlaneRow {
  static constexpr int state = 8;   // impulse, rebound, arm, separation
  static constexpr int count = 24;  // and feature, on_b, on_a, radius, normal, outward, rim, friction
};

// What a plane belongs to.
struct GroundFrame {
  V3<double> position;
  M3<double> axes;
};

// Two directions square to normals: perpendicular() and its cross product with the normal, to the bit.
template <class E>
VOLVOX_KERNEL void tangents(const V3<E>& n, V3<E>& t, V3<E>& u) {
  const E none = E{}, one = E{} + 1.0;
  const auto steep = (n.x < none ? -n.x : n.x) < E{} + 0.57;
  const V3<E> by_x = cross(n, V3<E>{one, none, none}), by_y = cross(n, V3<E>{none, one, none});
  const V3<E> across{steep ? by_x.x : by_y.x, steep ? by_x.y : by_y.y, steep ? by_x.z : by_y.z};
  const E square = dot(across, across);
  E size;
  if constexpr (std::same_as<E, double>) {
    size = __builtin_sqrt(square);
  } else {
    for (int i = 0; i < static_cast<int>(sizeof(E) / sizeof(double)); ++i) size[i] = __builtin_sqrt(square[i]);
  }
  t = {across.x / size, across.y / size, across.z / size};
  u = cross(n, t);
}

// A slot for contacts with one ground, a row for each lane; where `there` says that there is none, a row of anything.
template <class T>
VOLVOX_KERNEL void load_plane_contact(FlockContact<T>& to, const double* const* rows, const GroundFrame& ground) {
  typedef Exact<T> E;
  alignas(64) E all[PlaneRow::count];
  rows_to_lanes<T>(rows, PlaneRow::count, all);
  const auto spread_row = [](const V3<double>& r) { return V3<E>{exactly<T>(r.x), exactly<T>(r.y), exactly<T>(r.z)}; };
  const M3<E> axes{spread_row(ground.axes.r0), spread_row(ground.axes.r1), spread_row(ground.axes.r2)};
  const auto three = [&](int first) { return V3<E>{all[first], all[first + 1], all[first + 2]}; };
  to.impulse = rounded<T>(three(0)), to.rebound = rounded<T>(all[3]);
  to.on_b = spread_row(ground.position) + axes * three(9);
  to.on_a = rounded<T>(three(12));
  to.radius = to.radius_a = rounded<T>(all[15]);
  to.normal = rounded<T>(axes * three(16));
  to.rim = rounded<T>(all[22]), to.friction = rounded<T>(all[23]);
  to.rolls = any(to.there & (to.rim > 0.0));
  if (to.rolls) to.outward = rounded<T>(axes * three(19));
  // In doubles, whatever T is: see set_frames.
  const V3<E> n = widened(to.normal);
  V3<E> t, u;
  if constexpr (coarse<T> && lane_count < T >> 1) {
    const auto half = [](const V3<E>& v, auto E::*which) { return V3{v.x.*which, v.y.*which, v.z.*which}; };
    typedef typename E::Half Half;
    V3<Half> a, b, c, d;
    tangents<Half>(half(n, &E::low), a, b), tangents<Half>(half(n, &E::high), c, d);
    t = {{a.x, c.x}, {a.y, c.y}, {a.z, c.z}}, u = {{b.x, d.x}, {b.y, d.y}, {b.z, d.z}};
  } else {
    tangents<E>(n, t, u);
  }
  to.frame[0] = to.normal, to.frame[1] = rounded<T>(t), to.frame[2] = rounded<T>(u);
}

template <class T>
VOLVOX_KERNEL void store_plane_contact(const FlockContact<T>& from, double* const* rows) {
  alignas(64) const Exact<T> all[PlaneRow::state] = {
      widened(from.impulse.x), widened(from.impulse.y), widened(from.impulse.z), widened(from.rebound),
      widened(from.arm.x),     widened(from.arm.y),     widened(from.arm.z),     widened(from.separation)};
  lanes_to_rows<T>(all, PlaneRow::state, rows);
}

// The functions of flocks, each compiled for the registers that its lanes fit.
template <class T>
struct FlockKernels {
  int (*move)(const FlockView<T>& flock, const FlockRoomView<T>& room, double step, int substeps, double time_left,
              MaskOf<T>& alarmed);
  void (*load_bodies)(const FlockView<T>& flock, const double* const* rows, double step);
  void (*store_bodies)(const Row<const FlockBody<T>>& bodies, double* const* rows);
  void (*load_plane_contact)(FlockContact<T>& to, const double* const* rows, const GroundFrame& ground);
  void (*store_plane_contact)(const FlockContact<T>& from, double* const* rows);
  void (*load_drive)(Drive<T>& to, const double* const* rows);
  void (*end_tick)(const FlockEnd<T>& flock, double tick, const EndRows& rows);
};
FlockKernels<double> one_double();
FlockKernels<Floats<1>> one_float();
FlockKernels<FourLanes> four_doubles_sse2();
FlockKernels<Floats<4>> four_floats_sse2();
FlockKernels<FourLanes> four_doubles_avx2();
FlockKernels<Floats<8>> eight_floats_avx2();
FlockKernels<EightLanes> eight_doubles_avx512();
FlockKernels<Floats<16>> sixteen_floats_avx512();

// Of the instruction set of the file that includes this: nobody else may use them (kernel_surroundings.h).
namespace {
template <class T>
FlockKernels<T> own_kernels() {
  return {[](const FlockView<T>& flock, const FlockRoomView<T>& room, double step, int substeps, double time_left,
             MaskOf<T>& alarmed) { return run_flock(flock, room, step, substeps, time_left, alarmed); },
          [](const FlockView<T>& flock, const double* const* rows, double step) { load_all_bodies(flock, rows, step); },
          [](const Row<const FlockBody<T>>& bodies, double* const* rows) { store_all_bodies(bodies, rows); },
          [](FlockContact<T>& to, const double* const* rows, const GroundFrame& ground) {
            load_plane_contact(to, rows, ground);
          },
          [](const FlockContact<T>& from, double* const* rows) { store_plane_contact(from, rows); },
          [](Drive<T>& to, const double* const* rows) { load_drive(to, rows); },
          [](const FlockEnd<T>& flock, double tick, const EndRows& rows) { end_tick(flock, tick, rows); }};
}
}  // namespace

}  // namespace volvox::physics::native
