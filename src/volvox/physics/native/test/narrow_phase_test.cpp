// The search for the distance of polyhedra in lanes and from where it last ended, against the scalar search from
// nothing (gjk.cpp, epa.cpp) and against what distances mean, over thousands of random pairs.
#include "volvox/physics/native/narrow_phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "volvox/base/isa.h"
#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

constexpr double epa_tolerance = 1e-8;  // m, see epa.cpp

class NarrowPhaseTest : public ::testing::Test {
 protected:
  double number() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  Vec3 vector() { return {number(), number(), number()}; }
  Quat rotation() {
    const Quat q{number(), number(), number(), number()};
    return std::fabs(q.w) + std::fabs(q.x) > 0.1 ? normalized(q) : Quat{};
  }

  void add(const model::Shape& shape) {
    shapes_.push_back(cache_.shape(geometry_of(shape), {}));
    convexes_.push_back(&shapes_.back()->convexes.front());
  }
  void add_hull(const std::vector<Vec3>& points) {
    model::HullData hull;
    hull.points = points;
    add(std::make_shared<const model::HullData>(hull));
  }
  // A box, a thin one, a drum of 37 sides as SuperBots have, a tetrahedron, and random ones with many corners.
  void make_hulls() {
    add(model::Box{{0.1, 0.06, 0.08}});
    add(model::Box{{0.1, 0.1, 0.01}});
    std::vector<Vec3> drum;
    for (int i = 0; i < 37; ++i) {
      const double angle = 2 * pi * i / 37;
      for (const double z : {-0.03, 0.03}) drum.push_back({0.04 * std::cos(angle), 0.04 * std::sin(angle), z});
    }
    add_hull(drum);
    add_hull({{0.05, 0, 0}, {-0.05, 0.04, 0}, {0, -0.05, 0}, {0, 0, 0.06}});
    for (int k = 0; k < 2; ++k) {
      std::vector<Vec3> round;
      for (int i = 0; i < 150; ++i) round.push_back(normalized(vector() + Vec3{0, 0, 1e-3}) * 0.05);
      add_hull(round);
    }
  }

  static Placement placed(const Quat& q, const Vec3& position) { return {rotation_matrix(lane(q)), position}; }

  // How far apart two polyhedra are along a normal from b to a, from all of their corners.
  static double apart_along(const ConvexPair& pair, const Vec3& normal) {
    double least = 1e300, most = -1e300;
    for (const Vec3& p : pair.a->points) least = std::min(least, dot(p, normal));
    for (const Vec3& p : pair.b->points) most = std::max(most, dot(pair.place.to_first(p), normal));
    return least - most;
  }
  static Proximity oracle(const ConvexPair& pair) {
    GjkCount count;
    return proximity(*pair.a, *pair.b, pair.place, pair.reach, count);
  }
  // What the next search is told, as the detector takes it from the contacts.
  static void remember(const ConvexPair& last, ConvexPair& next) {
    if (!last.found.near) return;
    next.known = true, next.normal = last.found.normal, next.separation = last.found.distance;
    next.corners = last.corners;
  }
  // Beside each other: `gap` apart along some direction, by what the oracle says.
  ConvexPair pair_at(double gap) {
    ConvexPair pair;
    pair.a = convexes_[static_cast<std::size_t>(whole(0, static_cast<int>(convexes_.size()) - 1))];
    pair.b = convexes_[static_cast<std::size_t>(whole(0, static_cast<int>(convexes_.size()) - 1))];
    const Quat q = whole(0, 3) == 0 ? Quat{} : rotation();  // some lie face to face
    const Vec3 way = normalized(vector() + Vec3{0, 0, 1e-3});
    pair.reach = 1;
    pair.place = placed(q, way * 0.3);
    const Proximity far = oracle(pair);
    pair.place.position += far.normal * (far.distance - gap);
    return pair;
  }

  // Whether what was found is right: apart as the oracle says; in overlap a way out that is none too long.
  static void expect_right(const ConvexPair& pair, int& overlaps, int& longer) {
    const Proximity right = oracle(pair);
    if (!right.near || !pair.found.near) {
      EXPECT_TRUE(right.near == pair.found.near ||
                  std::fabs(std::max(right.distance, pair.found.distance) - pair.reach) < 1e-9);
      return;
    }
    EXPECT_NEAR(length(pair.found.normal), 1, 1e-9);
    EXPECT_NEAR(apart_along(pair, pair.found.normal), pair.found.distance, 2e-8);
    if (right.distance > 1e-6) {
      EXPECT_NEAR(pair.found.distance, right.distance, 1e-8);  // with a shift, to what turned_enough leaves
      EXPECT_NEAR(length(pair.found.on_a - pair.found.on_b), pair.found.distance, 1e-8);
      return;
    }
    ++overlaps;
    EXPECT_LT(pair.found.distance, right.distance + 3 * epa_tolerance);
    if (pair.found.distance < right.distance - 1e-6) ++longer;
  }

  std::mt19937_64 random_{20261117};
  ShapeCache cache_;
  std::vector<std::shared_ptr<const Shape>> shapes_;
  std::vector<const Convex*> convexes_;
};

TEST_F(NarrowPhaseTest, finds_from_nothing_what_the_scalar_search_finds) {
  make_hulls();
  int overlaps = 0, longer = 0, far = 0;
  for (int i = 0; i < 6000; ++i) {
    const double gap = i % 4 == 0 ? 0 : i % 4 == 1 ? 0.01 * number() : i % 4 == 2 ? 1e-6 * number() : 0.05 * number();
    ConvexPair pair = pair_at(gap);
    pair.reach = 0.02;
    GjkCount count;
    NarrowPhase::run(pair, count);
    expect_right(pair, overlaps, longer);
    far += !pair.found.near;
  }
  EXPECT_GT(overlaps, 1000);
  EXPECT_GT(far, 300);
  EXPECT_EQ(longer, 0);  // they were expanded
}

// A pair that moves a little from look to look, through touching and overlap and out again.
TEST_F(NarrowPhaseTest, finds_from_where_it_ended_what_the_scalar_search_finds) {
  make_hulls();
  int overlaps = 0, longer = 0;
  std::uint64_t warm = 0, cold = 0;
  for (int i = 0; i < 300; ++i) {
    ConvexPair pair = pair_at(1e-3);
    Quat q = rotation();
    pair.place.axes = rotation_matrix(lane(q));
    pair.place.position = {};
    pair.place.position = normalized(vector() + Vec3{0, 0, 1e-3}) * 0.3;
    const Proximity start = oracle(pair);
    pair.place.position += start.normal * (start.distance - 1e-3);
    for (int k = 0; k < 40; ++k) {
      GjkCount count, alone;
      NarrowPhase::run(pair, count);
      expect_right(pair, overlaps, longer);
      if (k > 0)
        warm += pair.rounds, (void)proximity(*pair.a, *pair.b, pair.place, pair.reach, alone), cold += alone.iterations;
      ConvexPair next;
      next.a = pair.a, next.b = pair.b, next.reach = pair.reach;
      remember(pair, next);
      q = normalized(Quat{1, 0.01 * number(), 0.01 * number(), 0.01 * number()} * q);
      const double closer = 1.5e-3 * std::cos(0.3 * k);
      next.place = placed(q, pair.place.position + (pair.found.near ? pair.found.normal : Vec3{}) * closer * 0.2);
      pair = next;
    }
  }
  EXPECT_GT(overlaps, 1000);
  // The shortest way out may be another than that of before, where the two are about as long.
  EXPECT_LT(longer, overlaps / 20);
  EXPECT_LT(2 * warm, cold);
}

TEST_F(NarrowPhaseTest, who_is_beside_a_pair_and_the_instruction_set_change_no_bit) {
  make_hulls();
  std::vector<ConvexPair> asked;
  for (int i = 0; i < 3000; ++i) {
    ConvexPair pair = pair_at(i % 2 == 0 ? 1e-3 * number() : 0.01 * number());
    pair.reach = 0.02;
    if (i % 3 > 0) {
      ConvexPair last = pair;
      GjkCount count;
      NarrowPhase::run(last, count);
      remember(last, pair);
      pair.place.position += vector() * 5e-4;
    }
    asked.push_back(pair);
  }
  std::vector<ConvexPair> together = asked, alone = asked, shared = asked;
  const auto pointers = [](std::vector<ConvexPair>& pairs) {
    std::vector<ConvexPair*> all;
    for (ConvexPair& pair : pairs) all.push_back(&pair);
    return all;
  };
  Work work;
  ThreadPool threads(3);
  NarrowPhase().run(pointers(together), nullptr, work);
  NarrowPhase().run(pointers(shared), &threads, work);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    GjkCount count;
    NarrowPhase::run(alone[i], count);
    for (const ConvexPair* other : {&together[i], &shared[i]}) {
      EXPECT_EQ(alone[i].found.near, other->found.near);
      EXPECT_EQ(alone[i].found.distance, other->found.distance);
      EXPECT_EQ(alone[i].found.normal, other->found.normal);
      EXPECT_EQ(alone[i].found.on_a, other->found.on_a);
      EXPECT_EQ(alone[i].found.on_b, other->found.on_b);
      EXPECT_EQ(alone[i].corners.pairs, other->corners.pairs);
    }
  }
  // The kernels themselves.
  const std::pair<Isa, decltype(&search_sse2)> kernels[] = {
      {Isa::sse2, &search_sse2}, {Isa::avx2, &search_avx2}, {Isa::avx512, &search_avx512}};
  for (ConvexPair& pair : asked) pair.guess = {0, 0, 1};
  for (const int rounds : {1, 3, 20}) {
    std::vector<ConvexPair> first = asked;
    search_sse2(pointers(first).data(), first.size(), rounds);
    for (const auto& [set, kernel] : kernels) {
      if (set > best_isa()) continue;
      std::vector<ConvexPair> other = asked;
      kernel(pointers(other).data(), other.size(), rounds);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_EQ(first[i].outcome, other[i].outcome);
        EXPECT_EQ(first[i].rounds, other[i].rounds);
        EXPECT_EQ(first[i].nearest, other[i].nearest);
        EXPECT_EQ(first[i].weight, other[i].weight);
        EXPECT_EQ(first[i].corners.pairs, other[i].corners.pairs);
      }
    }
  }
}

// Whatever a damaged snapshot says of the last time, the answer is right.
TEST_F(NarrowPhaseTest, wrong_memories_cost_time_only) {
  make_hulls();
  int overlaps = 0, longer = 0;
  for (int i = 0; i < 2000; ++i) {
    ConvexPair pair = pair_at(0.004 * std::fabs(number()) + 1e-5);
    pair.reach = 0.02;
    pair.known = true, pair.normal = normalized(vector() + Vec3{0, 0, 1e-3}), pair.separation = 0.01 * number();
    for (std::uint32_t& corner : pair.corners.pairs)
      corner = static_cast<std::uint32_t>(whole(0, 200)) | static_cast<std::uint32_t>(whole(0, 200)) << 16;
    GjkCount count;
    NarrowPhase::run(pair, count);
    expect_right(pair, overlaps, longer);
  }
  EXPECT_EQ(overlaps, 0);
}

}  // namespace
}  // namespace volvox::physics::native
