#include "volvox/view/web/codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "volvox/net/propagation.h"
#include "volvox/record/traffic.h"
#include "volvox/view/web/web_engine.h"

namespace volvox::view {
namespace {

std::shared_ptr<RenderTree> one_box() {
  auto tree = std::make_shared<RenderTree>();
  tree->name = "box \"quoted\"";
  Mesh mesh;
  append(mesh, model::Box{{1, 1, 1}}, Pose{}, Rgba{255, 0, 0, 255});
  tree->meshes.push_back(std::make_shared<const DetailedMesh>(with_levels(std::move(mesh))));
  RenderNode link;
  link.name = "a.body";
  link.mesh = 0;
  RenderNode dock;
  dock.kind = RenderNode::Kind::dock;
  dock.name = "a.front";
  dock.parent = 0;
  tree->nodes = {link, dock};
  tree->genders = {model::Gender::male};
  tree->things = {{"a", "box", true, false, 0, 1, 0, 1}};
  tree->link_count = 1;
  return tree;
}

TEST(Codec, ATreeIsTextAndBuffers) {
  const auto tree = one_box();
  const std::string bytes = encode_tree(*tree);
  ASSERT_EQ(bytes.substr(0, 4), "VXS1");
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 4, 4);
  const auto json = nlohmann::json::parse(bytes.substr(8, length));
  EXPECT_EQ(json["name"], tree->name);
  EXPECT_EQ(json["links"][0][0], 0);
  EXPECT_EQ(json["docks"][0]["gender"], 0);
  const auto& level = json["meshes"][0]["levels"][0];
  const std::size_t base = (8 + length + 3) / 4 * 4;
  const Mesh& mesh = tree->meshes[0]->full();
  EXPECT_EQ(level["vertices"], mesh.vertices.size());
  EXPECT_EQ(std::memcmp(bytes.data() + base + level["vertices_at"].get<std::size_t>(), mesh.vertices.data(),
                        mesh.vertices.size() * sizeof(Vertex)),
            0);
  EXPECT_EQ(std::memcmp(bytes.data() + base + level["indices_at"].get<std::size_t>(), mesh.indices.data(),
                        mesh.indices.size() * 4),
            0);
  EXPECT_EQ(bytes.size(), base + level["indices_at"].get<std::size_t>() + mesh.indices.size() * 4);
}

TEST(Codec, AFrameHasItsPlaces) {
  Frame frame;
  frame.tick = 7;
  frame.time = Time::seconds(0.5);
  frame.links.resize(2);
  frame.links[1].position = {1, 2, 3};
  frame.docks.resize(3);
  frame.docks[2] = {DockView::engaged, 0.5f};
  frame.docks[0].load = 7;  // above its strength: shown as 255
  frame.traffic = {{{4, 5}}, {{1, 2, 3, 40}}};
  const std::string bytes = encode_frame(frame);
  ASSERT_EQ(bytes.substr(0, 4), "VXF1");
  const auto at = [&]<class T>(std::size_t offset, T value) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  EXPECT_EQ(at(4, std::uint32_t{}), 2u);
  EXPECT_EQ(at(8, std::uint32_t{}), 3u);
  EXPECT_EQ(at(16, std::uint32_t{}), 1u);
  EXPECT_EQ(at(24, 0.0), 0.5);
  EXPECT_EQ(at(32, 0.0), 7);
  EXPECT_EQ(at(40 + 28 + 8, 0.0f), 3);
  EXPECT_EQ(at(96 + 2, std::uint8_t{}), DockView::engaged);
  EXPECT_EQ(at(96 + 3, std::uint8_t{}), 255);
  EXPECT_EQ(at(96 + 5, std::uint8_t{}), 127);
  EXPECT_EQ(at(104 + 4, std::uint32_t{}), 5u);
  EXPECT_EQ(at(112, std::uint32_t{}), 1u);
  EXPECT_EQ(at(112 + 4 + 12, 0.0f), 40);
  EXPECT_EQ(bytes.size(), 132u);
}

// The radius of a ring is the distance at which a radio frame can just be decoded.
TEST(Traffic, RingsReachAsFarAsARadioIsHeard) {
  model::Radio radio;
  radio.receive_threshold = 1e-9;
  const double range = record::free_space_range(radio, 2.4e9);
  EXPECT_NEAR(radio.power * net::Friis(2.4e9).gain({}, {range, 0, 0}), radio.receive_threshold, 1e-18);
}

// The engine is chosen by name, like any other.
TEST(WebEngine, IsARenderEngine) {
  if (!std::filesystem::exists(bundle_folder() / "index.html"))
    GTEST_SKIP() << "the viewer has not been built: npm --prefix web ci && npm --prefix web run build";
  RenderEngineRegistry registry("render engine");
  add_web_engine(registry);
  auto factory = registry.find("web");
  ASSERT_TRUE(factory.ok());
  auto engine = (**factory)(Parameters({}, "render engine 'web'"));
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ((*engine)->info().device.substr(0, 17), "http://127.0.0.1:");
  EXPECT_TRUE((*engine)->load(one_box()).ok());
  Frame frame;
  frame.links.resize(1);
  frame.docks.resize(1);
  EXPECT_TRUE((*engine)->show(frame).ok());
  EXPECT_FALSE((*engine)->image({}).ok()) << "it makes no images";
  EXPECT_FALSE((**factory)(Parameters({{"port", "many"}}, "render engine 'web'")).ok());
}

}  // namespace
}  // namespace volvox::view
