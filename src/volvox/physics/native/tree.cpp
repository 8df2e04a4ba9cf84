#include "volvox/physics/native/tree.h"

#include <algorithm>
#include <atomic>

#include "volvox/physics/native/latch.h"

namespace volvox::physics::native {
namespace {

void load_drive(const Drive<double>& drive, Dof<double>& dof) {
  dof.kappa = drive.kappa();
  dof.rhs = drive.rhs();
  dof.walled = drive.walled() ? 1 : 0;
  dof.wall_speed = drive.wall_speed();
}

}  // namespace

Tree::Tree(const World& world, const TreePlan& plan, std::unique_ptr<Tree> old) : Island({}) {
  if (old) take_room(*old);
  const std::size_t count = plan.steps.size();
  bodies_.reserve(count), shapes_.reserve(count), joints_.reserve(count), drags_.reserve(count), pulled_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) add_node(world, plan, i);
  nodes_.resize(shapes_.size()), dofs_.resize(dof_count_);
  plan_branches();
  const int root_columns = anchored_ ? 0 : 6;
  const bool flat = root_columns + static_cast<int>(dof_count_) <= Whitened::most_columns;
  whitened_.plan(shapes_, root_columns, flat ? Whitened::most_columns : Whitened::most_columns_of_a_part);
  whitened_.plan_blocks(shapes_);
  find_safe_pull();
  if (fits_flock()) plan_columns(), plan_links(world);
}

// Robots that dock and undock all the time would otherwise pay more for new memory, and for
// the caches that do not know it, than for all else. What is left in it is written before it is read.
void Tree::take_room(Tree& old) {
  const auto take = [](auto& mine, auto& its) {
    mine.swap(its);
    mine.clear();
  };
  take(bodies_, old.bodies_), take(shapes_, old.shapes_), take(joints_, old.joints_), take(dofs_, old.dofs_),
      take(branches_, old.branches_), take(links_, old.links_);
  take(columns_.columns, old.columns_.columns), take(columns_.first, old.columns_.first);
  nodes_.swap(old.nodes_), columns_.own.swap(old.columns_.own), drags_.swap(old.drags_), pulled_.swap(old.pulled_);
  whitened_.take_room(old.whitened_);
}

void Tree::add_node(const World& world, const TreePlan& plan, std::size_t step) {
  const auto [body_index, parent, joint] = plan.steps[step];
  NodeShape shape = joint < 0 ? body_shape(world, body_index) : node_shape(world, body_index, joint);
  shape.parent = parent;
  shape.first_dof = static_cast<int>(dof_count_);
  if (joint >= 0 && parent < 0) {
    const JointDesc& desc = world.system.joint_descs[static_cast<std::size_t>(joint)];
    anchored_ = true;
    ground_.body = shape.flipped ? desc.b : desc.a;
  }
  dof_count_ += static_cast<std::size_t>(shape.dofs);
  shapes_.push_back(shape);
  joints_.push_back(joint);
  bodies_.push_back(body_index);
}

void Tree::plan_links(const World& world) {
  links_.resize(shapes_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].from_link = world.bodies[static_cast<std::size_t>(bodies_[i])].from_link;
    if (joints_[i] < 0) continue;
    const std::size_t joint = static_cast<std::size_t>(joints_[i]);
    links_[i].frame_a = world.system.joint_descs[joint].frame_a;
    links_[i].frame_b = world.system.joint_descs[joint].frame_b;
    links_[i].to_frame = world.frames[joint].a.rotation.conjugate();
  }
}

// In depth-first order a subtree ends where the next one begins.
void Tree::plan_branches() {
  for (std::size_t i = 1; i < shapes_.size(); ++i) {
    if (shapes_[i].parent == 0) branches_.push_back({i, i});
    branches_.back().last = i + 1;
  }
}

void Tree::predict(World& world, double step, ThreadPool* threads) {
  load(world, step, threads);
  solve_and_settle(world, threads);
}

void Tree::predict_again(World& world, ThreadPool* threads) {
  const auto again = [&](std::size_t i) {
    for (int k = 0; k < shapes_[i].dofs; ++k) {
      Drive<double>& drive = world.drives[static_cast<std::size_t>(joints_[i])][static_cast<std::size_t>(k)];
      drive.keep_to_cap();
      load_drive(drive, dofs_[static_cast<std::size_t>(shapes_[i].first_dof + k)]);
    }
  };
  again(0);
  for_branches(threads, [&](Range branch) {
    for (std::size_t i = branch.first; i < branch.last; ++i) again(i);
  });
  factor(false, threads);
  (void)descend(threads, [](std::size_t) { return false; });
}

void Tree::solve_and_settle(World& world, ThreadPool* threads) {
  for (int pass = 0; pass < most_passes; ++pass) {
    factor(pass == 0, threads);
    const bool last = pass + 1 == most_passes;
    if (!descend(threads, [&](std::size_t i) { return !last && settle_drives(world, i, pass_after(pass)); })) break;
  }
}

void Tree::plan_columns() {
  columns_.own.resize(dof_count_);
  columns_.columns.reserve(shapes_.size() * (dof_count_ + 6));
  columns_.first.reserve(shapes_.size() + 1);
  columns_.total = 6;
  columns_.first.push_back(0);
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (i == 0) {
      for (int k = 0; k < 6; ++k) columns_.columns.push_back(k);
    } else {
      const std::size_t parent = static_cast<std::size_t>(shapes_[i].parent);
      for (std::size_t k = columns_.first[parent]; k < columns_.first[parent + 1]; ++k)
        columns_.columns.push_back(columns_.columns[k]);
    }
    for (int k = shapes_[i].dofs - 1; k >= 0; --k) {
      columns_.own[static_cast<std::size_t>(shapes_[i].first_dof + k)] = columns_.total;
      columns_.columns.push_back(columns_.total++);
    }
    columns_.first.push_back(columns_.columns.size());
    columns_.most = std::max(columns_.most, columns_.count(i));
  }
}

void Tree::load(World& world, double step, ThreadPool* threads) {
  if (anchored_) ground_.load(world);
  const bool drags = load_drags(world, step, threads);
  load_node(world, 0, step, drags);
  for_branches(threads, [&](Range branch) {
    for (std::size_t i = branch.first; i < branch.last; ++i) load_node(world, i, step, drags);
  });
}

// All at once, so that every node is in the cache once: state, inertia, joint, drives.
void Tree::load_node(World& world, std::size_t i, double step, bool drags) {
  Node<double>& n = nodes_[i];
  load_state(world, bodies_[i], step, n);
  n.dragged = drags && any_drag(drags_[i]);
  if (n.dragged) n.drag = drags_[i];
  if (shapes_.size() == 1 && !anchored_) {
    load_free_inertia(shapes_[i], n, lane(world.bodies[static_cast<std::size_t>(bodies_[i])].spin), step);
  } else {
    load_inertia(shapes_[i], n, step);
  }
  start_factor(shapes_[i], n);
  if (joints_[i] < 0) return;
  load_joint(shapes_[i], n, support(static_cast<int>(i)), dofs_.data() + shapes_[i].first_dof, step);
  tell_drives(world, i, step);
  if (shapes_[i].type != JointType::dock || world.system.latches[static_cast<std::size_t>(joints_[i])].closed()) return;
  const double sign = shapes_[i].flipped ? -1 : 1;
  Spatial<double> beta = n.beta * sign;
  load_latch(world, static_cast<std::size_t>(joints_[i]), step, plain(n.x), beta);
  n.beta = beta * sign;
}

// True if some link is pulled so hard that it may need to be held back.
bool Tree::load_drags(World& world, double step, ThreadPool* threads) {
  const auto tension = [&](std::size_t i) {
    return joints_[i] < 0 ? 0 : world.tensions[static_cast<std::size_t>(joints_[i])];
  };
  std::atomic<double> most = tension(0);
  for_branches(threads, [&](Range branch) {
    double own = 0;
    for (std::size_t i = branch.first; i < branch.last; ++i) own = std::max(own, tension(i));
    raise_to(most, own);
  });
  if (most * step * step < safe_pull_) return false;
  // Only links of a joint that is pulled so hard can need it.
  pulled_.assign(shapes_.size(), 0);
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (!(tension(i) * step * step >= safe_pull_)) continue;
    pulled_[i] = 1;
    if (shapes_[i].parent >= 0) pulled_[static_cast<std::size_t>(shapes_[i].parent)] = 1;
  }
  drags_.assign(shapes_.size(), {});
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const std::size_t parent = static_cast<std::size_t>(std::max(0, shapes_[i].parent));
    if (joints_[i] < 0 || !(pulled_[i] || pulled_[parent])) continue;
    const double force = tension(i);
    drags_[i] = drags_[i] + drag_torque(force, shapes_[i].anchor_child);
    if (shapes_[i].parent < 0) continue;
    drags_[parent] = drags_[parent] + drag_torque(force, shapes_[i].anchor_parent);
  }
  bool any = false;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (!pulled_[i]) {
      drags_[i] = {};
      continue;
    }
    drags_[i] = stability_drag(drags_[i], shapes_[i].moments, step);
    any = any || any_drag(drags_[i]);
  }
  return any;
}

// The force times step squared below which no link of the tree can need to be held back.
void Tree::find_safe_pull() {
  std::vector<double> arms(shapes_.size(), 0.0);
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (joints_[i] < 0) continue;
    arms[i] += length(shapes_[i].anchor_child);
    if (shapes_[i].parent >= 0) arms[static_cast<std::size_t>(shapes_[i].parent)] += length(shapes_[i].anchor_parent);
  }
  safe_pull_ = 1e300;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const Vec3& m = shapes_[i].moments;
    if (arms[i] > 0) safe_pull_ = std::min(safe_pull_, std::min({m.x, m.y, m.z}) / arms[i]);
  }
}

Support<double> Tree::support(int node) const {
  const int parent = shapes_[static_cast<std::size_t>(node)].parent;
  if (parent < 0) return ground_.state;
  const Node<double>& p = nodes_[static_cast<std::size_t>(parent)];
  return {p.x, p.q, p.axes, p.v};
}

void Tree::tell_drives(World& world, std::size_t i, double step) {
  const std::size_t joint = static_cast<std::size_t>(joints_[i]);
  for (std::size_t k = 0; k < static_cast<std::size_t>(shapes_[i].dofs); ++k) {
    Drive<double>& drive = world.drives[joint][k];
    drive.tell(world.system.joints[joint].position, world.system.joints[joint].velocity, step);
    load_drive(drive, dofs_[static_cast<std::size_t>(shapes_[i].first_dof) + k]);
  }
}

// Takes over the pieces that the solution belongs to. True if they are other ones.
bool Tree::settle_drives(World& world, std::size_t i, DrivePass pass) {
  bool changed = false;
  for (int k = 0; k < shapes_[i].dofs; ++k) {
    Drive<double>& drive = world.drives[static_cast<std::size_t>(joints_[i])][static_cast<std::size_t>(k)];
    Dof<double>& dof = dofs_[static_cast<std::size_t>(shapes_[i].first_dof + k)];
    if (!drive.settle(dof.qdot, dof.wall_gain, pass)) continue;
    changed = true;
    load_drive(drive, dof);
  }
  return changed;
}

void Tree::factor(bool started, ThreadPool* threads) {
  for_branches(threads, [&](Range branch) {
    for (std::size_t i = branch.first; !started && i < branch.last; ++i) start_factor(shapes_[i], nodes_[i]);
    eliminate_branch(branch);
  });
  Node<double>& root = nodes_[0];
  if (!started) start_factor(shapes_[0], root);
  root.passed = {};
  for (std::size_t i = branches_.size(); i-- > 0;) give_to_parent(branches_[i].first);
  if (joints_[0] < 0) {
    root_ = inverse_factor(root.d);
  } else {
    eliminate(shapes_[0], root, dofs_.data() + shapes_[0].first_dof);
  }
  touched_ = false;
}

void Tree::descend_node(std::size_t i) {
  const int parent = shapes_[i].parent;
  if (joints_[i] < 0) {
    nodes_[i].fresh = native::solve(root_, nodes_[i].z);
  } else {
    nodes_[i].fresh = native::descend(shapes_[i], nodes_[i], dofs_.data() + shapes_[i].first_dof,
                                      parent < 0 ? ground_.state.v : nodes_[static_cast<std::size_t>(parent)].fresh);
  }
}

// `look` at every node in the same pass, while it is at hand. True if it said so of any.
template <class Look>
bool Tree::descend(ThreadPool* threads, const Look& look) {
  descend_node(0);
  std::atomic<bool> found = look(std::size_t{0});
  for_branches(threads, [&](Range branch) {
    bool any = false;
    for (std::size_t i = branch.first; i < branch.last; ++i) {
      descend_node(i);
      any = look(i) || any;
    }
    if (any) found = true;
  });
  return found;
}

// All but what its uppermost node gives to the root.
void Tree::eliminate_branch(Range branch) {
  for (std::size_t i = branch.last; i-- > branch.first;) {
    nodes_[i].passed = {};
    eliminate(shapes_[i], nodes_[i], dofs_.data() + shapes_[i].first_dof);
    if (i > branch.first) give_to_parent(i);
  }
}

void Tree::give_to_parent(std::size_t i) {
  const Node<double>& n = nodes_[i];
  Node<double>& p = nodes_[static_cast<std::size_t>(shapes_[i].parent)];
  p.d = p.d + inertia_to_parent(n.d, n.r);
  p.z = p.z + impulse_to_parent(n.z, n.r);
}

Vec3 Tree::predicted_velocity(int node, const Vec3& arm) const {
  const Spatial<double>& v = nodes_[static_cast<std::size_t>(node)].fresh;
  return plain(v.l) + volvox::cross(plain(v.a), arm);
}

Verdict Tree::take_up(World& world, ThreadPool* threads) {
  if (!touched_) return Verdict::holds;
  move_to(0);
  std::atomic<Verdict> verdict = take_up_node(world, 0);
  for_branches(threads, [&](Range branch) {
    Verdict worst = Verdict::holds;
    for (std::size_t i = branch.first; i < branch.last; ++i) worst = std::max(worst, take_up_node(world, i));
    raise_to(verdict, worst);
  });
  return verdict;
}

// Until finish() takes it in, `passed` holds the change of velocity.
Verdict Tree::take_up_node(World& world, std::size_t i) {
  Node<double>& n = nodes_[i];
  if (joints_[i] < 0) {
    n.passed = times_inverse_transposed(root_, whitened_.coordinates().data());
    return Verdict::holds;
  }
  double own[3] = {};
  for (int k = 0; k < shapes_[i].dofs; ++k)
    own[k] = whitened_.coordinate(static_cast<std::size_t>(shapes_[i].first_dof + k));
  const int parent = shapes_[i].parent;
  const Spatial<double> above = parent < 0 ? Spatial<double>{} : nodes_[static_cast<std::size_t>(parent)].passed;
  n.passed = descend_change(shapes_[i], n, dofs_.data() + shapes_[i].first_dof, above, own);
  if (shapes_[i].dofs != 1) return Verdict::holds;
  const Dof<double>& dof = dofs_[static_cast<std::size_t>(shapes_[i].first_dof)];
  return world.drives[static_cast<std::size_t>(joints_[i])][0].judge(dof.qdot, dof.wall_gain);
}

// Children first: a body is moved as soon as nobody needs its old pose any more.
void Tree::finish(World& world, double step, ThreadPool* threads) {
  const Vec3 fall = !anchored_ ? outer_fall(world, step) : Vec3{};
  const auto take_in = [&](Node<double>& n) { n.fresh = n.fresh + n.passed, n.passed = {}; };
  for_branches(threads, [&](Range branch) {
    for (std::size_t i = branch.first; i < branch.last; ++i) take_in(nodes_[i]);
    for (std::size_t i = branch.last; i-- > branch.first;) {
      finish_node(world, i, step, fall);
      if (i == branch.first) continue;
      Node<double>& p = nodes_[static_cast<std::size_t>(shapes_[i].parent)];
      p.passed = p.passed + impulse_to_parent(nodes_[i].passed, nodes_[i].r);
    }
  });
  take_in(nodes_[0]);
  for (std::size_t i = branches_.size(); i-- > 0;) {
    const Node<double>& n = nodes_[branches_[i].first];
    nodes_[0].passed = nodes_[0].passed + impulse_to_parent(n.passed, n.r);
  }
  finish_node(world, 0, step, fall);
}

void Tree::book_joint(World& world, std::size_t i, double step) const {
  const NodeShape& shape = shapes_[i];
  const Node<double>& n = nodes_[i];
  if (shape.flipped) return book_load(world, joints_[i], n.passed * -1.0, n.x, {n.x, n.axes, shape.anchor_child}, step);
  const Node<double>* parent = shape.parent < 0 ? nullptr : &nodes_[static_cast<std::size_t>(shape.parent)];
  const Holder a{parent ? parent->x : ground_.state.x, parent ? parent->axes : ground_.state.axes, shape.anchor_parent};
  book_load(world, joints_[i], n.passed, n.x, a, step);
}

void Tree::finish_node(World& world, std::size_t i, double step, const Vec3& fall) {
  Node<double>& n = nodes_[i];
  Body& body = world.bodies[static_cast<std::size_t>(bodies_[i])];
  n.own = n.own + body.push;  // the change since predict()
  balance(shapes_[i], n);
  if (joints_[i] >= 0) book_joint(world, i, step);
  advance(body, n.fresh, n.inertia, step, fall);
  if (shapes_[i].dofs != 1) return;
  const std::size_t joint = static_cast<std::size_t>(joints_[i]);
  const double qdot = dofs_[static_cast<std::size_t>(shapes_[i].first_dof)].qdot;
  world.motor_impulses[joint] += world.drives[joint][0].motor_impulse(qdot);
  world.system.joints[joint].position += qdot * step;
  world.system.joints[joint].velocity = qdot;
}

void Tree::clear_coordinates() {
  whitened_.clear_coordinates();
  walk_.begin(whitened_.parts()[0]);
}

void Tree::whiten(std::span<const int> nodes, ThreadPool* threads) {
  whitened_.want_none();
  for (const int node : nodes) (void)whitened_.want(shapes_, node);
  touched_ = true;
  if (joints_[0] < 0) whitened_.parts()[0].hold_root(root_);
  const auto visit = [&](std::size_t i) {
    if (!whitened_.wanted(i)) return;
    if (joints_[i] < 0) return whitened_.whiten(i, shapes_[i], nullptr);
    JointFactor factor;
    joint_factor(i, factor);
    whitened_.whiten(i, shapes_[i], &factor);
  };
  visit(0);
  for_branches(threads, [&](Range branch) {
    for (std::size_t i = branch.first; i < branch.last; ++i) visit(i);
  });
}

void Tree::joint_factor(std::size_t node, JointFactor& out) const {
  const V3<double>& r = nodes_[node].r;
  out.r[0] = r.x, out.r[1] = r.y, out.r[2] = r.z;
  for (int k = 0; k < shapes_[node].dofs; ++k) {
    const Dof<double>& f = dofs_[static_cast<std::size_t>(shapes_[node].first_dof + k)];
    out.axes[k] = {{f.s.a.x, f.s.a.y, f.s.a.z, f.s.l.x, f.s.l.y, f.s.l.z},
                   {f.u.a.x, f.u.a.y, f.u.a.z, f.u.l.x, f.u.l.y, f.u.l.z},
                   f.root_inv};
  }
}

NodeRows Tree::node_rows(int node, bool whole) const {
  const std::size_t i = static_cast<std::size_t>(node);
  return {whitened_.y(i), whitened_.part_of(i).width, whole ? nullptr : whitened_.blocks(i)};
}

RowSpan Tree::span(int node) {
  const std::size_t i = static_cast<std::size_t>(node);
  if (!whitened_.blocks(i)) return whole_span(node);
  return {whitened_.coordinates().data(), whitened_.row_width(i), 0, whitened_.blocks(i)};
}

RowSpan Tree::whole_span(int node) {
  const WhitenedPart& part = whitened_.part_of(static_cast<std::size_t>(node));
  return {part.coordinates, part.width, part.number};
}

void Tree::write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool whole,
                      double* rows) const {
  whitened_.write_rows(static_cast<std::size_t>(node), arm, directions, sign, add, whole, rows);
}

void Tree::add_cross_terms(int part_a, const double* rows_a, int part_b, const double* rows_b, double (&gram)[6]) {
  const std::vector<WhitenedPart>& parts = whitened_.parts();
  native::add_cross_terms(parts[static_cast<std::size_t>(part_a)], rows_a, parts[static_cast<std::size_t>(part_b)],
                          rows_b, gram);
}

}  // namespace volvox::physics::native
