// Small files for the tests of the reader, in a folder that lives as long as the test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/model/reader.h"

namespace volvox::model::test {

class TestFolder : public TemporaryFolder {
 public:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
};

inline constexpr const char* inertial =
    "<inertial><mass>0.25</mass><inertia><ixx>0.0003</ixx><iyy>0.0003</iyy><izz>0.0003</izz></inertia></inertial>";

inline std::string sdf(const std::string& content) {
  return "<sdf version=\"1.9\" xmlns:volvox=\"https://volvox.sim/sdf\">\n" + content + "\n</sdf>\n";
}
inline std::string world(const std::string& content) { return sdf("<world name=\"w\">\n" + content + "\n</world>"); }
inline std::string model(const std::string& content) { return sdf("<model name=\"m\">\n" + content + "\n</model>"); }

// Two cubes of 0.1 m with a hinge about y between them, and four docks, as in a SuperBot.
inline std::string hinge_module() {
  const auto link = [](const std::string& name, const std::string& x) {
    return "<link name=\"" + name + "\"><pose>" + x + " 0 0 0 0 0</pose>" + inertial +
           "<collision name=\"c\"><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision>"
           "<visual name=\"v\"><geometry><box><size>0.1 0.1 0.1</size></box></geometry>"
           "<material><diffuse>0.9 0.5 0.1 1</diffuse></material></visual></link>\n";
  };
  return "<sdf version=\"1.9\" xmlns:volvox=\"https://volvox.sim/sdf\">\n<model name=\"hinge\">\n" +
         link("tail", "-0.05") + link("head", "0.05") +
         R"(<joint name="pitch" type="revolute"><pose relative_to="__model__"/><parent>tail</parent><child>head</child>
  <axis><xyz>0 1 0</xyz><limit><lower>-1.6</lower><upper>1.6</upper><effort>6</effort><velocity>4</velocity></limit>
  <dynamics><damping>0.02</damping><friction>0.05</friction></dynamics></axis></joint>
<volvox:motor joint="pitch" kp="40" kd="1.5"/>
<volvox:dock name="front" link="head" pose="0.05 0 0 0 0 0"/>
<volvox:dock name="back" link="tail" pose="-0.05 0 0 0 0 3.141592653589793"/>
<volvox:dock name="left" link="tail" pose="0 0.05 0 0 0 1.5707963267948966"/>
<volvox:dock name="right" link="tail" pose="0 -0.05 0 0 0 -1.5707963267948966"/>
<volvox:sensor name="imu" type="accelerometer" link="head"/>
<volvox:mind behavior="idle"><volvox:parameter name="period" value="1"/></volvox:mind>
</model>
</sdf>
)";
}

// A folder with robots/hinge/hinge.sdf, and a library that finds it.
class ReaderTest : public testing::Test {
 protected:
  ReaderTest() : library({folder.path()}) { folder.write("robots/hinge/hinge.sdf", hinge_module()); }

  Result<WorldModel> read(const std::string& text, const std::map<std::string, std::string>& settings = {}) {
    warnings.clear();
    return read_world(folder.write("world.sdf", text), settings, library, &warnings);
  }
  Result<Model> read_model(const std::string& text, const std::string& name = "m.sdf") {
    warnings.clear();
    const std::filesystem::path file = folder.write(name, text);
    ModelLibrary fresh({folder.path()});
    return fresh.load(file.filename().string(), file.parent_path(), &warnings);
  }

  // That reading fails with a diagnostic about this line that holds these words, and a fix.
  template <class T>
  static void expect_error(const Result<T>& result, int line, const std::string& what, const std::string& fix = {}) {
    ASSERT_FALSE(result.ok()) << "should fail: " << what;
    for (const Diagnostic& d : result.error().diagnostics()) {
      if ((line < 0 || d.line == line) && d.what.find(what) != std::string::npos &&
          d.fix.find(fix) != std::string::npos) {
        EXPECT_FALSE(d.fix.empty());
        EXPECT_FALSE(d.file.empty()) << d.text();
        return;
      }
    }
    ADD_FAILURE() << "no diagnostic about line " << line << " with \"" << what << "\" and fix \"" << fix << "\" in:\n"
                  << result.error().text();
  }

  TestFolder folder;
  ModelLibrary library;
  std::vector<Diagnostic> warnings;
};

inline void expect_near(const Vec3& a, const Vec3& b, double tolerance = 1e-9) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

}  // namespace volvox::model::test
