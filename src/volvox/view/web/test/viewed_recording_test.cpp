#include "volvox/view/web/viewed_recording.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/record/recorder.h"
#include "volvox/record/recording_format.h"
#include "volvox/sim/test/worlds.h"
#include "volvox/view/render_tree.h"

namespace volvox::view {
namespace {

// Recordings of before November 2026 name what is shown "scene"; they must open as new ones do.
TEST(ViewedRecording, OpensOldAndNewRecordings) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "web/dist");
  std::ofstream(folder / "web/dist/index.html") << "<html></html>";
  sim::Stage stage;
  const auto world = stage.busy_world();
  setenv("VOLVOX_RESOURCE_PATH", folder.path().c_str(), 1);
  ViewerOptions options;
  options.open_browser = false;
  auto viewer = Viewer::start(options);
  ASSERT_TRUE(viewer.ok()) << viewer.error().text();
  for (const char* name : {"render_tree", "scene", "nothing"}) {
    auto simulation = stage.simulate(world, 1, 1, "none");
    const auto file = folder / (std::string(name) + ".mcap");
    auto recorder = record::Recorder::create(
        file, {{"format", record::format::version}, {"dt", simulation->settings().dt.text()}}, *simulation);
    ASSERT_TRUE(recorder.ok()) << recorder.error().text();
    (*recorder)->attach(name, "application/octet-stream", encode_tree(RenderTree::of(simulation->world())));
    (*recorder)->record(*simulation);
    ASSERT_TRUE((*recorder)->finish({}).ok());
    auto recording = record::Recording::open(file);
    ASSERT_TRUE(recording.ok()) << recording.error().text();
    EXPECT_EQ(ViewedRecording::create(**viewer, **recording).ok(), std::string(name) != "nothing") << name;
  }
  unsetenv("VOLVOX_RESOURCE_PATH");
}

}  // namespace
}  // namespace volvox::view
