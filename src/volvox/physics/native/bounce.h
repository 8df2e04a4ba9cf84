// Restitution. A contact that is reached within a substep bounces in it, from where it is when the substep begins, with
// the energy that it would have after the impact: bodies keep to their parabolas exactly (Island::outer_fall), so a
// bounce is as high as it should be whatever the substep.
// SI units. Pure functions.
#pragma once

#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

template <class T>
struct BounceInput {
  T restitution, separation;
  T approach;         // the normal speed before the substep; negative: they close
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

// Along the normal, v is the speed, a the pull and s the gap. The impact has v^2 - 2 a s, and afterwards e^2 of it.
// What leaves at s with the same energy has w^2 = e^2 (v^2 - 2 a s) + 2 a s, and w + a h at the end of the substep.
// Where that is negative, the bounce does not reach so high: the contact is closed in this substep and bounces in the
// next. What nothing but another hit of this substep presses together passes, and bounces in the next substep by what
// it then has: held without a bounce, hits in a row would lose most of their energy. What rests on another does not
// pass.
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
