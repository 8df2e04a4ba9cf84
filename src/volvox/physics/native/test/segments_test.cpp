// Trees that are cut into segments against the same trees uncut: the recursion over all nodes is the oracle. And trees
// that are cut anew only where modules dock, against the same trees cut whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "volvox/base/random.h"
#include "volvox/base/test/shortened.h"
#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/topology.h"

namespace volvox::physics::native {
namespace {

constexpr double step = 1.0 / 240;

double number(RandomStream& random, double low, double high) { return low + (high - low) * random.uniform(); }
Vec3 vector(RandomStream& random, double size) {
  const double x = number(random, -size, size), y = number(random, -size, size);
  return {x, y, number(random, -size, size)};
}
Quat rotation(RandomStream& random, double size) { return from_rotation_vector(vector(random, size)); }

// A kind of module: a few bodies in a row or with a twig, and the joints between them.
struct Kind {
  struct Link {
    int parent;
    JointType type;
    bool flipped;
    Pose on_parent, on_child;
    double damping, friction, lower, upper;
  };
  std::vector<Link> links;  // the first hangs on the module before by a dock
  std::vector<double> masses;
  std::vector<Vec3> moments;
};

Kind random_kind(bool limits, RandomStream& random) {
  Kind kind;
  const int count = 2 + static_cast<int>(4 * random.uniform());
  for (int i = 0; i < count; ++i) {
    const double choice = random.uniform();
    const JointType type = choice < 0.6    ? JointType::revolute
                           : choice < 0.75 ? JointType::prismatic
                           : choice < 0.85 ? JointType::ball
                                           : JointType::fixed;
    const bool limited = random.uniform() < 0.3 && limits;
    const double lower = limited ? number(random, -0.02, 0) : -1e300, upper = limited ? number(random, 0, 0.02) : 1e300;
    kind.links.push_back({i == 0 ? -1 : std::max(0, i - 1 - (random.uniform() < 0.25 ? 1 : 0)),
                          i == 0 ? JointType::dock : type,
                          i > 0 && random.uniform() < 0.3,
                          {vector(random, 0.05), rotation(random, 2)},
                          {vector(random, 0.05), rotation(random, 2)},
                          number(random, 0, 0.02) * (random.uniform() < 0.5 ? 0 : 1),
                          number(random, 0, 0.05) * (random.uniform() < 0.7 ? 0 : 1),
                          lower,
                          upper});
    kind.masses.push_back(number(random, 0.1, 1));
    kind.moments.push_back(Vec3{number(random, 1, 2), number(random, 1, 2), number(random, 1, 2)} * 1e-4);
  }
  return kind;
}

// A tree of modules, with all that a World needs; the order of bodies is the plan's.
struct Case {
  System system{Vec3{0, 0, -9.81}};
  World world{system, {}, {}, {}, {}, {}, {}, 1};
  TreePlan plan;

  int add_body(const Pose& pose, double mass, const Vec3& moments, RandomStream& random) {
    BodyDesc desc;
    desc.pose = pose, desc.mass = mass, desc.moments = moments;
    desc.velocity = {vector(random, 1), vector(random, 3)};
    const BodyId id = system.add(desc);
    Body body;
    body.push = {};
    body.dynamic = true, body.mass = mass, body.moments = moments;
    body.weight = system.gravity * mass;
    body.place(pose, desc.velocity);
    body.axes = rotation_matrix(lane(body.rotation));
    if (random.uniform() < 0.3) body.push = {lane(vector(random, 0.01)), lane(vector(random, 0.1))};
    world.bodies.push_back(body);
    return static_cast<int>(id.index);
  }

  int add_joint(const Kind::Link& link, int parent, int child, RandomStream& random) {
    JointDesc desc;
    desc.type = link.type;
    const BodyId p = parent < 0 ? BodyId{} : system.body_ids.at(static_cast<std::size_t>(parent)),
                 c = system.body_ids.at(static_cast<std::size_t>(child));
    desc.a = link.flipped ? c : p, desc.b = link.flipped ? p : c;
    desc.frame_a = link.flipped ? link.on_child : link.on_parent;
    desc.frame_b = link.flipped ? link.on_parent : link.on_child;
    desc.lower = link.lower, desc.upper = link.upper, desc.damping = link.damping, desc.friction = link.friction;
    const std::size_t joint = system.add(desc).index;
    MotorCommand motor;
    const double choice = random.uniform();
    if (choice < 0.5) motor = {Control::velocity, number(random, -3, 3), 0, number(random, 0.1, 200), 1e300, 6.4};
    else if (choice < 0.7) motor = {Control::position, number(random, -1, 1), 10, 1, 3, number(random, 0.1, 6)};
    else if (choice < 0.8) motor = {Control::torque, number(random, -1, 1), 0, 0, 1e300, 1};
    system.motors[joint] = motor;
    system.joints[joint].position = number(random, -0.05, 0.05), system.joints[joint].velocity = number(random, -2, 2);
    world.drives.emplace_back();
    for (Drive<double>& drive : world.drives.back()) {
      drive.order(0, DriveOrder(desc, motor, step));
      if (link.type != JointType::ball && link.upper < 1e299 && random.uniform() < 0.1)
        drive.limit = random.uniform() < 0.5 ? -1 : 1;
      if (random.uniform() < 0.3) drive.slip = random.uniform() < 0.5 ? -1 : 1;
    }
    world.frames.push_back(joint_frames(world, joint));
    world.tensions.push_back(random.uniform() < 0.5 ? 0 : number(random, 0, 10));
    world.load_impulses.emplace_back();
    world.motor_impulses.emplace_back();
    return static_cast<int>(joint);
  }

  // A module whose first body hangs on `parent`, a body (-1: on nothing). Returns its last body.
  int add_module(const Kind& kind, int parent, RandomStream& random, bool on_ground = false) {
    std::vector<int> own;
    for (std::size_t i = 0; i < kind.links.size(); ++i) {
      const Kind::Link& link = kind.links[i];
      const int above = link.parent < 0 ? parent : own[static_cast<std::size_t>(link.parent)];
      Pose pose;
      if (above >= 0) {
        const Pose there = system.poses[static_cast<std::size_t>(above)] * link.on_parent * link.on_child.inverse();
        pose = {there.position + vector(random, 1e-4), rotation(random, 1e-3) * there.rotation};
      }
      own.push_back(add_body(pose, kind.masses[i], kind.moments[i], random));
      const bool joined = above >= 0 || on_ground;
      const int joint = joined ? add_joint(link, above, own.back(), random) : -1;
      plan.steps.push_back({own.back(), above, joint});
    }
    return own.back();
  }
};

// Chains of modules of one kind, most with a branch or two.
void make(Case& made, bool limits, RandomStream& random) {
  const Kind kind = random_kind(limits, random), other = random_kind(limits, random);
  const int trunk = 30 + static_cast<int>(100 * random.uniform()), odd = random.uniform() < 0.3 ? 17 : 1000;
  const bool on_ground = random.uniform() < 0.25;
  int last = made.add_module(kind, -1, random, on_ground), fork = -1;
  const int fork_at = random.uniform() < 0.5 ? trunk / 2 : -1;
  for (int i = 1; i < trunk; ++i) {
    last = made.add_module(i % odd == odd - 1 ? other : kind, last, random);
    if (i == fork_at) fork = last;
  }
  for (int i = 0; fork >= 0 && i < trunk; ++i) fork = made.add_module(kind, fork, random);
  made.world.tensions.resize(made.system.joint_descs.size());
}

// In depth-first order as plans for segments have it, the largest subtree last.
void sort_plan(TreePlan& plan) {
  const std::size_t count = plan.steps.size();
  std::vector<int> sizes(count, 1);
  std::vector<std::vector<int>> children(count);
  for (std::size_t i = count; i-- > 1;) sizes[static_cast<std::size_t>(plan.steps[i].parent)] += sizes[i];
  for (std::size_t i = 1; i < count; ++i)
    children[static_cast<std::size_t>(plan.steps[i].parent)].push_back(static_cast<int>(i));
  TreePlan sorted;
  std::vector<std::pair<int, int>> open{{0, -1}};
  while (!open.empty()) {
    const auto [step_index, parent] = open.back();
    open.pop_back();
    TreePlan::Step s = plan.steps[static_cast<std::size_t>(step_index)];
    s.parent = parent;
    auto& below = children[static_cast<std::size_t>(step_index)];
    std::stable_sort(below.begin(), below.end(), [&](int x, int y) {
      return sizes[static_cast<std::size_t>(x)] > sizes[static_cast<std::size_t>(y)];
    });
    for (const int child : below) open.push_back({child, static_cast<int>(sorted.steps.size())});
    sorted.steps.push_back(s);
  }
  plan = sorted;
}

// Impulses on some nodes, as contacts have them.
struct Hit {
  int node;
  Vec3 arm, impulse;
};
constexpr Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// `node_of`: by step of the plan.
void hit(Island& tree, const std::vector<int>& node_of, const std::vector<Hit>& hits) {
  std::vector<int> nodes;
  for (const Hit& h : hits) nodes.push_back(node_of[static_cast<std::size_t>(h.node)]);
  tree.clear_coordinates();
  tree.whiten(nodes, nullptr);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const Hit& h = hits[i];
    const RowSpan span = tree.span(nodes[i]);
    std::vector<double> rows(3 * static_cast<std::size_t>(span.width));
    tree.write_rows(nodes[i], h.arm, axes, 1, false, false, rows.data());
    tree.move_to(span.part);
    for (int r = 0; r < 3; ++r) {
      for (int block = 0; block < span.width / row_block; ++block) {
        wide_add(span.coordinates + row_block * (span.blocks ? span.blocks[block] : block),
                 rows.data() + r * span.width + block * row_block, h.impulse[r], row_block);
      }
    }
  }
}

// By step of the plan.
std::vector<int> bodies_of(const TreePlan& plan) {
  std::vector<int> bodies;
  for (const TreePlan::Step& s : plan.steps) bodies.push_back(s.body);
  return bodies;
}
std::vector<int> numbers(std::size_t count) {
  std::vector<int> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<int>(i);
  return all;
}

// The island of a world that is one tree; null: it is not cut.
LongTree* lay_out(Topology& topology, World& world) {
  for (std::size_t i = 0; i < world.bodies.size(); ++i) topology.touch(world, i);
  topology.update(world);
  for (const auto& island : topology.islands())
    if (auto* tree = dynamic_cast<LongTree*>(island.get())) return tree;
  return nullptr;
}

// The largest difference of what a substep changed, as a share of the largest number of its kind.
struct Difference {
  double most = 0, size = 0;
  void add(double a, double b) {
    most = std::max(most, std::abs(a - b));
    size = std::max({size, std::abs(a), std::abs(b)});
    if (!(std::abs(a - b) < 1e300)) most = 1e300;
  }
  void add(const Vec3& a, const Vec3& b) {
    for (int i = 0; i < 3; ++i) add(a[i], b[i]);
  }
  double share() const { return size > 0 ? most / size : 0; }
};

struct Outcome {
  double predicted = 0, moved = 0, loads = 0;
  bool cut = false, same_drives = true;
};

void place(World& world) {
  for (Body& body : world.bodies) {
    body.axes = rotation_matrix(lane(body.rotation));
    body.push = {};
  }
}

// What hits gave, as impulses on bodies.
void push(Case& c, const std::vector<Hit>& hits) {
  for (Body& body : c.world.bodies) body.push = {};
  for (const Hit& h : hits) {
    Body& body = c.world.bodies[static_cast<std::size_t>(c.plan.steps[static_cast<std::size_t>(h.node)].body)];
    body.push = body.push + Spatial<double>{lane(volvox::cross(h.arm, h.impulse)), lane(h.impulse)};
  }
}

// Some substeps of a tick, in each of which some nodes are hit.
Outcome compare(std::uint64_t seed, bool limits, ThreadPool* threads) {
  Case whole, parts;
  RandomStream first(seed, 1, "tree"), second(seed, 1, "tree"), random(seed, 2, "hits");
  make(whole, limits, first), make(parts, limits, second);
  sort_plan(whole.plan);
  parts.plan = whole.plan;
  Tree oracle(whole.world, whole.plan);
  Topology topology;
  LongTree* const cut = lay_out(topology, parts.world);
  Outcome outcome;
  outcome.cut = cut != nullptr;
  if (!cut) return outcome;
  LongTree& tree = *cut;
  const std::vector<int> nodes = numbers(whole.plan.steps.size()), bodies = bodies_of(whole.plan);
  const auto differ = [&] {
    Difference d;
    for (std::size_t i = 0; i < whole.plan.steps.size(); ++i)
      d.add(oracle.predicted_velocity(static_cast<int>(i), {0.1, 0, 0}),
            tree.predicted_velocity(bodies[i], {0.1, 0, 0}));
    outcome.predicted = std::max(outcome.predicted, d.share());
  };
  for (int substep = 0; substep < 3 && outcome.same_drives; ++substep) {
    oracle.predict(whole.world, step, nullptr), tree.predict(parts.world, step, threads);
    differ();
    std::vector<Hit> hits;
    for (int i = 0; i < 12; ++i)
      hits.push_back({static_cast<int>(random.uniform() * static_cast<double>(whole.plan.steps.size())),
                      vector(random, 0.05), vector(random, 0.05)});
    for (int attempt = 0; attempt < 3; ++attempt) {
      hit(oracle, nodes, hits), hit(tree, bodies, hits);
      const Verdict a = oracle.take_up(whole.world, nullptr), b = tree.take_up(parts.world, threads);
      outcome.same_drives = outcome.same_drives && a == b;
      if (a == Verdict::holds || b == Verdict::holds) break;
      oracle.predict_again(whole.world, nullptr), tree.predict_again(parts.world, threads);
      differ();
    }
    push(whole, hits), push(parts, hits);
    oracle.finish(whole.world, step, nullptr), tree.finish(parts.world, step, threads);
    place(whole.world), place(parts.world);
  }
  tree.commit_joints(parts.world, threads);
  Difference speeds, spins, places, loads, torques, positions;
  for (std::size_t i = 0; i < whole.world.bodies.size(); ++i) {
    const Body &a = whole.world.bodies[i], &b = parts.world.bodies[i];
    speeds.add(a.linear, b.linear), speeds.add(a.angular, b.angular), spins.add(a.spin, b.spin);
    places.add(a.position, b.position);
    places.add(a.rotation.x, b.rotation.x), places.add(a.rotation.w, b.rotation.w);
  }
  for (std::size_t j = 0; j < whole.system.joint_descs.size(); ++j) {
    loads.add(whole.world.load_impulses[j].force, parts.world.load_impulses[j].force);
    torques.add(whole.world.load_impulses[j].torque, parts.world.load_impulses[j].torque);
    loads.add(whole.world.tensions[j] * step, parts.world.tensions[j] * step);
    positions.add(whole.system.joints[j].position, parts.system.joints[j].position);
    positions.add(whole.system.joints[j].velocity, parts.system.joints[j].velocity);
    torques.add(whole.world.motor_impulses[j], parts.world.motor_impulses[j]);
    for (std::size_t k = 0; k < 3; ++k) {
      const Drive<double>&x = whole.world.drives[j][k], &y = parts.world.drives[j][k];
      outcome.same_drives = outcome.same_drives && x.slip == y.slip && x.limit == y.limit;
    }
  }
  outcome.moved = std::max({speeds.share(), spins.share(), places.share(), positions.share()});
  outcome.loads = std::max(loads.share(), torques.share());
  return outcome;
}

// What a long tree is: every body once, every joint, and all that hangs together hangs on ends.
void expect_sound(const World& world, const LongTree& tree, std::uint64_t seed) {
  std::vector<int> seen(world.bodies.size(), 0);
  const auto& segments = tree.segments();
  std::size_t taken = 0;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& own = *segments[s];
    ASSERT_EQ(own.order, static_cast<int>(s)) << seed;
    ASSERT_EQ(own.above_body < 0, s == 0) << seed;
    if (s > 0) {
      ASSERT_LT(own.above, own.order) << seed;
      const Segment& above = *segments[static_cast<std::size_t>(own.above)];
      ASSERT_EQ(above.bodies[static_cast<std::size_t>(above.end)], own.above_body) << seed;
      ASSERT_EQ(std::ranges::count(above.below, own.first()), 1) << seed;
    }
    ASSERT_TRUE(own.pack && own.pack->owner(own.lane) == &own && own.pack->pattern() == own.pattern) << seed;
    for (std::size_t i = 0; i < own.bodies.size(); ++i) {
      ++seen[static_cast<std::size_t>(own.bodies[i])];
      const int parent = own.shapes[i].parent;
      ASSERT_TRUE(i == 0 ? parent < 0 : parent >= 0 && parent < static_cast<int>(i)) << seed;
      if (own.joints[i] < 0) {
        ASSERT_EQ(s + i, 0u) << seed;
        continue;
      }
      const JointDesc& desc = world.system.joint_descs[static_cast<std::size_t>(own.joints[i])];
      const int above = i > 0 ? own.bodies[static_cast<std::size_t>(parent)] : own.above_body;
      const int other = static_cast<int>(static_cast<int>(desc.b.index) == own.bodies[i] ? desc.a.index : desc.b.index);
      ASSERT_TRUE(above < 0 || other == above) << seed;
      ASSERT_EQ(own.shapes[i].anchor_child, node_shape(world, own.bodies[i], own.joints[i]).anchor_child) << seed;
    }
  }
  for (const auto& pack : tree.packs()) {
    taken += static_cast<std::size_t>(pack->taken());
    for (int lane = 0; lane < pack->lanes(); ++lane) ASSERT_EQ(pack->shown(lane).pack, pack.get()) << seed;
  }
  ASSERT_EQ(taken, segments.size()) << seed;
  for (const int body : tree.bodies()) --seen[static_cast<std::size_t>(body)];
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], 0) << seed << ", body " << i;
}

TEST(Segments, hold_every_node_once_and_hang_on_ends) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Case made;
    RandomStream random(seed, 3, "tree");
    make(made, false, random);
    Topology topology;
    const LongTree* const tree = lay_out(topology, made.world);
    if (!tree) continue;
    ++cut;
    expect_sound(made.world, *tree, seed);
    EXPECT_EQ(tree->bodies().size(), made.world.bodies.size());
  }
  EXPECT_GT(cut, 150);
}

// Wide lanes, narrow ones and none: the same numbers to the bit.
TEST(Segments, do_not_depend_on_the_width_of_lanes) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::vector<Body> expected;
    std::vector<double> tensions;
    for (const int lanes : {1, 4, 8}) {
      Case made;
      RandomStream random(seed, 4, "tree");
      make(made, seed % 2 == 0, random);
      Topology topology(lanes);
      LongTree* const tree = lay_out(topology, made.world);
      if (!tree) break;
      cut += lanes == 1;
      for (int substep = 0; substep < 2; ++substep) {
        tree->predict(made.world, step, nullptr);
        tree->finish(made.world, step, nullptr);
        place(made.world);
      }
      tree->commit_joints(made.world, nullptr);
      if (lanes == 1) expected = made.world.bodies, tensions = made.world.tensions;
      EXPECT_EQ(made.world.tensions, tensions) << seed << ", " << lanes << " lanes";
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const Body &a = expected[i], &b = made.world.bodies[i];
        ASSERT_TRUE(a.position == b.position && a.rotation == b.rotation && a.linear == b.linear && a.spin == b.spin)
            << seed << ", " << lanes << " lanes, body " << i;
      }
    }
  }
  EXPECT_GT(cut, 20);
}

// The same segments, in the same order: then all that is computed is the same, too.
bool same_layout(const LongTree& x, const LongTree& y) {
  return x.bodies() == y.bodies() && std::ranges::equal(x.segments(), y.segments(), [](const auto& a, const auto& b) {
           return a->bodies == b->bodies && a->joints == b->joints && a->end == b->end && a->above == b->above &&
                  a->below == b->below && a->shapes == b->shapes && *a->pattern == *b->pattern;
         });
}

// A world of chains of modules, some with twigs, whose docks open and close.
struct Yard {
  Case made;
  std::vector<std::pair<int, int>> ends;  // by module: its first and its last body
  std::vector<JointId> docks;

  void add_chain(const Kind& kind, int modules, bool in_order, RandomStream& random) {
    const std::size_t first = ends.size();
    for (int i = 0; i < modules; ++i) {
      const int body = static_cast<int>(made.world.bodies.size());
      const int last = made.add_module(kind, -1, random);
      ends.push_back({body, last});
    }
    std::vector<std::size_t> order;
    for (std::size_t i = first; i < ends.size(); ++i) order.push_back(i);
    for (std::size_t i = order.size(); !in_order && i-- > 1;)
      std::swap(order[i], order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i + 1))]);
    for (std::size_t i = 1; i < order.size(); ++i) dock(ends[order[i - 1]].second, ends[order[i]].first);
  }

  JointId dock(int a, int b) {
    JointDesc desc;
    desc.type = JointType::dock;
    desc.a = made.system.body_ids.at(static_cast<std::size_t>(a)),
    desc.b = made.system.body_ids.at(static_cast<std::size_t>(b));
    const JointId id = made.system.add(desc);
    World& world = made.world;
    const std::size_t size = made.system.joint_descs.size();
    world.frames.resize(size), world.drives.resize(size), world.tensions.resize(size), world.load_impulses.resize(size);
    world.motor_impulses.resize(size);
    world.frames[id.index] = joint_frames(world, id.index);
    docks.push_back(id);
    return id;
  }
  void undock(std::size_t which) {
    made.system.remove(docks[which]);
    docks.erase(docks.begin() + static_cast<std::ptrdiff_t>(which));
  }
};

// Docks open and close all over the place, one or a few at a time: what is laid out anew where it was touched is what
// is laid out whole.
TEST(Segments, are_where_they_would_be_if_all_were_cut_anew) {
  int cut = 0, events = 0, segments = 0, kept = 0;
  const int yards = shortened(40);
  for (int seed = 1; seed <= yards; ++seed) {
    Yard yard;
    RandomStream random(static_cast<std::uint64_t>(seed), 5, "yard");
    const Kind kind = random_kind(false, random), other = random_kind(false, random);
    const int modules = 200 + static_cast<int>(300 * random.uniform());
    yard.add_chain(kind, modules, seed % 3 != 0, random);
    yard.add_chain(kind, modules / 2, true, random);
    yard.add_chain(other, 30, true, random);
    World& world = yard.made.world;
    Topology topology;
    for (std::size_t i = 0; i < world.bodies.size(); ++i) topology.touch(world, i);
    topology.update(world);
    std::vector<std::pair<int, int>> opened;
    for (int round = 0; round < 40; ++round) {
      std::set<const Segment*> before;
      for (const auto& island : topology.islands()) {
        const auto* tree = dynamic_cast<const LongTree*>(island.get());
        for (std::size_t i = 0; tree && i < tree->segments().size(); ++i) before.insert(tree->segments()[i].get());
      }
      const int changes = random.uniform() < 0.7 ? 1 : 1 + static_cast<int>(5 * random.uniform());
      for (int i = 0; i < changes; ++i, ++events) {
        const auto touch = [&](JointId id) {
          const JointDesc& desc = yard.made.system.joint_descs[id.index];
          topology.touch(world, desc.a.index), topology.touch(world, desc.b.index);
        };
        if (random.uniform() < 0.05) {  // a body is taken out, and another has its number at once: it has no island yet
          const std::size_t body =
              static_cast<std::size_t>(random.uniform() * static_cast<double>(world.bodies.size()));
          topology.touch(world, body);
          world.bodies[body].island = -1;
          topology.touch(world, body);
        } else if (!yard.docks.empty() && random.uniform() < 0.5) {
          const std::size_t which = static_cast<std::size_t>(random.uniform() * static_cast<double>(yard.docks.size()));
          touch(yard.docks[which]);
          const JointDesc& desc = yard.made.system.joint_descs[yard.docks[which].index];
          opened.emplace_back(desc.a.index, desc.b.index);
          yard.undock(which);
        } else if (!opened.empty() && random.uniform() < 0.8) {  // as it was, or the other way round
          auto [a, b] = opened.back();
          opened.pop_back();
          if (random.uniform() < 0.1) std::swap(a, b);
          touch(yard.dock(a, b));
        } else {
          const auto pick = [&] {
            const auto& ends =
                yard.ends[static_cast<std::size_t>(random.uniform() * static_cast<double>(yard.ends.size()))];
            return random.uniform() < 0.5 ? ends.first : ends.second;
          };
          // Mostly what is open at both: chains of chains.
          int a = pick(), b = pick();
          for (int tries = 0; tries < 200 && (a == b || world.bodies[static_cast<std::size_t>(a)].island ==
                                                            world.bodies[static_cast<std::size_t>(b)].island);
               ++tries)
            a = pick(), b = pick();
          if (a == b) continue;
          touch(yard.dock(a, b));
        }
      }
      topology.update(world);
      Case copy;
      copy.system = yard.made.system;
      copy.world.bodies = world.bodies, copy.world.frames = world.frames;
      for (Body& body : copy.world.bodies) body.island = body.node = body.cluster = -1;
      Topology fresh;
      for (std::size_t i = 0; i < copy.world.bodies.size(); ++i) fresh.touch(copy.world, i);
      fresh.update(copy.world);
      for (std::size_t i = 0; i < world.bodies.size(); ++i) {
        const Body &a = world.bodies[i], &b = copy.world.bodies[i];
        ASSERT_EQ(a.cluster, b.cluster) << seed << ", round " << round << ", body " << i;
        ASSERT_TRUE(a.island >= 0 && b.island >= 0);
        const Island &mine = *topology.islands()[static_cast<std::size_t>(a.island)],
                     &its = *fresh.islands()[static_cast<std::size_t>(b.island)];
        ASSERT_EQ(a.node, b.node) << seed << ", round " << round << ", body " << i;
        if (mine.bodies().front() != static_cast<int>(i)) continue;
        const auto *x = dynamic_cast<const LongTree*>(&mine), *y = dynamic_cast<const LongTree*>(&its);
        ASSERT_EQ(x != nullptr, y != nullptr) << seed << ", round " << round;
        if (!x) continue;
        ++cut;
        ASSERT_TRUE(same_layout(*x, *y)) << seed << ", round " << round << ", " << x->bodies().size() << " bodies";
        std::size_t nodes = 0;
        for (const auto& segment : x->segments()) {
          nodes += segment->bodies.size();
          ++segments, kept += before.contains(segment.get());
          ASSERT_TRUE(segment->pack && segment->pack->owner(segment->lane) == segment.get());
        }
        ASSERT_EQ(nodes, x->bodies().size());
      }
    }
  }
  EXPECT_GT(events, 25 * yards);
  EXPECT_GT(cut, 17 * yards);
  EXPECT_GT(kept, segments * 3 / 4);
}

// Of many trees, those that were cut.
struct Comparison {
  int tried = 0, cut = 0, other_drives = 0;  // a drive at the edge of two pieces may fall to either side
  Outcome worst;
};

Comparison compare_many(std::uint64_t first, int count, bool limits) {
  Comparison all;
  all.tried = shortened(count);
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(all.tried); ++seed) {
    const Outcome outcome = compare(seed, limits, nullptr);
    if (!outcome.cut) continue;
    ++all.cut;
    if (!outcome.same_drives) {
      ++all.other_drives;
      continue;
    }
    all.worst.predicted = std::max(all.worst.predicted, outcome.predicted);
    all.worst.moved = std::max(all.worst.moved, outcome.moved);
    all.worst.loads = std::max(all.worst.loads, outcome.loads);
  }
  return all;
}

TEST(Segments, come_to_what_the_whole_tree_comes_to) {
  const Comparison all = compare_many(1, 1000, false);
  EXPECT_GT(all.cut, all.tried / 2);
  EXPECT_LE(all.other_drives, all.cut / 100);
  EXPECT_LT(all.worst.predicted, 1e-8);
  EXPECT_LT(all.worst.moved, 1e-8);
  EXPECT_LT(all.worst.loads, 1e-8);
}

// A wall is 1e7 times as stiff as what it feels, which is not quite the same at the moment when the two look.
TEST(Segments, with_limits_differ_by_what_walls_give_way) {
  const Comparison all = compare_many(1001, 500, true);
  EXPECT_GT(all.cut, all.tried * 2 / 5);
  EXPECT_LE(all.other_drives, all.cut / 10);
  EXPECT_LT(all.worst.predicted, 1e-4);
  EXPECT_LT(all.worst.moved, 1e-4);
  EXPECT_LT(all.worst.loads, 1e-4);
}

}  // namespace
}  // namespace volvox::physics::native
