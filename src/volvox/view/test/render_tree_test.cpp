#include "volvox/view/render_tree.h"

#include <gtest/gtest.h>

#include <fstream>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/sim/run.h"
#include "volvox/sim/test/worlds.h"
#include "volvox/view/render_engine.h"

namespace volvox::view {
namespace {

class RenderTreeTest : public testing::Test {
 protected:
  sim::Stage stage;
  std::unique_ptr<sim::Simulation> simulation = stage.simulate(stage.busy_world());
  RenderTree tree = RenderTree::of(simulation->world());
};

TEST_F(RenderTreeTest, HasANodeForEveryLinkDockAndSensorInTheWorldsOrder) {
  const world::World& world = simulation->world();
  ASSERT_EQ(tree.links(), world.links());
  ASSERT_EQ(tree.docks(), world.docks());
  EXPECT_EQ(tree.things.size(), world.placements());
  for (world::LinkIndex l = 0; l < world.links(); ++l) EXPECT_EQ(tree.nodes[l].number, l);
  for (world::DockIndex d = 0; d < world.docks(); ++d) {
    const RenderNode& node = tree.dock_node(d);
    EXPECT_EQ(node.kind, RenderNode::Kind::dock);
    EXPECT_EQ(node.name, world.dock_name(d));
    const Pose pose = world.link_pose(node.parent) * node.pose;
    EXPECT_NEAR(length(pose.position - world.dock_pose(d).position), 0, 1e-3);  // SuperBot's lie on the surface
  }
  EXPECT_EQ(tree.nodes.size(), world.links() + world.docks() + 3 * 12);  // three sensors a module
}

TEST_F(RenderTreeTest, ModulesOfOneModelShareTheirMeshesAndTheGroundHasNone) {
  EXPECT_EQ(tree.meshes.size(), 1u + 4u);  // the ring of the docks, four links
  ASSERT_EQ(tree.grounds.size(), 1u);
  EXPECT_NEAR(length(tree.grounds[0].pose.rotation * Vec3{0, 0, 1} - Vec3{0, 0, 1}), 0, 1e-12);
  EXPECT_EQ(tree.nodes[0].mesh, none);
  EXPECT_TRUE(tree.things[0].fixed);
  EXPECT_TRUE(tree.things[1].is_module);
}

TEST_F(RenderTreeTest, EqualObstaclesShareAMesh) {
  model::WorldBuilder builder;
  for (int i = 0; i < 5; ++i) builder.add_obstacle(model::Box{{1, 1, 1}}, Pose{{2.0 * i, 0, 0}, {}});
  builder.add_obstacle(model::Box{{1, 1, 2}}, Pose{{-2, 0, 0}, {}});
  auto built = builder.build();
  ASSERT_TRUE(built.ok());
  const auto other = stage.simulate(std::make_shared<const model::WorldModel>(std::move(*built)));
  EXPECT_EQ(RenderTree::of(other->world()).meshes.size(), 1u + 2u);
}

TEST_F(RenderTreeTest, AFrameFollowsTheWorldAndTouchesNothing) {
  const std::uint64_t before = simulation->hash();
  Frame frame;
  capture(*simulation, frame);
  capture_rays(simulation->minds(), frame);
  EXPECT_EQ(simulation->hash(), before);
  sim::advance(*simulation, 30);
  capture(*simulation, frame);
  EXPECT_EQ(frame.tick, 30);
  const world::World& world = simulation->world();
  for (world::LinkIndex l = 0; l < world.links(); ++l) {
    const Pose shown = to_pose(frame.links[l]), real = world.link_pose(l);
    EXPECT_NEAR(length(shown.position - real.position), 0, 1e-6);
    EXPECT_NEAR(angle(shown.rotation.conjugate() * real.rotation), 0, 1e-3);
  }
  for (world::DockIndex d = 0; d < world.docks(); ++d) {
    EXPECT_EQ((frame.docks[d].flags & DockView::engaged) != 0, world.dock_status(d).phase == world::DockPhase::engaged);
    EXPECT_EQ((frame.docks[d].flags & DockView::enabled) != 0, world.dock_status(d).enabled);
  }
  const LinkPose* memory = frame.links.data();
  capture(*simulation, frame);
  EXPECT_EQ(frame.links.data(), memory);  // the memory is kept
}

TEST_F(RenderTreeTest, BoundsHoldTheModulesAndACameraFramesThem) {
  Frame frame;
  capture(*simulation, frame);
  const model::Bounds box = bounds(tree, frame, true);
  EXPECT_NEAR(box.high.z - box.low.z, 0.084, 0.01);
  EXPECT_NEAR(box.high.y - box.low.y, 0.084 + 0.5, 0.02);
  EXPECT_NEAR(box.high.x - box.low.x, 4 * 0.168, 0.02);
  const Camera camera = Camera::framing(box, {1, -1, 1}, 16.0 / 9);
  const Vec3 forward = normalized(camera.target - camera.eye);
  double low = 1, high = -1;
  for (int i = 0; i < 8; ++i) {  // every corner lies inside the view frustum
    const Vec3 p =
        Vec3{i & 1 ? box.high.x : box.low.x, i & 2 ? box.high.y : box.low.y, i & 4 ? box.high.z : box.low.z} -
        camera.eye;
    const Vec3 right = normalized(cross(forward, {0, 0, 1})), up = cross(right, forward);
    EXPECT_LT(std::fabs(dot(p, up)) / dot(p, forward), std::tan(camera.field_of_view / 2));
    low = std::min(low, dot(p, up) / dot(p, forward)), high = std::max(high, dot(p, up) / dot(p, forward));
    EXPECT_LT(std::fabs(dot(p, right)) / dot(p, forward), std::tan(camera.field_of_view / 2) * 16 / 9);
  }
  EXPECT_NEAR(low, -high, 0.01);  // in the middle of the picture, not of the box
}

// Where a world has no ground: under its tank, not in the plane of the tank's floor, on which the lowest particles lie.
TEST(AddedGround, LiesUnderAllThatIsThere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "tank.sdf") << R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="tank"><model name="tank"><static>true</static>
<link name="floor"><pose>0 0 -0.05 0 0 0</pose><collision name="box"><geometry><box><size>1 1 0.1</size></box></geometry>
</collision></link></model>
<volvox:debris radius="0.02"><volvox:volume pose="0 0 0.1 0 0 0" size="0.2 0.2 0.2"/></volvox:debris></world></sdf>)";
  sim::Stage stage;
  sim::RunOptions options;
  options.experiment = (folder / "tank.sdf").string();
  const auto run = sim::Run::prepare(options, stage.library, stage.log);
  ASSERT_TRUE(run.ok()) << run.error().text();
  const RenderTree tree = RenderTree::of(**run);
  ASSERT_EQ(tree.grounds.size(), 1u);
  EXPECT_NEAR(tree.grounds[0].pose.position.z, -0.1, 1e-6);
}

TEST(DockColor, TellsTheGendersAndTheStatesApart) {
  std::vector<Rgba> colors = {dock_color(model::Gender::male, {DockView::enabled, 0}),
                              dock_color(model::Gender::female, {DockView::enabled, 0}),
                              dock_color(model::Gender::both, {DockView::enabled, 0}),
                              dock_color(model::Gender::male, {DockView::enabled | DockView::engaged, 0}),
                              dock_color(model::Gender::male, {DockView::enabled | DockView::latching, 0}),
                              dock_color(model::Gender::male, {DockView::enabled | DockView::broken, 0}),
                              dock_color(model::Gender::male, {0, 0})};
  for (std::size_t i = 0; i < colors.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int difference = std::abs(colors[i].r - colors[j].r) + std::abs(colors[i].g - colors[j].g) +
                             std::abs(colors[i].b - colors[j].b);
      EXPECT_GT(difference, 100) << i << " " << j;
    }
  EXPECT_GT(load_color(0).b, load_color(0).r);
  EXPECT_GT(load_color(1).r, load_color(1).b);
  EXPECT_EQ(load_color(std::nan("")).a, 255);
}

}  // namespace
}  // namespace volvox::view
