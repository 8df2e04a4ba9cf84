// The same bits at any number of threads and after a restore, and no allocation in a step.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "volvox/base/test/shortened.h"
#include "volvox/physics/native/lanes.h"
#include "volvox/physics/native/test/scenes.h"

namespace {
std::atomic<long> allocations{0};
}

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // GCC inlines delete here, but not the new of this file
// The forms for arrays come down to these; the one that does not throw would, too, but the address sanitizer has its
// own.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto to = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(to, (size + to - 1) / to * to)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace volvox::physics::native {
namespace {

// A heap of jointed robots, loose boxes and a ring, that fall onto each other and onto a snake so long that it is cut
// into segments. One of its docks opens and closes again.
class Heap {
 public:
  explicit Heap(ThreadPool* threads) : bench({.threads = threads}) {
    bench.add(ground());
    for (int i = 0; i < 24; ++i) add_robot({0.25 * (i % 4), 0.2 * (i / 4 % 3), 0.1 + 0.15 * (i / 12)}, i);
    for (int i = 0; i < 20; ++i)
      bench.add(box(0.2, {0.08, 0.06, 0.05}, {{0.13 * (i % 5), 0.17 * (i / 5), 0.6}, Quat::rpy(0.1 * i, 0.2, 0)}));
    add_ring({0.4, 0.2, 1.0});
    add_snake({-2, 0.1, 0.05});
  }
  void drive(int tick) {
    for (std::size_t i = 0; i < hinges_.size(); ++i) {
      bench->motors()[hinges_[i].index] = {
          Control::position, ((tick / 30 + static_cast<int>(i)) & 1) != 0 ? 0.6 : -0.6, 20, 2, 3, 2};
    }
  }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i, ++ticks_) {
      drive(ticks_);
      if (ticks_ == 10) bench->remove_joint(dock_);
      if (ticks_ == 20) dock_ = bench->add_joint(dock_desc_);
      ASSERT_TRUE(bench.tick().ok());
    }
  }
  Bench bench;

 private:
  void add_robot(const Vec3& at, int owner) {
    BodyId last;
    Pose last_pose;
    for (int k = 0; k < 3; ++k) {
      const Pose pose{at + Vec3{0.07 * k, 0, 0}, {}};
      BodyDesc desc = box(0.15, {0.06, 0.05, 0.04}, pose);
      desc.owner = static_cast<std::uint32_t>(owner + 1);
      desc.quiet = true;
      const BodyId id = bench.add(desc);
      if (k > 0)
        hinges_.push_back(
            bench->add_joint(joint_at(JointType::revolute, last, last_pose, id, pose, at + Vec3{0.07 * k - 0.035, 0, 0},
                                      k == 1 ? Vec3{0, 1, 0} : Vec3{0, 0, 1})));
      last = id, last_pose = pose;
    }
  }
  void add_ring(const Vec3& at) {
    std::vector<BodyId> bodies;
    std::vector<Pose> poses;
    for (int i = 0; i < 6; ++i) {
      const Quat turn = Quat::axis_angle({0, 0, 1}, pi / 3 * i);
      poses.push_back({at + turn * Vec3{0, -0.1, 0}, turn});
      bodies.push_back(bench.add(box(0.2, {0.09, 0.04, 0.04}, poses.back())));
    }
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t next = (i + 1) % 6;
      bench->add_joint(joint_at(JointType::dock, bodies[i], poses[i], bodies[next], poses[next],
                                (poses[i].position + poses[next].position) * 0.5));
    }
  }
  void add_snake(const Vec3& at) {
    BodyId last;
    Pose last_pose;
    for (int k = 0; k < 105; ++k) {
      const Pose pose{at + Vec3{0.05 * k, 0, 0}, {}};
      const BodyId id = bench.add(box(0.1, {0.04, 0.05, 0.04}, pose));
      const Vec3 point = pose.position - Vec3{0.025, 0, 0};
      if (k % 3 == 0 && k > 0) {
        const JointDesc dock = joint_at(JointType::dock, last, last_pose, id, pose, point);
        const JointId made = bench->add_joint(dock);
        if (k == 60) dock_ = made, dock_desc_ = dock;
      } else if (k > 0) {
        hinges_.push_back(bench->add_joint(joint_at(JointType::revolute, last, last_pose, id, pose, point,
                                                    k % 3 == 1 ? Vec3{0, 1, 0} : Vec3{0, 0, 1})));
      }
      last = id, last_pose = pose;
    }
  }
  std::vector<JointId> hinges_;
  JointId dock_;
  JointDesc dock_desc_;
  int ticks_ = 0;
};

// A snake of 1290 bodies whose docks open and close all the time, so that its tree is laid out anew bit by bit.
struct DockingSnake {
  explicit DockingSnake(ThreadPool* threads) : bench({.threads = threads}) {
    bench.add(ground());
    BodyId last;
    Pose last_pose;
    for (int k = 0; k < 1290; ++k) {
      const Pose pose{{0.05 * k, 0, 0.03}, {}};
      const BodyId id = bench.add(box(0.1, {0.04, 0.05, 0.04}, pose));
      const Vec3 point = pose.position - Vec3{0.025, 0, 0};
      if (k > 0) {
        const JointType type = k % 3 == 0 ? JointType::dock : JointType::revolute;
        const JointDesc joint = joint_at(type, last, last_pose, id, pose, point, {0, 0, 1});
        const JointId made = bench->add_joint(joint);
        if (type == JointType::dock) docks.emplace_back(made, joint);
        else hinges.push_back(made);
      }
      last = id, last_pose = pose;
    }
  }

  void run(int ticks) {
    for (const int end = tick + ticks; tick < end; ++tick) {
      for (std::size_t i = 0; i < hinges.size(); ++i)
        bench->motors()[hinges[i].index] = {
            Control::velocity, std::sin(0.2 * tick + 0.3 * static_cast<double>(i)), 0, 20, 1e300, 5};
      auto& [dock, desc] = docks[static_cast<std::size_t>(tick / 3 * 89) % docks.size()];
      if (tick % 3 == 0) bench->remove_joint(dock);
      if (tick % 3 == 1 && tick % 4 != 3) dock = bench->add_joint(desc);
      if (tick % 3 == 1 && tick % 4 == 3) docks.erase(docks.begin() + (tick / 3 * 89) % static_cast<int>(docks.size()));
      ASSERT_TRUE(bench.tick().ok());
    }
  }

  Bench bench;
  std::vector<std::pair<JointId, JointDesc>> docks;
  std::vector<JointId> hinges;
  int tick = 0;
};

}  // namespace

TEST(Determinism, a_snake_that_docks_has_the_same_bits_after_a_restore_and_at_any_number_of_threads) {
  DockingSnake first(nullptr);
  first.run(31);  // with a dock open
  SaveArchive saved;
  first.bench->archive(saved);
  DockingSnake second(nullptr);
  LoadArchive loaded(saved.bytes());
  second.bench->archive(loaded);
  ASSERT_TRUE(loaded.ok()) << loaded.failure();
  EXPECT_EQ(second.bench.hash(), first.bench.hash());
  second.bench.set_clock(31);
  second.docks = first.docks, second.hinges = first.hinges, second.tick = first.tick;
  first.run(20), second.run(20);
  EXPECT_EQ(second.bench.hash(), first.bench.hash());
  ThreadPool pool(3);
  DockingSnake third(&pool);
  third.run(51);
  EXPECT_EQ(third.bench.hash(), first.bench.hash());
}

TEST(Determinism, same_bits_at_any_number_of_threads) {
  Heap alone(nullptr);
  alone.run(120);
  const std::uint64_t expected = alone.bench.hash();
  for (const int threads : {1, 2, 3, 4, 8}) {
    ThreadPool pool(threads);
    Heap heap(&pool);
    heap.run(120);
    EXPECT_EQ(heap.bench.hash(), expected) << threads << " threads";
  }
}

TEST(Determinism, same_bits_after_a_restore) {
  Heap heap(nullptr);
  heap.run(70);
  SaveArchive saved;
  heap.bench->archive(saved);
  const std::uint64_t before = heap.bench.hash();
  Heap other(nullptr);
  LoadArchive loaded(saved.bytes());
  other.bench->archive(loaded);
  ASSERT_TRUE(loaded.ok()) << loaded.failure();
  EXPECT_EQ(other.bench.hash(), before);
  heap.run(60);
  other.bench.set_clock(70);
  for (int i = 70; i < 130; ++i) {
    other.drive(i);
    ASSERT_TRUE(other.bench.tick().ok());
  }
  EXPECT_EQ(other.bench.hash(), heap.bench.hash());
}

TEST(Determinism, hashing_changes_nothing) {
  Heap heap(nullptr), other(nullptr);
  for (int i = 0; i < 40; ++i) {
    heap.run(1), other.run(1);
    (void)other.bench.hash();
  }
  EXPECT_EQ(heap.bench.hash(), other.bench.hash());
}

TEST(Determinism, every_form_of_new_is_counted) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer has forms of new of its own";
#endif
  struct alignas(64) Wide {
    double lanes[8];
  };
  const auto counts = [](auto&& make) {
    const long before = allocations;
    make();
    return allocations - before;
  };
  EXPECT_EQ(counts([] { ::operator delete(::operator new(8)); }), 1);
  EXPECT_EQ(counts([] { ::operator delete(::operator new(8, std::nothrow)); }), 1);
  EXPECT_EQ(counts([] { ::operator delete[](::operator new[](8)); }), 1);
  Wide* volatile kept = nullptr;  // the compiler may leave out a pair of new and delete that it can see
  EXPECT_EQ(counts([&] { kept = new Wide, delete kept; }), 1);
  EXPECT_EQ(counts([&] { kept = new Wide[3], delete[] kept; }), 1);
  EXPECT_EQ(counts([] { LaneVector<EightLanes> lanes(2); }), 1);
}

TEST(Determinism, a_steady_step_allocates_nothing) {
  if (sanitized) GTEST_SKIP() << "takes 20 s of a heap that the tests above run, too; sanitizers allocate no more";
  Heap heap(nullptr);
  heap.run(1200);  // until every buffer has been as large as it gets
  // The heap still moves, and a buffer may once more grow beyond what it ever was.
  int ticks_that_allocated = 0;
  for (int i = 1200; i < 1260; ++i) {
    heap.drive(i);
    const long before = allocations;
    (void)heap.bench.tick();
    ticks_that_allocated += allocations != before;
  }
  EXPECT_LE(ticks_that_allocated, 1);
}

}  // namespace volvox::physics::native
