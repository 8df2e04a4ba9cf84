// The text of write_mjcf; python/tests/test_mjcf.py gives it to MuJoCo and compares what moves.
#include "volvox/model/mjcf.h"

#include <gtest/gtest.h>
#include <tinyxml2.h>

#include "volvox/model/reader.h"

namespace volvox::model {
namespace {

constexpr const char* world_text = R"(<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="two">
  <gravity>0 0 -1.6</gravity>
  <volvox:population name="m" type="chain" robot="superbot" count="2" pose="0 0 1 0 0 0" from="back" to="front">
    <volvox:mind behavior="idle"/></volvox:population>
</world></sdf>)";

Mjcf written(const std::string& text) {
  ModelLibrary library;
  const auto world = read_world_text(text, "test.sdf", {}, library);
  EXPECT_TRUE(world.ok()) << world.error().text();
  return write_mjcf(*world);
}

int count(const tinyxml2::XMLElement* at, const char* name) {
  int found = 0;
  for (const auto* child = at->FirstChildElement(); child != nullptr; child = child->NextSiblingElement())
    found += (std::string(child->Name()) == name) + count(child, name);
  return found;
}

TEST(Mjcf, LinksJointsMotorsAndDocks) {
  const Mjcf mjcf = written(world_text);
  tinyxml2::XMLDocument document;
  ASSERT_EQ(document.Parse(mjcf.text.c_str()), tinyxml2::XML_SUCCESS);
  // Stricter readers than this one refuse "--" within a comment.
  const std::size_t comment = mjcf.text.find("<!--") + 4;
  EXPECT_EQ(mjcf.text.find("--", comment), mjcf.text.find("-->", comment));
  const auto* root = document.FirstChildElement("mujoco");
  EXPECT_STREQ(root->FirstChildElement("option")->Attribute("gravity"), "0 0 -1.6");
  const auto* bodies = root->FirstChildElement("worldbody");
  EXPECT_EQ(count(bodies, "body"), 8);
  EXPECT_EQ(count(bodies, "freejoint"), 2);
  EXPECT_EQ(count(bodies, "joint"), 6);
  EXPECT_EQ(count(root->FirstChildElement("actuator"), "general"), 6);
  EXPECT_EQ(count(root->FirstChildElement("equality"), "weld"), 1) << "an engaged dock";
  EXPECT_EQ(count(bodies, "site"), 2 * 6 + 4) << "docks, accelerometers and gyroscopes";
  EXPECT_EQ(count(root->FirstChildElement("contact"), "exclude"), 2 * 6 + 1) << "within a module, and at the dock";
}

TEST(Mjcf, WhatCannotBeSaidIsNamed) {
  const Mjcf mjcf = written(world_text);
  const auto names = [&](const std::string& what) {
    for (const std::string& each : mjcf.left_out)
      if (each.find(what) != std::string::npos) return mjcf.text.find(each) != std::string::npos;
    return false;
  };
  EXPECT_TRUE(names("minds"));
  EXPECT_TRUE(names("docks capture"));
  EXPECT_TRUE(names("largest velocity"));
  EXPECT_FALSE(names("water"));
}

TEST(Mjcf, TheSameWorldGivesTheSameText) { EXPECT_EQ(written(world_text).text, written(world_text).text); }

}  // namespace
}  // namespace volvox::model
