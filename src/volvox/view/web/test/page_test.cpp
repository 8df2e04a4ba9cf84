#include "volvox/view/web/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/record/recorder.h"
#include "volvox/record/recording_format.h"
#include "volvox/sim/test/worlds.h"
#include "volvox/view/render_tree.h"
#include "volvox/view/web/codec.h"

namespace volvox::view {
namespace {

class Page : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "web/dist/assets");
    write("index.html",
          "<html><head><script type=\"module\" crossorigin src=\"./assets/a.js\"></script>"
          "<link rel=\"stylesheet\" crossorigin href=\"./assets/a.css\"></head><body><p>page</p></body></html>");
    write("assets/a.js", "const text = \"</script>\";");
    write("assets/a.css", "p { color: red }");
    setenv("VOLVOX_RESOURCE_PATH", folder_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("VOLVOX_RESOURCE_PATH"); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / ("web/dist/" + name)) << text;
  }

  // Of 21 ticks, with its tree or without.
  std::unique_ptr<record::Recording> recording(bool with_tree) {
    sim::Stage stage;
    auto simulation = stage.simulate(stage.busy_world(), 1, 1, "none");
    const auto file = folder_ / "recording.mcap";
    auto recorder = record::Recorder::create(
        file, {{"format", record::format::version}, {"dt", simulation->settings().dt.text()}}, *simulation);
    EXPECT_TRUE(recorder.ok());
    if (with_tree)
      (*recorder)->attach("render_tree", "application/octet-stream", encode_tree(RenderTree::of(simulation->world())));
    (*recorder)->record(*simulation);
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(simulation->step().ok());
      (*recorder)->record(*simulation);
    }
    EXPECT_TRUE((*recorder)->finish({}).ok());
    return std::move(*record::Recording::open(file));
  }

  TemporaryFolder folder_;
};

// The bytes of a text in base64.
std::string decoded(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    group = group << 6 | static_cast<std::uint32_t>(letters.find(letter));
    if ((bits += 6) >= 8) bytes += static_cast<char>(group >> (bits -= 8) & 255u);
  }
  return bytes;
}

// What the page holds: hello, the tree and frames.
std::vector<std::string> messages_in(const std::string& page) {
  const std::string begin = "id=\"volvox-recording\">";
  const std::size_t from = page.find(begin) + begin.size();
  const std::string bytes = decoded(std::string_view(page).substr(from, page.find("</script>", from) - from));
  std::vector<std::string> messages;
  for (std::size_t at = 0; at + 8 <= bytes.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, bytes.data() + at, 4);
    messages.push_back(bytes.substr(at + 8, size));
    at += 8 + (size + 3) / 4 * 4;
  }
  return messages;
}

TEST_F(Page, HoldsEverything) {
  const auto source = recording(true);
  const auto page = page_of(*source);
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->html.find("src="), std::string::npos);
  EXPECT_EQ(page->html.find("href="), std::string::npos);
  EXPECT_NE(page->html.find("const text = \"<\\/script>\";</script>"), std::string::npos);
  EXPECT_NE(page->html.find("<style>p { color: red }</style>"), std::string::npos);
  const auto messages = messages_in(page->html);
  ASSERT_EQ(messages.size(), 2u + 21u);
  EXPECT_EQ(std::pair(page->shown_ticks, page->ticks), std::pair(std::int64_t{21}, std::int64_t{21}));
  EXPECT_EQ(messages[0].front(), '{');
  EXPECT_EQ(messages[1].substr(0, 4), "VXS1");
  for (std::size_t i = 2; i < messages.size(); ++i) EXPECT_EQ(messages[i].substr(0, 4), "VXF1");
}

TEST_F(Page, ShowsFewerTicks) {
  const auto source = recording(true);
  const auto every = page_of(*source, {.every = 6});
  ASSERT_TRUE(every.ok()) << every.error().text();
  EXPECT_EQ(messages_in(every->html).size(), 2u + 5u) << "0, 6, 12, 18 and the last";
  EXPECT_EQ(std::pair(every->shown_ticks, every->ticks), std::pair(std::int64_t{5}, std::int64_t{21}));
  const auto hello = nlohmann::json::parse(messages_in(every->html)[0]);
  EXPECT_EQ(hello.at("shown_ticks"), 5) << "the page says how much it left out";
  EXPECT_EQ(hello.at("recorded_ticks"), 21);
  const std::size_t frame = messages_in(every->html).back().size();
  const auto bytes_of = [](const std::vector<std::string>& messages) {
    std::size_t bytes = 0;
    for (const std::string& message : messages) bytes += 8 + (message.size() + 3) / 4 * 4;
    return bytes;
  };
  auto introduction = messages_in(every->html);
  introduction.resize(2);
  const std::size_t begin = bytes_of(introduction), most = std::max(40 * frame, begin / 3);
  const auto fitting = page_of(*source, {.most_bytes = most});
  ASSERT_TRUE(fitting.ok()) << fitting.error().text();
  const auto messages = messages_in(fitting->html);
  EXPECT_LE(bytes_of(messages), std::max(most, begin + most / 4)) << "hello and the tree are counted";
  EXPECT_GT(messages.size(), 2u + 2u);
  const auto refused = page_of(*source, {.every = 1, .most_bytes = frame});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("too large for one page"), std::string::npos) << refused.error().text();
}

TEST(Points, AreThinned) {
  nlohmann::json points = nlohmann::json::array();
  for (int i = 0; i < 1000; ++i) points.push_back({i, 0.5});
  const nlohmann::json all = points;
  thin_points(points, 1'000'000);
  EXPECT_EQ(points, all);
  thin_points(points, 1000);
  EXPECT_LE(points.dump().size(), 1000u);
  EXPECT_GT(points.size(), 30u);
  EXPECT_EQ(points.front(), all.front());
  EXPECT_EQ(points.back(), all.back());
}

TEST_F(Page, SaysWhatIsMissing) {
  EXPECT_FALSE(page_of(*recording(false)).ok());
  write("index.html", "<html></html>");
  const auto broken = page_of(*recording(true));
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().text().find("build it again"), std::string::npos) << broken.error().text();
}

}  // namespace
}  // namespace volvox::view
