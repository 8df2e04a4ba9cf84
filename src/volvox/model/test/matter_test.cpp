// <volvox:fluid>, <volvox:debris>, <volvox:cloth> and <volvox:particles>.
#include "volvox/model/matter.h"

#include <fmt/format.h>

#include "volvox/model/test/test_files.h"

namespace volvox::model::test {
namespace {

constexpr const char* pool = "<volvox:volume pose=\"0 0 0.5 0 0 0\" size=\"1 1 0.5\"/>";

TEST_F(ReaderTest, ReadsWaterRubbleAndCloth) {
  const auto read_back = read(world(
      "<volvox:particles low=\"-2 -2 -1\" high=\"2 2 3\" substep=\"0.001\" heap_layers=\"5\" "
      "rolling_resistance=\"0.1\" "
      "air_drag=\"0.2\">"
      "<volvox:drain pose=\"1 0 0 0 0 0\" size=\"0.1 0.2 0.3\"/></volvox:particles>"
      "<volvox:fluid spacing=\"0.05\" density=\"900\" viscosity=\"0.1\" surface_tension=\"0.07\" color=\"0 0.5 1\">"
      "<volvox:volume pose=\"0 0 0.5 0 0 0\" size=\"1 1 0.5\" velocity=\"0 1 0\"/>"
      "<volvox:emitter pose=\"0 0 2 0 0 0\" radius=\"0.2\" speed=\"3\" start=\"1\" stop=\"2\" "
      "most=\"500\"/></volvox:fluid>"
      "<volvox:debris radius=\"0.03\" spread=\"0.5\" density=\"2000\" friction=\"0.7\" seed=\"4\">"
      "<volvox:volume size=\"1 1 1\"/></volvox:debris>"
      "<volvox:cloth width=\"2\" height=\"1\" columns=\"40\" rows=\"20\" strength=\"8\" pins=\"first_row\"/>"));
  ASSERT_TRUE(read_back.ok()) << read_back.error().text();
  ASSERT_NE(read_back->matter, nullptr);
  const Matter& m = *read_back->matter;
  EXPECT_EQ(m.low, (Vec3{-2, -2, -1}));
  EXPECT_EQ(m.max_substep, 0.001);
  EXPECT_EQ(m.heap_layers, 5);
  ASSERT_EQ(m.drains.size(), 1u);
  EXPECT_EQ(m.drains[0].size, (Vec3{0.1, 0.2, 0.3}));
  ASSERT_TRUE(m.fluid);
  EXPECT_EQ(m.fluid->density, 900);
  EXPECT_EQ(m.fluid->color.g, 0.5);
  EXPECT_EQ(m.fluid->volumes.at(0).velocity.y, 1);
  EXPECT_EQ(m.fluid->emitters.at(0).most, 500u);
  EXPECT_NEAR(m.debris.at(0).radius_of(0) + m.debris.at(0).largest(), 0.06, 1e-12);
  EXPECT_LT(m.debris.at(0).largest(), 0.045);
  EXPECT_EQ(m.cloths.at(0).pins, Cloth::Pins::first_row);
  EXPECT_EQ(m.cloths.at(0).strength, 8);
  EXPECT_EQ(read(world(""))->matter, nullptr);
}

TEST_F(ReaderTest, SaysWhatIsWrongWithMatter) {
  const auto fluid = [](const std::string& attributes, const std::string& inside) {
    return world("\n<volvox:fluid " + attributes + ">\n" + inside + "</volvox:fluid>");
  };
  expect_error(read(fluid("spacing=\"0\"", pool)), 4, "spacing=\"0\" of <volvox:fluid>");
  expect_error(read(fluid("density=\"nan\"", pool)), 4, "density=\"nan\"");
  expect_error(read(fluid("viscosity=\"-1\"", pool)), 4, "viscosity");
  expect_error(read(fluid("color=\"1 2 3\"", pool)), 4, "no colour");
  expect_error(read(fluid("", "")), 4, "has no particles", "<volvox:volume>");
  expect_error(read(fluid("", "<volvox:volume/>")), 5, "a box or a mesh");
  expect_error(read(fluid("", "<volvox:volume size=\"1 1 -1\"/>")), 5, "not positive");
  expect_error(read(fluid("", "<volvox:emitter radius=\"0.1\"/>")), 5, "most");
  expect_error(read(fluid("", "<volvox:emitter most=\"1\" radius=\"0\"/>")), 5, "radius=\"0\"");
  expect_error(read(fluid("", "<volvox:emitter most=\"1\" start=\"2\" stop=\"1\"/>")), 5, "stops at 1 s", "later");
  // Every layer on the way is looked at.
  for (const char* speed : {"0", "1e9", "1e308"})
    expect_error(read(fluid("", fmt::format("<volvox:emitter most=\"1\" speed=\"{}\"/>", speed))), 5, "speed");
  expect_error(read(fluid("", "<volvox:volume mesh=\"missing.obj\"/>")), 5, "missing.obj");
  expect_error(read(fluid("", std::string(pool) + "</volvox:fluid>\n<volvox:fluid>" + pool)), 6, "two <volvox:fluid>");
  expect_error(read(world("\n<volvox:debris radius=\"0\">" + std::string(pool) + "</volvox:debris>")), 4,
               "radius=\"0\"");
  expect_error(read(world("\n<volvox:cloth columns=\"1\" width=\"1\" height=\"1\"/>")), 4, "columns");
  expect_error(read(world("\n<volvox:cloth height=\"1\"/>")), 4, "width");
  expect_error(read(world("\n<volvox:particles low=\"1 1 1\" high=\"0 2 2\"/>")), 4, "not below");
  expect_error(read(world("\n<volvox:volume size=\"1 1 1\"/>")), 4, "cannot stand in <world>", "volvox:fluid");
  // A tetrahedron without its fourth face.
  folder.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
  expect_error(read(fluid("", "<volvox:volume mesh=\"open.obj\"/>")), 5, "hole of 3 edges", "close the mesh");
  folder.write("closed.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  EXPECT_TRUE(read(fluid("", "<volvox:volume mesh=\"closed.obj\"/>")).ok());
}

}  // namespace
}  // namespace volvox::model::test
