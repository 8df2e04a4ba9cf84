// Trees that are cut into segments against the same trees uncut: the recursion over all nodes is the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "volvox/base/random.h"
#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/segments.h"
#include "volvox/physics/native/tree.h"

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

void hit(Tree& tree, const std::vector<Hit>& hits) {
  std::vector<int> nodes;
  for (const Hit& h : hits) nodes.push_back(h.node);
  tree.clear_coordinates();
  tree.whiten(nodes, nullptr);
  for (const Hit& h : hits) {
    const RowSpan span = tree.span(h.node);
    std::vector<double> rows(3 * static_cast<std::size_t>(span.width));
    tree.write_rows(h.node, h.arm, axes, 1, false, false, rows.data());
    tree.move_to(span.part);
    for (int r = 0; r < 3; ++r) {
      for (int block = 0; block < span.width / row_block; ++block) {
        wide_add(span.coordinates + row_block * (span.blocks ? span.blocks[block] : block),
                 rows.data() + r * span.width + block * row_block, h.impulse[r], row_block);
      }
    }
  }
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
  sort_plan(whole.plan), sort_plan(parts.plan);
  parts.plan.for_segments = true;
  Tree oracle(whole.world, whole.plan), tree(parts.world, parts.plan);
  Outcome outcome;
  outcome.cut = tree.cut();
  const auto differ = [&] {
    Difference d;
    for (std::size_t i = 0; i < whole.plan.steps.size(); ++i)
      d.add(oracle.predicted_velocity(static_cast<int>(i), {0.1, 0, 0}),
            tree.predicted_velocity(static_cast<int>(i), {0.1, 0, 0}));
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
      hit(oracle, hits), hit(tree, hits);
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

TEST(Segments, hold_every_node_once_and_hang_on_ends) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Case made;
    RandomStream random(seed, 3, "tree");
    make(made, false, random);
    sort_plan(made.plan);
    const Tree tree(made.world, made.plan);
    const std::vector<NodeShape>& shapes = tree.shapes();
    const std::vector<Segment> segments = cut_into_segments(shapes);
    cut += !segments.empty();
    int next = 0;
    for (const Segment& segment : segments) {
      ASSERT_EQ(segment.first, next) << seed;
      ASSERT_LT(segment.first, segment.last);
      next = segment.last;
      EXPECT_TRUE(segment.first <= segment.end && segment.end < segment.last);
      for (int i = segment.first + 1; i < segment.last; ++i)
        ASSERT_GE(shapes[static_cast<std::size_t>(i)].parent, segment.first) << seed;
      const int parent = shapes[static_cast<std::size_t>(segment.first)].parent;
      ASSERT_EQ(parent, segment.above < 0 ? -1 : segments[static_cast<std::size_t>(segment.above)].end) << seed;
    }
    ASSERT_EQ(next, segments.empty() ? 0 : static_cast<int>(shapes.size()));
  }
  EXPECT_GT(cut, 150);
}

// Wide lanes, narrow ones and none: the same numbers to the bit.
TEST(Segments, do_not_depend_on_the_width_of_lanes) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::vector<Body> expected;
    std::vector<double> tensions;
    for (const std::size_t lanes : {1u, 4u, 8u}) {
      Case made;
      RandomStream random(seed, 4, "tree");
      make(made, seed % 2 == 0, random);
      sort_plan(made.plan);
      const Tree tree(made.world, made.plan);
      std::vector<Segment> cuts = cut_into_segments(tree.shapes());
      if (cuts.empty()) break;
      cut += lanes == 1;
      const TreeNodes nodes{tree.shapes(), tree.bodies(), tree.joints()};
      Segments segments(nodes, std::move(cuts), nullptr, lanes);
      const Quat none;
      const Support<double> ground{{0, 0, 0}, lane(none), rotation_matrix(lane(none)), {}};
      for (int substep = 0; substep < 2; ++substep) {
        segments.predict(made.world, nodes, ground, {}, step, nullptr);
        segments.finish(made.world, nodes, step, {}, nullptr);
        place(made.world);
      }
      segments.commit_joints(made.world, nodes, nullptr);
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

// Of many trees, those that were cut.
struct Comparison {
  int cut = 0, other_drives = 0;  // a drive at the edge of two pieces may fall to either side
  Outcome worst;
};

Comparison compare_many(std::uint64_t first, std::uint64_t last, bool limits) {
  Comparison all;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
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
  EXPECT_GT(all.cut, 500);
  EXPECT_LE(all.other_drives, all.cut / 100);
  EXPECT_LT(all.worst.predicted, 1e-8);
  EXPECT_LT(all.worst.moved, 1e-8);
  EXPECT_LT(all.worst.loads, 1e-8);
}

// A wall is 1e7 times as stiff as what it feels, which is not quite the same at the moment when the two look.
TEST(Segments, with_limits_differ_by_what_walls_give_way) {
  const Comparison all = compare_many(1001, 1500, true);
  EXPECT_GT(all.cut, 200);
  EXPECT_LE(all.other_drives, all.cut / 10);
  EXPECT_LT(all.worst.predicted, 1e-4);
  EXPECT_LT(all.worst.moved, 1e-4);
  EXPECT_LT(all.worst.loads, 1e-4);
}

}  // namespace
}  // namespace volvox::physics::native
