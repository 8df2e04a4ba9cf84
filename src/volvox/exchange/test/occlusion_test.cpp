#include "volvox/exchange/occlusion.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "volvox/world/test/cubes.h"

namespace volvox::exchange {
namespace {

// Cubes in a row, the first and the last with a radio, and one beside the row with another.
struct Row {
  explicit Row(int between) : builder("row") {
    builder.set_gravity({});
    const auto cube = world::share(world::cube());
    for (int i = 0; i < between + 2; ++i) builder.add(cube, Pose{{0.5 * i, 0, 0}, {}}, "m" + std::to_string(i));
    builder.add(cube, Pose{{0, 3, 0}, {}}, "beside");
    bench = std::make_unique<world::Bench>(builder, TickLength{1, 60}, "none");
    for (std::uint32_t radio = 0; radio < 3; ++radio)
      occlusion.add(radio, radio == 0 ? 0 : narrow<std::uint32_t>(between) + radio);
    positions = {{0, 0, 0}, {0.5 * (between + 1), 0, 0}, {0, 3, 0}};
  }
  void look() {
    sight.update(bench->world());
    occlusion.look(bench->world(), sight, positions);
  }
  model::WorldBuilder builder;
  std::unique_ptr<world::Bench> bench;
  Sight sight;
  Occlusion occlusion{0.5};
  std::vector<Vec3> positions;
};

TEST(Occlusion, every_body_between_dims_once_and_the_two_that_talk_do_not_count) {
  for (const int between : {0, 1, 3}) {
    Row row(between);
    row.look();
    EXPECT_EQ(row.occlusion.passes(0, 1), std::pow(0.5, between));
    EXPECT_EQ(row.occlusion.passes(1, 0), row.occlusion.passes(0, 1)) << "both ways";
    EXPECT_EQ(row.occlusion.passes(0, 2), 1) << "nothing stands there";
  }
}

TEST(Occlusion, takes_its_share_of_the_gain) {
  Row row(2);
  const auto occlusion = std::make_shared<Occlusion>(row.occlusion);
  const auto model = dimmed(std::make_unique<net::Friis>(2.4e9), occlusion);
  const net::Friis open(2.4e9);
  const auto both = [&](std::uint32_t to) {
    const Vec3 from = row.positions[0], at = row.positions[to];
    return std::pair(model->gain(from, at, 0, to), open.gain(from, at, 0, to));
  };
  EXPECT_EQ(both(1).first, both(1).second) << "nothing was looked at yet";
  row.sight.update(row.bench->world());
  occlusion->look(row.bench->world(), row.sight, row.positions);
  EXPECT_EQ(both(1).first, both(1).second * 0.25);
  EXPECT_EQ(both(2).first, both(2).second);
}

TEST(Occlusion, follows_what_moves) {
  Row row(1);
  row.look();
  EXPECT_EQ(row.occlusion.passes(0, 1), 0.5);
  world::World& world = row.bench->world();
  world.place_link(world.part(1).first_link, {{0.5, 1, 0}, {}}, {});
  row.look();
  EXPECT_EQ(row.occlusion.passes(0, 1), 1) << "it stepped aside";
}

}  // namespace
}  // namespace volvox::exchange
