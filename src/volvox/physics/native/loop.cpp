#include "volvox/physics/native/loop.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/native/latch.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

// Stiffness of a joint against the mean mass of the bodies. From 1e4 to 1e9 all work: less
// bends docks by tenths of a degree under fighting motors, more costs the factor its digits.
constexpr double stiffness_of_mass = 1e5;

std::vector<std::pair<int, int>> edges(const World& world, const std::vector<int>& bodies,
                                       const std::vector<int>& joints) {
  std::vector<std::pair<int, int>> result;
  const auto node = [&](BodyId id) {
    if (!id.valid()) return -1;
    const auto found = std::lower_bound(bodies.begin(), bodies.end(), static_cast<int>(id.index));
    return found != bodies.end() && *found == static_cast<int>(id.index) ? static_cast<int>(found - bodies.begin())
                                                                         : -1;
  };
  for (int joint : joints) {
    const JointDesc& desc = world.system.joint_descs[static_cast<std::size_t>(joint)];
    const int a = node(desc.a), b = node(desc.b);
    if (a >= 0 && b >= 0) result.push_back({a, b});
  }
  return result;
}

Vec6 flat(const Spatial<double>& s) { return {s.a.x, s.a.y, s.a.z, s.l.x, s.l.y, s.l.z}; }
Spatial<double> spatial(const Vec6& x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }

Spatial<double> operator*(const Block6& k, const Spatial<double>& s) {
  const Vec6 x = flat(s);
  Vec6 y{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) y[i] += k[6 * i + j] * x[j];
  }
  return spatial(y);
}

// k += weight f f^T
void add_outer(Block6& k, const Spatial<double>& f, double weight) {
  const Vec6 x = flat(f);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) k[6 * i + j] += weight * x[i] * x[j];
  }
}

// T^T k, where T^T carries an impulse at b's centre to a's: rows are impulses.
Block6 carried(const Block6& k, const V3<double>& r) {
  Block6 out = k;
  for (std::size_t j = 0; j < 6; ++j) {
    const V3<double> torque = cross(r, V3<double>{k[18 + j], k[24 + j], k[30 + j]});
    out[j] += torque.x, out[6 + j] += torque.y, out[12 + j] += torque.z;
  }
  return out;
}
Block6 transposed(const Block6& k) {
  Block6 out;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) out[6 * i + j] = k[6 * j + i];
  }
  return out;
}
Block6 negated(Block6 k) {
  for (double& x : k) x = -x;
  return k;
}

Spatial<double> axis_wrench(const V3<double>& axis, const V3<double>& arm, bool linear) {
  // A unit torque about the axis, or a unit force along it at the joint, felt at b's centre.
  const V3<double> none{0, 0, 0};
  return linear ? Spatial<double>{cross(arm, axis), axis} : Spatial<double>{axis, none};
}

}  // namespace

Loop::Loop(const World& world, std::vector<int> bodies, std::vector<int> joints)
    : Island(bodies), factor_(static_cast<int>(bodies.size()), edges(world, bodies, joints)) {
  nodes_.resize(bodies_.size());
  for (int body : bodies_) {
    NodeShape shape;
    shape.mass = world.bodies[static_cast<std::size_t>(body)].mass;
    shape.moments = world.bodies[static_cast<std::size_t>(body)].moments;
    shapes_.push_back(shape);
  }
  for (int joint : joints) add_link(world, joint);
  choose_stiffness();
  x_.resize(bodies_.size());
  first_row_.resize(bodies_.size());
  coordinates_.resize(SparseFactor::padded * bodies_.size());
}

void Loop::add_link(const World& world, int joint) {
  const JointDesc& desc = world.system.joint_descs[static_cast<std::size_t>(joint)];
  const JointFrames& frames = world.frames[static_cast<std::size_t>(joint)];
  const auto node = [&](BodyId id) {
    if (!id.valid()) return -1;
    const auto found = std::lower_bound(bodies_.begin(), bodies_.end(), static_cast<int>(id.index));
    return found != bodies_.end() && *found == static_cast<int>(id.index) ? static_cast<int>(found - bodies_.begin())
                                                                          : -1;
  };
  Link link;
  link.joint = joint;
  link.a = node(desc.a), link.b = node(desc.b);
  link.shape.type = desc.type;
  link.shape.anchor_parent = frames.a.position;
  link.shape.anchor_child = frames.b.position;
  link.shape.axis_parent = frames.a.rotation * Vec3{0, 0, 1};
  link.shape.axis_child = frames.b.rotation * Vec3{0, 0, 1};
  link.shape.closed = frames.a.rotation * frames.b.rotation.conjugate();
  link.shape.dofs = desc.type == JointType::ball                                            ? 3
                    : desc.type == JointType::revolute || desc.type == JointType::prismatic ? 1
                                                                                            : 0;
  anchored_ = anchored_ || link.a < 0 || link.b < 0;
  links_.push_back(link);
}

// Turning is as stiff as shifting, at the mean lever of the joints.
void Loop::choose_stiffness() {
  double mass = 0, lever = 0;
  for (const NodeShape& shape : shapes_) mass += shape.mass / static_cast<double>(shapes_.size());
  for (const Link& link : links_) lever += length(link.shape.anchor_child) / static_cast<double>(links_.size());
  lever = std::max(lever, 1e-3);
  linear_stiffness_ = stiffness_of_mass * mass;
  angular_stiffness_ = linear_stiffness_ * lever * lever;
}

void Loop::predict(World& world, double step, ThreadPool* /*threads*/) {
  load(world, step);
  tell_drives(world, step);
  solve_and_settle(world);
}

void Loop::predict_again(World& world, ThreadPool* /*threads*/) {
  for (const Link& link : links_) {
    for (Drive<double>& drive : world.drives[static_cast<std::size_t>(link.joint)]) drive.keep_to_cap();
  }
  solve(world);
}

void Loop::solve_and_settle(World& world) {
  for (int pass = 0; pass < most_passes; ++pass) {
    solve(world);
    if (pass + 1 == most_passes) break;
    if (!settle_drives(world, pass_after(pass))) break;
  }
}

void Loop::load(World& world, double step) {
  for (Node<double>& n : nodes_) n.drag = {};
  for (const Link& link : links_) {
    const double force = world.tensions[static_cast<std::size_t>(link.joint)];
    const auto pull = [&](int node, const Vec3& arm) {
      if (node >= 0)
        nodes_[static_cast<std::size_t>(node)].drag =
            nodes_[static_cast<std::size_t>(node)].drag + drag_torque(force, arm);
    };
    pull(link.a, link.shape.anchor_parent);
    pull(link.b, link.shape.anchor_child);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node<double>& n = nodes_[i];
    load_state(world, bodies_[i], step, n);
    n.drag = stability_drag(n.drag, shapes_[i].moments, step);
    n.dragged = any_drag(n.drag);
    load_inertia(shapes_[i], n, step);
    start_factor(shapes_[i], n);
  }
  for (Link& link : links_) load_link(world, link, step);
}

Support<double> Loop::support(const World& world, const Link& link) const {
  if (link.a >= 0) {
    const Node<double>& n = nodes_[static_cast<std::size_t>(link.a)];
    return {n.x, n.q, n.axes, n.v};
  }
  const BodyId ground = world.system.joint_descs[static_cast<std::size_t>(link.joint)].a;
  const Pose pose = support_pose(world, ground);
  Spatial<double> velocity{};
  if (ground.valid()) velocity = {lane(world.bodies[ground.index].angular), lane(world.bodies[ground.index].linear)};
  return {lane(pose.position), lane(pose.rotation), rotation_matrix(lane(pose.rotation)), velocity};
}

void Loop::load_link(World& world, Link& link, double step) {
  const Support<double> a = support(world, link);
  if (link.b >= 0) {
    link.motion = nodes_[static_cast<std::size_t>(link.b)];
  } else {
    const BodyId ground = world.system.joint_descs[static_cast<std::size_t>(link.joint)].b;
    const Body& body = world.bodies[ground.index];
    link.motion.x = lane(body.position);
    link.motion.q = lane(body.rotation);
    link.motion.axes = body.axes;
    link.motion.v = {lane(body.angular), lane(body.linear)};
  }
  load_joint(link.shape, link.motion, a, link.dofs, step);
  if (link.shape.type == JointType::dock)
    load_latch(world, static_cast<std::size_t>(link.joint), step, plain(link.motion.x), link.motion.beta);
  link.ground = {};
  if (link.a < 0) link.ground = motion_to_child(a.v, link.motion.r);
}

void Loop::tell_drives(World& world, double step) {
  for (Link& link : links_) {
    const std::size_t joint = static_cast<std::size_t>(link.joint);
    for (std::size_t k = 0; k < static_cast<std::size_t>(link.shape.dofs); ++k) {
      world.drives[joint][k].tell(world.system.joints[joint].position, world.system.joints[joint].velocity, step);
    }
  }
}

// K: all motion of b against a is held, but for the free axes, which have their drives.
void Loop::load_stiffness(const World& world, Link& link) {
  const bool prismatic = link.shape.type == JointType::prismatic, ball = link.shape.type == JointType::ball;
  const V3<double> arm = link.motion.axes * lane(link.shape.anchor_child);  // from b's centre to the joint
  const V3<double> unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  link.stiffness.fill(0);
  for (const V3<double>& axis : unit) {
    add_outer(link.stiffness, axis_wrench(axis, arm, true), linear_stiffness_);
    if (!ball) add_outer(link.stiffness, axis_wrench(axis, arm, false), angular_stiffness_);
  }
  link.drive = link.stiffness * link.motion.beta;
  for (int k = 0; k < link.shape.dofs; ++k) {
    const Drive<double>& drive = world.drives[static_cast<std::size_t>(link.joint)][static_cast<std::size_t>(k)];
    Dof<double>& dof = link.dofs[k];
    const double held = prismatic ? linear_stiffness_ : angular_stiffness_;
    dof.u = axis_wrench(prismatic ? dof.s.l : dof.s.a, arm, prismatic);
    dof.wall_gain = drive.walled() ? held : 0;
    add_outer(link.stiffness, dof.u, drive.kappa() + dof.wall_gain - (ball ? 0 : held));
    link.drive = link.drive + dof.u * (drive.rhs() + dof.wall_gain * drive.wall_speed());
  }
}

void Loop::assemble() {
  factor_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const S3<double>& m = nodes_[i].d.a;
    const double mass = shapes_[i].mass;
    Block6 block{};
    block[0] = m.xx, block[1] = block[6] = m.xy, block[2] = block[12] = m.xz;
    block[7] = m.yy, block[8] = block[13] = m.yz, block[14] = m.zz;
    block[21] = block[28] = block[35] = mass;
    factor_.add_diagonal(static_cast<int>(i), block);
    x_[static_cast<std::size_t>(factor_.place(static_cast<int>(i)))] = flat(nodes_[i].z);
  }
  const auto push = [&](int node, const Spatial<double>& impulse) {
    const Vec6 add = flat(impulse);
    Vec6& x = x_[static_cast<std::size_t>(factor_.place(node))];
    for (std::size_t i = 0; i < 6; ++i) x[i] += add[i];
  };
  for (const Link& link : links_) {
    // Impulse on b: K (beta - m) + drives, with m = v_b - T v_a; on a: -T^T of it.
    Spatial<double> known = link.drive + link.stiffness * link.ground;
    if (link.b < 0) known = known - link.stiffness * link.motion.v;
    if (link.b >= 0) {
      factor_.add_diagonal(link.b, link.stiffness);
      push(link.b, known);
    }
    if (link.a < 0) continue;
    const Block6 half = carried(link.stiffness, link.motion.r);
    factor_.add_diagonal(link.a, carried(transposed(half), link.motion.r));
    push(link.a, impulse_to_parent(known, link.motion.r) * -1.0);
    if (link.b >= 0) factor_.add(link.a, link.b, negated(half));
  }
}

void Loop::solve(World& world) {
  for (Link& link : links_) load_stiffness(world, link);
  assemble();
  factor_.factor();
  factor_.forward(x_);
  factor_.backward(x_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].fresh = spatial(x_[static_cast<std::size_t>(factor_.place(static_cast<int>(i)))]);
    nodes_[i].passed = {};
  }
  touched_ = false;
}

Spatial<double> Loop::velocity(int node) const {
  return nodes_[static_cast<std::size_t>(node)].fresh + nodes_[static_cast<std::size_t>(node)].passed;
}

Spatial<double> Loop::relative_velocity(const Link& link) const {
  const Spatial<double> b = link.b >= 0 ? velocity(link.b) : link.motion.v;
  if (link.a < 0) return b - link.ground;
  return b - motion_to_child(velocity(link.a), link.motion.r);
}

double Loop::axis_speed(const Link& link, int dof, const Spatial<double>& relative) const {
  return dot(link.dofs[dof].u, relative);
}

bool Loop::settle_drives(World& world, DrivePass pass) {
  bool changed = false;
  for (Link& link : links_) {
    if (link.shape.dofs == 0) continue;
    const Spatial<double> relative = relative_velocity(link);
    for (int k = 0; k < link.shape.dofs; ++k) {
      Drive<double>& drive = world.drives[static_cast<std::size_t>(link.joint)][static_cast<std::size_t>(k)];
      link.dofs[k].qdot = axis_speed(link, k, relative);
      changed = drive.settle(link.dofs[k].qdot, link.dofs[k].wall_gain, pass) || changed;
    }
  }
  return changed;
}

Vec3 Loop::predicted_velocity(int node, const Vec3& arm) const {
  const Spatial<double>& v = nodes_[static_cast<std::size_t>(node)].fresh;
  return plain(v.l) + volvox::cross(plain(v.a), arm);
}

void Loop::whiten(std::span<const int> nodes, ThreadPool* /*threads*/) {
  constexpr std::size_t none = ~std::size_t{0};
  std::fill(first_row_.begin(), first_row_.end(), none);
  std::size_t total = 0;
  for (int node : nodes) {
    if (first_row_[static_cast<std::size_t>(node)] != none) continue;
    first_row_[static_cast<std::size_t>(node)] = total;
    total += 6 * static_cast<std::size_t>(span(node).width);
  }
  if (rows_.size() < total) rows_.resize(2 * total);
  for (std::size_t i = 0; i < first_row_.size(); ++i) {
    const int node = static_cast<int>(i);
    if (first_row_[i] != none) factor_.unit_rows(factor_.place(node), rows_.data() + first_row_[i]);
  }
  touched_ = true;
}

void Loop::clear_coordinates() { std::fill(coordinates_.begin(), coordinates_.end(), 0.0); }

NodeRows Loop::node_rows(int node, bool /*whole*/) const {
  const int width = static_cast<int>(factor_.way(factor_.place(node)).size()) * SparseFactor::padded;
  return {rows_.data() + first_row_[static_cast<std::size_t>(node)], width, nullptr};
}

// A body's rows have a block for every place on its way to the root of the elimination.
RowSpan Loop::span(int node) {
  const int place = factor_.place(node);
  const std::span<const int> way = factor_.way(place);
  return {coordinates_.data(), static_cast<int>(way.size()) * SparseFactor::padded, place, way.data()};
}

void Loop::write_rows(int node, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add, bool /*whole*/,
                      double* rows) const {
  const int width = static_cast<int>(factor_.way(factor_.place(node)).size()) * SparseFactor::padded;
  wide_rows(rows_.data() + first_row_[static_cast<std::size_t>(node)], width, nullptr, width, arm, directions, sign,
            add, rows);
}

// Here parts are places.
void Loop::add_cross_terms(int part_a, const double* rows_a, int part_b, const double* rows_b, double (&gram)[6]) {
  const std::span<const int> a = factor_.way(part_a), b = factor_.way(part_b);
  int entry = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      const auto row = [](const double* rows, std::span<const int> way, int k) {
        return rows + static_cast<std::size_t>(k) * way.size() * SparseFactor::padded;
      };
      gram[entry++] += blocks_dot(row(rows_a, a, i), a, row(rows_b, b, j), b) +
                       blocks_dot(row(rows_a, a, j), a, row(rows_b, b, i), b);
    }
  }
}

Spatial<double> Loop::passed_impulse(const Link& link) const {
  return link.drive - link.stiffness * relative_velocity(link);
}

Verdict Loop::take_up(World& world, ThreadPool* /*threads*/) {
  if (!touched_) return Verdict::holds;
  for (std::size_t i = 0; i < x_.size(); ++i)
    std::copy_n(coordinates_.begin() + static_cast<std::ptrdiff_t>(SparseFactor::padded * i), 6, x_[i].begin());
  factor_.backward(x_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].passed = spatial(x_[static_cast<std::size_t>(factor_.place(static_cast<int>(i)))]);
  }
  Verdict verdict = Verdict::holds;
  for (const Link& link : links_) {
    if (link.shape.dofs != 1) continue;
    Drive<double>& drive = world.drives[static_cast<std::size_t>(link.joint)][0];
    verdict = std::max(verdict, drive.judge(axis_speed(link, 0, relative_velocity(link)), link.dofs[0].wall_gain));
  }
  return verdict;
}

void Loop::finish(World& world, double step, ThreadPool* /*threads*/) {
  for (Link& link : links_) {
    const Support<double> a = support(world, link);
    book_load(world, link.joint, passed_impulse(link), link.motion.x, {a.x, a.axes, link.shape.anchor_parent}, step);
    if (link.shape.dofs != 1) continue;
    const std::size_t joint = static_cast<std::size_t>(link.joint);
    const double qdot = axis_speed(link, 0, relative_velocity(link));
    world.motor_impulses[joint] += world.drives[joint][0].motor_impulse(qdot);
    world.system.joints[joint].position += qdot * step;
    world.system.joints[joint].velocity = qdot;
  }
  const bool grounded =
      std::any_of(links_.begin(), links_.end(), [](const Link& link) { return link.a < 0 || link.b < 0; });
  const Vec3 fall = grounded ? Vec3{} : outer_fall(world, step);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    advance(world.bodies[static_cast<std::size_t>(bodies_[i])], velocity(static_cast<int>(i)), nodes_[i].inertia, step,
            fall);
  }
}

}  // namespace volvox::physics::native
