// Segments of one long tree, side by side: one substep of a pack, stage by stage.
//
// A segment is a piece of a tree that other pieces hang on at one body at most, its end. What the rest of the tree can
// see of it is how the body above it feels it (D, z) and how the end moves: with v the velocity of the body above and f
// an impulse on the end,
//   v_end = Phi v + c + G f          the body above feels z + Phi^T f - D v
// That is `condense`. Then the tree puts its segments together, one after the other, in blocks of six (long_tree.cpp),
// and knows for each what hangs on its end (D_e, z_e: f = z_e - D_e v_end) and how the body above it moves. With these,
// `solve` is the recursion of tree_kernel.h: the same solution as without cuts, up to rounding.
//
// Lanes have the structure in common and nothing else: masses, axes and anchors may differ.
// SI units. A pack is one thread's business; each lane has the bits that it would have alone.
#pragma once

#include "volvox/physics/native/drive.h"
#include "volvox/physics/native/spatial.h"
#include "volvox/physics/native/tree_kernel.h"

namespace volvox::physics::native {

// A node as all lanes have it.
struct SegmentPlace {
  int parent = -1;  // a node of the segment; -1: the first, which hangs on the body above
  JointType type = JointType::fixed;
  bool flipped = false;
  bool parts = false;   // others of the segment hang on it
  bool opens = false;   // from the leaves to the root, it is the first that gives to its parent
  bool on_way = false;  // between the first node and the end
  int first_dof = 0, dofs = 0;
  int slot = 0;  // where its children add up
  friend bool operator==(const SegmentPlace&, const SegmentPlace&) = default;
};

template <class T>
struct SegmentShape {
  alignas(sizeof(T)) T mass;
  V3<T> moments, anchor_parent, anchor_child, axis_parent, axis_child;
  Q4<T> closed;
};

template <class T>
struct SegmentDof {
  alignas(sizeof(T)) Spatial<T> s;
  Spatial<T> u;
  T kappa, rhs;          // impulse = rhs - kappa qdot
  T walled, wall_speed;  // 1 where a wall holds, else 0
  T wall_gain;           // of the wall that holds, or would: known from the last solution
  T felt;                // the inertia about the axis, times wall_stiffness
  T inv, root_inv;       // 1 / (s.D s + kappa), and its square root
  T drive;               // inv (s.z + rhs)
  T predicted, qdot;     // its speed before and after the contacts
  T coordinate;          // what contacts did to it, whitened
  T position, velocity;  // of the joint, at the start of the substep
};

template <class T>
struct SegmentNode {
  alignas(sizeof(T)) V3<T> x;
  Q4<T> q;
  Spatial<T> v;  // of the last substep
  V3<T> spin;
  Spatial<T> outside;  // weight and forces, as impulses of a substep
  Spatial<T> own;      // momentum, and all that acts on it but joints
  M3<T> axes;
  S3<T> inertia;
  V3<T> r;
  Spatial<T> beta;
  Spatial<T> fresh;   // the new velocity
  Spatial<T> change;  // of it, by contacts
};

// What a joint did.
template <class T>
struct SegmentLoad {
  alignas(sizeof(T)) Spatial<T> load;  // of the tick so far, in the principal axes of its body a
  T motor;                             // likewise
  T tension;                           // of the substep
};

// Where the segment meets the rest of the tree.
template <class T>
struct SegmentEnds {
  alignas(sizeof(T)) Support<T> above;
  V3<T> reach;  // from the body above to the end
  // What the rest sees of it.
  S6<T> d;
  Spatial<T> z;
  Spatial<T> phi[6];  // by rows
  T c[6];
  T g[6][6];  // lower triangle
  // What it gets from the rest.
  S6<T> end_d;
  Spatial<T> end_z;
  Spatial<T> above_fresh, above_change;
  Spatial<T> end_change;  // its own part of it
  Spatial<T> passed;      // sum of M v - z of its own bodies, at the body above
  Spatial<T> end_passed;  // what the segments on its end pass on to it
};

// Sums of children that are not finished.
template <class T>
struct SegmentSum {
  alignas(sizeof(T)) S6<T> d;
  Spatial<T> z;
};

// A pack as the kernel sees it.
template <class T>
struct SegmentView {
  const SegmentPlace* places;
  int count;
  int end;  // the node that other segments hang on
  const SegmentShape<T>* shapes;
  SegmentNode<T>* nodes;
  SegmentDof<T>* dofs;
  Drive<T>* drives;  // by dof
  SegmentLoad<T>* loads;
  S3<T>* held;  // by node: see stability_drag; null: nothing is held back
  const V3<T>* drag;
  SegmentEnds<T>* ends;
  SegmentSum<T>* sums;  // by slot
};

enum class SegmentStage { load, know_walls, correct, condense, solve, sum_change, take_up, sum_passed, finish };
struct SegmentOrder {
  double step = 0;
  bool settle = false;  // drives look at the solution
  DrivePass pass = DrivePass::first;
  Vec3 fall;  // see Island::outer_fall
};
struct SegmentAnswer {
  bool changed = false;  // drives that the solution refuted
  bool walled = false;   // a wall stands whose gain is not known yet
  Verdict verdict = Verdict::holds;
  double most_tension = 0;
};

template <class T>
class SegmentStep {
 public:
  VOLVOX_KERNEL SegmentStep(const SegmentView<T>& view, const SegmentOrder& order)
      : s_(view), order_(order), h_(T{} + order.step) {}

  VOLVOX_KERNEL SegmentAnswer run(SegmentStage stage) {
    switch (stage) {
      case SegmentStage::load: return load();
      case SegmentStage::know_walls: know_walls(); break;
      case SegmentStage::correct: correct(); break;
      case SegmentStage::condense: condense(); break;
      case SegmentStage::solve: return solve();
      case SegmentStage::sum_change: sum_change(); break;
      case SegmentStage::take_up: return take_up();
      case SegmentStage::sum_passed: sum_passed(); break;
      case SegmentStage::finish: return finish();
    }
    return {};
  }

 private:
  VOLVOX_KERNEL SegmentAnswer load() {
    MaskOf<T> walled{};
    for (int i = 0; i < s_.count; ++i) {
      SegmentNode<T>& n = s_.nodes[i];
      n.axes = rotation_matrix(n.q);
      const M3<T> middle = rotation_matrix(turned(n.q, n.v.a * (h_ * 0.5)));
      n.inertia = turned_diagonal(middle, s_.shapes[i].moments);
      n.own = Spatial<T>{n.spin, n.v.l * s_.shapes[i].mass} + n.outside;
      if (s_.held) s_.held[i] = turned_diagonal(middle, s_.drag[i]);
      const SegmentPlace& place = s_.places[i];
      SegmentDof<T>* dofs = s_.dofs + place.first_dof;
      if (place.parent < 0) {
        load_joint(place.type, s_.shapes[i], n, s_.ends->above, dofs, h_);
      } else {
        const SegmentNode<T>& p = s_.nodes[place.parent];
        load_joint(place.type, s_.shapes[i], n, Support<T>{p.x, p.q, p.axes, p.v}, dofs, h_);
      }
      for (int k = 0; k < place.dofs; ++k) {
        Drive<T>& drive = s_.drives[place.first_dof + k];
        drive.tell(dofs[k].position, dofs[k].velocity, order_.step);
        dofs[k].wall_gain = T{};
        take_line(drive, dofs[k]);
        walled = walled | drive.walled();
      }
    }
    s_.ends->reach = s_.nodes[s_.end].x - s_.ends->above.x;
    SegmentAnswer answer;
    answer.walled = any(walled);
    return answer;
  }

  // Walls that stand from the substep before, after a solution without them.
  VOLVOX_KERNEL void know_walls() {
    for (int i = 0; i < s_.count; ++i) {
      for (int k = 0; k < s_.places[i].dofs; ++k) {
        SegmentDof<T>& dof = s_.dofs[s_.places[i].first_dof + k];
        dof.wall_gain = dof.felt;
      }
    }
  }

  // After take_up() has judged the drives.
  VOLVOX_KERNEL void correct() {
    for (int i = 0; i < s_.count; ++i) {
      for (int k = s_.places[i].first_dof; k < s_.places[i].first_dof + s_.places[i].dofs; ++k) {
        s_.drives[k].keep_to_cap();
        take_line(s_.drives[k], s_.dofs[k]);
      }
    }
  }

  VOLVOX_KERNEL static void take_line(const Drive<T>& drive, SegmentDof<T>& dof) {
    dof.kappa = drive.kappa();
    dof.rhs = drive.rhs();
    dof.walled = choose(drive.walled(), T{} + 1.0, T{});
    dof.wall_speed = drive.wall_speed();
  }

  // The body alone.
  VOLVOX_KERNEL SegmentSum<T> own(int i) const {
    const SegmentNode<T>& n = s_.nodes[i];
    const T zero = T{}, m = s_.shapes[i].mass;
    S3<T> turning = n.inertia;
    if (s_.held) turning = turning + s_.held[i];
    return {{turning, {{zero, zero, zero}, {zero, zero, zero}, {zero, zero, zero}}, {m, zero, zero, m, zero, m}},
            n.own};
  }

  // With what hangs on it, but for what hangs on the end.
  VOLVOX_KERNEL SegmentSum<T> whole(int i) const {
    SegmentSum<T> sum = own(i);
    if (s_.places[i].parts) {
      const SegmentSum<T>& others = s_.sums[s_.places[i].slot];
      sum.d = sum.d + others.d, sum.z = sum.z + others.z;
    }
    return sum;
  }

  // Takes the free axes of a joint out of what hangs on it; see eliminate(). The gain of a wall must be the same with
  // and without what hangs on the end.
  VOLVOX_KERNEL void take_out(int i, SegmentSum<T>& sum) {
    SegmentDof<T>* dofs = s_.dofs + s_.places[i].first_dof;
    for (int k = 0; k < s_.places[i].dofs; ++k) {
      SegmentDof<T>& f = dofs[k];
      const Spatial<T> big = sum.d * f.s;
      const T inertia = dot(f.s, big), wall = f.walled * f.wall_gain;
      f.felt = inertia * wall_stiffness<T>;
      f.inv = 1 / (inertia + f.kappa + wall);
      f.u = big * f.inv;
      const T drive = dot(f.s, sum.z) + (f.rhs + wall * f.wall_speed);
      f.drive = drive * f.inv;
      subtract_outer(sum.d, big, f.u);
      sum.z = sum.z - f.u * drive;
    }
    sum.z = sum.z - sum.d * s_.nodes[i].beta;
  }

  VOLVOX_KERNEL void give(int i, const SegmentSum<T>& sum) {
    const SegmentPlace& place = s_.places[i];
    const SegmentSum<T> felt{inertia_to_parent(sum.d, s_.nodes[i].r), impulse_to_parent(sum.z, s_.nodes[i].r)};
    SegmentSum<T>& to = s_.sums[s_.places[place.parent].slot];
    if (place.opens) to = felt;
    else to.d = to.d + felt.d, to.z = to.z + felt.z;
  }

  VOLVOX_KERNEL void condense() {
    SegmentEnds<T>& ends = *s_.ends;
    Spatial<T> phi[6];
    T c[6], g[6][6];
    for (int i = s_.count; i-- > 0;) {
      if (i == s_.end) {
        for (int row = 0; row < 6; ++row) {
          T e[6] = {};
          e[row] = T{} + 1.0;
          phi[row] = {{e[0], e[1], e[2]}, {e[3], e[4], e[5]}};
          c[row] = T{};
          for (int column = 0; column <= row; ++column) g[row][column] = T{};
        }
      }
      SegmentSum<T> sum = whole(i);
      take_out(i, sum);
      if (s_.places[i].on_way) follow(i, phi, c, g);
      if (i > 0) give(i, sum);
      else ends.d = inertia_to_parent(sum.d, s_.nodes[0].r), ends.z = impulse_to_parent(sum.z, s_.nodes[0].r);
    }
    for (int row = 0; row < 6; ++row) {
      ends.phi[row] = phi[row], ends.c[row] = c[row];
      for (int column = 0; column <= row; ++column) ends.g[row][column] = g[row][column];
    }
  }

  // The end's motion, which was said by that of node i, by that of its parent.
  VOLVOX_KERNEL void follow(int i, Spatial<T> (&phi)[6], T (&c)[6], T (&g)[6][6]) const {
    const SegmentNode<T>& n = s_.nodes[i];
    const SegmentDof<T>* dofs = s_.dofs + s_.places[i].first_dof;
    for (int k = 0; k < s_.places[i].dofs; ++k) {
      const SegmentDof<T>& f = dofs[k];
      T along[6];
      for (int row = 0; row < 6; ++row) {
        along[row] = dot(phi[row], f.s);
        phi[row] = phi[row] - f.u * along[row];
        c[row] = c[row] + along[row] * f.drive;
      }
      for (int row = 0; row < 6; ++row) {
        const T weight = along[row] * f.inv;
        for (int column = 0; column <= row; ++column) g[row][column] = g[row][column] + weight * along[column];
      }
    }
    for (int row = 0; row < 6; ++row) {
      c[row] = c[row] + dot(phi[row], n.beta);
      phi[row] = impulse_to_parent(phi[row], n.r);
    }
  }

  VOLVOX_KERNEL SegmentAnswer solve() {
    for (int i = s_.count; i-- > 0;) {
      SegmentSum<T> sum = whole(i);
      if (i == s_.end) sum.d = sum.d + s_.ends->end_d, sum.z = sum.z + s_.ends->end_z;
      take_out(i, sum);
      for (int k = 0; k < s_.places[i].dofs; ++k) {
        SegmentDof<T>& f = s_.dofs[s_.places[i].first_dof + k];
        f.root_inv = square_root(f.inv);
      }
      if (i > 0) give(i, sum);
    }
    MaskOf<T> changed{};
    for (int i = 0; i < s_.count; ++i) {
      const SegmentPlace& place = s_.places[i];
      SegmentNode<T>& n = s_.nodes[i];
      const Spatial<T>& above = place.parent < 0 ? s_.ends->above_fresh : s_.nodes[place.parent].fresh;
      n.change = Spatial<T>{};
      Spatial<T> y = motion_to_child(above, n.r) + n.beta;
      SegmentDof<T>* dofs = s_.dofs + place.first_dof;
      for (int k = place.dofs - 1; k >= 0; --k) {
        const T speed = dofs[k].drive - dot(dofs[k].u, y);
        dofs[k].predicted = dofs[k].qdot = speed;
        y = y + dofs[k].s * speed;
      }
      n.fresh = y;
      if (order_.settle) changed = changed | settle(place, dofs);
    }
    SegmentAnswer answer;
    answer.changed = any(changed);
    return answer;
  }

  VOLVOX_KERNEL MaskOf<T> settle(const SegmentPlace& place, SegmentDof<T>* dofs) {
    MaskOf<T> changed{};
    for (int k = 0; k < place.dofs; ++k) {
      Drive<T>& drive = s_.drives[place.first_dof + k];
      const MaskOf<T> before = drive.walled();
      changed = changed | drive.settle(dofs[k].qdot, dofs[k].walled * dofs[k].wall_gain, order_.pass);
      take_line(drive, dofs[k]);
      dofs[k].wall_gain = choose(before, dofs[k].wall_gain, dofs[k].felt);
    }
    return changed;
  }

  // How contacts move the end, if they do not move the body above.
  VOLVOX_KERNEL void sum_change() {
    Spatial<T> y{};
    for (int i = 0; i <= s_.end; ++i) {
      if (!s_.places[i].on_way) continue;
      y = changed(i, y);
    }
    s_.ends->end_change = y;
  }
  // See descend_change().
  VOLVOX_KERNEL Spatial<T> changed(int i, const Spatial<T>& above) const {
    Spatial<T> y = motion_to_child(above, s_.nodes[i].r);
    SegmentDof<T>* dofs = s_.dofs + s_.places[i].first_dof;
    for (int k = s_.places[i].dofs - 1; k >= 0; --k) {
      const T change = dofs[k].root_inv * dofs[k].coordinate - dot(dofs[k].u, y);
      dofs[k].qdot = dofs[k].predicted + change;
      y = y + dofs[k].s * change;
    }
    return y;
  }

  VOLVOX_KERNEL SegmentAnswer take_up() {
    MaskOf<T> misplaced{}, overloaded{};
    for (int i = 0; i < s_.count; ++i) {
      const SegmentPlace& place = s_.places[i];
      const Spatial<T>& above = place.parent < 0 ? s_.ends->above_change : s_.nodes[place.parent].change;
      s_.nodes[i].change = changed(i, above);
      if (place.dofs == 1) judge(place.first_dof, misplaced, overloaded);
    }
    SegmentAnswer answer;
    answer.verdict = any(misplaced) ? Verdict::misplaced : any(overloaded) ? Verdict::overloaded : Verdict::holds;
    return answer;
  }
  // See Drive::judge.
  VOLVOX_KERNEL void judge(int k, MaskOf<T>& misplaced, MaskOf<T>& overloaded) {
    SegmentDof<T>& dof = s_.dofs[k];
    Drive<T>& drive = s_.drives[k];
    const MaskOf<T> all = dof.qdot == dof.qdot, before = drive.walled();
    const T cap = drive.cap;
    const MaskOf<T> wrong = drive.misplaced(dof.qdot, dof.walled * dof.wall_gain, all),
                    over = drive.overloaded(dof.qdot);
    drive.cap = choose(wrong, cap, drive.cap);
    misplaced = misplaced | wrong, overloaded = overloaded | over;
    dof.wall_gain = choose(before, dof.wall_gain, dof.felt);
  }

  // What the body must have got from joints: M v - z.
  VOLVOX_KERNEL Spatial<T> lacking(int i) const {
    const SegmentNode<T>& n = s_.nodes[i];
    Spatial<T> momentum{n.inertia * n.fresh.a, n.fresh.l * s_.shapes[i].mass};
    if (s_.held) momentum.a = momentum.a + s_.held[i] * n.fresh.a;
    return momentum - n.own;
  }

  VOLVOX_KERNEL void sum_passed() {
    Spatial<T> sum{};
    for (int i = 0; i < s_.count; ++i) {
      SegmentNode<T>& n = s_.nodes[i];
      n.fresh = n.fresh + n.change;
      sum = sum + impulse_to_parent(lacking(i), n.x - s_.ends->above.x);
    }
    s_.ends->passed = sum;
  }

  VOLVOX_KERNEL SegmentAnswer finish() {
    T most{};
    for (int i = s_.count; i-- > 0;) {
      const SegmentPlace& place = s_.places[i];
      SegmentNode<T>& n = s_.nodes[i];
      Spatial<T> passed = lacking(i);
      if (place.parts) passed = passed + s_.sums[place.slot].z;
      if (i == s_.end) passed = passed + s_.ends->end_passed;
      if (place.parent >= 0) {
        const SegmentNode<T>& p = s_.nodes[place.parent];
        Spatial<T>& to = s_.sums[s_.places[place.parent].slot].z;
        const Spatial<T> felt = impulse_to_parent(passed, n.r);
        to = place.opens ? felt : to + felt;
        book(i, passed, p.x, p.axes);
      } else {
        book(i, passed, s_.ends->above.x, s_.ends->above.axes);
      }
      most = larger(most, s_.loads[i].tension);
      move(n);
    }
    SegmentAnswer answer;
    for (int lane = 0; lane < lane_count<T>; ++lane) {
      const double tension = take(most, lane);
      if (tension > answer.most_tension) answer.most_tension = tension;
    }
    return answer;
  }

  VOLVOX_KERNEL void book(int i, const Spatial<T>& passed, const V3<T>& x_parent, const M3<T>& axes_parent) {
    const SegmentPlace& place = s_.places[i];
    const SegmentNode<T>& n = s_.nodes[i];
    const V3<T>& x = place.flipped ? n.x : x_parent;
    const M3<T>& axes = place.flipped ? n.axes : axes_parent;
    const V3<T> force = place.flipped ? -passed.l : passed.l, torque = place.flipped ? -passed.a : passed.a;
    const V3<T> arm = axes * (place.flipped ? s_.shapes[i].anchor_child : s_.shapes[i].anchor_parent);
    SegmentLoad<T>& out = s_.loads[i];
    out.tension = length(force) / order_.step;
    out.load.l = out.load.l + transposed_times(axes, force);
    out.load.a = out.load.a + transposed_times(axes, torque + cross(n.x - (x + arm), force));
    if (place.dofs != 1) return;
    SegmentDof<T>& dof = s_.dofs[place.first_dof];
    out.motor = out.motor + s_.drives[place.first_dof].motor_impulse(dof.qdot);
    dof.position = dof.position + dof.qdot * order_.step;
    dof.velocity = dof.qdot;
  }

  // Children first: nobody needs the old pose any more.
  VOLVOX_KERNEL void move(SegmentNode<T>& n) const {
    n.v = n.fresh;
    n.spin = n.inertia * n.fresh.a;
    n.x = n.x + (n.fresh.l * h_ - spread<T>(order_.fall));
    n.q = turned(n.q, n.fresh.a * h_);
  }

  SegmentView<T> s_;
  SegmentOrder order_;
  T h_;
};

#ifndef __CUDACC__
SegmentAnswer run_segments(const SegmentView<double>& view, SegmentStage stage, const SegmentOrder& order);
SegmentAnswer run_segments(const SegmentView<FourLanes>& view, SegmentStage stage, const SegmentOrder& order);  // AVX2
SegmentAnswer run_segments(const SegmentView<EightLanes>& view, SegmentStage stage,
                           const SegmentOrder& order);  // AVX-512
#endif

}  // namespace volvox::physics::native
