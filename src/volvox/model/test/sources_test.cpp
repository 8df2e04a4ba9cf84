// The fingerprints of files, and what is said of their changes.
#include "volvox/model/sources.h"

#include <gtest/gtest.h>

#include "volvox/model/test/test_files.h"

namespace volvox::model {
namespace {

using test::TestFolder;
using Words = std::vector<std::string>;

Sources of(const std::map<std::string, std::string>& contents) {
  Sources sources;
  for (const auto& [file, content] : contents) note_source(sources, file, content);
  return sources;
}

TEST(Sources, AnyOtherContentHasAnotherFingerprint) {
  std::set<std::string> seen;
  std::string text;
  for (int length = 0; length < 200; ++length, text += '\0') {
    EXPECT_TRUE(seen.insert(of({{"/a", text}}).at("/a")).second) << length;
    for (std::size_t i = 0; i < text.size(); i += 7) {
      std::string other = text;
      other[i] = 1;
      EXPECT_TRUE(seen.insert(of({{"/a", other}}).at("/a")).second) << length << " " << i;
    }
  }
}

TEST(Sources, ChangesAreNamed) {
  const Sources then = of({{"/p/world.sdf", "w"}, {"/p/robot.sdf", "r"}, {"/p/old.obj", "o"}});
  EXPECT_EQ(changes(then, then), Words{});
  EXPECT_EQ(changes(then, of({{"/p/world.sdf", "w"}, {"/p/robot.sdf", "R"}, {"/p/old.obj", "o"}})),
            Words{"/p/robot.sdf has changed"});
  EXPECT_EQ(changes(then, of({{"/p/world.sdf", "w"}, {"/p/robot.sdf", "r"}, {"/p/new.obj", "n"}})),
            (Words{"/p/old.obj is not read any more", "/p/new.obj was not read then"}));
  EXPECT_EQ(changes(then, of({{"/q/world.sdf", "w"}, {"/q/robot.sdf", "r"}, {"/q/old.obj", "o"}})), Words{}) << "moved";
  EXPECT_EQ(changes(then, of({{"/q/world.sdf", "w"}, {"/q/robot.sdf", "R"}, {"/q/old.obj", "o"}})),
            Words{"/p/robot.sdf has changed: now it is /q/robot.sdf"});
}

TEST(Sources, SwappedFilesAreChanges) {
  const Sources then = of({{"/p/left.obj", "l"}, {"/p/right.obj", "r"}});
  EXPECT_EQ(changes(then, of({{"/p/left.obj", "r"}, {"/p/right.obj", "l"}})),
            (Words{"/p/left.obj has changed", "/p/right.obj has changed"}));
  EXPECT_EQ(changes(then, of({{"/q/left.obj", "r"}, {"/q/right.obj", "l"}})).size(), 2u) << "and moved";
  const Sources folders = of({{"/p/left/part.obj", "l"}, {"/p/right/part.obj", "r"}});
  EXPECT_EQ(changes(folders, of({{"/q/left/part.obj", "l"}, {"/q/right/part.obj", "r"}})), Words{});
  EXPECT_EQ(changes(folders, of({{"/q/left/part.obj", "r"}, {"/q/right/part.obj", "l"}})).size(), 2u);
  EXPECT_EQ(changes(folders, of({{"/q/a/part.obj", "r"}, {"/q/b/part.obj", "l"}})), Words{}) << "other folders";
}

TEST(Sources, OnTheDisk) {
  const TestFolder folder;
  Sources then;
  note_source(then, folder.write("a.sdf", "a"));
  note_source(then, folder.write("b.sdf", "b"));
  note_source(then, folder.path() / "none.sdf");
  EXPECT_EQ(then.size(), 2u);
  EXPECT_EQ(changes_since(then), Words{});
  const std::string a = then.begin()->first;
  folder.write("a.sdf", "A");
  EXPECT_EQ(changes_since(then), Words{a + " has changed"});
  std::filesystem::remove(folder.path() / "a.sdf");
  EXPECT_EQ(changes_since(then), Words{}) << "it may have moved";
}

// Whatever a world pulls in is one of its sources.
TEST(Sources, OfAWorld) {
  const TestFolder folder;
  folder.write("part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  folder.write("m.sdf", test::model(std::string("<link name=\"l\">") + test::inertial +
                                    "<collision name=\"c\"><geometry><mesh><uri>part.obj</uri></mesh></geometry>"
                                    "</collision></link>"));
  const auto file = folder.write("w.sdf", test::world("<include><uri>m.sdf</uri><name>m</name></include>"));
  ModelLibrary library{std::vector<std::filesystem::path>{}};
  const auto world = read_world(file, {}, library);
  ASSERT_TRUE(world.ok()) << world.error().text();
  Words names;
  for (const auto& [path, hash] : library.sources()) names.push_back(std::filesystem::path(path).filename());
  EXPECT_EQ(names, (Words{"m.sdf", "part.obj", "w.sdf"}));
}

}  // namespace
}  // namespace volvox::model
