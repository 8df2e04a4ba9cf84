#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/mind/camera.h"
#include "volvox/sim/test/worlds.h"
#include "volvox/view/picture/image_file.h"
#include "volvox/view/picture/overlay.h"
#include "volvox/view/picture/picture_engine.h"
#include "volvox/view/picture/sheets.h"
#include "volvox/view/picture/smooth_edges.h"
#include "volvox/view/picture/video.h"

namespace volvox::view::picture {
namespace {

PictureSettings plain(int width = 320, int height = 240) {
  PictureSettings settings;
  settings.width = width, settings.height = height;
  settings.grid = settings.scale_bar = false;
  settings.detail = 4;
  return settings;
}

int difference(Rgba a, Rgba b) { return std::abs(a.r - b.r) + std::abs(a.g - b.g) + std::abs(a.b - b.b); }
int brightness(Rgba a) { return a.r + a.g + a.b; }

Image smoothed(const Image& image) {
  std::vector<std::uint32_t> colors;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3)
    colors.push_back(image.pixels[i] | image.pixels[i + 1] << 8 | image.pixels[i + 2] << 16);
  return EdgeSmoother().smoothed(colors, image.width, image.height, nullptr);
}

template <class Test>
int count(const Image& image, const Test& test) {
  int found = 0;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) found += test(image.at(x, y)) ? 1 : 0;
  return found;
}

class PictureTest : public testing::Test {
 protected:
  void SetUp() override { engine = make_picture_engine(plain()); }

  void stage(model::WorldBuilder& builder, const PictureSettings& settings = plain()) {
    auto built = builder.build();
    ASSERT_TRUE(built.ok()) << built.error().text();
    stage(stage_.simulate(std::make_shared<const model::WorldModel>(std::move(*built))), settings);
  }
  void stage(std::unique_ptr<sim::Simulation> made, const PictureSettings& settings = plain()) {
    engine = make_picture_engine(settings);
    simulation = std::move(made);
    tree = std::make_shared<const RenderTree>(RenderTree::of(simulation->world()));
    ASSERT_TRUE(engine->load(tree).ok());
    capture(*simulation, frame);
    ASSERT_TRUE(engine->show(frame).ok());
  }
  void exchange_engine(const PictureSettings& settings) {
    engine = make_picture_engine(settings);
    ASSERT_TRUE(engine->load(tree).ok());
    ASSERT_TRUE(engine->show(frame).ok());
  }
  Image draw(const Camera& camera, std::span<const Frame> earlier = {}) {
    auto image = engine->image(camera, earlier);
    EXPECT_TRUE(image.ok()) << image.error().text();
    return image.ok() ? *image : Image{};
  }
  static Camera from(const Vec3& eye, const Vec3& target = {}) {
    Camera camera;
    camera.eye = eye, camera.target = target;
    return camera;
  }

  sim::Stage stage_;
  std::unique_ptr<RenderEngine> engine;
  std::unique_ptr<sim::Simulation> simulation;
  std::shared_ptr<const RenderTree> tree;
  Frame frame;
};

TEST_F(PictureTest, DrawsABoxInItsColourWhereItIs) {
  model::WorldBuilder builder;
  builder.add_obstacle(model::Box{{1, 1, 1}}, {}, 0, {}, {0.9, 0.05, 0.05, 1});
  stage(builder);
  const Image image = draw(from({5, 0, 0}));
  const Rgba middle = image.at(160, 120), corner = image.at(2, 2);
  EXPECT_GT(middle.r, middle.g + 60);
  EXPECT_GT(middle.r, middle.b + 60);
  EXPECT_GT(difference(middle, corner), 150);
}

// The nearest face is 4.5 m from the eye and hides the rest. Half of the angle of its 1 m edge has the
// tangent 0.5 / 4.5.
TEST_F(PictureTest, TheSilhouetteOfABoxHasTheSizeOfItsProjection) {
  model::WorldBuilder builder;
  builder.add_obstacle(model::Box{{1, 1, 1}}, {}, 0, {}, {0.1, 0.1, 0.1, 1});
  stage(builder);
  const Image image = draw(from({5, 0, 0}));
  const double side = 2 * 0.5 / 4.5 * (240 / 2.0) / std::tan(Camera{}.field_of_view / 2);
  int left = 320, right = -1, top = 240, bottom = -1, dark = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x)
      if (brightness(image.at(x, y)) < 500)
        left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = std::max(bottom, y),
        ++dark;
  EXPECT_NEAR(right - left + 1, side, 1.5);
  EXPECT_NEAR(bottom - top + 1, side, 1.5);
  EXPECT_NEAR(dark / (side * side), 1, 0.02);
  EXPECT_NEAR((left + right) / 2.0, 159.5, 1);
  EXPECT_NEAR((top + bottom) / 2.0, 119.5, 1);
}

TEST_F(PictureTest, EdgesAreSmoothWithSamplesAndWithout) {
  model::WorldBuilder builder;
  builder.add_obstacle(model::Box{{1, 1, 1}}, {{}, Quat::rpy(0.3, 0, 0)}, 0, {}, {0, 0, 0, 1});
  const auto between = [](Rgba c) { return brightness(c) > 250 && brightness(c) < 600; };
  stage(builder);
  for (const int samples : {0, 4}) {
    PictureSettings settings = plain();
    settings.samples = samples;
    exchange_engine(settings);
    EXPECT_GT(count(draw(from({5, 0, 0})), between), 100) << samples;
  }
}

TEST_F(PictureTest, EveryPixelIsDrawnAtAnyNumberOfSamples) {
  model::WorldBuilder builder;
  builder.add_obstacle(model::Box{{0.1, 0.1, 0.1}}, {{0, 0, -9}, {}});
  stage(builder);
  for (const int samples : {1, 2, 4, 5, 9, 16}) {
    PictureSettings settings = plain();
    settings.samples = samples;
    exchange_engine(settings);
    EXPECT_EQ(count(draw(from({5, 0, 0})), [](Rgba c) { return brightness(c) < 500; }), 0) << samples;
  }
}

// Compared with the exact coverage of every pixel, the error is at most half of that of the jagged edge, or three
// quarters of it for a steep edge.
TEST(SmoothEdges, ComeCloseToWhatIsCovered) {
  for (const auto& [slope, left] : {std::pair{0.05, 0.5}, {0.14, 0.5}, {0.3, 0.5}, {0.7, 0.75}}) {
    for (const bool upright : {false, true}) {
      constexpr int size = 160;
      Image image{size, size, std::vector<std::uint8_t>(3 * size * size)};
      std::vector<double> covered(size * size);
      for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
          const double along = upright ? y : x, across = upright ? x : y;
          const double height = 30 + slope * along - across;  // of the edge above the pixel's middle
          const int i = y * size + x;
          covered[i] = clamp(0.5 + height, 0, 1);
          for (int c = 0; c < 3; ++c) image.pixels[3 * i + c] = height > 0 ? 230 : 40;
        }
      const auto error = [&] {
        double sum = 0;
        for (std::size_t i = 0; i < covered.size(); ++i)
          sum += std::fabs((image.pixels[3 * i] - 40) / 190.0 - covered[i]);
        return sum;
      };
      const double jagged = error();
      image = smoothed(image);
      EXPECT_LT(error(), left * jagged) << slope << " " << upright;
    }
  }
  Image flat{8, 8, std::vector<std::uint8_t>(3 * 64, 100)}, tiny{1, 1, {1, 2, 3}};
  EXPECT_EQ(smoothed(flat).pixels, std::vector<std::uint8_t>(3 * 64, 100));
  EXPECT_EQ(smoothed(tiny).pixels, (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST_F(PictureTest, ABoxThrowsAShadowAwayFromTheSun) {
  model::WorldBuilder builder;
  builder.add_ground();
  builder.add_obstacle(model::Box{{1, 1, 1}}, {{0, 0, 0.5}, {}});
  stage(builder);
  Camera above = from({0, 0, 12});
  above.sun = {-1, 0, 1};  // the shadow reaches 1 m to +x of the box, which ends at 0.5
  const Image image = draw(above);
  const double metre = 120 / std::tan(above.field_of_view / 2) / 12;
  const auto at = [&](double x, double y) { return image.at(160 + truncated(x * metre), 120 - truncated(y * metre)); };
  const int lit = brightness(at(-1.0, 0)), shaded = brightness(at(1.0, 0)), beyond = brightness(at(1.75, 0));
  EXPECT_LT(shaded, lit - 100);
  EXPECT_NEAR(beyond, lit, 12);
  EXPECT_NEAR(brightness(at(1.0, 0.8)), lit, 12);  // beside it
}

TEST_F(PictureTest, TheGridHasALineEveryMetreAndEveryTenth) {
  model::WorldBuilder builder;
  builder.add_ground();
  PictureSettings settings = plain();
  settings.grid = true;
  stage(builder, settings);
  const Image image = draw(from({0.5, 0, 2}, {0.5, 0, 0}));  // the picture shows -0.2 to 1.2 m in x
  const double metre = 120 / std::tan(Camera{}.field_of_view / 2) / 2;
  const int row = 120 - truncated(0.05 * metre);  // between two lines that run along x
  std::vector<int> lines;
  for (int x = 1; x < 319; ++x)
    if (brightness(image.at(x, row)) < brightness(image.at(x - 1, row)) &&
        brightness(image.at(x, row)) <= brightness(image.at(x + 1, row)))
      lines.push_back(x);
  ASSERT_GE(lines.size(), 10u);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_NEAR(lines[i] - lines[i - 1], 0.1 * metre, 2);
  const auto darkest = [&](double x) {
    int dark = 1000;
    for (int d = -1; d <= 1; ++d)
      dark = std::min(dark, brightness(image.at(160 + narrow<int>(std::lround((x - 0.5) * metre)) + d, row)));
    return dark;
  };
  EXPECT_LT(darkest(0), darkest(0.3) - 20);  // lines every 1 m are darker than lines every 0.1 m
  EXPECT_LT(darkest(1), darkest(0.7) - 20);
}

TEST_F(PictureTest, WhatStandsStillIsAsTheNewestInstantHasIt) {
  model::WorldBuilder builder;
  builder.set_gravity({});
  builder.add_obstacle(model::Box{{0.5, 0.5, 0.5}}, {}, 1, {}, {0.05, 0.05, 0.05, 1});
  stage(builder);
  Frame settling = frame;  // nearer to the eye by what a body that settles moves
  settling.links[0].position[0] += 1e-4f;
  const Image now = draw(from({6, 0, 0})), strobed = draw(from({6, 0, 0}), std::vector<Frame>{settling, frame});
  EXPECT_EQ(now.pixels, strobed.pixels);
}

TEST_F(PictureTest, EarlierFramesArePalerAndStandBehind) {
  model::WorldBuilder builder;
  builder.set_gravity({});
  builder.add_obstacle(model::Box{{0.5, 0.5, 0.5}}, {}, 1, {}, {0.05, 0.05, 0.05, 1});
  stage(builder);
  Frame earlier = frame;
  earlier.links[0].position = {0, -1, 0};
  const Image image = draw(from({6, 0, 0}), std::span(&earlier, 1));
  const double metre = 120 / std::tan(Camera{}.field_of_view / 2) / 6;
  const Rgba now = image.at(160, 120), before = image.at(160 - truncated(metre), 120),
             nothing = image.at(160 + truncated(metre), 120);
  EXPECT_GT(brightness(before), brightness(now) + 150);
  EXPECT_LT(brightness(before), brightness(nothing) - 40);
}

TEST_F(PictureTest, ModulesTakeTheColourThatTheyAreGiven) {
  stage(stage_.simulate(stage_.busy_world()));
  const Camera camera = Camera::framing(bounds(*tree, frame, true), {1, -1, 1}, 4.0 / 3);
  const auto magenta = [](Rgba c) { return c.r > c.g + 60 && c.b > c.g + 60; };
  EXPECT_EQ(count(draw(camera), magenta), 0);
  frame.colors.assign(tree->things.size(), Rgba{0, 0, 0, 0});
  frame.colors[1] = {230, 20, 230, 255};
  ASSERT_TRUE(engine->show(frame).ok());
  EXPECT_GT(count(draw(camera), magenta), 300);
}

TEST_F(PictureTest, DocksShowTheirStateAndTheirLoad) {
  PictureSettings settings = plain();
  stage(stage_.simulate(stage_.busy_world()), settings);
  const Camera camera = Camera::framing(bounds(*tree, frame, true), {0.6, -1, 0.6}, 4.0 / 3);
  const auto red = [](Rgba c) { return c.r > 120 && c.r > 2 * c.g && c.r > 2 * c.b; };
  const int before = count(draw(camera), red);  // SuperBots have red cores
  for (DockView& dock : frame.docks) dock.flags = DockView::enabled | DockView::broken;
  ASSERT_TRUE(engine->show(frame).ok());
  EXPECT_GT(count(draw(camera), red), before + 100);

  settings.docks = DockMarks::load;
  engine = make_picture_engine(settings);
  ASSERT_TRUE(engine->load(tree).ok());
  for (DockView& dock : frame.docks) dock = {DockView::enabled | DockView::engaged, 1.0f};
  ASSERT_TRUE(engine->show(frame).ok());
  EXPECT_GT(count(draw(camera), red), before + 100);
  for (DockView& dock : frame.docks) dock.load = 0;
  ASSERT_TRUE(engine->show(frame).ok());
  const Image unloaded = draw(camera);
  EXPECT_LT(count(unloaded, red), 50);
  EXPECT_GT(count(unloaded, [](Rgba c) { return c.b > c.r + 50; }), 300);  // blue
}

TEST_F(PictureTest, SensorRaysAreLinesFromWhereTheyStartToWhereTheyHit) {
  model::WorldBuilder builder;
  builder.add_obstacle(model::Box{{0.1, 0.1, 0.1}}, {{0, 0, -9}, {}});
  PictureSettings settings = plain();
  settings.rays = true;
  stage(builder, settings);
  const Image empty = draw(from({6, 0, 0}));
  frame.rays.push_back({{0, -1, 0}, {0, 1, 0}, 0, true});
  ASSERT_TRUE(engine->show(frame).ok());
  const Image drawn = draw(from({6, 0, 0}));
  int length = 0;
  for (int x = 0; x < 320; ++x) {
    bool changed = false;
    for (int y = 0; y < 240; ++y) changed = changed || difference(drawn.at(x, y), empty.at(x, y)) > 30;
    length += changed ? 1 : 0;
  }
  EXPECT_NEAR(length, 2 * 120 / std::tan(Camera{}.field_of_view / 2) / 6, 3);
}

// A ring has its radius, and is drawn in front of all bodies.
TEST_F(PictureTest, RingsAroundAntennasAreSeenInFrontOfAll) {
  model::WorldBuilder builder;
  builder.add_obstacle(model::Box{{4, 4, 0.1}}, {{0, 0, 0.5}, {}});
  PictureSettings settings = plain();
  settings.messages = true;
  stage(builder, settings);
  Camera above = from({0, 0, 6});
  above.up = {0, 1, 0};
  const Image empty = draw(above);
  frame.traffic.rings.push_back({0, 0, 0, 1});
  ASSERT_TRUE(engine->show(frame).ok());
  const Image drawn = draw(above);
  int left = 320, right = 0;
  for (int x = 0; x < 320; ++x)
    if (difference(drawn.at(x, 120), empty.at(x, 120)) > 30) left = std::min(left, x), right = std::max(right, x);
  EXPECT_NEAR(right - left, 2 * 120 / std::tan(Camera{}.field_of_view / 2) / 6, 5);
  // After the transmission the ring becomes paler with time.
  const auto strength = [&](float age) {
    frame.traffic.rings[0].age = age;
    EXPECT_TRUE(engine->show(frame).ok());
    const Image image = draw(above);
    int most = 0;
    for (int x = 0; x < 320; ++x) most = std::max(most, difference(image.at(x, 120), empty.at(x, 120)));
    return most;
  };
  const int live = strength(0), recent = strength(0.05f), old = strength(0.1f);
  EXPECT_LT(recent, 0.8 * live);
  EXPECT_LT(old, 0.8 * recent);
  EXPECT_GT(old, 0);
  settings.messages = false;
  exchange_engine(settings);
  EXPECT_EQ(draw(above).pixels, empty.pixels);
}

// The ray caster (the camera of a mind) and the render engine (the picture for a person) must agree.
TEST_F(PictureTest, SeesThroughACameraWhatItsPerceptSays) {
  model::WorldBuilder builder;
  builder.set_gravity({});
  model::ModuleModel eye;
  eye.name = "eye";
  eye.links.push_back({"body", {}, 1, {}, {1, 1, 1}, std::make_shared<model::Geometry>(), {}, true});
  eye.sensors.push_back({"camera",
                         "camera",
                         0,
                         {},
                         {{"width", "64"}, {"height", "48"}, {"field_of_view", "0.9"}, {"max_range", "9"}},
                         0});
  eye.mind = model::Mind{};
  builder.add(std::make_shared<const model::ModuleModel>(eye), Pose{{0.2, 0.1, 0.4}, Quat::rpy(0.2, 0.1, 0.3)}, "m");
  builder.add_obstacle(model::Box{{0.5, 0.9, 0.4}}, {{3, 0.9, 0.1}, Quat::rpy(0.4, 0.2, 0.8)}, 0, {},
                       {0.1, 0.1, 0.1, 1});
  builder.add_obstacle(model::Cylinder{0.3, 0.8}, {{4, 1.9, 0.4}, Quat::rpy(0.9, 0, 0)}, 0, {}, {0.1, 0.1, 0.1, 1});
  stage(builder, plain(64, 48));
  sim::advance(*simulation, 1);
  const mind::CameraImage& percept = simulation->minds().agent(0).percept<mind::CameraImage>("camera");
  const auto camera = parse_camera("m.camera", {}, 64.0 / 48, simulation->world(), frame);
  ASSERT_TRUE(camera.ok());
  const Image image = draw(*camera);
  int both = 0, either = 0;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) {
      const bool sensed = percept.depth[64 * y + x] < 9, seen = brightness(image.at(x, y)) < 550;
      both += sensed && seen, either += sensed || seen;
    }
  EXPECT_GT(either, 200);
  EXPECT_GE(both, 0.9 * either);
}

// A slab of water before a white box: the box is seen through it, dyed; the surface is closed, and beside it is air.
TEST_F(PictureTest, WaterIsASurfaceThatDyesWhatIsBehind) {
  model::WorldBuilder builder;
  builder.add_obstacle(model::Box{{4, 0.2, 4}}, {{0, 2, 0}, {}}, 0, {}, {0.95, 0.95, 0.95, 1});
  stage(builder);
  RenderTree wet = *tree;
  wet.cloud = {{}, 0};
  sim::CloudLook& look = wet.cloud->look;
  look.drop_size = 0.05, look.fluid_color = {40, 110, 190};
  for (int i = 0; i < 12 * 4 * 12; ++i)
    frame.cloud.push_back({to_floats(Vec3{i % 12 - 5.5, i / 12 % 4 - 1.5, i / 48 - 5.5} * 0.05), {40, 110, 190}, 255});
  look.drops = narrow<std::uint32_t>(frame.cloud.size());
  const Camera camera = from({0.2, -2, 0.3});
  const Image dry = draw(camera);
  tree = std::make_shared<const RenderTree>(wet);
  ASSERT_TRUE(engine->load(tree).ok());
  ASSERT_TRUE(engine->show(frame).ok());
  const Image image = draw(camera);
  const auto is_dyed = [&](int x, int y) {
    return image.at(x, y).b - image.at(x, y).r > dry.at(x, y).b - dry.at(x, y).r + 8;
  };
  for (int x = 145; x <= 175; x += 5)
    for (int y = 105; y <= 135; y += 5) {
      EXPECT_TRUE(is_dyed(x, y)) << x << " " << y;
      EXPECT_GT(brightness(image.at(x, y)), 150);  // light comes through
    }
  EXPECT_LT(difference(image.at(10, 120), dry.at(10, 120)), 6);
}

TEST(Sheets, AreTrianglesWithHolesWhereThreadsHaveTorn) {
  sim::CloudLook look;
  look.sheets.push_back({1, 4, 3, 0.1, 0.1});
  std::vector<sim::CloudItem> items(13);
  for (int i = 0; i < 12; ++i) items[i + 1] = {to_floats(Vec3{0.1 * (i % 4), 0.1 * (i / 4), 0}), {200, 0, 0}, 255};
  const Viewpoint view(Camera{}, 320, 240);
  const Mesh whole = sheets_of(look, items, view);
  EXPECT_EQ(whole.triangles(), 12u);
  for (const Vertex& vertex : whole.vertices) EXPECT_NEAR(vertex.normal[2], 1, 1e-6);
  items[4].position[0] += 0.2f;  // the end of the first row
  EXPECT_EQ(sheets_of(look, items, view).triangles(), 10u);
  items[6].shown = sim::CloudItem::gone;  // inside
  EXPECT_EQ(sheets_of(look, items, view).triangles(), 2u);
  items.resize(5);  // fewer than the sheet has
  EXPECT_EQ(sheets_of(look, items, view).triangles(), 0u);
  EXPECT_TRUE(look.in_sheet(1) && look.in_sheet(12) && !look.in_sheet(0) && !look.in_sheet(13));
}

TEST_F(PictureTest, DrawingChangesNothingAndTwiceIsTheSame) {
  stage(stage_.simulate(stage_.busy_world()));
  const std::uint64_t before = simulation->hash();
  const Camera camera = Camera::framing(bounds(*tree, frame, true), {1, -1, 1}, 4.0 / 3);
  EXPECT_EQ(draw(camera).pixels, draw(camera).pixels);
  EXPECT_EQ(simulation->hash(), before);
}

TEST_F(PictureTest, BadInputIsRefusedWithAReason) {
  EXPECT_FALSE(engine->image(Camera{}).ok());  // nothing loaded
  stage(stage_.simulate(stage_.busy_world()));
  Frame other;
  EXPECT_FALSE(engine->show(other).ok());
  EXPECT_FALSE(engine->image(from({1, 0, 0}), std::span(&other, 1)).ok());
  EXPECT_FALSE(engine->image(from({std::nan(""), 0, 0})).ok());
  Camera wide = from({1, 0, 0});
  wide.field_of_view = 4;
  EXPECT_FALSE(engine->image(wide).ok());
  EXPECT_TRUE(engine->image(from({0, 0, 0})).ok());  // the eye is at the target: no error
  const RenderEngineRegistry engines = built_in_render_engines();
  EXPECT_FALSE(engines.find("pictur").ok());
  const auto factory = engines.find("picture");
  ASSERT_TRUE(factory.ok());
  for (const auto& bad : {std::pair{"width", "7"}, std::pair{"height", "100000"}, std::pair{"docks", "maybe"},
                          std::pair{"colour", "red"}, std::pair{"detail", "nan"}})
    EXPECT_FALSE((**factory)(Parameters({{bad.first, bad.second}}, "test")).ok()) << bad.first;
}

TEST(PictureSize, IsTwoNumbersWithinBounds) {
  ASSERT_TRUE(parse_size("640x480").ok());
  EXPECT_EQ(parse_size("640x480")->width, 640);
  EXPECT_EQ(parse_size("640x480")->height, 480);
  for (const char* bad : {"", "640", "640x", "x480", "640x480x3", "15x480", "640x5000", "-640x480", "640 x 480",
                          "1e3x480", "99999999999x480"})
    EXPECT_FALSE(parse_size(bad).ok()) << bad;
}

TEST(CameraName, IsADirectionPointsOrAnError) {
  sim::Stage stage;
  const auto simulation = stage.simulate(stage.busy_world());
  Frame frame;
  capture(*simulation, frame);
  model::Bounds box;
  box.add(Vec3{-1, -1, 0});
  box.add(Vec3{1, 1, 1});
  const auto parse = [&](const std::string& text) { return parse_camera(text, box, 1.5, simulation->world(), frame); };
  for (const char* good : {"corner", "front", "back", "left", "right", "top", "1,2,3", "1,2,3:0,0,0.5", "-1e-1,2,3"})
    EXPECT_TRUE(parse(good).ok()) << good;
  EXPECT_LT(parse("back")->eye.x, -1);
  EXPECT_EQ(parse("1,2,3:0,0,0.5")->target, (Vec3{0, 0, 0.5}));
  for (const char* bad :
       {"", "fornt", "1,2", "1,2,3,4", "1,2,3:", "1,2,nan", "1,2,3:1,2,3", "c0_0.nothing", "nobody.camera"})
    EXPECT_FALSE(parse(bad).ok()) << bad;
  EXPECT_NE(parse("fornt").error().text().find("front"), std::string::npos);
}

TEST(ScaleBar, HasARoundLengthThatFits) {
  EXPECT_NEAR(round_length(200, 1000), 0.2, 1e-12);
  EXPECT_NEAR(round_length(199, 1000), 0.1, 1e-12);
  EXPECT_NEAR(round_length(200, 30), 5, 1e-12);
  EXPECT_NEAR(round_length(200, 0.01), 20000, 1e-6);
  Image image{1280, 720, std::vector<std::uint8_t>(1280 * 720 * 3, 255)};
  draw_scale_bar(image, 300);
  EXPECT_GT(count(image, [](Rgba c) { return brightness(c) < 300; }), 50);
}

TEST(ImageFile, IsWrittenWholeOrRefused) {
  const TemporaryFolder made;
  const std::filesystem::path& folder = made.path();
  const Image image{16, 16, std::vector<std::uint8_t>(16 * 16 * 3, 100)};
  EXPECT_TRUE(write_image(image, folder / "a.png").ok());
  std::ifstream in(folder / "a.png", std::ios::binary);
  std::string head(8, ' ');
  in.read(head.data(), 8);
  EXPECT_EQ(head, "\x89PNG\r\n\x1a\n");
  EXPECT_TRUE(write_image(image, folder / "a.JPG").ok());
  EXPECT_FALSE(write_image(image, folder / "a.gif").ok());
  EXPECT_FALSE(write_image(image, folder / "png").ok());
  EXPECT_FALSE(write_image(image, folder / "no" / "such" / "folder.png").ok());
  EXPECT_FALSE(write_image(image, folder).ok());
  EXPECT_FALSE(check_image_file(folder / "no" / "a.png").ok());
  EXPECT_TRUE(check_image_file(folder / "new.png").ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "new.png"));  // the check leaves no file behind
}

TEST(Video, BadNamesAndSizesAreRefusedBeforeTheRun) {
  EXPECT_FALSE(VideoWriter::create("a.gif", 64, 48, 30).ok());
  EXPECT_FALSE(VideoWriter::create("a", 64, 48, 30).ok());
  EXPECT_FALSE(VideoWriter::create("a.mp4", 65, 48, 30).ok());
  EXPECT_FALSE(VideoWriter::create("no/such/folder/a.mp4", 64, 48, 30).ok());
}

}  // namespace
}  // namespace volvox::view::picture
