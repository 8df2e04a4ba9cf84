#include "volvox/base/type.h"

#include <gtest/gtest.h>

namespace robots {

struct Feature {
  double distance = 0;
  int kind = 0;
  std::string label;
};
VOLVOX_TYPE(Feature, distance, kind, label)

struct Features {
  std::vector<Feature> nearest;
  volvox::Vec3 direction;
  float width = 0;
  bool seen = false;
};
VOLVOX_TYPE(Features, nearest, direction, width, seen)

struct Ping {};
VOLVOX_TYPE(Ping)

}  // namespace robots

namespace volvox {
namespace {

robots::Features example() { return {{{1.5, 2, "wall"}, {2.5, 3, "box"}}, {1, 2, 3}, 0.5f, true}; }

TEST(Type, IsDescribedAsJson) {
  EXPECT_EQ(
      describe(example()),
      R"({"nearest": [{"distance": 1.5, "kind": 2, "label": "wall"}, {"distance": 2.5, "kind": 3, "label": "box"}], )"
      R"("direction": [1, 2, 3], "width": 0.5, "seen": true})");
  EXPECT_EQ(describe(robots::Ping{}), "{}");
  EXPECT_EQ(describe(std::string("a\"b\n")), "\"a\\\"b\\u000a\"");
  EXPECT_EQ(describe(1.0 / 0.0), "null");
}

TEST(Value, HoldsAnyTypeAndKnowsIt) {
  Value value(example());
  ASSERT_NE(value.get<robots::Features>(), nullptr);
  EXPECT_EQ(value.get<double>(), nullptr);
  Value copy = value;
  copy.get<robots::Features>()->nearest.clear();
  EXPECT_EQ(value.get<robots::Features>()->nearest.size(), 2u);
  Value moved = std::move(copy);
  EXPECT_TRUE(moved.get<robots::Features>()->nearest.empty());
  moved = Value(2.5);
  EXPECT_EQ(*moved.get<double>(), 2.5);
  EXPECT_EQ(moved.type()->name, "double");
}

TEST(Value, GivesItsNumbersToNoise) {
  Value value(example());
  value.each_number([](double& x) { x += 1; });
  const auto& f = *value.get<robots::Features>();
  EXPECT_EQ(f.nearest[1].distance, 3.5);
  EXPECT_EQ(f.nearest[1].kind, 3);
  EXPECT_EQ(f.direction, (Vec3{2, 3, 4}));
  EXPECT_EQ(f.width, 1.5f);
}

TEST(Value, LoadsOnlyItsOwnType) {
  Value value(example());
  SaveArchive save;
  save("v", value);
  Value same = Value::of(type_of<robots::Features>()), other(1.0);
  LoadArchive load(save.bytes());
  load("v", same);
  EXPECT_TRUE(load.ok());
  EXPECT_EQ(same.describe(), value.describe());
  LoadArchive wrong(save.bytes());
  wrong("v", other);
  EXPECT_FALSE(wrong.ok());
}

}  // namespace
}  // namespace volvox

namespace elsewhere {
struct Feature {  // the same name, another layout
  std::array<double, 9> numbers{};
};
VOLVOX_TYPE(Feature, numbers)
}  // namespace elsewhere

namespace volvox {
namespace {

TEST(Value, TwoTypesOfOneNameAreNotTheSame) {
  Value value(robots::Feature{1, 2, "x"});
  EXPECT_NE(value.get<robots::Feature>(), nullptr);
  EXPECT_EQ(value.get<elsewhere::Feature>(), nullptr);
  EXPECT_FALSE(Payload::of(robots::Feature{}).as<elsewhere::Feature>().has_value());
}

TEST(Payload, AFlippedBitStillMakesABool) {
  Payload payload = Payload::of(true);
  payload.bytes()[0] = std::byte{9};
  EXPECT_TRUE(payload.as<bool>().value());
}

TEST(Payload, IsReadAsWhatItIs) {
  Payload payload = Payload::of(example());
  EXPECT_FALSE(payload.as<robots::Ping>().has_value());
  ASSERT_TRUE(payload.as<robots::Features>().has_value());
  EXPECT_EQ(payload.as<robots::Features>()->nearest[0].label, "wall");
  payload.bytes().pop_back();
  EXPECT_FALSE(payload.as<robots::Features>().has_value());
  EXPECT_TRUE(Payload::of(robots::Ping{}).as<robots::Ping>().has_value());
}

}  // namespace
}  // namespace volvox
