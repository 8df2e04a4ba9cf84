#include "volvox/physics/native/tree.h"

#include <algorithm>

#include "volvox/physics/native/latch.h"

namespace volvox::physics::native {
namespace {

int dof_count(JointType type) {
  switch (type) {
    case JointType::revolute:
    case JointType::prismatic: return 1;
    case JointType::ball: return 3;
    case JointType::fixed:
    case JointType::dock: return 0;
  }
  return 0;
}

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
  bodies_.reserve(count), shapes_.reserve(count), joints_.reserve(count), dofs_.reserve(count), y_first_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) add_node(world, plan, i);
  nodes_.resize(shapes_.size());
  plan_parts();
  find_safe_pull();
  if (fits_flock()) plan_columns();
}

// Robots that dock and undock all the time would otherwise pay more for new memory, and for
// the caches that do not know it, than for all else. What is left in it is written before it is read.
void Tree::take_room(Tree& old) {
  const auto take = [](auto& mine, auto& its) {
    mine.swap(its);
    mine.clear();
  };
  take(bodies_, old.bodies_), take(shapes_, old.shapes_), take(joints_, old.joints_), take(dofs_, old.dofs_);
  take(parts_, old.parts_), take(y_first_, old.y_first_), take(columns_.columns, old.columns_.columns), take(columns_.first, old.columns_.first);
  nodes_.swap(old.nodes_), y_.swap(old.y_), coordinates_.swap(old.coordinates_);
  part_of_.swap(old.part_of_), column_.swap(old.column_), wanted_.swap(old.wanted_), way_.swap(old.way_), columns_.own.swap(old.columns_.own);
}

void Tree::add_node(const World& world, const TreePlan& plan, std::size_t step) {
  const auto [body_index, parent, joint] = plan.steps[step];
  const Body& body = world.bodies[static_cast<std::size_t>(body_index)];
  NodeShape shape;
  shape.parent = parent;
  shape.mass = body.mass;
  shape.moments = body.moments;
  shape.first_dof = static_cast<int>(dofs_.size());
  if (joint >= 0) {
    const JointDesc& desc = world.scene.joint_descs[static_cast<std::size_t>(joint)];
    const JointFrames& frames = world.frames[static_cast<std::size_t>(joint)];
    shape.type = desc.type;
    shape.flipped = desc.b.index != static_cast<std::uint32_t>(body_index);
    const Pose &on_parent = shape.flipped ? frames.b : frames.a, &on_child = shape.flipped ? frames.a : frames.b;
    shape.anchor_parent = on_parent.position;
    shape.anchor_child = on_child.position;
    // Turning a about -z against b is turning b about z against a.
    const Vec3 axis{0, 0, shape.flipped ? -1.0 : 1.0};
    shape.axis_parent = on_parent.rotation * axis;
    shape.axis_child = on_child.rotation * axis;
    shape.closed = on_parent.rotation * on_child.rotation.conjugate();
    shape.dofs = dof_count(desc.type);
    if (parent < 0) {
      free_root_ = false;
      ground_ = shape.flipped ? desc.b : desc.a;
    }
  }
  dofs_.resize(dofs_.size() + static_cast<std::size_t>(shape.dofs));
  shapes_.push_back(shape);
  joints_.push_back(joint);
  bodies_.push_back(body_index);
}

void Tree::predict(World& world, double step) {
  load(world, step);
  tell_drives(world, step);
  solve_and_settle(world, DrivePass::first);
}

void Tree::predict_again(World& world) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    start_factor(shapes_[i], nodes_[i]);
    for (int k = 0; k < shapes_[i].dofs; ++k) {
      Drive<double>& drive = world.drives[static_cast<std::size_t>(joints_[i])][static_cast<std::size_t>(k)];
      drive.keep_to_cap();
      load_drive(drive, dofs_[static_cast<std::size_t>(shapes_[i].first_dof + k)]);
    }
  }
  solve_and_settle(world, DrivePass::middle);
}

void Tree::solve_and_settle(World& world, DrivePass first) {
  for (int pass = 0; pass < most_passes; ++pass) {
    for (std::size_t i = 0; pass > 0 && i < nodes_.size(); ++i) start_factor(shapes_[i], nodes_[i]);
    factor_and_solve();
    if (pass + 1 == most_passes) break;
    if (!settle_drives(world, pass == 0 ? first : pass + 2 == most_passes ? DrivePass::last : DrivePass::middle)) break;
  }
}

void Tree::plan_columns() {
  columns_.own.resize(dofs_.size());
  columns_.columns.reserve(shapes_.size() * (dofs_.size() + 6));
  columns_.first.reserve(shapes_.size() + 1);
  columns_.total = 6;
  columns_.first.push_back(0);
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (i == 0) {
      for (int k = 0; k < 6; ++k) columns_.columns.push_back(k);
    } else {
      const std::size_t parent = static_cast<std::size_t>(shapes_[i].parent);
      for (std::size_t k = columns_.first[parent]; k < columns_.first[parent + 1]; ++k) columns_.columns.push_back(columns_.columns[k]);
    }
    for (int k = shapes_[i].dofs - 1; k >= 0; --k) {
      columns_.own[static_cast<std::size_t>(shapes_[i].first_dof + k)] = columns_.total;
      columns_.columns.push_back(columns_.total++);
    }
    columns_.first.push_back(columns_.columns.size());
    columns_.most = std::max(columns_.most, columns_.count(i));
  }
}

// One pass, parents first, so that every node is in the cache once: state, inertia, joint.
void Tree::load(World& world, double step) {
  load_ground(world);
  const bool drags = load_drags(world, step);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::size_t index = static_cast<std::size_t>(bodies_[i]);
    const Body& body = world.bodies[index];
    const Wrench& force = world.scene.forces[index];
    Node<double>& n = nodes_[i];
    n.x = lane(body.position);
    n.q = lane(body.rotation);
    n.axes = body.axes;
    n.v = {lane(body.angular), lane(body.linear)};
    n.own = Spatial<double>{lane(body.spin + force.torque * step),
                            lane(body.linear * body.mass + (body.weight + force.force) * step)} + body.push;
    n.dragged = drags && any_drag(n.drag);
    load_inertia(shapes_[i], n, step);
    start_factor(shapes_[i], n);
    if (joints_[i] < 0) continue;
    load_joint(shapes_[i], n, support(static_cast<int>(i)), dofs_.data() + shapes_[i].first_dof, step);
    if (shapes_[i].type != JointType::dock || world.scene.latches[static_cast<std::size_t>(joints_[i])].closed()) continue;
    const double sign = shapes_[i].flipped ? -1 : 1;
    Spatial<double> beta = n.beta * sign;
    load_latch(world, static_cast<std::size_t>(joints_[i]), step, plain(n.x), beta);
    n.beta = beta * sign;
  }
}

void Tree::load_ground(const World& world) {
  if (free_root_) return;
  const Pose pose = support_pose(world, ground_);
  ground_velocity_ = {};
  if (ground_.valid()) {
    const Body& body = world.bodies[ground_.index];
    ground_velocity_ = {lane(body.angular), lane(body.linear)};
  }
  ground_state_ = {lane(pose.position), lane(pose.rotation), rotation_matrix(lane(pose.rotation)), ground_velocity_};
}

// True if some link is pulled so hard that it may need to be held back.
bool Tree::load_drags(const World& world, double step) {
  double most = 0;
  for (int joint : joints_) {
    if (joint >= 0) most = std::max(most, world.tensions[static_cast<std::size_t>(joint)]);
  }
  if (most * step * step < safe_pull_) return false;
  for (Node<double>& n : nodes_) n.drag = {};
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (joints_[i] < 0) continue;
    const double force = world.tensions[static_cast<std::size_t>(joints_[i])];
    nodes_[i].drag = nodes_[i].drag + drag_torque(force, shapes_[i].anchor_child);
    if (shapes_[i].parent < 0) continue;
    Node<double>& p = nodes_[static_cast<std::size_t>(shapes_[i].parent)];
    p.drag = p.drag + drag_torque(force, shapes_[i].anchor_parent);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].drag = stability_drag(nodes_[i].drag, shapes_[i].moments, step);
  return true;
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
  if (parent < 0) return ground_state_;
  const Node<double>& p = nodes_[static_cast<std::size_t>(parent)];
  return {p.x, p.q, p.axes, p.v};
}

void Tree::tell_drives(World& world, double step) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (shapes_[i].dofs == 0) continue;
    const std::size_t joint = static_cast<std::size_t>(joints_[i]);
    for (std::size_t k = 0; k < static_cast<std::size_t>(shapes_[i].dofs); ++k) {
      Drive<double>& drive = world.drives[joint][k];
      drive.tell(world.scene.joints[joint].position, world.scene.joints[joint].velocity, step);
      load_drive(drive, dofs_[static_cast<std::size_t>(shapes_[i].first_dof) + k]);
    }
  }
}

// Takes over the pieces that the solution belongs to. True if they are other ones.
bool Tree::settle_drives(World& world, DrivePass pass) {
  bool changed = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (shapes_[i].dofs == 0) continue;
    std::array<Drive<double>, 3>& drives = world.drives[static_cast<std::size_t>(joints_[i])];
    for (int k = 0; k < shapes_[i].dofs; ++k) {
      Dof<double>& dof = dofs_[static_cast<std::size_t>(shapes_[i].first_dof + k)];
      if (!drives[static_cast<std::size_t>(k)].settle(dof.qdot, dof.wall_gain, pass)) continue;
      changed = true;
      load_drive(drives[static_cast<std::size_t>(k)], dof);
    }
  }
  return changed;
}

void Tree::factor_and_solve() {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node<double>& n = nodes_[i];
    n.passed = {};
    if (joints_[i] < 0) continue;
    eliminate(shapes_[i], n, dofs_.data() + shapes_[i].first_dof);
    if (shapes_[i].parent < 0) continue;
    Node<double>& p = nodes_[static_cast<std::size_t>(shapes_[i].parent)];
    p.d = p.d + inertia_to_parent(n.d, n.r);
    p.z = p.z + impulse_to_parent(n.z, n.r);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node<double>& n = nodes_[i];
    if (joints_[i] < 0) {
      root_ = inverse_factor(n.d);
      n.fresh = solve(root_, n.z);
      continue;
    }
    const int parent = shapes_[i].parent;
    const Spatial<double>& above = parent < 0 ? ground_velocity_ : nodes_[static_cast<std::size_t>(parent)].fresh;
    n.fresh = descend(shapes_[i], n, dofs_.data() + shapes_[i].first_dof, above);
  }
  touched_ = false;
}

Vec3 Tree::predicted_velocity(int node, const Vec3& arm) const {
  const Spatial<double>& v = nodes_[static_cast<std::size_t>(node)].fresh;
  return plain(v.l) + volvox::cross(plain(v.a), arm);
}

bool Tree::take_up(World& world) {
  if (!touched_) return false;
  move_to(0);
  bool overloaded = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node<double>& n = nodes_[i];
    // Until finish() takes it in, `passed` holds the change of velocity.
    if (joints_[i] < 0) {
      n.passed = times_inverse_transposed(root_, coordinates_.data());
    } else {
      const Part& part = parts_[static_cast<std::size_t>(part_of_[i])];
      double own[3] = {};
      for (int k = 0; k < shapes_[i].dofs; ++k) {
        const int column = column_[static_cast<std::size_t>(shapes_[i].first_dof + k)];
        own[k] = coordinates_[part.first + static_cast<std::size_t>(column)];
      }
      const int parent = shapes_[i].parent;
      const Spatial<double> above = parent < 0 ? Spatial<double>{} : nodes_[static_cast<std::size_t>(parent)].passed;
      n.passed = descend_change(shapes_[i], n, dofs_.data() + shapes_[i].first_dof, above, own);
      if (shapes_[i].dofs == 1) {
        overloaded = world.drives[static_cast<std::size_t>(joints_[i])][0].overloaded(dofs_[static_cast<std::size_t>(shapes_[i].first_dof)].qdot) || overloaded;
      }
    }
  }
  return overloaded;
}

void Tree::finish(World& world, double step) {
  for (Node<double>& n : nodes_) n.fresh = n.fresh + n.passed, n.passed = {};
  // Children first: a body is moved as soon as nobody needs its old pose any more.
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node<double>& n = nodes_[i];
    Body& body = world.bodies[static_cast<std::size_t>(bodies_[i])];
    n.own = n.own + body.push;  // the change since predict()
    balance(shapes_[i], n);
    if (shapes_[i].parent >= 0) {
      Node<double>& p = nodes_[static_cast<std::size_t>(shapes_[i].parent)];
      p.passed = p.passed + impulse_to_parent(n.passed, n.r);
    }
    if (joints_[i] >= 0) book_load(world, joints_[i], shapes_[i].flipped, n.passed, body.position, step);
    advance(body, n.fresh, n.inertia, step);
    if (shapes_[i].dofs != 1) continue;
    const std::size_t joint = static_cast<std::size_t>(joints_[i]);
    const double qdot = dofs_[static_cast<std::size_t>(shapes_[i].first_dof)].qdot;
    world.motor_impulses[joint] += world.drives[joint][0].motor_impulse(qdot);
    world.scene.joints[joint].position += qdot * step;
    world.scene.joints[joint].velocity = qdot;
  }
}

}  // namespace volvox::physics::native
