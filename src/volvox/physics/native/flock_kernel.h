// One substep of a flock. Reads like Tree::predict, ContactSolver::advance_group and
// Tree::finish, with every tree in its lane.
// A flock is one thread's business; each lane has the bits that its tree has alone.
#pragma once

#include <cstdint>

#include "volvox/physics/native/bounce.h"
#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/flock_data.h"
#include "volvox/physics/native/lone_sweep.h"

namespace volvox::physics::native {

// `alone`: on a GPU, where a tree has its lane for itself, rows of contacts have so many columns, zero where a node has
// none, and the sweep keeps coordinates in registers (lone_sweep.h): no bit depends on it. 0: rows have no gaps.
template <class T, int alone = 0>
class FlockStep {
 public:
  using Mask = MaskOf<T>;

  VOLVOX_KERNEL FlockStep(const FlockView<T>& flock, const FlockRoomView<T>& room, double step)
      : flock_(flock), room_(room), plan_(flock_.plan), shapes_(flock_.plan.shapes), step_(step) {}

  // How many contacts the sweeps of a tree alone have solved.
  VOLVOX_KERNEL int solves() const { return solves_; }

  VOLVOX_KERNEL void run() {
    place();
    refresh_contacts();
    start_impulses();
    predict();
    collect_active();
    if (!room_.active.empty()) solve_contacts();
    move();
  }

  // Where a body was hit so hard that it may get where nobody looked.
  VOLVOX_KERNEL Mask alarmed(double time_left, double bearable) const {
    T most{};
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const FlockBody<T>& body = flock_.bodies[i];
      const V3<T> axle = room_.nodes[i].axes * body.axle, turning = rounded<T>(body.v.a) - body.seen.a;
      const T turned = length(turning - axle * dot(axle, turning)) * body.swing;
      most = larger(most, body.shaped * (length(rounded<T>(body.v.l) - body.seen.l) + turned));
    }
    return flock_.used & (most * (2 * time_left) > bearable);
  }

 private:
  VOLVOX_KERNEL void place() {
    held_ = Mask{};
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const FlockBody<T>& body = flock_.bodies[i];
      Node<T>& n = room_.nodes[i];
      n.x = body.x, n.q = rounded<T>(body.q);
      n.v = {rounded<T>(body.v.a), rounded<T>(body.v.l)};
      n.axes = rotation_matrix(n.q);
      room_.push[i] = Spatial<T>{};
      room_.touches[i] = T{};
      room_.carried[i] = Mask{};
    }
  }

  VOLVOX_KERNEL static Mask any_of(const V3<T>& v) { return (v.x != 0.0) | (v.y != 0.0) | (v.z != 0.0); }

  // Where the normal moves. The others keep the frame that they were loaded with, which may differ from this one in its
  // last bits: who shares their lanes must not matter.
  VOLVOX_KERNEL static void set_frame(FlockContact<T>& c, const V3<T>& n) {
    const Mask moves = c.turns | c.centres, steep = magnitude(n.x) < 0.57;
    const V3<T> across{choose(steep, T{}, -n.z), choose(steep, n.z, T{}), choose(steep, -n.y, n.x)};
    const V3<T> tangent = across * (1 / length(across));
    c.frame[0] = choose<T>(moves, n, c.frame[0]);
    c.frame[1] = choose<T>(moves, tangent, c.frame[1]);
    c.frame[2] = choose<T>(moves, cross(n, tangent), c.frame[2]);
  }

  // From the axle to the rim.
  VOLVOX_KERNEL static V3<T> rim_point(const V3<T>& axle, const FlockContact<T>& c) {
    const V3<T> across = c.outward - axle * dot(axle, c.outward);
    return across * (c.rim / larger(length(across), T{} + 1e-9));
  }

  VOLVOX_KERNEL void refresh_contacts() {
    for (FlockContact<T>& c : flock_.contacts) {
      if (!any(c.there)) continue;
      const std::size_t node = static_cast<std::size_t>(c.node);
      const Node<T>& a = room_.nodes[node];
      V3<T> on_a = a.axes * c.on_a;
      if (c.rolls) on_a = on_a + rim_point(a.axes * flock_.bodies[node].axle, c);
      const V3<T> between = rounded<T>(a.x + widened(on_a) - c.on_b);
      if (!c.steady) {
        const T far = length(between);
        V3<T> n = choose<T>(c.turns, a.axes * c.normal, c.normal);
        n = choose<T>(c.centres & (far > 1e-9), between * (1 / larger(far, T{} + 1e-9)), n);
        set_frame(c, n);
      }
      const V3<T>& n = c.frame[0];
      c.separation = dot(between, n) - c.radius;
      c.arm = on_a - n * (c.radius_a + c.separation * 0.5);
      if (any(c.turns)) {
        const V3<T> below = on_a - between + n * (c.radius - c.radius_a + c.separation * 0.5);
        c.arm = choose<T>(c.turns, below, c.arm);
      }
      c.approach = dot(n, a.v.l + cross(a.v.a, c.arm));
      c.impulse = choose<T>(c.rebound < 0.0, V3<T>{}, c.impulse);
      c.active = c.there & ((c.separation <= step_ * (larger(T{}, -c.approach) + least_reach)) | any_of(c.impulse));
      // The last impulse, in the present directions and within the present cone.
      const T before = dot(c.impulse, n), normal = larger(T{}, before), most = c.friction * normal;
      const V3<T> tangent = c.impulse - n * before;
      const T size = length(tangent);
      // Of one that is not active nothing stays, not even the sign of a zero: whether finish() sees it depends on who
      // shares the lanes.
      c.impulse = choose<T>(c.active, n * normal + tangent * choose(size > most, most / size, T{} + 1.0), V3<T>{});
      c.rebound = choose(c.active, larger(T{}, c.rebound), T{});
      const Mask warm = c.active & any_of(c.impulse);
      c.guessed = c.active & !any_of(c.impulse);
      room_.touches[node] = room_.touches[node] + choose(c.active, T{} + 1.0, T{});
      room_.carried[node] = room_.carried[node] | warm;
    }
  }

  // See ContactSolver::first_impulse.
  VOLVOX_KERNEL void start_impulses() {
    T all{}, touching{};
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      all = all + shapes_[i].mass;
      touching = touching + choose(room_.touches[i] > 0.0, T{} + shapes_[i].mass, T{});
    }
    const T borne = choose(touching > 0.0, all / touching, T{} + 1.0);
    for (FlockContact<T>& c : flock_.contacts) {
      if (!any(c.active)) continue;
      const std::size_t node = static_cast<std::size_t>(c.node);
      c.guessed = c.guessed & !room_.carried[node];
      if (any(c.guessed)) {
        const T wanted = larger(T{}, c.separation) * (-1 / step_);
        const T needed =
            (wanted - c.approach) * shapes_[node].mass - dot(flock_.bodies[node].weight, c.frame[0]) * step_;
        const V3<T> guess = c.frame[0] * (borne * larger(T{}, needed) / room_.touches[node]);
        c.impulse = choose<T>(c.guessed, guess, c.impulse);
      }
      room_.push[node] = room_.push[node] + Spatial<T>{cross(c.arm, c.impulse), c.impulse};
    }
  }

  VOLVOX_KERNEL void predict() {
    const bool drags = load_drags();
    const T h = T{} + step_;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const FlockBody<T>& body = flock_.bodies[i];
      Node<T>& n = room_.nodes[i];
      const V3<T> spin = rounded<T>(body.spin);
      n.dragged = drags;
      if (shapes_.size() == 1) load_free_inertia(shapes_[i], n, spin, h);
      else load_inertia(shapes_[i], n, h);
      n.own = momentum_to_solve_for(shapes_[i], n, spin) + body.outside + room_.push[i];
      start_factor(shapes_[i], n);
      if (i == 0) continue;
      const Node<T>& p = room_.nodes[static_cast<std::size_t>(shapes_[i].parent)];
      load_joint(shapes_[i], n, Support<T>{p.x, p.q, p.axes, p.v}, dofs(i), h);
      if constexpr (coarse<T>) solve_for_change(i, n, p);
    }
    tell_drives();
    for (int pass = 0; pass < most_passes; ++pass) {
      for (std::size_t i = 0; pass > 0 && i < shapes_.size(); ++i) start_factor(shapes_[i], room_.nodes[i]);
      factor_and_solve();
      if (pass + 1 == most_passes) break;
      if (!settle_drives(pass_after(pass))) break;
    }
  }

  // Of coarse numbers the change of velocity is solved for, not the velocity: rounding then is a share of what a
  // substep changes, and momentum is kept seven times as well. Node::fresh is the change until move(), and Node::own
  // the momentum that the old velocities lack, which is what the inertia has turned by.
  VOLVOX_KERNEL static Spatial<T> momentum_to_solve_for(const NodeShape& shape, const Node<T>& n, const V3<T>& spin) {
    if constexpr (!coarse<T>) return {spin, n.v.l * (T{} + shape.mass)};
    V3<T> turning = n.inertia * n.v.a;
    if (n.dragged) turning = turning + n.held * n.v.a;
    return {spin - turning, V3<T>{}};
  }
  // What of the old velocities does not fit the joint is taken back as its error is.
  VOLVOX_KERNEL void solve_for_change(std::size_t i, Node<T>& n, const Node<T>& parent) {
    n.beta = n.beta + (motion_to_child(parent.v, n.r) - n.v);
    for (int k = 0; k < shapes_[i].dofs; ++k) {
      Dof<T>& dof = dofs(i)[k];
      dof.before = shapes_[i].dofs == 1 ? flock_.joints[i].velocity : dot(dof.s.a, n.v.a - parent.v.a);
      n.beta = n.beta + dof.s * dof.before;
    }
  }
  VOLVOX_KERNEL Spatial<T> fresh_velocity(const Node<T>& n) const {
    if constexpr (!coarse<T>) return n.fresh;
    return n.v + n.fresh;
  }

  // True if some link of some lane is pulled so hard that it may need to be held back.
  VOLVOX_KERNEL bool load_drags() {
    T most{};
    for (std::size_t i = 1; i < shapes_.size(); ++i) most = larger(most, flock_.joints[i].tension);
    const Mask drags = most * (step_ * step_) >= T{} + plan_.safe_pull;
    if (!any(drags)) return false;
    for (Node<T>& n : room_.nodes) n.drag = V3<T>{};
    for (std::size_t i = 1; i < shapes_.size(); ++i) {
      const T force = choose(drags, flock_.joints[i].tension, T{});
      Node<T>& p = room_.nodes[static_cast<std::size_t>(shapes_[i].parent)];
      room_.nodes[i].drag = room_.nodes[i].drag + drag_torque(force, shapes_[i].anchor_child);
      p.drag = p.drag + drag_torque(force, shapes_[i].anchor_parent);
    }
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      room_.nodes[i].drag = stability_drag(room_.nodes[i].drag, shapes_[i].moments, step_);
    return true;
  }

  VOLVOX_KERNEL void load_drive(std::size_t index) {
    const Drive<T>& drive = flock_.drives[index];
    Dof<T>& dof = room_.dofs[index];
    dof.kappa = drive.kappa();
    dof.rhs = drive.rhs();
    dof.walled = choose(drive.walled(), T{} + 1.0, T{});
    dof.wall_speed = drive.wall_speed();
  }

  VOLVOX_KERNEL void tell_drives() {
    for (std::size_t i = 1; i < shapes_.size(); ++i) {
      for (int k = 0; k < shapes_[i].dofs; ++k) {
        const std::size_t dof = static_cast<std::size_t>(shapes_[i].first_dof + k);
        flock_.drives[dof].tell(flock_.joints[i].position, flock_.joints[i].velocity, step_);
        load_drive(dof);
      }
    }
  }

  VOLVOX_KERNEL bool settle_drives(DrivePass pass) {
    Mask changed{};
    for (std::size_t i = 0; i < flock_.drives.size(); ++i) {
      changed = changed | flock_.drives[i].settle(room_.dofs[i].qdot, room_.dofs[i].wall_gain, pass);
      load_drive(i);
    }
    return any(changed);
  }

  VOLVOX_KERNEL void factor_and_solve() {
    for (std::size_t i = shapes_.size(); i-- > 0;) {
      Node<T>& n = room_.nodes[i];
      n.passed = Spatial<T>{};
      if (i == 0) break;
      eliminate(shapes_[i], n, dofs(i));
      Node<T>& p = room_.nodes[static_cast<std::size_t>(shapes_[i].parent)];
      p.d = p.d + inertia_to_parent(n.d, n.r);
      p.z = p.z + impulse_to_parent(n.z, n.r);
    }
    room_.root = inverse_factor(room_.nodes[0].d);
    room_.nodes[0].fresh = solve(room_.root, room_.nodes[0].z);
    for (std::size_t i = 1; i < shapes_.size(); ++i) {
      const Spatial<T>& above = room_.nodes[static_cast<std::size_t>(shapes_[i].parent)].fresh;
      room_.nodes[i].fresh = descend(shapes_[i], room_.nodes[i], dofs(i), above);
    }
  }

  // A lane whose limits are where they belong comes to the same again.
  VOLVOX_KERNEL void solve_contacts() {
    for (int attempt = 1;; ++attempt) {
      whiten();
      std::size_t place = 0;
      for (FlockContact<T>& c : flock_.contacts)
        if (any(c.active)) fill(c, place++);
      sweep();
      if (!take_up() || attempt == most_attempts_at_limits) break;
      predict_again();
    }
    finish();
  }

  VOLVOX_KERNEL void collect_active() {
    room_.active.clear();
    for (std::uint8_t& wanted : room_.wanted) wanted = 0;
    for (FlockContact<T>& c : flock_.contacts) {
      if (!any(c.active)) continue;
      room_.active.push_back(&c);
      for (int node = c.node; node >= 0 && !room_.wanted[static_cast<std::size_t>(node)];
           node = shapes_[static_cast<std::size_t>(node)].parent) {
        room_.wanted[static_cast<std::size_t>(node)] = 1;
      }
    }
  }

  // Six rows of a node, a column for each axis between it and the root.
  VOLVOX_KERNEL T* y(std::size_t node) { return room_.y.data() + 6 * plan_.first[node]; }
  VOLVOX_KERNEL Dof<T>* dofs(std::size_t node) { return room_.dofs.data() + shapes_[node].first_dof; }

  VOLVOX_KERNEL void whiten() {
    for (T& a : room_.coordinates) a = T{};
    T* root = y(0);
    for (int column = 0; column < 6; ++column) {
      for (int row = 0; row < 6; ++row) root[6 * column + row] = column >= row ? room_.root.e[column][row] : T{};
    }
    for (std::size_t i = 1; i < shapes_.size(); ++i) {
      if (room_.wanted[i]) whiten_node(i);
    }
  }

  VOLVOX_KERNEL void whiten_node(std::size_t i) {
    const NodeShape& shape = shapes_[i];
    const std::size_t parent = static_cast<std::size_t>(shape.parent);
    const T* from = y(parent);
    T* out = y(i);
    const int inherited = plan_.count(parent);
    for (int column = 0; column < inherited; ++column) {
      const T* v = from + 6 * column;
      Spatial<T> moved = motion_to_child(Spatial<T>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}, room_.nodes[i].r);
      for (int k = shape.dofs - 1; k >= 0; --k) moved = moved - dofs(i)[k].s * dot(dofs(i)[k].u, moved);
      store(out + 6 * column, moved);
    }
    for (int k = shape.dofs - 1, column = inherited; k >= 0; --k, ++column) {
      Spatial<T> own = dofs(i)[k].s * dofs(i)[k].root_inv;
      for (int other = k - 1; other >= 0; --other) own = own - dofs(i)[other].s * dot(dofs(i)[other].u, own);
      store(out + 6 * column, own);
    }
  }

  VOLVOX_KERNEL static void store(T* out, const Spatial<T>& v) {
    out[0] = v.a.x, out[1] = v.a.y, out[2] = v.a.z, out[3] = v.l.x, out[4] = v.l.y, out[5] = v.l.z;
  }

  // `place`: among the contacts that take part.
  VOLVOX_KERNEL void fill(FlockContact<T>& c, std::size_t place) {
    const std::size_t node = static_cast<std::size_t>(c.node);
    const int columns = plan_.count(node);
    const int* index = plan_.columns.data() + plan_.first[node];
    if constexpr (alone > 0) {
      c.rows = static_cast<SweepRow<T, alone>*>(room_.alone)[place].rows;
      for (int k = 18; k < 3 * alone; ++k) c.rows[k] = T{};
    } else {
      c.rows = room_.rows.data() + place * 3 * static_cast<std::size_t>(plan_.most);
    }
    const T* v = y(node);
    T nn{}, ns{}, nt{}, ss{}, st{}, tt{};
    for (int k = 0; k < columns; ++k, v += 6) {
      const V3<T> at = V3<T>{v[3], v[4], v[5]} + cross(V3<T>{v[0], v[1], v[2]}, c.arm);
      const T n = dot(c.frame[0], at), s = dot(c.frame[1], at), t = dot(c.frame[2], at);
      T* row = c.rows + 3 * (alone > 0 ? index[k] : k);
      row[0] = n, row[1] = s, row[2] = t;
      nn = nn + n * n, ns = ns + n * s, nt = nt + n * t;
      ss = ss + s * s, st = st + s * t, tt = tt + t * t;
    }
    c.gram[0] = nn, c.gram[1] = ns, c.gram[2] = nt, c.gram[3] = ss, c.gram[4] = st, c.gram[5] = tt;
    const Spatial<T> fresh = fresh_velocity(room_.nodes[node]);
    const V3<T> velocity = fresh.l + cross(fresh.a, c.arm);
    for (int i = 0; i < 3; ++i) {
      c.free[i] = dot(velocity, c.frame[i]);
      c.along[i] = dot(c.impulse, c.frame[i]);
    }
    const T pull = dot(c.frame[0], flock_.bodies[node].outside.l) * (1 / (shapes_[node].mass * step_));
    const Bounce<T> bounce =
        plan_bounce<T>({c.restitution, c.separation, c.approach, c.rebound, any_of(c.impulse), pull, step_});
    c.bounces = bounce.now, c.next_rebound = bounce.later;
    const T give =
        choose((c.separation < -deep) & !c.bounces, softness * smaller(c.gram[0], T{} + 1 / shapes_[node].mass), T{});
    set_target(c, give);
    c.target = choose(bounce.now, larger(c.target, bounce.speed), c.target);
    c.target = choose(bounce.pass, T{} + unheard_of, c.target);
    c.keep = choose(give > 0.0, c.gram[0] / (c.gram[0] + give), T{} + 1.0);
    c.normal_gain = choose(c.gram[0] > 1e-12, 1 / (c.gram[0] + give), T{});
    const T mean = (c.gram[3] + c.gram[5]) * 0.5, half = (c.gram[3] - c.gram[5]) * 0.5;
    const T largest = mean + square_root(half * half + c.gram[4] * c.gram[4]);
    c.tangent_gain = choose(largest > 1e-12, 1 / largest, T{});
    if constexpr (alone > 0) static_cast<SweepRow<T, alone>*>(room_.alone)[place].take(c);
  }

  // See ContactSolver::set_target.
  VOLVOX_KERNEL void set_target(FlockContact<T>& c, const T& give) {
    const T push =
        bounded((-c.separation - allowed_overlap) * (correction / step_), T{}, fastest_push + give * c.along[0]);
    c.target = choose(c.separation > 0.0, c.separation * (-1 / step_), push);
  }

  VOLVOX_KERNEL void sweep() {
    if constexpr (alone > 0) {
      solves_ += sweep_alone(room_.active, room_.coordinates.data(), plan_.total,
                             static_cast<SweepRow<T, alone>*>(room_.alone));
      return;
    }
    Mask going = flock_.used;
    for (std::size_t i = 0; i < most_sweeps; ++i) {
      T most{};
      for (FlockContact<T>* c : room_.active) most = larger(most, solve_one(*c, going));
      going = going & (most >= settled);
      if (!any(going)) break;
    }
  }

  // See wide_solve.
  VOLVOX_KERNEL T solve_one(FlockContact<T>& c, const Mask& going) {
    const Mask works = going & c.active;
    if (!any(works)) return T{};
    const std::size_t node = static_cast<std::size_t>(c.node);
    const int columns = plan_.count(node);
    const int* index = plan_.columns.data() + plan_.first[node];
    T* a = room_.coordinates.data();
    // The first six are those of the root, for every node. One number at a time, they and their rows are kept in
    // registers: on a GPU, where each would be waited for, a sweep is most of a tick.
    constexpr bool kept = lane_count<T> == 1;
    constexpr int of_root = kept ? 6 : 0;
    T x[6], row_of_root[18];
    T n{}, s{}, t{};
    if constexpr (kept) {
      for (int k = 0; k < 18; ++k) row_of_root[k] = c.rows[k];
      for (int k = 0; k < 6; ++k) x[k] = a[k];
      for (int k = 0; k < 6; ++k) {
        const T* row = row_of_root + 3 * k;
        n = n + x[k] * row[0], s = s + x[k] * row[1], t = t + x[k] * row[2];
      }
    }
    for (int k = of_root; k < columns; ++k) {
      const T& own = a[index[k]];
      const T* row = c.rows + 3 * k;
      n = n + own * row[0], s = s + own * row[1], t = t + own * row[2];
    }
    const T normal = larger(T{}, c.along[0] * c.keep - (c.free[0] + n - c.target) * c.normal_gain);
    const T dn = choose(works, normal - c.along[0], T{});
    T lt = c.along[1] - c.tangent_gain * (c.free[1] + s + c.gram[1] * dn);
    T lu = c.along[2] - c.tangent_gain * (c.free[2] + t + c.gram[2] * dn);
    const T bound = c.friction * normal, size = lt * lt + lu * lu;
    const Mask slides = size > bound * bound;
    if (any(slides)) {
      const T scale = choose(slides, bound / square_root(size), T{} + 1.0);
      lt = lt * scale, lu = lu * scale;
    }
    const T dt = choose(works, lt - c.along[1], T{}), du = choose(works, lu - c.along[2], T{});
    c.along[0] = choose(works, normal, c.along[0]);
    c.along[1] = choose(works, lt, c.along[1]);
    c.along[2] = choose(works, lu, c.along[2]);
    if constexpr (kept) {
      for (int k = 0; k < 6; ++k) {
        const T* row = row_of_root + 3 * k;
        a[k] = x[k] + (row[0] * dn + row[1] * dt + row[2] * du);
      }
    }
    for (int k = of_root; k < columns; ++k) {
      const T* row = c.rows + 3 * k;
      a[index[k]] = a[index[k]] + (row[0] * dn + row[1] * dt + row[2] * du);
    }
    return larger(magnitude(dn) * c.gram[0], larger(magnitude(dt) * c.gram[3], magnitude(du) * c.gram[5]));
  }

  // Until finish() takes it in, `passed` holds what the contacts change the velocity by. Says
  // whether some limit must be moved. (See Tree::take_up_node.)
  VOLVOX_KERNEL bool take_up() {
    Mask misplaced{}, judged{};  // those that nothing touches go on as if they were alone
    for (const FlockContact<T>* c : room_.active) judged = judged | c->active;
    judged = judged & flock_.used;
    room_.nodes[0].passed = times_inverse_transposed(room_.root, room_.coordinates.data());
    for (std::size_t i = 1; i < shapes_.size(); ++i) {
      const NodeShape& shape = shapes_[i];
      T own[3] = {};
      for (int k = 0; k < shape.dofs; ++k)
        own[k] = room_.coordinates[static_cast<std::size_t>(plan_.own[static_cast<std::size_t>(shape.first_dof + k)])];
      room_.nodes[i].passed = descend_change(shape, room_.nodes[i], dofs(i),
                                             room_.nodes[static_cast<std::size_t>(shape.parent)].passed, own);
      if (shape.dofs != 1) continue;
      misplaced = misplaced | flock_.drives[static_cast<std::size_t>(shape.first_dof)].misplaced(
                                  dofs(i)[0].qdot, dofs(i)[0].wall_gain, judged);
    }
    return any(misplaced);
  }

  VOLVOX_KERNEL void predict_again() {
    for (std::size_t i = 0; i < flock_.drives.size(); ++i) load_drive(i);
    for (std::size_t i = 0; i < shapes_.size(); ++i) start_factor(shapes_[i], room_.nodes[i]);
    factor_and_solve();
  }

  // Takes in what the contacts gave.
  VOLVOX_KERNEL void finish() {
    for (FlockContact<T>& c : flock_.contacts) {
      if (!any(c.active)) continue;
      // Zero is added because the sign of a zero depends on how often others in the lanes had the contact looked at.
      const V3<T> impulse = c.frame[0] * c.along[0] + c.frame[1] * c.along[1] + c.frame[2] * c.along[2] + V3<T>{};
      const V3<T> change = choose<T>(c.active, impulse - c.impulse, V3<T>{});
      c.impulse = choose<T>(c.active, impulse, V3<T>{});
      c.rebound = choose(c.active, c.next_rebound, T{});
      held_ = held_ | holds(c);
      Node<T>& n = room_.nodes[static_cast<std::size_t>(c.node)];
      n.own = n.own + Spatial<T>{cross(c.arm, change), change};
    }
    for (Node<T>& n : room_.nodes) n.fresh = n.fresh + n.passed, n.passed = Spatial<T>{};
  }

  // See ContactSolver::holds.
  VOLVOX_KERNEL Mask holds(const FlockContact<T>& c) const {
    const Mask pushes = c.active & (c.along[0] > 0.0), idle = c.active & (c.along[0] <= 0.0) & (c.restitution <= 0.0);
    const Mask plain_push = pushes & !c.bounces;
    if (!any(idle)) return plain_push;
    const std::size_t node = static_cast<std::size_t>(c.node);
    const int* index = plan_.columns.data() + plan_.first[node];
    T speed = c.free[0];
    for (int k = 0; k < plan_.count(node); ++k)
      speed = speed + room_.coordinates[index[k]] * c.rows[3 * (alone > 0 ? index[k] : k)];
    const T fall = length(flock_.bodies[node].outside.l) * (step_ / (2 * shapes_[node].mass));
    return plain_push | (idle & (c.separation + speed * step_ < fall));
  }

  // See Island::outer_fall.
  VOLVOX_KERNEL V3<T> outer_fall() const {
    V3<T> impulse{};
    double mass = 0;
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      impulse = impulse + flock_.bodies[i].outside.l, mass += shapes_[i].mass;
    return choose<T>(held_, V3<T>{}, impulse * (T{} + step_ / 2 / mass));
  }

  // Books loads and motors, and moves the bodies.
  VOLVOX_KERNEL void move() {
    const V3<T> fall = outer_fall();
    for (std::size_t i = shapes_.size(); i-- > 0;) {
      Node<T>& n = room_.nodes[i];
      balance(shapes_[i], n);
      if (i > 0) {
        Node<T>& p = room_.nodes[static_cast<std::size_t>(shapes_[i].parent)];
        p.passed = p.passed + impulse_to_parent(n.passed, n.r);
        book(i, n, p);
      }
      move_body(flock_.bodies[i], n, fall);
    }
  }

  VOLVOX_KERNEL void move_body(FlockBody<T>& body, const Node<T>& n, const V3<T>& fall) const {
    const T h = T{} + step_;
    const Spatial<T> fresh = fresh_velocity(n);
    if constexpr (coarse<T>) {
      const V3<T> turned_by = rounded<T>(body.spin) - n.inertia * n.v.a;
      body.v = body.v + Spatial<Exact<T>>{widened(n.fresh.a), widened(n.fresh.l)};
      body.spin = body.spin + widened(n.inertia * n.fresh.a - turned_by);
    } else {
      body.v = fresh;
      body.spin = n.inertia * fresh.a;
    }
    body.x = body.x + widened(fresh.l * h - fall);
    body.q = turned_exactly<T>(body.q, fresh.a * h);
  }

  VOLVOX_KERNEL void book(std::size_t i, const Node<T>& child, const Node<T>& parent) {
    const NodeShape& shape = shapes_[i];
    FlockJoint<T>& joint = flock_.joints[i];
    const Node<T>& a = shape.flipped ? child : parent;
    const V3<T> force = shape.flipped ? -child.passed.l : child.passed.l,
                torque = shape.flipped ? -child.passed.a : child.passed.a;
    const V3<T> arm = a.axes * spread<T>(shape.flipped ? shape.anchor_child : shape.anchor_parent);
    const V3<T> from_anchor = rounded<T>(child.x - (a.x + widened(arm)));
    joint.tension = length(force) * (1 / step_);
    joint.load.l = joint.load.l + transposed_times(a.axes, force);
    joint.load.a = joint.load.a + transposed_times(a.axes, torque + cross(from_anchor, force));
    if (shape.dofs != 1) return;
    const T qdot = dofs(i)[0].qdot;
    Drive<T>& drive = flock_.drives[static_cast<std::size_t>(shape.first_dof)];
    joint.motor = joint.motor + drive.motor_impulse(qdot);
    (void)drive.overloaded(qdot);
    joint.position = joint.position + widened(qdot * step_);
    joint.velocity = qdot;
  }

  FlockView<T> flock_;
  FlockRoomView<T> room_;
  const FlockPlan& plan_;
  const Row<const NodeShape>& shapes_;
  double step_;
  Mask held_{};  // lanes that something pushes, and not by a bounce
  int solves_ = 0;
};

// Until the first of them is alarmed: `alarmed` says which. Returns how many substeps that were. `alone`: see
// FlockStep; `solves` grows by what its sweeps did.
template <class T, int alone = 0>
VOLVOX_KERNEL int run_flock(const FlockView<T>& flock, const FlockRoomView<T>& room, double step, int substeps,
                            double time_left, MaskOf<T>& alarmed, int* solves = nullptr) {
  FlockStep<T, alone> work(flock, room, step);
  alarmed = MaskOf<T>{};
  int done = 1;
  for (;; ++done) {
    work.run();
    if (done == substeps) break;
    alarmed = work.alarmed(time_left - done * step, bearable_surprise);
    if (any(alarmed)) break;
  }
  if (solves != nullptr) *solves += work.solves();
  return done;
}

}  // namespace volvox::physics::native
