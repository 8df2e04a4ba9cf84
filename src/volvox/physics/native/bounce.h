// Restitution. A contact that closes within a substep bounces in that substep. It leaves from its place at the
// beginning of the substep, with the energy that it would have after the impact. Falling bodies follow their parabolas
// exactly (Island::outer_fall), so the height of a bounce is right for every length of the substep. SI units. Pure
// functions.
#pragma once

#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

template <class T>
struct BounceInput {
  T restitution, separation;
  T approach;         // the normal speed before the substep; negative: the gap closes
  T rebound;          // see ContactPoint
  MaskOf<T> carries;  // it pushed in the last substep
  T pull;             // the outer acceleration along the normal
  double step;
};

template <class T>
struct Bounce {
  MaskOf<T> now;   // leaves at `speed`
  MaskOf<T> pass;  // has nothing to do in this substep
  T speed;
  T later;  // for ContactPoint::rebound
};

// Along the normal, v is the speed, a the pull, s the gap and e the restitution. The square of the impact speed is
// v^2 - 2 a s, and e^2 times that after the impact. A body that leaves at s with the same energy has the speed w with
// w^2 = e^2 (v^2 - 2 a s) + 2 a s, and w + a h at the end of the substep. If w^2 is negative, the bounce does not reach
// the height s: the contact closes in this substep and bounces in the next.
//
// A contact that only another hit of this substep closes is left out now and bounces in the next substep, with the
// speed that it has then. (If it were held without a bounce, a row of hits would lose most of its energy.) Contacts of
// resting bodies are never left out.
template <class T>
VOLVOX_KERNEL Bounce<T> plan_bounce(const BounceInput<T>& in) {
  using Mask = MaskOf<T>;
  Bounce<T> out{Mask{}, Mask{}, T{}, T{}};
  const Mask elastic = in.restitution > 0.0;
  if (!any(elastic)) return out;
  const double h = in.step;
  const T gap = larger(T{}, in.separation), lift = 2.0 * in.pull * gap;
  const Mask waited = elastic & (in.rebound > 0.0), fast = elastic & (in.approach <= -slowest_bounce);
  const T way = (in.approach + in.pull * (h / 2)) * h;  // without any hit
  const Mask hits = fast & (in.rebound <= 0.0) & (gap + way <= 0.0);
  const T impact = larger(T{}, in.approach * in.approach - lift);
  const T after = choose(waited, in.rebound * in.rebound, in.restitution * in.restitution * impact);
  const T left = after + lift;
  out.now = waited | (hits & (left > 0.0));
  out.speed = square_root(larger(T{}, left)) + in.pull * h;
  out.later = choose(out.now, T{} - 1.0, choose(hits & (left <= 0.0), square_root(after), T{}));
  const Mask rests = in.carries & (in.approach > -slowest_bounce), idle = !rests;
  out.pass = elastic & idle & (in.rebound <= 0.0) & (in.separation > 0.0) & (gap + way > 0.0);
  return out;
}

}  // namespace volvox::physics::native
