// Correct worlds: placements, populations, connections, parameters.
#include <stb_image_write.h>

#include <chrono>
#include <cmath>

#include "volvox/model/test/test_files.h"
#include "volvox/model/world_builder.h"

namespace volvox::model::test {
namespace {

constexpr const char* module_a = "<volvox:module name=\"a\" robot=\"hinge\" pose=\"0 0 0.05 0 0 0\"/>\n";

Pose dock_pose(const WorldModel& w, int placement, const std::string& dock) {
  const Placement& p = w.placements[placement];
  const Dock& d = p.model->docks[p.model->dock_index(dock)];
  return p.pose * forward_kinematics(*p.model, p.positions)[d.link] * d.pose;
}

TEST_F(ReaderTest, ReadsAWorld) {
  const Result<WorldModel> w = read(world(R"(<gravity>0 0 -1.62</gravity>
<volvox:run duration="20" dt="1/50" substep="1/500"/><volvox:clocks offset="2.5" drift_ppm="40"/>
<volvox:module name="a" robot="hinge" pose="1 2 3 0 0 1.5707963267948966" velocity="1 0 0 0 0 2">
  <volvox:joint name="pitch" position="0.3"/>
  <volvox:mind behavior="snake"><volvox:parameter name="amplitude" value="0.3"/></volvox:mind>
  <volvox:clock offset="0.1" drift_ppm="50"/>
</volvox:module>
<model name="step"><static>true</static><pose>5 0 0 0 0 0</pose><link name="l"><collision name="c"><geometry><box><size>1 1 0.1</size></box></geometry></collision></link>
  <volvox:dock name="hook" link="l" pose="0 0 0.05 0 -1.5707963267948966 0"/></model>
<include><uri>model://hinge</uri><name>c</name><pose>7 0 0 0 0 0</pose></include>
<include><uri>robots/hinge/hinge.sdf</uri><static>true</static></include>)"));
  ASSERT_TRUE(w.ok()) << w.error().text();
  EXPECT_EQ(w->gravity.z, -1.62);
  EXPECT_EQ(w->run.duration.ns, 20'000'000'000);
  EXPECT_EQ(w->run.dt.denominator, 50);
  EXPECT_DOUBLE_EQ(w->run.max_substep, 0.002);
  ASSERT_EQ(w->placements.size(), 4u);
  const Placement& a = w->placements[0];
  EXPECT_EQ(a.pose.position, (Vec3{1, 2, 3}));
  EXPECT_EQ(a.velocity.angular.z, 2);
  EXPECT_EQ(a.positions, std::vector<double>{0.3});
  EXPECT_EQ(a.effective_mind()->behavior, "snake");
  ASSERT_TRUE(a.clock.has_value());
  EXPECT_EQ(a.clock->drift_ppm, 50);
  EXPECT_FALSE(w->placements[2].clock.has_value());
  EXPECT_EQ(w->clocks.offset, 2.5);
  EXPECT_EQ(w->clocks.drift_ppm, 40);
  EXPECT_EQ(a.line, 5);
  EXPECT_FALSE(w->placements[1].is_module());
  EXPECT_EQ(w->placements[1].pose.position.x, 5);
  EXPECT_EQ(w->placements[1].model->docks.size(), 1u);
  EXPECT_EQ(w->placements[2].model, a.model);  // parsed once
  EXPECT_TRUE(w->placements[3].model->fixed_in_place);
  EXPECT_EQ(w->placements[3].name, "hinge");
}

// Seed 000, III.B: base functionality of a module type, which users need not replicate in all behaviours.
TEST_F(ReaderTest, BaseFunctionsOfARobotSurviveAnotherBehavior) {
  std::string robot = hinge_module();
  const std::string idle = "<volvox:mind behavior=\"idle\">";
  robot.replace(robot.find(idle), idle.size(), idle + "<volvox:behavior name=\"heartbeat\"/>");
  folder.write("robots/beating/beating.sdf", robot);
  const auto module = [](const std::string& name, const std::string& mind) {
    return "<volvox:module name=\"" + name + "\" robot=\"beating\" pose=\"0 0 " + name + " 0 0 0\">" + mind +
           "</volvox:module>\n";
  };
  const Result<WorldModel> w = read(world(
      module("1", "") + module("2", "<volvox:mind behavior=\"snake\"><volvox:behavior name=\"talk\"/></volvox:mind>") +
      module("3", "<volvox:mind behavior=\"snake\" base=\"replace\"/>")));
  ASSERT_TRUE(w.ok()) << w.error().text();
  const auto minds = [&](std::size_t placement) {
    const Mind& mind = *w->placements[placement].effective_mind();
    std::string names = mind.behavior;
    for (const Mind& further : mind.further) names += " " + further.behavior;
    return names;
  };
  EXPECT_EQ(minds(0), "idle heartbeat");
  EXPECT_EQ(minds(1), "snake talk heartbeat");
  EXPECT_EQ(minds(2), "snake");
  expect_error(read(world(module("1", "<volvox:mind behavior=\"snake\" base=\"none\"/>"))), 3, "base");
}

TEST_F(ReaderTest, ConnectionsGivePosesAtEveryTurn) {
  for (int turn = 0; turn < 4; ++turn) {
    const Result<WorldModel> w = read(world(
        std::string("<volvox:connect from=\"a.front\" to=\"b.left\" turn=\"") + std::to_string(turn) + "\"/>\n" +
        module_a +
        "<volvox:module name=\"b\" robot=\"hinge\"><volvox:joint name=\"pitch\" position=\"0.4\"/></volvox:module>"));
    ASSERT_TRUE(w.ok()) << w.error().text();
    const Pose between = dock_pose(*w, 0, "front").inverse() * dock_pose(*w, 1, "left");
    expect_near(between.position, {});
    EXPECT_NEAR(angle(engaged_dock(4, turn).rotation.conjugate() * between.rotation), 0, 1e-7);
  }
}

TEST_F(ReaderTest, ConnectionsAreFollowedBothWays) {
  const Result<WorldModel> w = read(world(
      std::string("<volvox:module name=\"c\" robot=\"hinge\"/><volvox:module name=\"b\" robot=\"hinge\"/>") + module_a +
      "<volvox:connect from=\"b.front\" to=\"a.back\" turn=\"1\"/><volvox:connect from=\"c.front\" to=\"b.back\"/>"));
  ASSERT_TRUE(w.ok()) << w.error().text();
  expect_near(w->placements[0].pose.position, {-0.4, 0, 0.05});
  expect_near(w->placements[1].pose.position, {-0.2, 0, 0.05});
}

TEST_F(ReaderTest, ChainsRunStraight) {
  const Result<WorldModel> w = read(world(
      R"(<volvox:population name="s" type="chain" robot="hinge" count="5" pose="0 0 0.05 0 0 0" from="front" to="back"/>)"));
  ASSERT_TRUE(w.ok()) << w.error().text();
  ASSERT_EQ(w->placements.size(), 5u);
  EXPECT_EQ(w->connections.size(), 4u);
  EXPECT_EQ(w->placements[4].name, "s4");
  expect_near(w->placements[4].pose.position, {0.8, 0, 0.05});
}

std::string ring(const std::string& angle) {
  return world(
      "<volvox:population name=\"r\" type=\"ring\" robot=\"hinge\" count=\"6\" pose=\"0 0 1 0 0 0\" from=\"front\" "
      "to=\"back\"><volvox:joint name=\"pitch\" position=\"" +
      angle + "\"/></volvox:population>");
}

TEST_F(ReaderTest, SixHingesOfSixtyDegreesCloseARing) {
  const Result<WorldModel> w = read(ring("1.0471975511965976"));
  ASSERT_TRUE(w.ok()) << w.error().text();
  EXPECT_EQ(w->connections.size(), 6u);
}

TEST_F(ReaderTest, ARingThatDoesNotCloseIsMeasured) {
  const Result<WorldModel> w = read(ring("1.0"));
  expect_error(w, 3, "r5.front to r0.back does not close");
  expect_error(w, 3, "mm and 16.2 degrees apart");  // 6 x (60 - 57.2958)
}

TEST_F(ReaderTest, GridsAreCentredAndDrawFromTheirOwnSeed) {
  const auto grid = [&](const std::string& more) {
    return read(
        world("<volvox:population name=\"g\" type=\"grid\" robot=\"hinge\" count_x=\"3\" count_y=\"2\" spacing_x=\"1\" "
              "spacing_y=\"2\" pose=\"10 0 0.05 0 0 0\" " +
              more + "/>"));
  };
  const Result<WorldModel> plain = grid("");
  ASSERT_TRUE(plain.ok()) << plain.error().text();
  ASSERT_EQ(plain->placements.size(), 6u);
  EXPECT_TRUE(plain->connections.empty());
  expect_near(plain->placements[0].pose.position, {9, -1, 0.05});
  expect_near(plain->placements[5].pose.position, {11, 1, 0.05});
  const Result<WorldModel> one = grid("jitter=\"0.1\" random_yaw=\"true\""),
                           same = grid("jitter=\"0.1\" random_yaw=\"true\" seed=\"1\""),
                           other = grid("jitter=\"0.1\" random_yaw=\"true\" seed=\"2\"");
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(one->placements[i].pose, same->placements[i].pose);
    EXPECT_NE(one->placements[i].pose, other->placements[i].pose);
    EXPECT_LE(std::fabs(one->placements[i].pose.position.x - plain->placements[i].pose.position.x), 0.1);
    EXPECT_EQ(one->placements[i].pose.position.z, plain->placements[i].pose.position.z);
  }
}

TEST_F(ReaderTest, LatticesEngageEveryPairThatMeets) {
  const Result<WorldModel> w = read(world(
      R"(<volvox:population name="l" type="lattice" robot="hinge" count_x="4" count_y="3" count_z="2" spacing_x="0.2" spacing_y="0.1" spacing_z="0.1" pose="0 0 0.05 0 0 0"/>)"));
  ASSERT_TRUE(w.ok()) << w.error().text();
  EXPECT_EQ(w->placements.size(), 24u);
  EXPECT_EQ(w->connections.size(), 2u * (3 * 3 + 4 * 2));  // front to back along x, left to right along y
  for (const Connection& c : w->connections) EXPECT_LT(c.a, c.b);
  expect_error(read(world(R"(<volvox:population name="l" type="lattice" robot="hinge" count_x="4" spacing_x="0.3"/>)")),
               3, "no docks of the lattice l meet");
}

TEST_F(ReaderTest, ParametersAreSubstitutedAndChecked) {
  const std::string text = world(R"(<!-- ${not_this} -->
<volvox:parameter name="modules" value="4" min="3" max="1000">how many</volvox:parameter>
<volvox:parameter name="robot" value="hinge" choices="hinge superbot"/>
<volvox:population name="s" type="chain" robot="${robot}" count="${modules}" pose="0 0 0 0 0 0" from="front" to="back"/>)");
  EXPECT_EQ(read(text)->placements.size(), 4u);
  EXPECT_EQ(read(text, {{"modules", "20"}})->placements.size(), 20u);
  expect_error(read(text, {{"module", "20"}}), 0, "there is no parameter module", "did you mean modules?");
  expect_error(read(text, {{"modules", "2"}}), 4, "modules=2", "a number from 3 to 1000");
  expect_error(read(text, {{"modules", "many"}}), 4, "modules=many", "a number from 3 to 1000");
  expect_error(read(text, {{"robot", "atron"}}), 5, "robot=atron", "one of: hinge, superbot");
  const Result<std::vector<ParameterDesc>> parameters = read_parameters(folder.path() / "world.sdf");
  ASSERT_TRUE(parameters.ok());
  ASSERT_EQ(parameters->size(), 2u);
  EXPECT_EQ((*parameters)[0].description, "how many");
  EXPECT_EQ((*parameters)[0].value, "4");
  EXPECT_EQ((*parameters)[0].max, 1000);
  EXPECT_EQ((*parameters)[1].choices.size(), 2u);
  expect_error(read(world("\n<volvox:run duration=\"${length}\"/>")), 4, "there is no parameter length");
  expect_error(read(world("<volvox:parameter name=\"length\" value=\"1\"/>\n<volvox:run duration=\"${lenght}\"/>")), 4,
               "lenght", "did you mean length?");
  const std::string whole = world("<volvox:parameter name=\"n\" value=\"3\" min=\"1\" max=\"9\" whole=\"true\"/>");
  EXPECT_TRUE(read(whole, {{"n", "7"}}).ok());
  for (const char* value : {"2.5", "2.0", "1e0", "+3", "", "-", "0", "10", "nan"})
    expect_error(read(whole, {{"n", value}}), 3, "the value of n is not a whole number from 1 to 9",
                 "a whole number from 1 to 9");
  expect_error(read(world("<volvox:parameter name=\"n\" value=\"2.5\" whole=\"true\"/>")), 3, "is not a whole number");
  // A value cannot smuggle in elements.
  const std::string name = world(
      "<volvox:parameter name=\"n\" value=\"x\"/><volvox:module name=\"${n}\" robot=\"hinge\" pose=\"0 0 0 0 0 0\"/>");
  EXPECT_EQ(read(name, {{"n", "\"/><evil/>"}})->placements[0].name, "\"/><evil/>");
}

// Each of 30 parameters uses the one before twice: 2^30 sums, or 2^30 copies.
TEST_F(ReaderTest, ExpressionsDoNotExplode) {
  const auto settle = [](const std::string& between) {
    std::vector<ParameterDesc> parameters(1);
    parameters[0].name = "a0", parameters[0].value = "7";
    for (int i = 1; i <= 30; ++i) {
      const std::string last = "a" + std::to_string(i - 1);
      parameters.push_back({"a" + std::to_string(i), "${" + last + between + last + "}", {}, {}, {}, "", 0});
    }
    return settle_values(parameters, {}, "world.sdf");
  };
  const auto sums = settle("+");
  ASSERT_TRUE(sums.ok()) << sums.error().text();
  EXPECT_EQ(sums->at("a30"), "7516192768");
  const auto copies = settle("}${");
  ASSERT_FALSE(copies.ok());
  EXPECT_NE(copies.error().text().find("longer than"), std::string::npos);
}

TEST_F(ReaderTest, SettingsAreExpandedBeforeAnybodyReadsThem) {
  std::vector<ParameterDesc> parameters(1);
  parameters[0].name = "n", parameters[0].value = "2", parameters[0].whole = true;
  const auto settled = settle_values(parameters, {{"n", "${3+1}"}}, "world.sdf");
  ASSERT_TRUE(settled.ok()) << settled.error().text();
  EXPECT_EQ(settled->at("n"), "4");
  for (const char* bad : {"${1/0}", "${7 % 0}", "${sqrt(-1)}", "${1e400}", "${1/(1/0)}", "${max(0, 0/0)}", "${1/3}"})
    EXPECT_FALSE(settle_values(parameters, {{"n", bad}}, "world.sdf").ok()) << bad;
}

TEST_F(ReaderTest, ExpressionsAreCalculated) {
  const auto z = [&](const std::string& expression, const std::map<std::string, std::string>& settings = {}) {
    const Result<WorldModel> w = read(world("<volvox:parameter name=\"n\" value=\"4\"/><volvox:parameter name=\"m\" "
                                            "value=\"${n*2}\" min=\"1\"/>\n<volvox:module name=\"a\" robot=\"hinge\" "
                                            "pose=\"0 0 ${" +
                                            expression + "} 0 0 0\"/>"),
                                      settings);
    return w.ok() ? w->placements[0].pose.position.z : throw std::runtime_error(w.error().text());
  };
  EXPECT_EQ(z("n"), 4);
  EXPECT_EQ(z("n", {{"n", "7"}}), 7);
  EXPECT_EQ(z("1 + 2*3 - 4/8"), 6.5);
  EXPECT_EQ(z("-(n - 1)*0.5"), -1.5);
  EXPECT_EQ(z("7 % 4 + -2"), 1);
  EXPECT_EQ(z("1e-3*n"), 0.004);
  EXPECT_EQ(z("min(n, 3, 9) + max(1, 2) + sqrt(16) + abs(-1) + floor(1.9) + ceil(0.1) + round(2.5)"), 15);
  EXPECT_EQ(z("cos(0) + sin(0)"), 1);
  EXPECT_NEAR(z("pi"), 3.14159265358979, 1e-14);
  EXPECT_EQ(z("m"), 8);
  EXPECT_EQ(z("m+1", {{"n", "5"}}), 11);
  EXPECT_EQ(z("m", {{"m", "${n-1}"}}), 3);
  EXPECT_THROW(z("m", {{"n", "0"}}), std::runtime_error) << "m is 0, and must be at least 1";
  // A default declares a parameter.
  EXPECT_EQ(z("gap:-0.25"), 0.25);
  EXPECT_EQ(z("gap:-0.25", {{"gap", "3"}}), 3);
  EXPECT_EQ(z("n:-9"), 4);
  z("gap:-0.25");
  const auto parameters = read_parameters(folder.path() / "world.sdf");
  ASSERT_TRUE(parameters.ok());
  ASSERT_EQ(parameters->size(), 3u);
  EXPECT_EQ((*parameters)[2].name, "gap");
  EXPECT_EQ((*parameters)[2].line, 4);
  // Counts are whole numbers.
  const std::string chain = world(
      "<volvox:parameter name=\"n\" value=\"6\"/>\n<volvox:population name=\"s\" type=\"chain\" robot=\"hinge\" "
      "count=\"${n/2}\" pose=\"0 0 0 0 0 0\" from=\"front\" to=\"back\"/>");
  EXPECT_EQ(read(chain)->placements.size(), 3u);
  expect_error(read(chain, {{"n", "5"}}), 4, "count=\"2.5\"", "whole number");
}

TEST_F(ReaderTest, MistakesInExpressionsHaveAColumn) {
  const auto at = [&](const std::string& expression, int column, const std::string& what, const char* fix = "") {
    expect_error(
        read(world("<volvox:parameter name=\"word\" value=\"x\"/>\n<volvox:run duration=\"${" + expression + "}\"/>")),
        4, "column " + std::to_string(column) + ": " + what, fix);
  };
  at("2*", 27, "a number, a parameter or a ( is missing here");
  at("1+wort", 27, "there is no parameter wort", "did you mean word?");
  at("word*2", 25, "word is 'x', which is not a number");
  at("(1", 27, "a ( is not closed");
  at("1/0", 27, "this divides by zero");
  at("sqr(4)", 25, "there is no function sqr", "did you mean sqrt?");
  at("sqrt(4, 2)", 25, "sqrt has one argument");
  at("2 2", 27, "'2' is not expected here");
  at("index", 23, "index has no meaning here");
  at("", 25, "a number, a parameter or a ( is missing here");
  at(std::string(1000, '('), 57, "this is nested too deeply");
  expect_error(read(world("<volvox:parameter name=\"a\" value=\"${b}\"/><volvox:parameter name=\"b\" value=\"${a}\"/>"
                          "\n<volvox:run duration=\"${a}\"/>")),
               3, "in a circle");
  expect_error(read(world("<volvox:run duration=\"${a\"/>")), 3, "column 23: ${ begins a parameter, but no } follows");
}

TEST_F(ReaderTest, ModulesOfAPopulationKnowTheirIndex) {
  const Result<WorldModel> w = read(world(R"(<volvox:parameter name="step" value="0.5"/>
<volvox:population name="s" type="grid" robot="hinge" count_x="3" spacing_x="1"><volvox:mind behavior="b">
<volvox:parameter name="phase" value="${step*(index+1)}"/><volvox:parameter name="who" value="m${index}"/>
<volvox:behavior name="c"><volvox:parameter name="last" value="${max(0, index-1)}"/></volvox:behavior>
</volvox:mind></volvox:population>)"));
  ASSERT_TRUE(w.ok()) << w.error().text();
  ASSERT_EQ(w->placements.size(), 3u);
  const Mind& mind = *w->placements[2].mind;
  EXPECT_EQ(mind.parameters.at("phase"), "1.5");
  EXPECT_EQ(mind.parameters.at("who"), "m2");
  EXPECT_EQ(mind.further[0].parameters.at("last"), "1");
  expect_error(
      read(world(
          R"(<volvox:population name="s" type="grid" robot="hinge" count_x="3" spacing_x="1"><volvox:mind behavior="b">
<volvox:parameter name="phase" value="${1/(index-2)}"/></volvox:mind></volvox:population>)")),
      3, "parameter phase of module 2: this divides by zero");
  // Outside of a population it is a mistake.
  expect_error(read(world(R"(<volvox:population name="s" type="grid" robot="hinge" count_x="3" spacing_x="1"/>
<volvox:module name="a" robot="hinge" pose="9 0 0 0 0 0"><volvox:mind behavior="b">
<volvox:parameter name="phase" value="${index}"/></volvox:mind></volvox:module>)")),
               5, "column 39: index has no meaning here");
}

TEST_F(ReaderTest, AModelAloneStandsOnAGround) {
  const Result<WorldModel> w = read_world(folder.path() / "robots/hinge/hinge.sdf", {}, library);
  ASSERT_TRUE(w.ok()) << w.error().text();
  ASSERT_EQ(w->placements.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Plane>(w->placements[0].model->links[0].geometry->colliders[0].shape));
  EXPECT_NEAR(w->placements[1].pose.position.z, 0.05, 1e-12);
  expect_error(read_world(folder.path() / "robots/hinge/hinge.sdf", {{"n", "1"}}, library), 0, "no parameter n");
}

TEST_F(ReaderTest, TerrainComesFromAnImage) {
  // 3 x 2 pixels; the top row of the image lies at +y.
  const unsigned char pixels[] = {0, 51, 255, 102, 153, 204};
  ASSERT_NE(stbi_write_png((folder.path() / "hills.png").c_str(), 3, 2, 1, pixels, 3), 0);
  const Result<WorldModel> w =
      read(world(R"(<model name="terrain"><static>true</static><link name="l"><collision name="c"><geometry>
<heightmap><uri>hills.png</uri><size>4 2 0.5</size><pos>0 0 1</pos></heightmap></geometry></collision></link></model>)"));
  ASSERT_TRUE(w.ok()) << w.error().text();
  const Collider& c = w->placements[0].model->links[0].geometry->colliders[0];
  const HeightField field = std::get<HeightField>(c.shape);
  EXPECT_EQ(field->columns, 3u);
  EXPECT_EQ(field->rows, 2u);
  EXPECT_EQ(c.pose.position.z, 1);
  EXPECT_NEAR(field->height_at(2, 1), 0.5, 1e-6);
  EXPECT_NEAR(field->height_at(-2, 1), 0, 1e-6);
  EXPECT_NEAR(field->height_at(-2, -1), 0.2, 1e-6);
  EXPECT_NEAR(field->height_at(2, -1), 0.4, 1e-6);
}

TEST_F(ReaderTest, AThousandModulesLoadQuickly) {
  std::string modules, includes;
  for (int i = 0; i < 1000; ++i) {
    const std::string n = std::to_string(i);
    modules += "<volvox:module name=\"m" + n + "\" robot=\"hinge\" pose=\"0 " + n + " 0 0 0 0\"/>\n";
    includes += "<include><uri>model://hinge</uri><name>m" + n + "</name><pose>0 " + n + " 0 0 0 0</pose></include>\n";
  }
  const std::string population =
      R"(<volvox:population name="s" type="chain" robot="hinge" count="1000" pose="0 0 0 0 0 0" from="front" to="back"/>)";
  for (const std::string& text : {modules, includes, population}) {
    ModelLibrary fresh({folder.path()});
    const std::filesystem::path file = folder.write("many.sdf", world(text));
    const auto start = std::chrono::steady_clock::now();
    const Result<WorldModel> w = read_world(file, {}, fresh);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ASSERT_TRUE(w.ok()) << w.error().text();
    ASSERT_EQ(w->placements.size(), 1000u);
    for (const Placement& p : w->placements) EXPECT_EQ(p.model, w->placements[0].model);
    RecordProperty(text == modules    ? "modules_s"
                   : text == includes ? "includes_s"
                                      : "population_s",
                   std::to_string(seconds));
    // The aim is 1 s; sanitizers and a busy machine are slower.
    EXPECT_LT(seconds, 5);
  }
}

TEST_F(ReaderTest, ScenesCanBeBuiltInCpp) {
  const Model hinge = *library.load("hinge");
  WorldBuilder builder("mine");
  builder.add_ground();
  const int first = builder.add_chain(hinge, 3, "front", "back", 1, Pose{{0, 0, 0.05}, {}}, "s");
  builder.placement(first + 1).positions = {0.5};
  builder.add(hinge, std::nullopt, "extra");
  builder.connect("s2.left", "extra.right");
  builder.add_obstacle(Sphere{0.1}, {{1, 0, 0.1}, {}}, 2, {}, {}, "ball");
  auto field = std::make_shared<HeightFieldData>(HeightFieldData{2, 2, 1, 1, {0, 0, 0, 0}});
  builder.add_terrain(field);
  const Result<WorldModel> w = builder.build();
  ASSERT_TRUE(w.ok()) << w.error().text();
  EXPECT_EQ(w->placements.size(), 7u);
  EXPECT_EQ(w->connections.size(), 3u);
  const Link& ball = w->placements[5].model->links[0];
  EXPECT_EQ(ball.mass, 2);
  EXPECT_NEAR(ball.moments.x, 0.4 * 2 * 0.01, 1e-12);
  const Pose between = dock_pose(*w, first + 1, "front").inverse() * dock_pose(*w, first + 2, "back");
  EXPECT_NEAR(angle(engaged_dock(4, 1).rotation.conjugate() * between.rotation), 0, 1e-7);
}

TEST_F(ReaderTest, WorldBuilderReportsEveryMistake) {
  const Model hinge = *library.load("hinge");
  WorldBuilder builder;
  builder.add_chain(hinge, 0, "front", "back", 0, Pose{}, "none");
  builder.add_chain(hinge, 2, "frnt", "back", 0, Pose{}, "typo");
  builder.add_ring(hinge, 1, "front", "back", 0, Pose{}, "ring");
  builder.add_obstacle(Plane{}, {}, 1);
  builder.connect("nowhere", "a.front");
  const Result<WorldModel> w = builder.build();
  ASSERT_FALSE(w.ok());
  EXPECT_EQ(w.error().diagnostics().size(), 6u) << w.error().text();
}

}  // namespace
}  // namespace volvox::model::test
