#include "volvox/physics/native/lone.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "volvox/physics/native/native_engine.h"
#include "volvox/physics/native/simulator.h"

namespace volvox::physics::native {
namespace {

static_assert(lone_hit_speed == Detector::hit_speed && lone_most_points == ContactSolver::most_lone_points &&
              lone_between_looks == Simulator::most_between_looks && lone_most_nodes == Tree::most_flock_nodes &&
              lone_most_dofs == Tree::most_flock_columns - 6);

std::size_t at(int index) { return static_cast<std::size_t>(index); }

Error refused(const std::string& what) {
  return Error(fmt::format("this world cannot be moved as one of many lone robots: {}", what),
               "the engine moves it by itself, with the same result");
}

struct HostWords {
  double* all;
  double& word(int i) const { return all[i]; }
};

// Nothing is written through it.
LoneReader<HostWords> reader(std::span<const double> words, int first) {
  return {{const_cast<double*>(words.data())}, first};
}
LoneWriter<HostWords> writer(std::span<double> words, int first) { return {{words.data()}, first}; }

// The numbers of tables as bits: -0.0 is not 0.0 (it can become another state), and what lies between fields is
// nothing.
struct Numbers {
  std::vector<std::uint64_t>& all;

  template <class... Fields>
  void add(const Fields&... fields) {
    (one(fields), ...);
  }

 private:
  void one(double x) { all.push_back(std::bit_cast<std::uint64_t>(x)); }
  void one(int x) { all.push_back(static_cast<std::uint64_t>(x)); }
  void one(bool x) { all.push_back(x); }
  void one(std::size_t x) { all.push_back(x); }
  void one(const Vec3& v) { add(v.x, v.y, v.z); }
  void one(const V3<double>& v) { add(v.x, v.y, v.z); }
  void one(const Quat& q) { add(q.w, q.x, q.y, q.z); }
  void one(const Pose& pose) { add(pose.position, pose.rotation); }
  void one(const NodeShape& n) {
    add(n.parent, static_cast<int>(n.type), n.flipped, n.mass, n.moments, n.anchor_parent, n.anchor_child);
    add(n.axis_parent, n.axis_child, n.closed, n.first_dof, n.dofs);
  }
  void one(const LoneConvex& c) {
    add(c.centre, c.axis, c.radius, c.disc, c.half_length, c.friction, c.restitution, c.collider);
  }
  void one(const LonePlane& p) { add(p.normal, p.offset, p.friction, p.restitution, p.collider); }
  void one(const LoneGround& g) {
    add(g.position, g.linear, g.angular, g.axes.r0, g.axes.r1, g.axes.r2, g.body, g.first_plane, g.planes);
  }
  void one(const LoneShape& s) {
    add(s.x, s.y, s.z, s.radius, s.convex, s.point, s.convexes);
    add(s.bounds.centre, s.bounds.half, s.reach, s.swing, s.axle);
  }
  void one(const JointDesc& j) {
    add(static_cast<int>(j.type), j.a.index, j.b.index, j.frame_a, j.frame_b, j.lower, j.upper, j.damping, j.friction);
  }
  void one(std::uint32_t x) { all.push_back(x); }
  void one(const LoneLink& l) {
    add(l.shape, l.from_link, l.weight, l.body, l.joint, l.joint_index, l.node_a, l.node_b);
  }
  template <class E>
  void one(const Row<E>& row) {
    add(row.size());
    for (const E& x : row) add(x);
  }
};

}  // namespace

const char* name(LoneEnd end) {
  switch (end) {
    case LoneEnd::moved: return "moved";
    case LoneEnd::too_fast: return "falls so fast that its contacts must be looked for in every substep";
    case LoneEnd::too_many_contacts: return "has too many contacts";
    case LoneEnd::runs_away: return "runs away";
  }
  return "";
}

Result<LoneWorld> LoneWorld::of(Engine& engine) {
  Simulator* simulator = native_simulator(engine);
  if (simulator == nullptr) return refused(fmt::format("engine '{}' has no such kernels", engine.info().name));
  if (engine.info().precision != Precision::double_) return refused("precision is mixed");
  return LoneWorld(engine, *simulator);
}

Result<LoneKind> LoneWorld::kind() const {
  simulator_->topology_.update(simulator_->world_);
  const Result<const Tree*> found = only_tree();
  if (!found.ok()) return found.error();
  const Tree& tree = **found;
  LoneKind kind;
  if (const Result<void> added = add_grounds(kind); !added.ok()) return added.error();
  if (tree.bodies().size() * Manifold::most_kept * kind.planes_.size() > at(lone_most_contacts))
    return refused("there are too many planes for a robot with so many links");
  if (const Result<void> apart = links_keep_apart(tree); !apart.ok()) return apart.error();
  for (int i = 0; i < static_cast<int>(tree.bodies().size()); ++i)
    if (const Result<void> added = add_link(kind, tree, i); !added.ok()) return added.error();
  kind.add_plan(tree);
  kind.pattern_.max_substep = simulator_->max_substep_;
  kind.add_numbers();
  return kind;
}

Result<const Tree*> LoneWorld::only_tree() const {
  const Tree* tree = nullptr;
  for (const auto& island : simulator_->topology_.islands()) {
    if (!island) continue;
    if (tree != nullptr) return refused("it has several robots, or bodies that move by themselves");
    tree = dynamic_cast<const Tree*>(island.get());
    if (tree == nullptr) return refused("its joints form a loop");
  }
  if (tree == nullptr) return refused("nothing moves in it");
  if (!tree->fits_flock())
    return refused(fmt::format("its robot is held by the world, or has more than {} links or {} axes",
                               int{lone_most_nodes}, int{lone_most_dofs}));
  return tree;
}

Result<void> LoneWorld::add_grounds(LoneKind& kind) const {
  const World& world = simulator_->world_;
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    if (!world.system.body_ids.alive_index(i) || world.bodies[i].dynamic) continue;
    const Shape* shape = simulator_->shapes_[i].get();
    if (world.system.bodies[i].motion == Motion::kinematic) return refused("something is moved from outside");
    if (shape == nullptr) continue;
    if (!shape->convexes.empty() || !shape->surfaces.empty()) return refused("there is more than planes around");
    const Body& body = world.bodies[i];
    LoneGround ground;
    ground.position = body.position, ground.axes = rotation_matrix(lane(body.rotation));
    ground.body = static_cast<int>(i), ground.first_plane = static_cast<int>(kind.planes_.size());
    for (const HalfSpace& plane : shape->half_spaces)
      kind.planes_.push_back(
          {plane.normal, plane.offset, plane.material.friction, plane.material.restitution, plane.collider});
    ground.planes = static_cast<int>(shape->half_spaces.size());
    if (ground.planes > 0) kind.grounds_.push_back(ground);
  }
  return {};
}

Result<void> LoneWorld::links_keep_apart(const Tree& tree) const {
  const World& world = simulator_->world_;
  for (std::size_t i = 0; i < tree.bodies().size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const std::size_t one = at(tree.bodies()[i]), other = at(tree.bodies()[k]);
      const bool both = simulator_->shapes_[one] && simulator_->shapes_[other];
      const bool one_piece = world.bodies[one].cluster >= 0 && world.bodies[one].cluster == world.bodies[other].cluster;
      if (both && !one_piece && world.system.may_touch(one, other))
        return refused("links of its robot may touch each other");
    }
  }
  return {};
}

Result<void> LoneWorld::add_link(LoneKind& kind, const Tree& tree, int node) const {
  const World& world = simulator_->world_;
  const System& system = world.system;
  const std::size_t index = at(tree.bodies()[at(node)]);
  LoneLink link;
  link.from_link = world.bodies[index].from_link;
  link.weight = system.bodies[index].gravity ? system.gravity * system.bodies[index].mass : Vec3{};
  link.body = static_cast<int>(index);
  auto tables = std::make_unique<LoneKind::ShapeTables>();
  if (const Shape* shape = simulator_->shapes_[index].get()) {
    const auto cylinders = std::ranges::count_if(shape->convexes, [](const Convex& c) { return c.cylinder(); });
    if (8 * cylinders > LoneCandidates::most_extra) return refused("a link has too many cylinders");
    tables->add_to(link.shape, *shape);
  }
  kind.shapes_.push_back(std::move(tables));
  if (node > 0) {
    link.joint_index = tree.joints()[at(node)];
    link.joint = system.joint_descs[at(link.joint_index)];
    if (link.joint.type == JointType::dock && !system.latches[at(link.joint_index)].closed())
      return refused("a dock latches");
    link.node_a = world.bodies[link.joint.a.index].node, link.node_b = world.bodies[link.joint.b.index].node;
  }
  kind.links_.push_back(link);
  return {};
}

void LoneKind::ShapeTables::add_to(LoneShape& out, const Shape& shape) {
  for (const Convex& c : shape.convexes)
    convexes.push_back(
        {c.centre, c.axis, c.radius, c.disc, c.half_length, c.material.friction, c.material.restitution, c.collider});
  const auto count = static_cast<std::ptrdiff_t>(shape.cloud.count);
  const auto taken = [&](const auto& from) { return std::vector(from.begin(), from.begin() + count); };
  x = taken(shape.cloud.x), y = taken(shape.cloud.y), z = taken(shape.cloud.z), radius = taken(shape.cloud.radius);
  convex = taken(shape.cloud.convex), point = taken(shape.cloud.point);
  out.x = row(std::as_const(x)), out.y = row(std::as_const(y)), out.z = row(std::as_const(z));
  out.radius = row(std::as_const(radius));
  out.convex = row(std::as_const(convex)), out.point = row(std::as_const(point));
  out.convexes = row(std::as_const(convexes));
  out.bounds = shape.bounds, out.reach = shape.reach, out.swing = shape.swing, out.axle = shape.axle;
}

void LoneKind::add_plan(const Tree& tree) {
  nodes_ = tree.shapes();
  columns_ = tree.columns().columns, own_ = tree.columns().own, first_ = tree.columns().first;
  pattern_.plan = {row(std::as_const(nodes_)),
                   row(std::as_const(columns_)),
                   row(std::as_const(first_)),
                   row(std::as_const(own_)),
                   tree.columns().total,
                   tree.columns().most,
                   tree.safe_pull()};
  pattern_.links = row(std::as_const(links_));
  pattern_.grounds = row(std::as_const(grounds_)), pattern_.planes = row(std::as_const(planes_));
}

void LoneKind::add_numbers() {
  const FlockPlan& plan = pattern_.plan;
  Numbers{numbers_}.add(plan.shapes, plan.columns, plan.first, plan.own, plan.total, plan.most, plan.safe_pull,
                        pattern_.links, pattern_.grounds, pattern_.planes, pattern_.max_substep);
}

Result<void> LoneWorld::read(const LoneLayout& layout, std::span<double> words) const {
  simulator_->write_out_plane_contacts();
  const World& world = simulator_->world_;
  const System& system = world.system;
  const auto loaded = [&](const Wrench& force) { return force != Wrench{}; };
  if (std::ranges::any_of(system.forces, loaded)) return refused("forces from outside act on it");
  const Tree* tree = nullptr;
  for (const auto& island : simulator_->topology_.islands())
    if (island) tree = dynamic_cast<const Tree*>(island.get());
  VOLVOX_ASSERT(tree != nullptr && static_cast<int>(tree->bodies().size()) == layout.nodes);
  std::fill(words.begin(), words.end(), 0.0);
  int awake = 0;
  for (int i = 0; i < layout.nodes; ++i) {
    const Body& body = world.bodies[at(tree->bodies()[at(i)])];
    awake += body.awake;
    FlockBody<double> own;
    own.x = lane(body.position), own.q = lane(body.rotation), own.v = {lane(body.angular), lane(body.linear)};
    own.spin = lane(body.spin);
    double still = body.still;
    auto out = writer(words, layout.node(i));
    archive_body(out, own, still);
    if (i == 0) continue;
    const std::size_t joint = at(tree->joints()[at(i)]);
    out = writer(words, layout.joint(i));
    out(system.joints[joint].position), out(system.joints[joint].velocity), out(world.tensions[joint]);
    MotorCommand command = simulator_->commands_[joint];
    archive_command(out, command);
    for (int k = 0; k < tree->shapes()[at(i)].dofs; ++k) {
      const Drive<double>& drive = world.drives[joint][at(k)];
      out = writer(words, layout.drive(tree->shapes()[at(i)].first_dof + k));
      out(drive.slip), out(drive.limit), out(drive.cap);
    }
  }
  const bool moved = simulator_->gravity_ != system.gravity;  // then all wake
  if (awake != 0 && awake != layout.nodes) return refused("only a part of its robot sleeps");
  writer(words, layout.awake())(awake > 0 || moved ? 1.0 : 0.0);
  for (int i = 0; i < layout.nodes * layout.slots; ++i) writer(words, layout.contact(i))(feature_taken);
  for (int i = 0; moved && i < layout.nodes; ++i) words[at(layout.node(i) + LoneLayout::node_words - 1)] = 0;
  read_contacts(layout, words);
  return {};
}

void LoneWorld::read_contacts(const LoneLayout& layout, std::span<double> words) const {
  // The contacts of a link with a ground lie together, in the order in which they were found.
  std::vector<int> next(at(layout.nodes * layout.slots), 0);
  for (const ContactPoint& c : simulator_->contacts_.points()) {
    int first_plane = 0;
    for (int body = 0; body < c.b; ++body)
      if (const auto& shape = simulator_->shapes_[at(body)]) first_plane += static_cast<int>(shape->half_spaces.size());
    const int first = simulator_->world_.bodies[at(c.a)].node * layout.slots + Manifold::most_kept * first_plane;
    ContactPoint own = c;
    const int slot = first + next[at(first)]++;
    auto out = writer(words, layout.contact(slot));
    archive_contact(out, own);
    double active = c.active ? 1 : 0;
    out = writer(words, layout.seen(slot));
    archive_seen(out, own, active);
  }
}

void LoneWorld::write(const LoneKind& kind, std::span<const double> words, bool seen, bool motors) {
  const bool asleep = words[at(kind.layout().awake())] == 0;
  write_bodies(kind, words);
  write_joints(kind, words, seen || asleep, motors);
  write_contacts(kind, words, seen || asleep);
  native_contacts_changed(*engine_);
}

void LoneWorld::write_bodies(const LoneKind& kind, std::span<const double> words) {
  World& world = simulator_->world_;
  const LoneLayout layout = kind.layout();
  for (int i = 0; i < layout.nodes; ++i) {
    const std::size_t index = at(kind.pattern().links[at(i)].body);
    Body& body = world.bodies[index];
    FlockBody<double> own;
    auto in = reader(words, layout.node(i));
    archive_body(in, own, body.still);
    body.position = plain(own.x), body.rotation = plain(own.q);
    body.angular = plain(own.v.a), body.linear = plain(own.v.l), body.spin = plain(own.spin);
    body.awake = words[at(layout.awake())] != 0;
    world.system.poses[index] = body.link_pose();
    world.system.velocities[index] = body.velocity();
  }
  simulator_->gravity_ = world.system.gravity;
}

void LoneWorld::write_joints(const LoneKind& kind, std::span<const double> words, bool seen, bool motors) {
  World& world = simulator_->world_;
  System& system = world.system;
  const LoneLayout layout = kind.layout();
  double tick = 0, loaded_tick = 0;
  if (seen) reader(words, layout.tick())(tick), reader(words, layout.loaded_tick())(loaded_tick);
  for (int i = 1; i < layout.nodes; ++i) {
    const NodeShape& shape = kind.pattern().plan.shapes[at(i)];
    const std::size_t joint = at(kind.pattern().links[at(i)].joint_index);
    auto in = reader(words, layout.joint(i));
    in(system.joints[joint].position), in(system.joints[joint].velocity), in(world.tensions[joint]);
    archive_command(in, simulator_->commands_[joint]);
    if (motors) system.motors[joint] = simulator_->commands_[joint];
    for (int k = 0; k < shape.dofs; ++k) {
      Drive<double>& drive = world.drives[joint][at(k)];
      in = reader(words, layout.drive(shape.first_dof + k));
      in(drive.slip), in(drive.limit), in(drive.cap);
    }
    if (!(loaded_tick > 0)) continue;
    in = reader(words, layout.load(i));
    V3<double> force, torque;
    in(world.motor_impulses[joint]), archive3(in, force), archive3(in, torque);
    world.load_impulses[joint] = {plain(force), plain(torque)};
    simulator_->book_joint(joint, loaded_tick);
  }
  if (tick > 0) simulator_->step_ = tick / substep_count(tick, simulator_->max_substep_);
}

void LoneWorld::write_contacts(const LoneKind& kind, std::span<const double> words, bool seen) {
  const World& world = simulator_->world_;
  const LonePattern& pattern = kind.pattern();
  const LoneLayout layout = kind.layout();
  simulator_->planes_.clear();
  std::vector<ContactPoint>& points = simulator_->contacts_.points();
  points.clear();
  for (int i = 0; i < layout.nodes * layout.slots; ++i) {
    ContactPoint c;
    auto in = reader(words, layout.contact(i));
    archive_contact(in, c);
    if (c.feature == feature_taken) continue;
    const int plane = i % layout.slots / Manifold::most_kept;
    for (const LoneGround& ground : pattern.grounds)
      if (plane >= ground.first_plane && plane < ground.first_plane + ground.planes) c.b = ground.body;
    c.a = pattern.links[at(i / layout.slots)].body;
    if (seen) {
      double active = 0;
      in = reader(words, layout.seen(i));
      archive_seen(in, c, active);
      c.active = active != 0;
      c.arm_b = world.bodies[at(c.a)].position + c.arm_a - world.bodies[at(c.b)].position;
    }
    points.push_back(c);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const ContactPoint& x, const ContactPoint& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
}

bool LoneWorld::only_motors_act() const {
  const System& system = simulator_->world_.system;
  return std::ranges::all_of(system.forces, [](const Wrench& force) { return force == Wrench{}; }) &&
         problem_with_inputs(system).ok();
}

namespace {

constexpr int watched_of_node = LoneLayout::node_words - 1;  // not how long it has been still

}  // namespace

std::vector<int> watched_words(const LoneLayout& layout) {
  std::vector<int> words = {layout.tick(), layout.loaded_tick()};
  const auto add = [&](int first, int count) {
    for (int i = 0; i < count; ++i) words.push_back(first + i);
  };
  for (int i = 0; i < layout.nodes; ++i) add(layout.node(i), watched_of_node);
  for (int i = 1; i < layout.nodes; ++i) add(layout.joint(i), 2), add(layout.load(i), LoneLayout::load_words);
  return words;
}

// As write_bodies() and write_joints() leave the arrays.
void LoneWorld::write_watched(const LoneKind& kind, std::span<const double> watched) {
  World& world = simulator_->world_;
  System& system = world.system;
  const LonePattern& pattern = kind.pattern();
  const double loaded_tick = watched[1];
  auto in = reader(watched, 2);
  for (const LoneLink& link : pattern.links) {
    const Body& body = world.bodies[at(link.body)];
    FlockBody<double> own;
    archive_motion(in, own);
    system.poses[at(link.body)] = Body::link_pose(plain(own.x), plain(own.q), body.from_link);
    system.velocities[at(link.body)] = {plain(own.v.l), Body::turning(plain(own.q), plain(own.spin), body.moments)};
  }
  for (std::size_t i = 1; i < pattern.links.size(); ++i) {
    const std::size_t joint = at(pattern.links[i].joint_index);
    in(system.joints[joint].position), in(system.joints[joint].velocity);
    V3<double> force, torque;
    in(world.motor_impulses[joint]), archive3(in, force), archive3(in, torque);
    world.load_impulses[joint] = {plain(force), plain(torque)};
    if (loaded_tick > 0) simulator_->book_joint(joint, loaded_tick);
  }
  native_contacts_changed(*engine_);
}

LoneEnd tick_lone(const LonePattern& pattern, LargestLoneRoom& room, std::span<double> words,
                  std::span<const MotorCommand> commands, double tick, bool publish) {
  LoneTick<LargestLoneRoom, HostWords> work(pattern, room, HostWords{words.data()});
  const auto command = [&](int node) { return commands[at(pattern.links[at(node)].joint_index)]; };
  return work.run(command, tick, substep_count(tick, pattern.max_substep), publish);
}

}  // namespace volvox::physics::native
