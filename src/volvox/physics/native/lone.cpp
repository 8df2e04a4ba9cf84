#include "volvox/physics/native/lone.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "volvox/physics/native/native_engine.h"
#include "volvox/physics/native/simulator.h"

namespace volvox::physics::native {
namespace {

static_assert(lone_hit_speed == Detector::hit_speed && lone_most_points == ContactSolver::most_lone_points &&
              lone_between_looks == Simulator::most_between_looks);

std::size_t at(int index) { return static_cast<std::size_t>(index); }

Error refused(const std::string& what) {
  return Error(fmt::format("this world cannot be moved as one of many lone robots: {}", what),
               "the engine moves it by itself, with the same result");
}

struct HostWords {
  double* all;
  double& word(int i) const { return all[i]; }
};

// The largest robots that go in flocks, on one plane; on more planes, smaller ones.
using HostRoom = LoneRoom<Tree::most_flock_nodes, Tree::most_flock_columns - 6, 4 * Tree::most_flock_nodes>;

template <class Row>
bool same_bytes(const Row& a, const Row& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}

}  // namespace

const char* name(LoneEnd end) {
  switch (end) {
    case LoneEnd::moved: return "moved";
    case LoneEnd::hasty: return "falls so fast that its contacts must be looked for in every substep";
    case LoneEnd::crowded: return "has too many contacts";
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
  World& world = simulator_->world_;
  const System& system = world.system;
  simulator_->topology_.update(world);
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
                               int{Tree::most_flock_nodes}, Tree::most_flock_columns - 6));
  LoneKind kind;
  const std::size_t nodes = tree->bodies().size();
  kind.nodes_ = tree->shapes();
  kind.columns_ = tree->columns().columns, kind.own_ = tree->columns().own, kind.first_ = tree->columns().first;
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    if (!system.body_ids.alive_index(i) || world.bodies[i].dynamic) continue;
    const Shape* shape = simulator_->shapes_[i].get();
    if (system.bodies[i].motion == Motion::kinematic) return refused("something is moved from outside");
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
  if (nodes * Manifold::most_kept * kind.planes_.size() > HostRoom::contacts_room)
    return refused("there are too many planes for a robot with so many links");
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::size_t index = at(tree->bodies()[i]);
    const Body& body = world.bodies[index];
    for (std::size_t k = 0; k < i; ++k) {
      const std::size_t other = at(tree->bodies()[k]);
      const bool both = simulator_->shapes_[index] && simulator_->shapes_[other];
      const bool one_piece = body.cluster >= 0 && body.cluster == world.bodies[other].cluster;
      if (both && !one_piece && system.may_touch(index, other))
        return refused("links of its robot may touch each other");
    }
    LoneLink link;
    link.from_link = body.from_link;
    link.weight = system.bodies[index].gravity ? system.gravity * system.bodies[index].mass : Vec3{};
    link.body = static_cast<int>(index);
    auto tables = std::make_unique<LoneKind::ShapeTables>();
    if (const Shape* shape = simulator_->shapes_[index].get()) {
      int cylinders = 0;
      for (const Convex& c : shape->convexes) {
        cylinders += c.cylinder();
        tables->convexes.push_back({c.centre, c.axis, c.radius, c.disc, c.half_length, c.material.friction,
                                    c.material.restitution, c.collider});
      }
      if (8 * cylinders > LoneCandidates::most_extra) return refused("a link has too many cylinders");
      const auto count = static_cast<std::ptrdiff_t>(shape->cloud.count);
      const auto taken = [&](const auto& from) { return std::vector(from.begin(), from.begin() + count); };
      tables->x = taken(shape->cloud.x), tables->y = taken(shape->cloud.y), tables->z = taken(shape->cloud.z);
      tables->radius = taken(shape->cloud.radius);
      tables->convex = taken(shape->cloud.convex), tables->point = taken(shape->cloud.point);
      link.shape.bounds = shape->bounds, link.shape.reach = shape->reach, link.shape.swing = shape->swing;
      link.shape.axle = shape->axle;
    }
    link.shape.x = row(std::as_const(tables->x)), link.shape.y = row(std::as_const(tables->y));
    link.shape.z = row(std::as_const(tables->z)), link.shape.radius = row(std::as_const(tables->radius));
    link.shape.convex = row(std::as_const(tables->convex)), link.shape.point = row(std::as_const(tables->point));
    link.shape.convexes = row(std::as_const(tables->convexes));
    kind.shapes_.push_back(std::move(tables));
    if (i > 0) {
      link.joint_index = tree->joints()[i];
      link.joint = system.joint_descs[at(link.joint_index)];
      if (link.joint.type == JointType::dock && !system.latches[at(link.joint_index)].closed())
        return refused("a dock latches");
      link.node_a = world.bodies[link.joint.a.index].node, link.node_b = world.bodies[link.joint.b.index].node;
    }
    kind.links_.push_back(link);
  }
  LonePattern& pattern = kind.pattern_;
  pattern.plan = {row(std::as_const(kind.nodes_)),
                  row(std::as_const(kind.columns_)),
                  row(std::as_const(kind.first_)),
                  row(std::as_const(kind.own_)),
                  tree->columns().total,
                  tree->columns().most,
                  tree->safe_pull()};
  pattern.links = row(std::as_const(kind.links_));
  pattern.grounds = row(std::as_const(kind.grounds_)), pattern.planes = row(std::as_const(kind.planes_));
  pattern.max_substep = simulator_->max_substep_;
  return kind;
}

bool LoneKind::same_as(const LoneKind& other) const {
  const auto same_shape = [](const std::unique_ptr<ShapeTables>& a, const std::unique_ptr<ShapeTables>& b) {
    return a->x == b->x && a->y == b->y && a->z == b->z && a->radius == b->radius && a->convex == b->convex &&
           a->point == b->point && same_bytes(row(a->convexes), row(b->convexes));
  };
  const auto same_link = [](const LoneLink& a, const LoneLink& b) {
    return a.from_link == b.from_link && a.weight == b.weight && a.body == b.body && a.joint_index == b.joint_index &&
           a.joint.type == b.joint.type && a.joint.lower == b.joint.lower && a.joint.upper == b.joint.upper &&
           a.joint.damping == b.joint.damping && a.joint.friction == b.joint.friction &&
           a.joint.frame_a == b.joint.frame_a && a.joint.frame_b == b.joint.frame_b;
  };
  return nodes_ == other.nodes_ && columns_ == other.columns_ && pattern_.max_substep == other.pattern_.max_substep &&
         std::ranges::equal(shapes_, other.shapes_, same_shape) &&
         std::ranges::equal(links_, other.links_, same_link) && same_bytes(row(grounds_), row(other.grounds_)) &&
         same_bytes(row(planes_), row(other.planes_));
}

Result<void> LoneWorld::read(const LoneLayout& layout, std::span<double> words) const {
  const World& world = simulator_->world_;
  const System& system = world.system;
  const auto loaded = [&](const Wrench& force) { return force != Wrench{}; };
  if (std::ranges::any_of(system.forces, loaded)) return refused("forces from outside act on it");
  const Tree* tree = nullptr;
  for (const auto& island : simulator_->topology_.islands())
    if (island) tree = dynamic_cast<const Tree*>(island.get());
  VOLVOX_ASSERT(tree != nullptr && static_cast<int>(tree->bodies().size()) == layout.nodes);
  std::fill(words.begin(), words.end(), 0.0);
  const HostWords all{words.data()};
  const auto writer = [&](int next) { return LoneWriter<HostWords>{all, next}; };
  int awake = 0;
  for (int i = 0; i < layout.nodes; ++i) {
    const Body& body = world.bodies[at(tree->bodies()[at(i)])];
    awake += body.awake;
    FlockBody<double> own;
    own.x = lane(body.position), own.q = lane(body.rotation), own.v = {lane(body.angular), lane(body.linear)};
    own.spin = lane(body.spin);
    double still = body.still;
    auto out = writer(layout.node(i));
    archive_body(out, own, still);
    if (i == 0) continue;
    const std::size_t joint = at(tree->joints()[at(i)]);
    out = writer(layout.joint(i));
    out(system.joints[joint].position), out(system.joints[joint].velocity), out(world.tensions[joint]);
    MotorCommand command = simulator_->commands_[joint];
    archive_command(out, command);
    for (int k = 0; k < tree->shapes()[at(i)].dofs; ++k) {
      const Drive<double>& drive = world.drives[joint][at(k)];
      out = writer(layout.drive(tree->shapes()[at(i)].first_dof + k));
      out(drive.slip), out(drive.limit), out(drive.cap);
    }
  }
  const bool moved = simulator_->gravity_ != system.gravity;  // then all wake
  if (awake != 0 && awake != layout.nodes) return refused("only a part of its robot sleeps");
  writer(layout.awake())(awake > 0 || moved ? 1.0 : 0.0);
  for (int i = 0; i < layout.nodes * layout.slots; ++i) writer(layout.contact(i))(feature_taken);
  for (int i = 0; moved && i < layout.nodes; ++i) words[at(layout.node(i) + LoneLayout::node_words - 1)] = 0;
  // The contacts of a link with a ground lie together, in the order in which they were found.
  std::vector<int> next(at(layout.nodes * layout.slots), 0);
  for (const ContactPoint& c : simulator_->contacts_.points()) {
    int first_plane = 0;
    for (int body = 0; body < c.b; ++body)
      if (const auto& shape = simulator_->shapes_[at(body)]) first_plane += static_cast<int>(shape->half_spaces.size());
    const int first = world.bodies[at(c.a)].node * layout.slots + Manifold::most_kept * first_plane;
    ContactPoint own = c;
    const int slot = first + next[at(first)]++;
    auto out = writer(layout.contact(slot));
    archive_contact(out, own);
    double active = c.active ? 1 : 0;
    out = writer(layout.seen(slot));
    archive_seen(out, own, active);
  }
  return {};
}

void LoneWorld::write(const LoneKind& kind, std::span<const double> words, bool seen) {
  World& world = simulator_->world_;
  System& system = world.system;
  const LonePattern& pattern = kind.pattern();
  const LoneLayout layout = kind.layout();
  // Only read from.
  const HostWords all{const_cast<double*>(words.data())};
  const auto reader = [&](int next) { return LoneReader<HostWords>{all, next}; };
  double awake = 0, tick = 0, loaded_tick = 0;
  reader(layout.awake())(awake);
  if (seen) reader(layout.tick())(tick), reader(layout.loaded_tick())(loaded_tick);
  for (int i = 0; i < layout.nodes; ++i) {
    const LoneLink& link = pattern.links[at(i)];
    Body& body = world.bodies[at(link.body)];
    FlockBody<double> own;
    auto in = reader(layout.node(i));
    archive_body(in, own, body.still);
    body.position = plain(own.x), body.rotation = plain(own.q);
    body.angular = plain(own.v.a), body.linear = plain(own.v.l), body.spin = plain(own.spin);
    body.awake = awake != 0;
    system.poses[at(link.body)] = body.link_pose();
    system.velocities[at(link.body)] = body.velocity();
  }
  for (int i = 1; i < layout.nodes; ++i) {
    const LoneLink& link = pattern.links[at(i)];
    const std::size_t joint = at(link.joint_index);
    auto in = reader(layout.joint(i));
    in(system.joints[joint].position), in(system.joints[joint].velocity), in(world.tensions[joint]);
    archive_command(in, simulator_->commands_[joint]);
    system.motors[joint] = simulator_->commands_[joint];
    for (int k = 0; k < pattern.plan.shapes[at(i)].dofs; ++k) {
      Drive<double>& drive = world.drives[joint][at(k)];
      in = reader(layout.drive(pattern.plan.shapes[at(i)].first_dof + k));
      in(drive.slip), in(drive.limit), in(drive.cap);
    }
    if (!(loaded_tick > 0)) continue;
    in = reader(layout.load(i));
    V3<double> force, torque;
    in(world.motor_impulses[joint]), archive3(in, force), archive3(in, torque);
    world.load_impulses[joint] = {plain(force), plain(torque)};
    simulator_->book_joint(joint, loaded_tick);
  }
  simulator_->gravity_ = system.gravity;
  if (tick > 0) simulator_->step_ = tick / substep_count(tick, simulator_->max_substep_);
  std::vector<ContactPoint>& points = simulator_->contacts_.points();
  points.clear();
  for (int i = 0; i < layout.nodes * layout.slots; ++i) {
    ContactPoint c;
    auto in = reader(layout.contact(i));
    archive_contact(in, c);
    if (c.feature == feature_taken) continue;
    const int plane = i % layout.slots / Manifold::most_kept;
    const LoneLink& link = pattern.links[at(i / layout.slots)];
    for (const LoneGround& ground : pattern.grounds)
      if (plane >= ground.first_plane && plane < ground.first_plane + ground.planes) c.b = ground.body;
    c.a = link.body;
    if (seen) {
      double active = 0;
      in = reader(layout.seen(i));
      archive_seen(in, c, active);
      c.active = active != 0;
      c.arm_b = world.bodies[at(c.a)].position + c.arm_a - world.bodies[at(c.b)].position;
    }
    points.push_back(c);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const ContactPoint& x, const ContactPoint& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  native_contacts_changed(*engine_);
}

LoneEnd tick_lone(const LonePattern& pattern, std::span<double> words, std::span<const MotorCommand> commands,
                  double tick, bool publish) {
  static thread_local std::unique_ptr<HostRoom> room;
  if (!room) room = std::make_unique<HostRoom>();
  LoneTick<HostRoom, HostWords> work(pattern, *room, HostWords{words.data()});
  const auto command = [&](int node) { return commands[at(pattern.links[at(node)].joint_index)]; };
  return work.run(command, tick, substep_count(tick, pattern.max_substep), publish);
}

}  // namespace volvox::physics::native
