// The articulated recursion on maximal coordinates, one body at a time, for T = double or for
// lanes of identical trees. Notation: child c of parent p, r = x_c - x_p, T maps the parent's
// motion to the child's place, s is the motion that a joint axis leaves free.
//
//   leaf to root   U = D s, inv = 1 / (s.U + kappa), u = U inv
//                  D' = D - U u^T, z' = z - u (s.z + rhs) - D' beta
//                  D_p += T^T D' T, z_p += T^T z'
//   root to leaf   y = T v_p + beta, qdot = inv (s.z + rhs) - u.y, v = y + s qdot
//
// beta is the motion that takes back the joint's error: a share of the error itself, and the
// part of it that this step would add because bodies move on arcs and not along tangents. With
// it the joints hold to second order while every impulse still acts at the present poses, so
// that angular momentum is kept to rounding (SHAKE; docs/decisions/0010).
#pragma once

#include "volvox/physics/engine.h"
#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

// The share of a joint's error that a substep takes back.
inline constexpr double joint_correction = 0.2;
// How often the pieces of the drives are tried again within a substep.
inline constexpr int most_passes = 4;

// What a node of a tree is: the same for all lanes.
struct NodeShape {
  int parent = -1;           // index of a node; -1: a free root, or one that hangs on ground
  JointType type = JointType::fixed;
  bool flipped = false;      // the child is the joint's body a
  double mass = 0;
  Vec3 moments;
  Vec3 anchor_parent, anchor_child;  // from the centres of mass, in principal axes
  Vec3 axis_parent, axis_child;      // revolute and prismatic
  Quat closed;                       // child's axes in the parent's, when the joint is closed
  int first_dof = 0, dofs = 0;
  friend bool operator==(const NodeShape&, const NodeShape&) = default;
};

// One free axis of a joint. A ball joint has three, eliminated one after the other.
template <class T>
struct Dof {
  alignas(sizeof(T)) Spatial<T> s;
  Spatial<T> u;
  T kappa, rhs;            // impulse = rhs - kappa qdot
  T walled, wall_speed;    // 1 where a wall holds, else 0
  T inv, root_inv;         // 1 / (s.D s + kappa), and its square root
  T drive;                 // inv (s.z + rhs)
  T wall_gain;
  T predicted, qdot;       // its speed before and after the contacts
};

template <class T>
struct Node {
  // In: the state, and what acts from outside in this substep.
  alignas(sizeof(T)) V3<T> x;
  Q4<T> q;
  Spatial<T> v;      // of the last substep
  Spatial<T> z;      // momentum and outside impulses; then of the whole subtree
  Spatial<T> own;    // the body's own part of z
  V3<T> drag;        // about the principal axes
  bool dragged;      // whether there is any
  alignas(sizeof(T)) M3<T> axes;
  // The factor.
  S3<T> inertia;     // of the body, in world axes at the middle of the step
  S3<T> held;        // what holds its turning back, where that would be unstable: see stability_drag
  S6<T> d;           // articulated inertia of the subtree
  V3<T> r;
  Spatial<T> beta;
  // Out.
  Spatial<T> fresh;  // the new velocity
  Spatial<T> passed; // impulse that the joint passes on to the child, at its centre of mass
};

template <class T> VOLVOX_KERNEL V3<T> spread(const Vec3& v) { return {T{} + v.x, T{} + v.y, T{} + v.z}; }
template <class T> VOLVOX_KERNEL Q4<T> spread(const Quat& q) { return {T{} + q.w, T{} + q.x, T{} + q.y, T{} + q.z}; }

// A joint's force turns with the body that it pulls at, but a step holds it fixed: a light
// link under tension F at an arm r then swings with omega^2 = F r / I, and beyond h omega = 2
// no step with lagged directions is stable. Where it comes to h omega = 1, the link's turning
// is held back by just as much inertia as it lacks. Ordinary robots are orders of magnitude
// away and have none of it; added inertia that keeps its own momentum was not enough (a heavy
// body on a light whip gained energy). `torque` is the sum of force times arm over the joints.
template <class T> VOLVOX_KERNEL V3<T> stability_drag(const V3<T>& torque, const Vec3& moments, double step) {
  const auto lacking = [&](const T& t, double moment) __attribute__((always_inline)) { return choose(step * step * t > moment, step * step * t - moment, T{}); };
  return {lacking(torque.x, moments.x), lacking(torque.y, moments.y), lacking(torque.z, moments.z)};
}
inline bool any_drag(const V3<double>& drag) { return drag.x > 0 || drag.y > 0 || drag.z > 0; }
// Force times arm, about each principal axis.
template <class T> VOLVOX_KERNEL V3<T> drag_torque(const T& force, const Vec3& arm) {
  const double xx = arm.x * arm.x, yy = arm.y * arm.y, zz = arm.z * arm.z;
  return {force * std::sqrt(yy + zz), force * std::sqrt(xx + zz), force * std::sqrt(xx + yy)};
}

// Inertia at the attitude that the body will have in mid-step: a free body then keeps its
// energy to second order, and its spin exactly.
template <class T> VOLVOX_KERNEL void load_inertia(const NodeShape& shape, Node<T>& n, const T& step) {
  const M3<T> middle = rotation_matrix(turned(n.q, n.v.a * (step * 0.5)));
  n.inertia = turned_diagonal(middle, spread<T>(shape.moments));
  if (n.dragged) n.held = turned_diagonal(middle, n.drag);
}

// The same of a body that no joint holds, by iteration: its attitude in mid-step then lies exactly
// between those before and after, the step is the same backwards, and energy does not creep away.
template <class T> VOLVOX_KERNEL void load_free_inertia(const NodeShape& shape, Node<T>& n, const V3<T>& spin, const T& step) {
  constexpr int iterations = 4;
  V3<T> turning = n.v.a;
  M3<T> middle;
  for (int i = 0; i < iterations; ++i) {
    middle = rotation_matrix(turned(n.q, turning * (step * 0.5)));
    const V3<T> m = transposed_times(middle, spin);
    turning = middle * V3<T>{m.x * (1 / shape.moments.x), m.y * (1 / shape.moments.y), m.z * (1 / shape.moments.z)};
  }
  n.inertia = turned_diagonal(middle, spread<T>(shape.moments));
}

// The body alone, before its children add what they feel like.
template <class T> VOLVOX_KERNEL void start_factor(const NodeShape& shape, Node<T>& n) {
  const T zero = T{}, m = zero + shape.mass;
  n.d.a = n.inertia;
  if (n.dragged) n.d.a = n.d.a + n.held;
  n.d.b = {{zero, zero, zero}, {zero, zero, zero}, {zero, zero, zero}};
  n.d.c = {m, zero, zero, m, zero, m};
  n.z = n.own;
}

// What a joint sees of the body that it hangs on.
template <class T>
struct Support {
  V3<T> x;
  Q4<T> q;
  M3<T> axes;
  Spatial<T> v;  // of the last substep
};

template <class T> VOLVOX_KERNEL V3<T> twice_crossed(const V3<T>& w, const V3<T>& a) { return cross(w, cross(w, a)); }

// Beyond half a radian a step the tangent says nothing about the arc: the share of the arc's
// bend that is looked ahead.
template <class T> VOLVOX_KERNEL T trusted_bend(const V3<T>& w, const V3<T>& other, const T& step) {
  const T turn = (dot(w, w) + dot(other, other)) * (step * step) * 4.0;
  return 1 / (1 + turn * turn);
}

// The rotation by which a fixed joint's child is turned from where it should be, as a vector
// in world axes; for small angles.
template <class T> VOLVOX_KERNEL V3<T> turn_error(const NodeShape& shape, const Node<T>& c, const Support<T>& p) {
  const Q4<T> d = conjugate(p.q) * c.q * conjugate(spread<T>(shape.closed));
  const T sign = choose(d.w < T{}, T{} - 2.0, T{} + 2.0);
  return p.axes * V3<T>{d.x * sign, d.y * sign, d.z * sign};
}

// Geometry of a joint: r, the free axes s, and beta.
template <class T> VOLVOX_KERNEL void load_joint(const NodeShape& shape, Node<T>& c, const Support<T>& p, Dof<T>* dof, const T& step) {
  const T back = joint_correction / step, half = step * 0.5 * trusted_bend(c.v.a, p.v.a, step);
  c.r = c.x - p.x;
  const V3<T> arm_p = p.axes * spread<T>(shape.anchor_parent), arm_c = c.axes * spread<T>(shape.anchor_child);
  const V3<T> gap = c.r + arm_c - arm_p;
  const V3<T> bend = twice_crossed(c.v.a, arm_c) - twice_crossed(p.v.a, arm_p);
  V3<T> at = gap * (T{} + 0.5) - arm_c;  // x_c - P, with P in the middle of the two anchors
  V3<T> pull = -(gap * back) - bend * half;
  V3<T> turn{T{}, T{}, T{}};
  switch (shape.type) {
    case JointType::revolute: {
      const V3<T> axis = p.axes * spread<T>(shape.axis_parent), other = c.axes * spread<T>(shape.axis_child);
      const T spin = dot(axis, c.v.a - p.v.a);
      turn = cross(other, axis) * back - cross(axis, p.v.a) * (spin * half);
      dof[0].s = {axis, cross(axis, at)};
      break;
    }
    case JointType::prismatic: {
      const V3<T> axis = p.axes * spread<T>(shape.axis_parent);
      at = -arm_c;
      const Spatial<T> carried = motion_to_child(p.v, c.r);
      const T speed = dot(axis, c.v.l - carried.l - cross(c.v.a - p.v.a, at));
      const V3<T> arc = -twice_crossed(p.v.a, c.r) - cross(p.v.a, axis) * (speed + speed);
      pull = -(gap * back) - arc * half;
      pull = pull - axis * dot(axis, pull);
      turn = -(turn_error(shape, c, p) * back);
      dof[0].s = {{T{}, T{}, T{}}, axis};
      break;
    }
    case JointType::ball: {
      const V3<T> a{p.axes.r0.x, p.axes.r1.x, p.axes.r2.x}, b{p.axes.r0.y, p.axes.r1.y, p.axes.r2.y};
      const V3<T> e{p.axes.r0.z, p.axes.r1.z, p.axes.r2.z};
      dof[0].s = {a, cross(a, at)};
      dof[1].s = {b, cross(b, at)};
      dof[2].s = {e, cross(e, at)};
      break;
    }
    case JointType::fixed:
    case JointType::dock: turn = -(turn_error(shape, c, p) * back); break;
  }
  c.beta = {turn, cross(turn, at) + pull};
}

// Takes the joint's free axes out of the subtree's inertia. What is left, D' in c.d and z' in
// c.z, is what the parent feels.
template <class T> VOLVOX_KERNEL void eliminate(const NodeShape& shape, Node<T>& c, Dof<T>* dofs) {
  for (int i = 0; i < shape.dofs; ++i) {
    Dof<T>& f = dofs[i];
    const Spatial<T> big = c.d * f.s;
    const T inertia = dot(f.s, big);
    f.wall_gain = f.walled * (inertia * 1e7);
    const T rhs = f.rhs + f.wall_gain * f.wall_speed;
    f.inv = 1 / (inertia + f.kappa + f.wall_gain);
    f.root_inv = square_root(f.inv);
    f.u = big * f.inv;
    const T drive = dot(f.s, c.z) + rhs;
    f.drive = drive * f.inv;
    subtract_outer(c.d, big, f.u);
    c.z = c.z - f.u * drive;
  }
  c.z = c.z - c.d * c.beta;
}

// The child's velocity from its parent's.
template <class T> VOLVOX_KERNEL Spatial<T> descend(const NodeShape& shape, const Node<T>& c, Dof<T>* dofs, const Spatial<T>& parent) {
  Spatial<T> y = motion_to_child(parent, c.r) + c.beta;
  for (int i = shape.dofs - 1; i >= 0; --i) {
    dofs[i].predicted = dofs[i].qdot = dofs[i].drive - dot(dofs[i].u, y);
    y = y + dofs[i].s * dofs[i].qdot;
  }
  return y;
}

// The change of the child's velocity, from its parent's change and its own whitened
// coordinates: dv = T dv_p + s (sqrt(inv) a - u.(T dv_p)).
template <class T> VOLVOX_KERNEL Spatial<T> descend_change(const NodeShape& shape, const Node<T>& c, Dof<T>* dofs, const Spatial<T>& parent, const T* a) {
  Spatial<T> y = motion_to_child(parent, c.r);
  for (int i = shape.dofs - 1; i >= 0; --i) {
    const T change = dofs[i].root_inv * a[i] - dot(dofs[i].u, y);
    dofs[i].qdot = dofs[i].predicted + change;
    y = y + dofs[i].s * change;
  }
  return y;
}

// What the joint must have passed on so that the body, and all that hangs on it, moves so:
// M v - z. The children have added theirs to `passed` before.
template <class T> VOLVOX_KERNEL void balance(const NodeShape& shape, Node<T>& n) {
  Spatial<T> momentum{n.inertia * n.fresh.a, n.fresh.l * (T{} + shape.mass)};
  if (n.dragged) momentum.a = momentum.a + n.held * n.fresh.a;
  n.passed = n.passed + momentum - n.own;
}

}  // namespace volvox::physics::native
