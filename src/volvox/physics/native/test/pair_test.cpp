// Pairs of bodies side by side, and the convexes that are listed, against brute force over thousands of random pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "volvox/base/isa.h"
#include "volvox/physics/native/pair_collision.h"
#include "volvox/physics/native/test/scenes.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

class PairTest : public ::testing::Test {
 protected:
  double number() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  Vec3 vector() { return {number(), number(), number()}; }

  // Some boxes, spheres and drums in one body.
  void add_shape() {
    auto geometry = std::make_shared<model::Geometry>();
    const int parts = whole(1, 4);
    for (int i = 0; i < parts; ++i) {
      const Pose pose{vector() * 0.06, Quat::rpy(number(), number(), number())};
      model::Shape shape = model::Box{{0.05 + 0.04 * number(), 0.06, 0.03}};
      if (whole(0, 4) == 0) shape = model::Sphere{0.02};
      if (whole(0, 4) == 0) {
        auto hull = std::make_shared<model::HullData>();
        for (int k = 0; k < 24; ++k) {
          const double angle = 2 * pi * (k / 2) / 12;
          hull->points.push_back({0.03 * std::cos(angle), 0.03 * std::sin(angle), k % 2 == 0 ? -0.01 : 0.02});
        }
        shape = std::shared_ptr<const model::HullData>(hull);
      }
      geometry->colliders.push_back({"part", shape, pose, {}});
    }
    shapes_.push_back(cache_.shape(geometry, {}));
  }
  void add_body() {
    Body& body = bodies_.emplace_back();
    body.position = vector() * 0.12, body.linear = vector(), body.angular = vector() * 3;
    body.rotation = normalized(Quat{number(), number(), number(), 1.5 + number()});
    body.axes = rotation_matrix(lane(body.rotation));
    while (shapes_.size() < 12) add_shape();
  }
  BodyPair pair() {
    const std::size_t a = static_cast<std::size_t>(whole(0, static_cast<int>(bodies_.size()) - 1)),
                      b = static_cast<std::size_t>(whole(0, static_cast<int>(bodies_.size()) - 1));
    BodyPair pair;
    pair.a = static_cast<int>(a), pair.b = static_cast<int>(b), pair.body_a = &bodies_[a], pair.body_b = &bodies_[b];
    pair.shape_a = shapes_[a % shapes_.size()].get(), pair.shape_b = shapes_[b % shapes_.size()].get();
    pair.slack = 0.005 * std::fabs(number()), pair.turning = 0.5 * std::fabs(number());
    return pair;
  }
  std::vector<BodyPair> pairs(std::size_t count) {
    for (int i = 0; i < 200; ++i) add_body();
    std::vector<BodyPair> pairs;
    for (std::size_t i = 0; i < count; ++i) pairs.push_back(pair());
    return pairs;
  }

  std::mt19937_64 random_{20261118};
  ShapeCache cache_;
  std::vector<std::shared_ptr<const Shape>> shapes_;
  std::vector<Body> bodies_;
};

constexpr double horizon = 1.0 / 60;

TEST_F(PairTest, lie_where_one_pair_alone_lies_on_every_instruction_set) {
  const std::vector<BodyPair> asked = pairs(3001);
  const std::pair<Isa, decltype(&place_pairs_sse2)> kernels[] = {
      {Isa::sse2, &place_pairs_sse2}, {Isa::avx2, &place_pairs_avx2}, {Isa::avx512, &place_pairs_avx512}};
  for (const auto& [set, kernel] : kernels) {
    if (set > best_isa()) continue;
    std::vector<BodyPair> found = asked;
    kernel(found.data(), found.size(), horizon);
    int near = 0;
    for (const BodyPair& pair : found) {
      const Placement place = placement_of(*pair.body_b, *pair.body_a);
      const Placement back = placement_of(*pair.body_a, *pair.body_b);
      const double margin = pair.slack + horizon * (length(pair.body_a->linear - pair.body_b->linear) + pair.turning);
      EXPECT_EQ(pair.margin, margin);
      EXPECT_EQ(pair.place.position, place.position);
      EXPECT_EQ(plain(pair.place.axes.r0), plain(place.axes.r0));
      EXPECT_EQ(plain(pair.place.axes.r1), plain(place.axes.r1));
      EXPECT_EQ(plain(pair.place.axes.r2), plain(place.axes.r2));
      const bool boxes =
          overlap(pair.shape_a->bounds, bounds_in(pair.shape_b->bounds, place.axes, place.position, margin)) &&
          overlap(pair.shape_b->bounds, bounds_in(pair.shape_a->bounds, back.axes, back.position, margin));
      EXPECT_EQ(pair.near, boxes);
      near += pair.near;
    }
    EXPECT_GT(near, 300);
    EXPECT_LT(near, 2700);
  }
}

TEST_F(PairTest, list_all_convexes_that_are_within_reach) {
  std::vector<BodyPair> all = pairs(3000);
  place_pairs_sse2(all.data(), all.size(), horizon);
  PairRoom room;
  std::vector<ConvexPair> listed;
  int within = 0, asked = 0;
  for (BodyPair& pair : all) {
    if (pair.near) list_convexes(pair, room, listed);
    std::size_t next = pair.first_listed;
    for (const Convex& b : pair.shape_b->convexes) {
      for (const Convex& a : pair.shape_a->convexes) {
        const bool is_listed = next < pair.end_listed && listed[next].a == &a && listed[next].b == &b;
        next += is_listed;
        ++asked;
        GjkCount count;
        const double reach = pair.margin + a.radius + b.radius;
        const Proximity nearest = proximity(a, b, pair.place, reach, count);
        EXPECT_TRUE(is_listed || !nearest.near || nearest.distance >= reach);
        within += nearest.near;
      }
    }
    EXPECT_EQ(next, pair.end_listed) << "in the order of b's convexes, and then of a's";
  }
  EXPECT_GT(within, 1000);
  EXPECT_LT(listed.size(), static_cast<std::size_t>(asked) * 2 / 3);
  EXPECT_GE(listed.size(), static_cast<std::size_t>(within));
}

// Of many faces the one that is best aligned is found side by side; the contacts must be those of a search one by one.
TEST_F(PairTest, faces_are_kept_as_columns_too) {
  while (shapes_.size() < 40) add_shape();
  int many = 0;
  for (const auto& shape : shapes_) {
    for (const Convex& convex : shape->convexes) {
      if (convex.faces.empty()) continue;
      many += convex.faces.size() > 8;
      ASSERT_EQ(convex.face_x.size() % row_block, 0u);
      for (int i = 0; i < 50; ++i) {
        const Vec3 direction =
            i < 10 ? -convex.faces[static_cast<std::size_t>(i) % convex.faces.size()].normal : vector();
        const auto better = [&](const Convex::Face& x, const Convex::Face& y) {
          return dot(x.normal, direction) < dot(y.normal, direction);
        };
        const auto best = std::max_element(convex.faces.begin(), convex.faces.end(), better);
        EXPECT_EQ(wide_farthest(convex.face_x.data(), convex.face_y.data(), convex.face_z.data(),
                                static_cast<int>(convex.face_x.size()), direction),
                  best - convex.faces.begin());
      }
    }
  }
  EXPECT_GT(many, 5);
}

}  // namespace
}  // namespace volvox::physics::native
