// One tree's state put into its lane of a flock, and taken out again. Compiled for the processor and for GPUs.
// One thread for each flock; copies, so nothing is rounded.
#pragma once

#include <cstring>

#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/flock_data.h"

namespace volvox::physics::native {

// What the kernel reads before it writes it: four kilobytes are a lot to set to zero.
template <class T>
VOLVOX_KERNEL void clear(FlockContact<T>& c, int node) {
  c.node = node;
  c.steady = true, c.rolls = false;
  c.there = c.turns = c.centres = c.active = MaskOf<T>{};
  c.on_a = c.outward = c.impulse = V3<T>{};
  c.on_b = V3<Exact<T>>{};
  c.normal = {T{}, T{}, T{} + 1.0};
  c.radius = c.radius_a = c.friction = c.restitution = c.rim = c.rebound = T{};
}

// `ground`: what it touches; of any kind with a position and axes. A contact that does not say what its normal is fixed
// to is of a plane, and all of its radius is that of the tree's body.
template <class T, class Contact, class Ground>
VOLVOX_KERNEL void load_contact(FlockContact<T>& to, int lane, const Contact& c, const Ground& ground) {
  using NormalOf = ContactPoint::NormalOf;
  constexpr bool of_plane = !requires { c.normal_of; };
  const auto turned = [&](const Vec3& v) { return plain(ground.axes * V3<double>{v.x, v.y, v.z}); };
  put(to.there, lane, true);
  put(to.on_a, lane, c.on_a);
  put(to.on_b, lane, ground.position + turned(c.on_b));
  if constexpr (of_plane) {
    put(to.normal, lane, turned(c.normal));
    put(to.radius, lane, c.radius), put(to.radius_a, lane, c.radius);
  } else {
    put(to.normal, lane, c.normal_of == NormalOf::a ? c.normal : turned(c.normal));
    put(to.turns, lane, c.normal_of == NormalOf::a);
    put(to.centres, lane, c.normal_of == NormalOf::centres);
    to.steady = to.steady && c.normal_of == NormalOf::b;
    put(to.radius, lane, c.radius), put(to.radius_a, lane, c.radius_a);
  }
  put(to.friction, lane, c.friction), put(to.restitution, lane, c.restitution);
  put(to.impulse, lane, c.impulse), put(to.rebound, lane, c.rebound);
  if (c.rim <= 0) return;
  put(to.rim, lane, c.rim);
  put(to.outward, lane, turned(c.outward));
  to.rolls = true;
}

// On one ground all lanes have the same normal, most often.
template <class T>
VOLVOX_KERNEL void set_frames(FlockContact<T>& c) {
  Vec3 n, t, u;
  const auto other = [](const Vec3& a, const Vec3& b) {
    if constexpr (lane_count<T> == 1) return true;
    else return std::memcmp(&a, &b, sizeof a) != 0;
  };
  for (int lane = 0; lane < lane_count<T>; ++lane) {
    const Vec3 own = take(c.normal, lane);
    // To the bit: zeros have signs, and who shares the lanes must not matter.
    if (lane == 0 || other(own, n)) n = own, t = perpendicular(n), u = volvox::cross(n, t);
    put(c.frame[0], lane, own), put(c.frame[1], lane, t), put(c.frame[2], lane, u);
  }
}

// All but the arm from the other body.
template <class T>
VOLVOX_KERNEL void commit_contact(ContactPoint& to, const FlockContact<T>& from, int lane) {
  to.impulse = take(from.impulse, lane), to.rebound = take(from.rebound, lane);
  to.active = take(from.active, lane);
  to.separation = take(from.separation, lane);
  to.approach = take(from.approach, lane);
  for (int i = 0; i < 3; ++i) to.frame[i] = take(from.frame[i], lane);
  to.arm_a = take(from.arm, lane);
}

}  // namespace volvox::physics::native
