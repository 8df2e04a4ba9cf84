#include "volvox/physics/mujoco/mujoco_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/physics/free_rotation.h"

namespace volvox::physics::mujoco {
namespace {

// The share of an error that a substep corrects, at latching docks and at limits.
constexpr double error_reduction = 0.3;

Vec3 vec(const mjtNum* v) { return {v[0], v[1], v[2]}; }

// The change of velocity of a free body by a wrench at a point, per unit of time.
Twist answer(const BodyDesc& desc, const Pose& frame, const Vec3& arm, const Vec3& force, const Vec3& torque) {
  if (desc.motion != Motion::dynamic) return {};
  const Vec3 local = frame.rotation.conjugate() * (torque + cross(arm, force));
  const Vec3 spin = frame.rotation * Vec3{local.x / desc.moments.x, local.y / desc.moments.y, local.z / desc.moments.z};
  return {force / desc.mass + cross(spin, arm), spin};
}

// Solves a 6 x 6 system by elimination with pivots. A column of zeros (nothing moves) stays 0.
std::array<double, 6> solve_six(std::array<std::array<double, 7>, 6> m) {
  for (std::size_t c = 0; c < 6; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < 6; ++r) {
      if (std::fabs(m[r][c]) > std::fabs(m[pivot][c])) pivot = r;
    }
    std::swap(m[c], m[pivot]);
    if (m[c][c] == 0) continue;
    for (std::size_t r = 0; r < 6; ++r) {
      if (r == c) continue;
      const double share = m[r][c] / m[c][c];
      for (std::size_t k = c; k < 7; ++k) m[r][k] -= share * m[c][k];
    }
  }
  std::array<double, 6> x{};
  for (std::size_t i = 0; i < 6; ++i) x[i] = m[i][i] != 0 ? m[i][6] / m[i][i] : 0;
  return x;
}

}  // namespace

void World::begin_tick() {
  loads_.assign(system_.joint_descs.size(), {});
  motor_impulses_.assign(system_.joint_descs.size(), 0);
}

void World::archive(Archive& ar) {
  ar("room", room_);
  constexpr std::uint64_t most = 1 << 14;  // MuJoCo 2.2 refuses far less: it counts bytes in an int
  if (!ar.loading() || room_ <= most) return;
  ar.fail("the snapshot is damaged: MuJoCo has no room for so many contacts");
  room_ = 0;
}

// By default MuJoCo ends the process. Its frames have nothing to clean up but the data, which is not used again.
StepStatus World::substep(double step, bool last) {
  struct Failure {
    std::string what;
  };
  mju_user_error = [](const char* what) { throw Failure{what}; };
  mju_user_warning = [](const char*) {};  // by default it prints warnings and writes them to a file
  try {
    return advance(step, last);
  } catch (const Failure& failure) {
    change_topology();
    return {BodyId{}, fmt::format("MuJoCo gave up: {}; use another engine, such as --engine native", failure.what)};
  }
}

StepStatus World::advance(double step, bool last) {
  if (!model_) {
    if (StepStatus status = build(); !status.ok()) return status;
  } else if (!placed_) {
    place_bodies();
  }
  model_->opt.timestep = step;
  for (int i = 0; i < 3; ++i) model_->opt.gravity[i] = system_.gravity[i];
  apply_forces();
  pull_docks(step);
  mj_kinematics(model_.get(), data_.get());
  mj_comPos(model_.get(), data_.get());
  mj_tendon(model_.get(), data_.get());
  mj_crb(model_.get(), data_.get());
  mj_factorM(model_.get(), data_.get());
  mj_collision(model_.get(), data_.get());
  edit_contacts();
  mj_makeConstraint(model_.get(), data_.get());
  if (ran_out_of_room()) {
    room_ *= 2;
    change_topology();
    return advance(step, last);  // again, with more room: nothing has moved yet
  }
  mj_transmission(model_.get(), data_.get());
  mj_projectConstraint(model_.get(), data_.get());
  mj_fwdVelocity(model_.get(), data_.get());
  solve_forces(step);
  read_loads(step);
  if (last) read_contacts();
  std::vector<Momentum> wanted;
  for (const auto& tree : trees_) {
    const Momentum had = momentum_of(tree), got = pushed(tree);
    wanted.push_back({had.linear + got.linear * step, had.angular + got.angular * step});
  }
  integrate(step);
  read_bodies();
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    if (floats(trees_[i])) keep_momentum(trees_[i], wanted[i]);
  }
  bool closed = false;
  for (std::size_t i = 0; i < system_.latches.size(); ++i) {
    if (!system_.joint_ids.alive_index(i) || system_.latches[i].closed()) continue;
    system_.latches[i].advance(step);
    closed = closed || system_.latches[i].closed();
  }
  if (closed) change_topology();  // from now on it is rigid
  return problem_with_state(system_);
}

bool World::ran_out_of_room() const {
  return data_->warning[mjWARN_CONTACTFULL].number > 0 || data_->warning[mjWARN_CNSTRFULL].number > 0;
}

void World::apply(std::size_t body, const Vec3& force, const Vec3& torque, const Vec3& point) {
  const Vec3 total = torque + cross(point - frame_pose(body).position, force);
  mjtNum* to = data_->xfrc_applied + 6 * id(body);
  for (int i = 0; i < 3; ++i) to[i] += force[i], to[3 + i] += total[i];
}

void World::apply_forces() {
  std::fill_n(data_->xfrc_applied, 6 * model_->nbody, 0.0);
  std::fill_n(data_->qfrc_applied, model_->nv, 0.0);
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i) || system_.bodies[i].motion == Motion::fixed) continue;
    const bool led = system_.bodies[i].motion == Motion::kinematic;
    const Vec3 centre = frame_pose(i).position;
    if (led || !system_.bodies[i].gravity) apply(i, system_.gravity * -model_->body_mass[id(i)], {}, centre);
    if (!led) apply(i, system_.forces[i].force, system_.forces[i].torque, centre);
    if (!free_and_alone(i)) continue;
    // Removes MuJoCo's gyroscopic torque: turn_free_body does the same and conserves angular momentum.
    const int dof = dof_of(i) + 3;
    const Vec3 spin = vec(data_->qvel + dof), gyro = cross(spin, multiply(system_.bodies[i].moments, spin));
    for (int k = 0; k < 3; ++k) data_->qfrc_applied[dof + k] += gyro[k];
  }
}

bool World::free_and_alone(std::size_t body) const {
  return system_.bodies[body].motion == Motion::dynamic && forest_->joint[body] < 0 && forest_->children[body].empty();
}

void World::pull_docks(double step) {
  pulls_.assign(system_.joint_descs.size(), {});
  for (std::size_t i = 0; i < system_.joint_descs.size(); ++i) {
    if (!system_.joint_ids.alive_index(i) || system_.joint_descs[i].type != JointType::dock) continue;
    if (!system_.latches[i].closed()) pull_dock(i, step);
  }
}

// Moves a latching dock by equal and opposite forces at one point: the forces that two free bodies would need to reach
// the latch's speed. Bodies that others hold need more force and get it in the following substeps.
void World::pull_dock(std::size_t joint, double step) {
  const JointDesc& desc = system_.joint_descs[joint];
  const std::size_t b = desc.b.index;
  const Pose a_frame = desc.a.valid() ? system_.poses[desc.a.index] * desc.frame_a : desc.frame_a;
  const Pose b_frame = system_.poses[b] * desc.frame_b, now = a_frame.inverse() * b_frame,
             target = system_.latches[joint].target();
  const Twist rate = system_.latches[joint].rate(step);
  const Vec3 point = b_frame.position;
  const double back = error_reduction / step;
  const auto moves = [&](BodyId body) -> Twist {
    if (!body.valid()) return {};
    const Twist& v = system_.velocities[body.index];
    return {v.linear + cross(v.angular, point - frame_pose(body.index).position), v.angular};
  };
  const Twist va = moves(desc.a), vb = moves(desc.b);
  const Vec3 linear =
      a_frame.rotation * (rate.linear + (target.position - now.position) * back) - (vb.linear - va.linear);
  const Vec3 angular =
      a_frame.rotation * (rate.angular + rotation_vector(target.rotation * now.rotation.conjugate()) * back) -
      (vb.angular - va.angular);

  std::array<std::array<double, 7>, 6> system{};
  for (int c = 0; c < 6; ++c) {
    Vec3 force, torque;
    (c < 3 ? force : torque)[c % 3] = 1;
    Twist moved = answer(system_.bodies[b], frame_pose(b), point - frame_pose(b).position, force, torque);
    if (desc.a.valid()) {
      const std::size_t a = desc.a.index;
      const Twist other = answer(system_.bodies[a], frame_pose(a), point - frame_pose(a).position, force, torque);
      moved.linear += other.linear, moved.angular += other.angular;
    }
    for (int r = 0; r < 3; ++r) system[r][c] = moved.linear[r], system[3 + r][c] = moved.angular[r];
  }
  for (int r = 0; r < 3; ++r) system[r][6] = linear[r] / step, system[3 + r][6] = angular[r] / step;
  const std::array<double, 6> found = solve_six(system);
  // Each of several docks on a body is computed as if it were alone, so each gets a share.
  const std::size_t most =
      std::max(system_.joints_of[b].size(), desc.a.valid() ? system_.joints_of[desc.a.index].size() : 1);
  const double share = 1 / real(most);
  const Vec3 force = Vec3{found[0], found[1], found[2]} * share, torque = Vec3{found[3], found[4], found[5]} * share;
  apply(b, force, torque, point);
  if (desc.a.valid() && system_.bodies[desc.a.index].motion != Motion::fixed)
    apply(desc.a.index, -force, -torque, point);
  const Quat to_a = a_frame.rotation.conjugate();
  pulls_[joint] = {to_a * force, to_a * (torque + cross(point - a_frame.position, force))};
}

// Friction by our rule, and only between bodies that may touch.
void World::edit_contacts() {
  int kept = 0;
  for (int i = 0; i < data_->ncon; ++i) {
    mjContact contact = data_->contact[i];
    const Collider &x = colliders_[contact.geom1], &y = colliders_[contact.geom2];
    if (!system_.may_touch(x.body, y.body)) continue;
    const double friction = std::sqrt(system_.bodies[x.body].geometry->colliders[x.index].material.friction *
                                      system_.bodies[y.body].geometry->colliders[y.index].material.friction);
    contact.friction[0] = contact.friction[1] = std::max(friction, double{mjMINMU});
    data_->contact[kept++] = contact;
  }
  data_->ncon = kept;
}

void World::set_rows(double step) {
  rows_.clear(), slots_.clear();
  row_of_motor_.assign(system_.joint_descs.size(), -1);
  for (const Axis& axis : axes_) add_axis_rows(axis, step);
}

void World::add_row(AxisRow row, std::size_t joint, int slot) {
  const std::size_t at = row_slots * joint + slot;
  row.force = clamp(kept_[at], row.lower, row.upper);
  rows_.push_back(row);
  slots_.push_back(narrow<int>(at));
}

void World::add_axis_rows(const Axis& axis, double step) {
  const JointDesc& desc = system_.joint_descs[axis.joint];
  for (int k = 0; k < axis.dofs; ++k) {
    if (axis.dofs == 1) {
      add_motor_row({.dof = axis.dof}, axis.joint, step);
      add_limit_row({.dof = axis.dof}, axis.joint, step);
    }
    if (desc.friction > 0)
      add_row({.dof = axis.dof + k, .lower = -desc.friction, .upper = desc.friction}, axis.joint, 2 + k);
    if (desc.damping > 0) add_row({.dof = axis.dof + k, .softness = 1 / desc.damping}, axis.joint, 5 + k);
  }
}

void World::add_motor_row(AxisRow row, std::size_t joint, double step) {
  const MotorCommand& motor = system_.motors[joint];
  if (motor.control == Control::off) return;
  row.lower = -motor.max_torque, row.upper = motor.max_torque;
  double kd = motor.kd;
  row.target = motor.target;
  if (motor.control == Control::torque) {
    row.lower = row.upper = clamp(motor.target, -motor.max_torque, motor.max_torque);
    kd = 1;
  } else if (motor.control == Control::position) {
    const double error = motor.target - system_.joints[joint].position;
    // Faster than 1/step would overshoot within a step. Without kd it is a bare spring, taken
    // at the end of the step: kp (error - step qdot).
    const double rate = kd > 0 ? std::min(motor.kp / kd, 1 / step) : 1 / step;
    if (!(kd > 0)) kd = motor.kp * step;
    row.target = clamp(rate * error, -motor.max_velocity, motor.max_velocity);
  }
  if (!(kd > 0)) return;
  row.softness = 1 / kd;
  row_of_motor_[joint] = narrow<int>(rows_.size());
  add_row(row, joint, 0);
}

// A limit has a row before it is reached: the row lets the joint move up to it in this substep.
void World::add_limit_row(AxisRow row, std::size_t joint, double step) {
  const JointDesc& desc = system_.joint_descs[joint];
  const double position = system_.joints[joint].position, above = desc.upper - position, below = position - desc.lower;
  const double gap = std::min(above, below);
  if (!(gap < 0.05 + 4 * step * std::fabs(data_->qvel[row.dof]))) return;
  const double speed = (gap > 0 ? 1 : error_reduction) * gap / step;
  row.target = above <= below ? speed : -speed;
  if (above <= below) row.upper = 0;
  else row.lower = 0;
  add_row(row, joint, 1);
}

// Solves the contacts with the last forces of the axes, then the axes with these contacts, then the contacts again.
void World::solve_forces(double step) {
  set_rows(step);
  for (const AxisRow& row : rows_) data_->qfrc_applied[row.dof] += row.force;
  mj_fwdActuation(model_.get(), data_.get());
  const auto solve_contacts = [&] {
    mj_fwdAcceleration(model_.get(), data_.get());
    mj_fwdConstraint(model_.get(), data_.get());
  };
  solve_contacts();
  if (rows_.empty()) return;
  velocity_.resize(model_->nv);
  for (int i = 0; i < model_->nv; ++i) velocity_[i] = data_->qvel[i] + step * data_->qacc[i];
  solver_.solve(model_.get(), data_.get(), step, velocity_, rows_);
  solve_contacts();
  std::fill(kept_.begin(), kept_.end(), 0);
  for (std::size_t i = 0; i < rows_.size(); ++i) kept_[slots_[i]] = rows_[i].force;
}

void World::integrate(double step) {
  mj_Euler(model_.get(), data_.get());
  for (std::size_t i = 0; i < system_.bodies.size(); ++i) {
    if (!system_.body_ids.alive_index(i)) continue;
    const Pose before = system_.poses[i] * body_frame(system_.bodies[i]);
    if (free_and_alone(i)) {
      turn_free_body(i, before.rotation, step);
      mjtNum* to = free_place(i);
      const Vec3 held = sweep_.hold_before_obstacles(system_, i, before.position, vec(to));
      for (int k = 0; k < 3; ++k) to[k] = held[k];
    }
    if (system_.bodies[i].motion != Motion::kinematic) continue;
    // Kinematic: it follows its velocity, whatever MuJoCo computed.
    const Twist& v = system_.velocities[i];
    const Quat turned_to = normalized(from_rotation_vector(v.angular * step) * before.rotation);
    const Vec3 to = before.position + v.linear * step, spin = turned_to.conjugate() * v.angular;
    mjtNum *place = free_place(i), *speed = data_->qvel + dof_of(i);
    for (int k = 0; k < 3; ++k) place[k] = to[k], speed[k] = v.linear[k], speed[3 + k] = spin[k];
    place[3] = turned_to.w, place[4] = turned_to.x, place[5] = turned_to.y, place[6] = turned_to.z;
  }
}

void World::turn_free_body(std::size_t body, const Quat& before, double step) {
  mjtNum *place = free_place(body) + 3, *speed = data_->qvel + dof_of(body) + 3;
  const Vec3 local = vec(speed);
  if (local == Vec3{}) return;
  const Spin spin = turned({before, before * local}, system_.bodies[body].moments, step);
  const Vec3 now = spin.rotation.conjugate() * spin.velocity;
  place[0] = spin.rotation.w, place[1] = spin.rotation.x, place[2] = spin.rotation.y, place[3] = spin.rotation.z;
  for (int k = 0; k < 3; ++k) speed[k] = now[k];
}

World::Momentum World::momentum_of(const std::vector<std::size_t>& tree) const {
  Momentum sum;
  for (const std::size_t i : tree) {
    const Pose frame = system_.poses[i] * body_frame(system_.bodies[i]);
    const Twist& v = system_.velocities[i];
    const Vec3 linear = v.linear * system_.bodies[i].mass;
    sum.linear += linear;
    sum.angular += cross(frame.position, linear) +
                   frame.rotation * multiply(system_.bodies[i].moments, frame.rotation.conjugate() * v.angular);
  }
  return sum;
}

// The force and the torque about the world's origin on a whole tree: its weight and what was
// applied.
World::Momentum World::pushed(const std::vector<std::size_t>& tree) const {
  Momentum sum;
  for (const std::size_t i : tree) {
    const mjtNum* applied = data_->xfrc_applied + 6 * id(i);
    const Vec3 force = vec(applied) + system_.gravity * system_.bodies[i].mass;
    sum.linear += force;
    sum.angular += vec(applied + 3) + cross(frame_pose(i).position, force);
  }
  return sum;
}

// Whether a tree is in no contact: contacts would appear in the six axes of its free root.
bool World::floats(const std::vector<std::size_t>& tree) const {
  const mjtNum* held = data_->qfrc_constraint + dof_of(tree[0]);
  return std::all_of(held, held + 6, [](mjtNum force) { return std::fabs(force) < 1e-9; });
}

// MuJoCo's step is of first order in joint coordinates, so momentum drifts. The missing momentum is added as a motion
// of the whole tree, which does not load its joints. Not for a tree in contact: the contact would act against it.
void World::keep_momentum(const std::vector<std::size_t>& tree, const Momentum& wanted) {
  const Momentum now = momentum_of(tree);
  double mass = 0;
  Vec3 centre;
  for (const std::size_t i : tree)
    mass += system_.bodies[i].mass, centre += frame_pose(i).position * system_.bodies[i].mass;
  centre = centre / mass;
  std::array<Vec3, 3> columns{};  // of the tree's inertia about its centre of mass
  for (int c = 0; c < 3; ++c) {
    Vec3 axis;
    axis[c] = 1;
    for (const std::size_t i : tree) {
      const Pose frame = frame_pose(i);
      const Vec3 arm = frame.position - centre;
      columns[c] += frame.rotation * multiply(system_.bodies[i].moments, frame.rotation.conjugate() * axis) +
                    cross(arm, cross(axis, arm)) * system_.bodies[i].mass;
    }
  }
  const Vec3 linear = (wanted.linear - now.linear) / mass;
  const Vec3 spin = wanted.angular - now.angular - cross(centre, wanted.linear - now.linear);
  const double determinant = dot(columns[0], cross(columns[1], columns[2]));
  const Vec3 angular = Vec3{dot(spin, cross(columns[1], columns[2])), dot(columns[0], cross(spin, columns[2])),
                            dot(columns[0], cross(columns[1], spin))} /
                       determinant;
  for (const std::size_t i : tree) {
    system_.velocities[i].linear += linear + cross(angular, frame_pose(i).position - centre);
    system_.velocities[i].angular += angular;
  }
  const Pose root = frame_pose(tree[0]);
  const Vec3 moved = linear + cross(angular, root.position - centre), turned_by = root.rotation.conjugate() * angular;
  mjtNum* speed = data_->qvel + dof_of(tree[0]);
  for (int k = 0; k < 3; ++k) speed[k] += moved[k], speed[3 + k] += turned_by[k];
}

void World::end_tick(double tick) {
  for (std::size_t i = 0; i < system_.joint_descs.size(); ++i) {
    if (!system_.joint_ids.alive_index(i)) continue;
    system_.measure_joint(i);
    system_.joints[i].torque = motor_impulses_[i] / tick;
    system_.loads[i] = loads_[i] * (1 / tick);
    system_.latched[i] = system_.latches[i].closed();
  }
}

}  // namespace volvox::physics::mujoco
