// Groups so dense that they take a substep in parts (ContactSolver::substeps_of).
#include <string_view>

#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

constexpr double edge = 0.05, mass = 0.2, gap = 0.001, g = 9.81;

// Boxes side by side and in layers, two and two joined by a hinge across, let down from a little above the ground.
class Crowd {
 public:
  explicit Crowd(ThreadPool* threads, int across = 12, double target = 0) : bench({.threads = threads}) {
    bench->set_gravity({0, 0, -g});
    bench.add(ground());
    for (int z = 0; z < layers; ++z) {
      for (int y = 0; y < across; ++y) {
        for (int x = 0; x < across; x += 2) add_pair(x, y, z);
      }
    }
    for (const JointId hinge : hinges_) bench->motors()[hinge.index] = {Control::position, target, 20, 2, 3, 2};
  }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) ASSERT_TRUE(bench.tick().ok());
  }
  double count(std::string_view name) {
    for (const WorkCount& work : bench->work()) {
      if (name == work.what) return static_cast<double>(work.count);
    }
    ADD_FAILURE() << "the engine does not count " << name;
    return 0;
  }
  double weight() const { return static_cast<double>(boxes_.size()) * mass * g; }
  double energy() const {
    double sum = 0;
    for (const BodyId id : boxes_) {
      const Twist v = bench.velocity(id);
      sum += mass * (g * bench.pose(id).position.z + 0.5 * length_squared(v.linear)) +
             0.5 * mass * edge * edge / 6 * length_squared(v.angular);
    }
    return sum;
  }
  Bench bench;

 private:
  static constexpr int layers = 5;

  void add_pair(int x, int y, int z) {
    const std::uint32_t owner = static_cast<std::uint32_t>(hinges_.size() + 1);
    const Vec3 at{x * (edge + gap), y * (edge + gap) + 0.002 * (z % 2), 0.5 * edge + 0.005 + z * (edge + gap)};
    const Pose first{at, {}}, second{at + Vec3{edge + gap, 0, 0}, {}};
    BodyId ids[2];
    for (int k = 0; k < 2; ++k) {
      BodyDesc desc = box(mass, {edge, edge, edge}, k == 0 ? first : second);
      desc.owner = owner, desc.quiet = true;
      ids[k] = bench.add(desc);
      boxes_.push_back(ids[k]);
    }
    const Vec3 middle = at + Vec3{0.5 * (edge + gap), 0, 0};
    hinges_.push_back(
        bench->add_joint(joint_at(JointType::revolute, ids[0], first, ids[1], second, middle, {0, 1, 0})));
  }
  std::vector<BodyId> boxes_;
  std::vector<JointId> hinges_;
};

}  // namespace

TEST(Crowd, takes_a_substep_in_halves) {
  Crowd crowd(nullptr), few(nullptr, 4);
  crowd.run(20), few.run(20);
  const double crowd_before = crowd.count("group_substeps"), few_before = few.count("group_substeps");
  crowd.run(5), few.run(5);
  EXPECT_EQ(crowd.count("group_substeps") - crowd_before, 5 * 8);
  EXPECT_EQ(few.count("group_substeps") - few_before, 5 * 4);
}

TEST(Crowd, has_the_same_bits_at_any_number_of_threads_and_after_a_restore) {
  Crowd alone(nullptr, 12, 0.2);
  alone.run(12);
  SaveArchive saved;
  alone.bench->archive(saved);
  alone.run(8);
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    Crowd crowd(&pool, 12, 0.2);
    crowd.run(20);
    EXPECT_EQ(crowd.bench.hash(), alone.bench.hash()) << threads << " threads";
  }
  Crowd other(nullptr, 12, 0.2);
  LoadArchive loaded(saved.bytes());
  other.bench->archive(loaded);
  ASSERT_TRUE(loaded.ok()) << loaded.failure();
  other.bench.set_clock(12);
  other.run(8);
  EXPECT_EQ(other.bench.hash(), alone.bench.hash());
}

// Impulses are of half substeps within, and of whole ones where others read them.
TEST(Crowd, presses_on_the_ground_with_its_weight) {
  Crowd crowd(nullptr);
  crowd.run(25);
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    crowd.run(1);
    std::vector<Contact> contacts;
    crowd.bench->contacts(contacts);
    for (const Contact& c : contacts) {
      if (c.b.index == 0) sum += c.force * c.normal.z / 10;
    }
  }
  EXPECT_NEAR(sum, crowd.weight(), 0.01 * crowd.weight());
}

TEST(Crowd, gains_no_energy) {
  Crowd crowd(nullptr);
  double before = crowd.energy();
  const double bound = 1e-4 * before;  // what lets overlaps go lifts a little
  for (int i = 0; i < 40; ++i) {
    crowd.run(1);
    const double now = crowd.energy();
    EXPECT_LE(now, before + bound) << "in tick " << i;
    before = now;
  }
}

}  // namespace volvox::physics::native
