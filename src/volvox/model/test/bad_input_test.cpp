// Bad input is answered with the file, the line, the mistake and the fix, and never crashes.
#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/model/test/test_files.h"

namespace volvox::model::test {
namespace {

// A model with one good link on line 3; what is given follows on line 4.
std::string with_link(const std::string& content) {
  return model(std::string("<link name=\"a\">") + inertial + "</link>\n" + content);
}
std::string with_shape(const std::string& geometry) {
  return model(std::string("<link name=\"a\">") + inertial + "\n<collision name=\"c\"><geometry>\n" + geometry +
               "</geometry></collision></link>");
}
std::string inertia(const std::string& mass, const std::string& ixx, const std::string& izz) {
  return model("<link name=\"a\"><inertial>\n<mass>" + mass + "</mass>\n<inertia><ixx>" + ixx + "</ixx><iyy>" + ixx +
               "</iyy><izz>" + izz + "</izz></inertia></inertial></link>");
}

TEST_F(ReaderTest, FilesThatAreNoFiles) {
  expect_error(read_world(folder.path() / "missing.sdf", {}, library), 0, "no such file");
  expect_error(read_world(folder.path(), {}, library), 0, "not a file");
  expect_error(read(""), 0, "empty");
  expect_error(read("hello"), -1, "XML");
  expect_error(read(std::string("<sdf>\0</sdf>", 12)), 0, "zero bytes");
  expect_error(read("<!-- only a comment -->"), 0, "no element");
}

TEST_F(ReaderTest, FilesThatAreNotWellFormed) {
  expect_error(read("<sdf version=\"1.9\">\n<world name=\"w\">\n</sdf>"), 2, "not closed");
  expect_error(read("<sdf version=\"1.9\">\n<world name=\"w>\n</world></sdf>"), -1, "well-formed");
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "<a>";
  expect_error(read(deep), 1, "nested too deeply");
}

TEST_F(ReaderTest, FilesOfAnotherKind) {
  expect_error(read("<html/>"), 1, "begins with <html>", "<sdf version");
  expect_error(read("<sdf><world name=\"w\"/></sdf>"), 1, "no version");
  expect_error(read(sdf("")), 1, "neither a <world> nor a <model>");
  expect_error(read(sdf("<world name=\"a\"/>\n<world name=\"b\"/>")), 3, "two worlds");
  expect_error(read(sdf("<model name=\"a\"/>\n<model name=\"b\"/>")), 1, "more than one <model>");
  folder.write("other.sdf", world(""));
  expect_error(read(world("<volvox:module name=\"a\" robot=\"other.sdf\" pose=\"0 0 0 0 0 0\"/>")), 1, "no <model>",
               "this is a world");
}

TEST_F(ReaderTest, UnknownElementsAndAttributesOfOurs) {
  expect_error(read(world("\n<volvox:modul name=\"a\"/>")), 4, "no element <volvox:modul>",
               "did you mean volvox:module?");
  expect_error(read(world("\n<volvox:module nam=\"a\"/>")), 4, "no attribute nam=", "did you mean name?");
  expect_error(read(world("\n<volvox:dock name=\"a\"/>")), 4, "cannot stand in <world>", "<model>");
  expect_error(read(world("<volvox:run>\n<foo/></volvox:run>")), 4, "<foo> cannot stand in <volvox:run>");
  expect_error(read(world("<gravity volvox:x=\"1\">0 0 0</gravity>")), 3, "no attribute volvox:x");
  expect_error(read_model(with_link("<volvox:dock name=\"d\" link=\"a\" symetry=\"4\"/>")), 4,
               "no attribute symetry=", "did you mean symmetry?");
  expect_error(read_model(with_link("<volvox:dock name=\"d\" name=\"e\" link=\"a\"/>")), 4, "given twice");
}

TEST_F(ReaderTest, MagnetsAreReadAndTheirMistakesNamed) {
  const auto good =
      read_model(with_link("<volvox:magnet name=\"m\" pose=\"0.1 0 0 0 0 0\" strength=\"5\" range=\"0.2\"/>"));
  ASSERT_TRUE(good.ok()) << good.error().text();
  ASSERT_EQ((*good)->magnets.size(), 1u);
  EXPECT_EQ((*good)->magnets[0].position.x, 0.1);
  EXPECT_EQ((*good)->magnets[0].strength, 5);
  expect_error(read_model(with_link("<volvox:magnet name=\"m\" range=\"0.2\"/>")), 4, "strength");
  expect_error(read_model(with_link("<volvox:magnet name=\"m\" strength=\"-1\" range=\"0.2\"/>")), 4, "strength");
  expect_error(read_model(with_link("<volvox:magnet name=\"m\" strength=\"1\" size=\"0.3\" range=\"0.2\"/>")), 4,
               "less than its size", "longer range=");
  expect_error(read_model(with_link("<volvox:magnet name=\"m\" link=\"b\" strength=\"1\" range=\"0.2\"/>")), 4,
               "names the link b");
  expect_error(read_model(with_link("<volvox:magnet name=\"m\" strength=\"1\" range=\"0.2\"/>\n"
                                    "<volvox:dock name=\"m\" link=\"a\"/>")),
               -1, "two actions named m");
}

TEST_F(ReaderTest, UnknownStandardElementsAreMentioned) {
  ASSERT_TRUE(read_model(with_link("<colision/>")).ok());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].line, 4);
  EXPECT_NE(warnings[0].what.find("colision"), std::string::npos);
}

TEST_F(ReaderTest, BadNumbers) {
  expect_error(read_model(inertia("abc", "1", "1")), 4, "\"abc\", which is not a number");
  expect_error(read_model(inertia("nan", "1", "1")), 4, "\"nan\", which is not a number");
  expect_error(read_model(inertia("1", "inf", "1")), 5, "\"inf\", which is not a number");
  expect_error(read_model(with_shape("<box><size>1 2</size></box>")), 5, "holds 2 numbers", "write 3");
  expect_error(read_model(with_shape("<box><size>1 2 0</size></box>")), 5, "not positive");
  expect_error(read_model(with_shape("<sphere><radius>-1</radius></sphere>")), 5, "not positive");
  expect_error(read_model(with_link("<link name=\"b\"><pose>0 0 0 0 0 x</pose></link>")), 4, "not a number");
  expect_error(read(world("<gravity>0 0</gravity>")), 3, "holds 2 numbers");
  expect_error(
      read_model(with_link(
          "<link name=\"b\"><visual name=\"v\"><material><diffuse>2 0 0 1</diffuse></material></visual></link>")),
      4, "not a colour");
  expect_error(read(world("<volvox:module name=\"a\" robot=\"hinge\" pose=\"0 0 0 0 0\"/>")), 3,
               "not 6 finite numbers");
  expect_error(read(world("<volvox:module name=\"a\" robot=\"hinge\" pose=\"0 0 0 0 0 nan\"/>")), 3,
               "not 6 finite numbers");
  expect_error(read(world("<volvox:run duration=\"-1\"/>")), 3, "duration=\"-1\"");
  expect_error(read(world("<volvox:run dt=\"0\"/>")), 3, "dt=\"0\"", "1/60");
  expect_error(read(world("<volvox:run substep=\"fast\"/>")), 3, "substep=\"fast\"");
  expect_error(read_model(with_link("<volvox:dock name=\"d\" link=\"a\" axial=\"-3\"/>")), 4, "axial=\"-3\"",
               "positive");
  expect_error(read_model(with_link("<volvox:dock name=\"d\" link=\"a\" symmetry=\"1.5\"/>")), 4, "symmetry=\"1.5\"",
               "whole number");
  expect_error(read_model(with_link("<volvox:dock name=\"d\" link=\"a\" enabled=\"maybe\"/>")), 4,
               "neither true nor false");
}

TEST_F(ReaderTest, MassesAndInertias) {
  expect_error(read_model(inertia("0", "1", "1")), 4, "the mass of link a is 0", "<static>");
  expect_error(read_model(inertia("-2", "1", "1")), 4, "the mass of link a is -2");
  expect_error(read_model(inertia("1", "1", "10")), 5, "no body can have");
  expect_error(read_model(inertia("1", "0", "1")), 5, "no body can have");
  expect_error(read_model(model("<link name=\"a\"/>")), 3, "no <inertial>");
  expect_error(read_model(model("<link name=\"a\"><inertial><mass>1</mass></inertial></link>")), 3, "lacks <inertia>");
  EXPECT_TRUE(read_model(model("<static>true</static><link name=\"a\"/>")).ok());
}

TEST_F(ReaderTest, MeshesAndImages) {
  const auto mesh = [](const std::string& uri) { return with_shape("<mesh><uri>" + uri + "</uri></mesh>"); };
  expect_error(read_model(mesh("missing.obj")), 4, "there is no file missing.obj");
  folder.write("broken.stl", "solid but no\nmore");
  expect_error(read_model(mesh("broken.stl")), 4, "broken.stl: the mesh");
  folder.write("none.xyzzy", "what is this");
  expect_error(read_model(mesh("none.xyzzy")), 4, "cannot be read");
  folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 3 4\n");
  expect_error(read_model(mesh("flat.obj")), 4, "in one plane");
  expect_error(read_model(mesh("https://example.com/x.obj")), 4, "nothing is downloaded");
  expect_error(read_model(with_shape("<empty/>\n<volvox:hull mesh=\"gone.obj\"/>")), 6, "there is no file gone.obj");

  const auto terrain = [](const std::string& uri, const std::string& before) {
    return model(before + "<link name=\"a\">" + inertial + "\n<collision name=\"c\"><geometry><heightmap><uri>" + uri +
                 "</uri><size>1 1 1</size></heightmap></geometry></collision></link>");
  };
  expect_error(read_model(terrain("missing.png", "<static>true</static>")), 4, "there is no file missing.png");
  folder.write("broken.png", "this is not an image");
  expect_error(read_model(terrain("broken.png", "<static>true</static>")), 4, "the image cannot be read");
  folder.write("row.pgm", std::string("P5 3 1 255\n") + "abc");
  expect_error(read_model(terrain("row.pgm", "<static>true</static>")), 4,
               "row.pgm: a terrain cannot be made of 3 x 1");
  expect_error(read_model(terrain("broken.png", "")), 4, "a terrain cannot move", "<static>");
}

TEST_F(ReaderTest, Shapes) {
  const auto hull = [](const std::string& points) {
    return with_shape("<empty/>\n<volvox:hull>" + points + "</volvox:hull>");
  };
  expect_error(read_model(hull("0 0 0 1 0 0 0 1 0")), 6, "a hull of 3 points", "at least 4");
  expect_error(read_model(hull("")), 6, "a hull of 0 points");
  expect_error(read_model(hull("0 0 0 1 0 0 0 1 0 1 1 0")), 6, "in one plane");
  expect_error(read_model(hull("0 0 0 1 0 0 2 0 0 3 0 0")), 6, "on one line");
  expect_error(read_model(hull("1 1 1 1 1 1 1 1 1 1 1 1")), 6, "in one place");
  expect_error(read_model(hull("0 0 0 1 0 0 0 1 0 0 0 nan")), 6, "not a finite number");
  expect_error(read_model(hull("0 0 0 1 0 0 0 1 0 0 0 inf")), 6, "not finite");
  expect_error(read_model(hull("0 0 0 1 0 0 0 1 0 0 0 1 2")), 6, "not three per point");
  expect_error(
      read_model(with_shape("<box><size>1 1 1</size></box><volvox:hull>0 0 0 1 0 0 0 1 0 0 0 1</volvox:hull>")), 5,
      "another shape too");
  expect_error(read_model(with_shape(
                   "<polyline><point>0 0</point><point>0 1</point><point>1 1</point><height>1</height></polyline>")),
               5, "<polyline> is not supported");
  expect_error(read_model(with_shape("<plane><normal>0 0 1</normal></plane>")), 4, "a plane cannot move", "<static>");
}

TEST_F(ReaderTest, NamesOfLinksAndJointsThatAreNotThere) {
  expect_error(read_model(with_link("<volvox:dock name=\"d\" link=\"b\"/>")), 4, "the link b, which m does not have",
               "did you mean a?");
  expect_error(read_model(with_link("<volvox:sensor name=\"s\" type=\"pose\" link=\"b\"/>")), 4, "the link b");
  expect_error(read_model(with_link("<volvox:motor joint=\"j\" kd=\"1\"/>")), 4, "the joint j, which m does not have");
  expect_error(read_model(with_link("<volvox:percept name=\"x.angle\"/>")), 4, "names x.angle");
  expect_error(read_model(with_link("<volvox:action name=\"x\"/>")), 4, "names x");
  expect_error(read_model(with_link("<volvox:message dock=\"x\"/>")), 4, "names x");
  expect_error(read_model(with_link("<volvox:dock link=\"a\"/>")), 4, "no name=");
  expect_error(read_model(with_link("<link/>")), 4, "this <link> has no name");
  expect_error(read(sdf("<world/>")), 2, "this <world> has no name");
  expect_error(read(sdf("<world name=\" \"/>")), 2, "this <world> has no name");
  expect_error(read_model(with_link("<volvox:dock name=\"d\"/>")), 4, "no link=");
  expect_error(read_model(with_link("<volvox:dock name=\"d\" link=\"a\" gender=\"mail\"/>")), 4, "no gender \"mail\"",
               "did you mean male?");
  expect_error(read_model(with_link("<volvox:mind/>")), 4, "no behavior=");
  expect_error(read_model(with_link("<joint name=\"j\" type=\"fixed\"><parent>a</parent><child>b</child></joint>")), 4,
               "b");
}

TEST_F(ReaderTest, NamesThatClash) {
  expect_error(read_model(with_link(std::string("<link name=\"a\">") + inertial + "</link>")), 4,
               "the name a of this <link> is taken");
  expect_error(read_model(with_link("<volvox:dock name=\"d\" link=\"a\"/>\n<volvox:dock name=\"d\" link=\"a\"/>")), 5,
               "named d");
  expect_error(
      read_model(with_link("<volvox:sensor name=\"s\" type=\"pose\"/>\n<volvox:sensor name=\"s\" type=\"pose\"/>")), 5,
      "two percepts named s");
  const std::string joint =
      std::string("<link name=\"b\">") + inertial +
      "</link>\n<joint name=\"j\" type=\"revolute\"><parent>a</parent><child>b</child><axis><xyz>0 0 "
      "1</xyz></axis></joint>\n<volvox:motor joint=\"j\" kd=\"1\"/>\n";
  expect_error(read_model(with_link(joint + "<volvox:dock name=\"j\" link=\"a\"/>")), 7, "two actions named j");
  expect_error(read_model(with_link(joint + "<volvox:motor joint=\"j\" kd=\"1\"/>")), 7, "two motors");
  expect_error(
      read_model(with_link(joint + "<joint name=\"j\" type=\"fixed\"><parent>a</parent><child>b</child></joint>")), 7,
      "the name j of this <joint> is taken");
  expect_error(read_model(with_link("<volvox:dock name=\"d.e\" link=\"a\"/>")), 4, "contains a point");
  expect_error(read_model(with_link("<volvox:mind behavior=\"x\"/><volvox:mind behavior=\"y\"/>")), 4, "two minds");
  const std::string twice = "<volvox:module name=\"x\" robot=\"hinge\" pose=\"0 0 0 0 0 0\"/>\n";
  expect_error(read(world(twice + twice)), 4, "two things named x");
}

TEST_F(ReaderTest, JointsThatAreNotSupported) {
  const auto joint = [](const std::string& type, const std::string& more) {
    return with_link(std::string("<link name=\"b\">") + inertial + "</link>\n<joint name=\"j\" type=\"" + type +
                     "\"><parent>a</parent><child>b</child>" + more + "</joint>");
  };
  const std::string axis = "<axis><xyz>0 0 1</xyz></axis>";
  for (const char* type : {"universal", "screw", "gearbox", "revolute2"}) {
    expect_error(read_model(joint(type, axis + "<axis2><xyz>1 0 0</xyz></axis2>")), 5,
                 std::string("type ") + type + " are not supported");
  }
  expect_error(read_model(joint("bendy", axis)), 5, "bendy");
  expect_error(read_model(joint("revolute", "")), 5, "axis");
  expect_error(read_model(joint("revolute", "\n<axis><xyz>0 0 0</xyz></axis>")), 6, "no direction", "such as 0 0 1");
  expect_error(
      read_model(joint("revolute", "<axis><xyz>0 0 1</xyz><limit><lower>1</lower><upper>-1</upper></limit></axis>")), 5,
      "lower limit");
}

TEST_F(ReaderTest, Latches) {
  const std::string dock = "<volvox:dock name=\"d\" link=\"a\"/>\n";
  const auto bad = [&](const std::string& attributes, const std::string& what, const std::string& fix = "") {
    expect_error(read_model(with_link(dock + "<volvox:latch " + attributes + "/>")), 5, what, fix);
  };
  bad("dock=\"e\"", "the latch closes the dock e, which m does not have", "d");
  bad("", "dock");
  bad("dock=\"d\" travel=\"0\"", "travel=\"0\"");
  bad("dock=\"d\" speed=\"-1\"", "speed=\"-1\"");
  bad("dock=\"d\" force=\"inf\"", "force=\"inf\"");
  bad("dock=\"d\" friction=\"-0.1\"", "friction=\"-0.1\"");
  bad("dock=\"d\" hold=\"glue\"", "hold=\"glue\"", "form, friction");
  bad("dock=\"d\" depth=\"0.01\"", "holds by form has no depth=", "hold=\"friction\"");
  bad("dock=\"d\" hold=\"friction\" friction=\"0\"", "holds nothing", "such as 0.3");
  bad("dock=\"d\" travel=\"1\" speed=\"1e-5\"", "takes 1e+05 s to close", "shorter travel=");
  bad("dock=\"d\" frce=\"1\"", "no attribute frce=", "did you mean force?");
  const std::string one = "<volvox:latch dock=\"*\"/>";
  expect_error(read_model(with_link(dock + one + "\n" + one)), 6, "dock d has two latches", "keep one");
}

TEST_F(ReaderTest, FlushFaces) {
  const std::string hinge = std::string("<link name=\"b\">") + inertial +
                            "</link><joint name=\"j\" type=\"revolute\"><parent>a</parent><child>b</child><axis><xyz>0 "
                            "0 1</xyz></axis></joint>"
                            "<joint name=\"k\" type=\"fixed\"><parent>world</parent><child>a</child></joint>\n";
  const auto bad = [&](const std::string& attributes, const std::string& what, const std::string& fix = "") {
    expect_error(read_model(with_link(hinge + "<volvox:flush " + attributes + "/>")), 5, what, fix);
  };
  bad("joint=\"yaw\" friction=\"0.2\" radius=\"0.02\"", "the faces rub at the joint yaw, which m does not have");
  bad("joint=\"k\" friction=\"0.2\" radius=\"0.02\"", "joint k has no flush faces", "revolute and prismatic");
  bad("joint=\"j\" friction=\"-1\" radius=\"0.02\"", "friction=\"-1\"");
  bad("joint=\"j\" friction=\"0.2\" radius=\"0\"", "radius=\"0\"");
  bad("joint=\"j\" radius=\"0.02\"", "friction=");
  bad("joint=\"j\" friction=\"0.2\" radius=\"0.02\" preload=\"-5\"", "preload=\"-5\"");
  bad("joint=\"j\" friction=\"0.2\"", "the faces of the hinge j have no radius=", "in m");
  const std::string one = "<volvox:flush joint=\"j\" friction=\"0.2\" radius=\"0.02\"/>";
  expect_error(read_model(with_link(hinge + one + "\n" + one)), 6, "given twice", "keep one");
}

TEST_F(ReaderTest, NestedModelsAndIncludesInModels) {
  expect_error(read_model(with_link("<model name=\"n\"><link name=\"l\"/></model>")), 4, "<model> inside of <model>");
  expect_error(read_model(with_link("<include><uri>model://hinge</uri></include>")), 4, "<include> inside of <model>");
}

TEST_F(ReaderTest, Includes) {
  expect_error(read(world("<include><name>x</name></include>")), 3, "no <uri>");
  expect_error(read(world("<include><uri>model://hinge</uri><pose>1 2</pose></include>")), 3, "holds 2 numbers");
  expect_error(read(world("<include><uri>model://hinge</uri><plugin/></include>")), 3, "<plugin> in an <include>");
  expect_error(read(world("<include><uri>https://x/y</uri></include>")), 3, "nothing is downloaded");
  folder.write("one.sdf", sdf("<include><uri>two.sdf</uri></include>"));
  folder.write("two.sdf", sdf("<include><uri>one.sdf</uri></include>"));
  expect_error(read(world("<include><uri>one.sdf</uri></include>")), 0, "includes itself");
  folder.write("alias.sdf", sdf("<include><uri>model://hinge</uri></include>"));
  EXPECT_TRUE(read(world("<include><uri>alias.sdf</uri></include>")).ok());
}

TEST_F(ReaderTest, Robots) {
  expect_error(read(world("<volvox:module name=\"a\" robot=\"hing\" pose=\"0 0 0 0 0 0\"/>")), 3,
               "no robot or model named \"hing\"", "did you mean hinge?");
  expect_error(read(world("<volvox:module name=\"a\" robot=\"x/y.sdf\" pose=\"0 0 0 0 0 0\"/>")), 3,
               "there is no file x/y.sdf");
  expect_error(read(world("<volvox:module name=\"a\" robot=\"hinge\" pose=\"0 0 0 0 0 0\"><volvox:joint name=\"pich\" "
                          "position=\"1\"/></volvox:module>")),
               3, "no joint pich", "did you mean pitch?");
  expect_error(read(world("<volvox:module name=\"a\" robot=\"hinge\" pose=\"0 0 0 0 0 0\"><volvox:joint name=\"pitch\" "
                          "position=\"2\"/></volvox:module>")),
               3, "outside of its limits", "-1.6 to 1.6");
  expect_error(read(world("<volvox:module name=\"a\" robot=\"hinge\"/>")), 3, "a has no pose", "connect");
  // The mistake of a robot is reported in the robot's file.
  folder.write("bad.sdf", model("\n\n<link name=\"a\"/>"));
  const Result<WorldModel> bad = read(world("<volvox:module name=\"a\" robot=\"bad.sdf\" pose=\"0 0 0 0 0 0\"/>"));
  expect_error(bad, 5, "no <inertial>");
  EXPECT_TRUE(bad.error().diagnostics()[0].file.ends_with("bad.sdf"));
}

TEST_F(ReaderTest, Connections) {
  folder.write("robots/plug/plug.sdf", sdf(std::string("<model name=\"plug\"><link name=\"a\">") + inertial + R"(</link>
<volvox:dock name="m" link="a" gender="male"/><volvox:dock name="m2" link="a" gender="male"/><volvox:dock name="f" link="a" gender="female"/>
<volvox:dock name="k" link="a" kind="other"/><volvox:dock name="s" link="a" symmetry="3"/></model>)"));
  const std::string two =
      "<volvox:module name=\"a\" robot=\"plug\" pose=\"0 0 0 0 0 0\"/><volvox:module name=\"b\" "
      "robot=\"plug\"/><volvox:module name=\"c\" robot=\"plug\"/>\n";
  const auto connect = [](const std::string& from, const std::string& to, const std::string& turn = "0") {
    return "<volvox:connect from=\"" + from + "\" to=\"" + to + "\" turn=\"" + turn + "\"/>\n";
  };
  expect_error(read(world(two + connect("a.x", "b.f"))), 4, "a (plug) has no dock x", "There are: m, m2, f");
  expect_error(read(world(two + connect("z.m", "b.f"))), 4, "no module or model z");
  expect_error(read(world(two + connect("am", "b.f"))), 4, "does not name a dock", "MODULE.DOCK");
  expect_error(read(world(two + connect("a.m", "b.m"))), 4, "are both male");
  expect_error(read(world(two + connect("a.m", "b.k"))), 4, "does not fit", "one kind");
  expect_error(read(world(two + connect("a.m", "b.s"))), 4, "symmetry");
  expect_error(read(world(two + connect("a.m", "a.f"))), 4, "its own module");
  expect_error(read(world(two + connect("a.m", "b.f", "4"))), 4, "turn 4", "from 0 to 3");
  expect_error(read(world(two + connect("a.m", "b.f", "x"))), 4, "turn=\"x\"");
  expect_error(read(world(two + connect("a.m", "b.f") + connect("c.m", "b.f"))), 5, "b.f is connected twice");
  expect_error(read(world(two + connect("a.m", "b.f"))), 3, "c has no pose");
  const std::string apart =
      "<volvox:module name=\"a\" robot=\"hinge\" pose=\"0 0 0 0 0 0\"/><volvox:module name=\"b\" robot=\"hinge\" "
      "pose=\"0.21 0 0 0 0 0\"/>\n";
  expect_error(read(world(apart + connect("a.front", "b.back"))), 4, "10.0 mm and 0.0 degrees apart");
}

TEST_F(ReaderTest, Populations) {
  const auto population = [](const std::string& attributes) {
    return world("<volvox:population name=\"p\" robot=\"hinge\" " + attributes + "/>");
  };
  const std::string docks = " from=\"front\" to=\"back\" pose=\"0 0 0 0 0 0\"";
  expect_error(read(population("type=\"chain\" count=\"0\"" + docks)), 3, "count=\"0\"", "1 to 10000000");
  expect_error(read(population("type=\"chain\" count=\"99999999999999999999\"" + docks)), 3, "count=");
  expect_error(read(population("type=\"chain\" count=\"10000001\"" + docks)), 3, "count=");
  expect_error(read(population("type=\"chain\"" + docks)), 3, "no count=");
  expect_error(read(population("type=\"chain\" count=\"3\" to=\"back\"")), 3, "no from=");
  expect_error(read(population("type=\"chain\" count=\"3\" from=\"front\" to=\"bak\" pose=\"0 0 0 0 0 0\"")), 3,
               "no dock bak", "did you mean back?");
  expect_error(read(population("type=\"chain\" count=\"3\" from=\"front\" to=\"back\"")), 3, "p0 has no pose");
  expect_error(read(population("type=\"ring\" count=\"1\"" + docks)), 3, "the ring p");
  expect_error(read(population("type=\"heap\" count=\"3\"")), 3, "no population of type heap", "chain");
  expect_error(read(population("count=\"3\"")), 3, "no type=");
  expect_error(read(population("type=\"grid\" count_x=\"5000\" count_y=\"5000\" spacing_x=\"1\" spacing_y=\"1\"")), 3,
               "25000000 modules");
  expect_error(read(population("type=\"grid\" count_x=\"5\"")), 3, "no spacing_x=");
  expect_error(read(population("type=\"grid\" count=\"5\"")), 3, "a grid has no count=");
  expect_error(read(population("type=\"chain\" jitter=\"5\" count=\"2\"" + docks)), 3, "a chain has no jitter=");
}

TEST_F(ReaderTest, Parameters) {
  expect_error(read(world("<volvox:parameter name=\"a\" value=\"1\"/>\n<volvox:parameter name=\"a\" value=\"1\"/>")), 4,
               "two parameters named a");
  expect_error(read(world("<volvox:parameter name=\"a b\" value=\"1\"/>")), 3, "cannot be the name");
  expect_error(read(world("<volvox:parameter name=\"a\" value=\"1\" min=\"2\"/>")), 3, "the default \"1\"");
  expect_error(read(world("<volvox:parameter name=\"a\"/>")), 3, "no value=");
  // Once no end: the name that was forgotten is looked for in every expression.
  expect_error(read(world("<volvox:parameter value=\"1\"/>\n<gravity>0 0 -${1 + 8}</gravity>")), 3, "name=");
  expect_error(read(world("<volvox:run duration=\"${\"/>")), 3, "no } follows in this line");
}

TEST_F(ReaderTest, Urdfs) {
  const auto robot = [&](const std::string& content) {
    return read_model(
        "<robot name=\"r\">\n<link name=\"a\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" "
        "ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n" +
            content + "\n</robot>",
        "r.urdf");
  };
  EXPECT_TRUE(robot("").ok());
  expect_error(robot("<link name=\"a\"/>"), 3, "two links named a");
  expect_error(robot("<link name=\"b\"/>"), 1, "not connected");
  expect_error(robot("<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint>"), 3,
               "no link c");
  const std::string b =
      "<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" "
      "iyz=\"0\"/></inertial></link>\n";
  expect_error(robot(b + "<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/></joint>"), 4,
               "no <limit>");
  const auto hinge = [&](const std::string& inside) {
    return robot(b + "<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/>\n" + inside +
                 "</joint>");
  };
  const std::string limit = "<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>";
  EXPECT_TRUE(hinge("<axis xyz=\"0 0 1\"/>" + limit).ok());
  expect_error(hinge("<limit lower=\"1\" upper=\"-1\" effort=\"1\" velocity=\"1\"/>"), 5,
               "the lower limit 1 of joint j is above the upper one, -1", "swap");
  expect_error(hinge("<limit lower=\"1\" effort=\"1\" velocity=\"1\"/>"), 5, "the lower limit 1 of joint j",
               "give both");
  expect_error(hinge("<axis xyz=\"0 0 0\"/>" + limit), 5, "the axis of joint j has no direction", "not zero");
  expect_error(robot(b + "<joint name=\"j\" type=\"bendy\"><parent link=\"a\"/><child link=\"b\"/></joint>"), 4,
               "unknown type bendy");
  expect_error(robot(b + "<joint name=\"j\" type=\"floating\"><parent link=\"a\"/><child link=\"b\"/></joint>"), 4,
               "floating are not supported");
  expect_error(robot(b + "<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint><joint "
                         "name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"a\"/></joint>"),
               -1, "loop");
  expect_error(
      robot(
          "<link name=\"b\"/>\n<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint>"),
      3, "no <inertial>");
  expect_error(robot("<link name=\"b\"><inertial><mass value=\"0\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" "
                     "ixz=\"0\" iyz=\"0\"/></inertial></link>\n<joint name=\"j\" type=\"fixed\"><parent "
                     "link=\"a\"/><child link=\"b\"/></joint>"),
               3, "the mass of link b is 0");
  expect_error(robot("<gazebo>\n<volvox:dock name=\"d\" link=\"nope\"/></gazebo>"), 4, "the link nope");
}

TEST_F(ReaderTest, DamagedFilesGiveAResult) {
  folder.write("part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string urdf =
      R"(<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><mesh filename="part.obj"/></geometry></collision></link>
<link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint><gazebo><volvox:dock name="d" link="b"/></gazebo></robot>)";
  const std::string population = world(R"(<volvox:parameter name="n" value="3" min="1" max="9"/>
<volvox:population name="s" type="chain" robot="hinge" count="${n}" pose="0 0 0 0 0 0" from="front" to="back"/>
<include><uri>model://hinge</uri><pose>1 0 0 0 0 0</pose></include><volvox:module name="x" robot="hinge"/><volvox:connect from="s0.left" to="x.right" turn="1"/>
<model name="o"><static>true</static><link name="l"><collision name="c"><geometry><mesh><uri>part.obj</uri></mesh></geometry></collision></link></model>)");
  const std::vector<std::string> good{hinge_module(), population, urdf};
  std::size_t failed = 0, read_anyway = 0;
  const auto attempt = [&](const std::string& text, bool is_urdf) {
    ModelLibrary fresh({folder.path()});
    testing::internal::CaptureStderr();
    const Result<WorldModel> w = read_world_text(text, folder.path() / (is_urdf ? "f.urdf" : "f.sdf"), {}, fresh);
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(printed.empty()) << printed << "for:\n" << text;
    if (w.ok()) {
      ++read_anyway;
    } else {
      ++failed;
      for (const Diagnostic& d : w.error().diagnostics()) EXPECT_FALSE(d.what.empty() || d.fix.empty()) << d.text();
    }
  };
  for (std::size_t which = 0; which < good.size(); ++which) {
    const std::string& text = good[which];
    attempt(text, which == 2);
    ASSERT_EQ(failed, 0u);
    for (std::size_t size = 0; size < text.size(); size += 23) attempt(text.substr(0, size), which == 2);
    RandomStream random(7, which, "fuzz");
    for (int i = 0; i < 100; ++i) {
      std::string damaged = text;
      // What stays XML goes deeper into the reader, so digits mostly become other digits.
      const std::uint64_t flips = 1 + random.below(2);
      for (std::uint64_t k = 0; k < flips; ++k) {
        char& c = damaged[random.below(damaged.size())];
        if (c >= '0' && c <= '9' && random.chance(0.8)) c = narrow<char>('0' + random.below(10));
        else if (random.chance(0.9)) c = narrow<char>(32 + random.below(95));
        else c = static_cast<char>(random.below(256));
      }
      attempt(damaged, which == 2);
    }
    failed = 0;
  }
  EXPECT_GT(read_anyway, 10u);  // otherwise the damage is too crude to test anything
}

}  // namespace
}  // namespace volvox::model::test
