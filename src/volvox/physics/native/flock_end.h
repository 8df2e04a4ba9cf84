// The end of a tick of trees that are alone on planes, side by side: what others see of links and joints, taken from
// the lanes that hold them. As Simulator::end_tick has it for all others, to the bit, in doubles in both precisions.
// SI units, world frame. One thread for each flock.
#pragma once

#include <cstring>

#include "volvox/base/math.h"
#include "volvox/physics/native/flock_data.h"
#include "volvox/physics/native/lane_rows.h"
#include "volvox/physics/native/link_plan.h"

namespace volvox::physics::native {

// Where it goes, by node and lane: rows[node * lanes + lane]. A row of a joint that a root does not have, or of a lane
// that nobody needs, is anybody's.
struct EndRows {
  double* const* poses;   // position, rotation
  double* const* twists;  // linear, angular
  double* const* joints;  // position, velocity, torque
  double* const* loads;   // force, torque
};

namespace detail {

// Numbers that are written for doubles and for vectors of them alike.
template <class V>
VOLVOX_KERNEL V all_of(double x) {
  if constexpr (std::same_as<V, double>) {
    return x;
  } else {
    V v{};
    for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(double)); ++i) v[i] = x;
    return v;
  }
}
template <class V>
VOLVOX_KERNEL V3<V> all_of(const Vec3& x) {
  return {all_of<V>(x.x), all_of<V>(x.y), all_of<V>(x.z)};
}
template <class V>
VOLVOX_KERNEL Q4<V> all_of(const Quat& q) {
  return {all_of<V>(q.w), all_of<V>(q.x), all_of<V>(q.y), all_of<V>(q.z)};
}
template <class V>
struct IntegersOf {
  typedef long Type __attribute__((vector_size(sizeof(V))));
};
template <>
struct IntegersOf<double> {
  using Type = long;
};
template <class V>
VOLVOX_KERNEL typename IntegersOf<V>::Type bits_of(const V& x) {
  typename IntegersOf<V>::Type bits;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}
// Of zeros, too.
template <class V>
VOLVOX_KERNEL auto negative(const V& x) {
  return bits_of(x) < 0;
}
template <class V>
VOLVOX_KERNEL V absolute(const V& x) {
  return negative(x) ? -x : x;
}

// elementary::atan_unit, with the table looked up by comparisons.
template <class V>
VOLVOX_KERNEL V atan_unit(const V& x) {
  constexpr double table[9] = {0.0,
                               0.12435499454676143503,
                               0.24497866312686415417,
                               0.35877067027057222040,
                               0.46364760900080611621,
                               0.55859931534356243597,
                               0.64350110879328438680,
                               0.71882999962162450542,
                               0.78539816339744830962};
  const V place = x * 8.0 + 0.5;
  V c{}, start{};
  for (int k = 1; k < 9; ++k) {
    const auto beyond = place >= static_cast<double>(k);
    c = beyond ? all_of<V>(k / 8.0) : c, start = beyond ? all_of<V>(table[k]) : start;
  }
  const V t = (x - c) / (1.0 + x * c), z = t * t;
  V p = all_of<V>(1.0 / 13);
  p = p * z - 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z - 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z - 1.0 / 3;
  return start + (t + t * (z * p));
}
// elementary::atan2 of finite numbers.
template <class V>
VOLVOX_KERNEL V angle_towards(const V& y, const V& x) {
  const V ax = absolute(x), ay = absolute(y);
  const auto flat = ay <= ax;
  const V below = flat ? ax : ay, unit = atan_unit<V>((flat ? ay : ax) / (below == 0.0 ? all_of<V>(1) : below));
  V angle = flat ? unit : pi / 2 - unit;
  angle = negative(x) ? pi - angle : angle;
  return negative(y) ? -angle : angle;
}
// std::round: halves away from zero.
template <class V>
VOLVOX_KERNEL V round_away(const V& x) {
  constexpr double whole = 4503599627370496.0;  // from here on there are no fractions
  const V size = absolute(x);
  V near = (size + whole) - whole;
  near = near > size ? near - 1.0 : near;
  near = size - near >= 0.5 ? near + 1.0 : near;
  near = size < whole ? near : size;
  return negative(x) ? -near : near;
}
// physics::unwrapped_angle.
template <class V>
VOLVOX_KERNEL V unwrapped_angle(const Q4<V>& rotation, const V& previous) {
  const V angle = 2.0 * angle_towards(rotation.z, rotation.w);
  return angle + 2 * pi * round_away<V>((previous - angle) / (2 * pi));
}
// Quat * Vec3.
template <class V>
VOLVOX_KERNEL V3<V> rotate(const Q4<V>& q, const V3<V>& v) {
  const V3<V> u{q.x, q.y, q.z}, c = cross(u, v), t{c.x * 2.0, c.y * 2.0, c.z * 2.0};
  return v + t * q.w + cross(u, t);
}

template <class V>
struct LinkPose {
  V3<V> position;
  Q4<V> rotation;
};
// physics::joint_position.
template <class V>
VOLVOX_KERNEL V joint_position(JointType type, const LinkPlan& plan, const LinkPose<V>& a, const LinkPose<V>& b,
                               const V& previous) {
  if (type == JointType::revolute) {
    const Q4<V> frame_a = a.rotation * all_of<V>(plan.frame_a.rotation),
                frame_b = b.rotation * all_of<V>(plan.frame_b.rotation);
    return detail::unwrapped_angle(conjugate(frame_a) * frame_b, previous);
  }
  if (type == JointType::prismatic) {
    const V3<V> at_a = a.position + rotate(a.rotation, all_of<V>(plan.frame_a.position)),
                at_b = b.position + rotate(b.rotation, all_of<V>(plan.frame_b.position));
    return dot(rotate(a.rotation * all_of<V>(plan.frame_a.rotation), all_of<V>(Vec3{0, 0, 1})), at_b - at_a);
  }
  return previous;
}

template <class T>
VOLVOX_KERNEL auto part_of(const V3<Exact<T>>& v, int first) {
  return V3{part_of<T>(v.x, first), part_of<T>(v.y, first), part_of<T>(v.z, first)};
}
template <class V>
VOLVOX_KERNEL V3<V> over(const V3<V>& a, const Vec3& b) {
  return {a.x / all_of<V>(b.x), a.y / all_of<V>(b.y), a.z / all_of<V>(b.z)};
}

// Of some lanes, as many as V has.
template <class T, class V>
VOLVOX_KERNEL LinkPose<V> end_link(const NodeShape& shape, const LinkPlan& link, const FlockBody<T>& body, int first,
                                   double* const* pose, double* const* twist) {
  const V3<V> x = part_of<T>(body.x, first), spin = part_of<T>(body.spin, first), linear = part_of<T>(body.v.l, first);
  const Q4<V> q{part_of<T>(body.q.w, first), part_of<T>(body.q.x, first), part_of<T>(body.q.y, first),
                part_of<T>(body.q.z, first)};
  const Q4<V> turn = q * all_of<V>(link.from_link.rotation.conjugate());
  const LinkPose<V> out{x - rotate(turn, all_of<V>(link.from_link.position)), turn};
  const V3<V> angular = rotate(q, over(rotate(conjugate(q), spin), shape.moments));
  const V poses[8] = {out.position.x, out.position.y, out.position.z, turn.w, turn.x, turn.y, turn.z};
  const V twists[8] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
  columns_to_rows<7>(poses, pose), columns_to_rows<6>(twists, twist);
  return out;
}

template <class T, class V>
VOLVOX_KERNEL void end_joint(const LinkPlan& link, const FlockJoint<T>& joint, const V& position, int first,
                             double tick, double* const* state, double* const* load) {
  const Exact<T> velocity = widened(joint.velocity), motor = widened(joint.motor);
  const V3<Exact<T>> force = widened(joint.load.l), torque = widened(joint.load.a);
  const Q4<V> to_frame = all_of<V>(link.to_frame);
  const V share = all_of<V>(1 / tick);
  const V3<V> f = rotate(to_frame, part_of<T>(force, first)) * share,
              t = rotate(to_frame, part_of<T>(torque, first)) * share;
  const V states[8] = {position, part_of<T>(velocity, first), part_of<T>(motor, first) / all_of<V>(tick)};
  const V loads[8] = {f.x, f.y, f.z, t.x, t.y, t.z};
  columns_to_rows<3>(states, state), columns_to_rows<6>(loads, load);
}

}  // namespace detail

// What of a flock the end of a tick is about; joints have the positions that the substeps came to.
template <class T>
struct FlockEnd {
  Row<const NodeShape> shapes;
  Row<const LinkPlan> links;
  Row<FlockBody<T>> bodies;
  Row<FlockJoint<T>> joints;
};

template <class T>
VOLVOX_KERNEL void end_tick(const FlockEnd<T>& flock, double tick, const EndRows& rows) {
  constexpr int lanes = lane_count<T>, wide = lanes == 1 ? 1 : detail::doubles_side_by_side<T>;
  typedef std::remove_cvref_t<decltype(detail::part_of<T>(std::declval<const Exact<T>&>(), 0))> V;
  detail::LinkPose<V> poses[most_planned_links];
  for (int first = 0; first < lanes; first += wide) {
    for (std::size_t i = 0; i < flock.shapes.size(); ++i) {
      const std::size_t row = i * lanes + static_cast<std::size_t>(first);
      const NodeShape& shape = flock.shapes[i];
      poses[i] =
          detail::end_link<T, V>(shape, flock.links[i], flock.bodies[i], first, rows.poses + row, rows.twists + row);
      if (i == 0) continue;
      const detail::LinkPose<V>& parent = poses[static_cast<std::size_t>(shape.parent)];
      const V& before = detail::part_of<T>(flock.joints[i].position, first);
      const V position = detail::joint_position<V>(shape.type, flock.links[i], shape.flipped ? poses[i] : parent,
                                                   shape.flipped ? parent : poses[i], before);
      detail::end_joint<T, V>(flock.links[i], flock.joints[i], position, first, tick, rows.joints + row,
                              rows.loads + row);
    }
  }
}

}  // namespace volvox::physics::native
