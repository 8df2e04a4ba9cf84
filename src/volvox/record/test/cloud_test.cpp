// Clouds in recordings: only what has changed is written, and any tick can be read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "volvox/base/random.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/record/cloud_message.h"
#include "volvox/record/point_cloud.h"
#include "volvox/record/recorder.h"
#include "volvox/record/recording_format.h"
#include "volvox/record/replay.h"
#include "volvox/sim/test/worlds.h"

namespace volvox::record {
namespace {

using Items = std::vector<sim::CloudItem>;

struct Fixed : sim::Cloud {
  Items items;
  sim::CloudLook cloud_look() const override { return {}; }
  void cloud_items(Items& out) const override { out = items; }
  std::vector<std::string> cloud_state(std::uint32_t) const override { return {}; }
  void cloud_values(std::size_t, std::vector<float>&) const override {}
};

// Some items move, some change their colour, and now and then one comes or goes.
void change(Items& items, RandomStream& random) {
  for (sim::CloudItem& item : items) {
    if (random.chance(0.05)) item.position[0] += 1;
    if (random.chance(0.1)) item.color[1] = static_cast<std::uint8_t>(random.bits());
    if (random.chance(0.01)) item.shown = static_cast<std::uint8_t>(random.bits());
  }
  if (random.chance(0.3)) items.push_back({{1, 2, static_cast<float>(items.size())}, {3, 4, 5}, sim::CloudItem::open});
}

TEST(CloudMessage, SaysWhatHasChanged) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream random(seed, 0, "cloud");
    Fixed cloud;
    cloud.items.resize(50, {{1, 2, 3}, {4, 5, 6}, sim::CloudItem::open});
    CloudWriter writer;
    Items read;
    protobuf::Writer message;
    for (std::int64_t tick = 0; tick < 60; ++tick) {
      const bool first = tick % 7 == 0;
      if (writer.write(cloud, tick, first, message)) {
        if (whole_of_cloud(message.bytes()) == tick) read.clear();  // it needs nothing of before
        ASSERT_TRUE(read_cloud(message.bytes(), read));
      } else {
        ASSERT_FALSE(first);
      }
      ASSERT_EQ(read, cloud.items) << "seed " << seed << " tick " << tick;
      change(cloud.items, random);
    }
  }
}

TEST(CloudCut, TakesAwayWhatIsBeyondAndLaysBareWhatItCovered) {
  Items items(5, {{}, {}, sim::CloudItem::covered});
  for (std::size_t i = 0; i < items.size(); ++i) items[i].position[1] = static_cast<float>(i);
  items[0].shown = items[4].shown = sim::CloudItem::open;
  sim::cut_open({.axis = 1, .at = 2.5}, {.size = {1, 1, 1}}, items);
  std::vector<int> shown;
  for (const sim::CloudItem& item : items) shown.push_back(item.shown);
  EXPECT_EQ(shown, (std::vector<int>{255, 1, 255, 0, 0}));
}

TEST(CloudMessage, NothingIsWrittenOfNothing) {
  Fixed cloud;
  cloud.items.resize(1000, {{1, 2, 3}, {4, 5, 6}, sim::CloudItem::open});
  CloudWriter writer;
  protobuf::Writer message;
  EXPECT_TRUE(writer.write(cloud, 0, true, message));
  EXPECT_GT(message.bytes().size(), 16'000u);
  EXPECT_FALSE(writer.write(cloud, 1, false, message));
  EXPECT_TRUE(writer.write(cloud, 2, true, message));
  EXPECT_LT(message.bytes().size(), 32u);
  cloud.items[7].color[0] = 99;
  EXPECT_TRUE(writer.write(cloud, 3, false, message));
  EXPECT_LT(message.bytes().size(), 40u);
}

TEST(CloudMessage, DamagedBytesAreRefusedOrRead) {
  Fixed cloud;
  cloud.items.resize(20, {{1, 2, 3}, {4, 5, 6}, sim::CloudItem::open});
  CloudWriter writer;
  protobuf::Writer message;
  ASSERT_TRUE(writer.write(cloud, 0, true, message));
  const std::string whole = message.bytes();
  cloud.items[3].position[2] = 9, cloud.items[11].color[2] = 8;
  ASSERT_TRUE(writer.write(cloud, 1, false, message));
  for (const std::string& good : {whole, message.bytes()})
    for (std::size_t at = 0; at < good.size(); ++at)
      for (const int flip : {1, 0x80, 0xff}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        Items items(20);
        (void)read_cloud(bad, items);
        EXPECT_LE(items.size(), 60u);
      }
}

// What Foxglove reads of it: where each field lies, and the points.
struct Points {
  std::string frame;
  std::uint64_t stride = 0;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> fields;  // offset, type
  std::string data;

  explicit Points(std::string_view message) {
    protobuf::Reader reader(message);
    while (reader.next()) {
      if (reader.field() == 2) frame = reader.text();
      if (reader.field() == 4) stride = reader.integer();
      if (reader.field() == 6) data = reader.text();
      if (reader.field() != 5) continue;
      protobuf::Reader field(reader.text());
      std::string name;
      std::uint64_t offset = 0, type = 0;
      while (field.next()) {
        if (field.field() == 1) name = field.text();
        if (field.field() == 2) offset = field.integer();
        if (field.field() == 3) type = field.integer();
      }
      fields[name] = {offset, type};
    }
    EXPECT_TRUE(reader.ok());
  }
  float number(std::size_t point, const char* field) const {
    const auto [offset, type] = fields.at(field);
    float value = -1;
    if (type == 7) std::memcpy(&value, data.data() + point * stride + offset, sizeof value);
    else if (type == 1) value = static_cast<std::uint8_t>(data[point * stride + offset]);
    return value;
  }
};

TEST(PointCloud, HasWhatIsSeen) {
  Items items(4);
  items[0] = {{1, 2, 3}, {4, 5, 6}, sim::CloudItem::open};
  items[1] = {{7, 8, 9}, {0, 0, 0}, sim::CloudItem::covered};
  items[2] = {{-1, -2, 1e-3f}, {255, 254, 253}, 17};
  PointCloudWriter writer;
  protobuf::Writer message;
  ASSERT_TRUE(writer.write(items, false, {}, message));  // the first in any case
  const Points points(message.bytes());
  EXPECT_EQ(points.frame, "world");
  ASSERT_EQ(points.data.size(), 2 * points.stride);
  EXPECT_EQ(points.number(0, "x"), 1);
  EXPECT_EQ(points.number(0, "y"), 2);
  EXPECT_EQ(points.number(0, "z"), 3);
  EXPECT_EQ(points.number(1, "x"), -1);
  EXPECT_EQ(points.number(1, "z"), 1e-3f);
  EXPECT_EQ(points.number(1, "red"), 255);
  EXPECT_EQ(points.number(1, "blue"), 253);
  EXPECT_EQ(points.number(1, "alpha"), 255);
}

TEST(PointCloud, ComesNotTooOftenAndOnlyAfterChanges) {
  Items items(200'000, {{1, 2, 3}, {4, 5, 6}, sim::CloudItem::open});  // 0.2 s apart
  PointCloudWriter writer;
  protobuf::Writer message;
  const Time tick = Time::seconds(0.05);
  Time now;
  std::vector<int> written;
  for (int k = 0; k < 12; ++k, now += tick)
    if (writer.write(items, k == 0 || k == 1 || k == 9, now, message)) written.push_back(k);
  EXPECT_EQ(written, (std::vector<int>{0, 4, 9}));  // 4: what changed at 1
}

// An experiment whose cloud is a function of the tick.
class Clouded : public sim::Experiment, public Fixed {
 public:
  sim::Cloud* cloud() override { return this; }
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{};
  }
  Result<model::WorldModel> init(sim::Setup&) override {
    model::WorldModel world;
    world.name = "clouded";
    world.run.duration = Time::seconds(2);
    world.run.engine = "none";
    items.resize(300'000, {{1, 2, 3}, {4, 5, 6}, sim::CloudItem::open});  // more than a chunk
    return world;
  }
  void before_tick(sim::Simulation& simulation) override {
    RandomStream random(7, static_cast<std::uint64_t>(simulation.tick()), "clouded");
    for (int i = 0; i < 20'000; ++i) {
      sim::CloudItem& item = items[random.bits() % items.size()];
      item.position[1] += 1;
      item.color[0] = static_cast<std::uint8_t>(random.bits());
    }
  }
};

TEST(CloudRecording, AnyTickIsReadBack) {
  sim::Stage stage;
  TemporaryFolder folder;
  stage.library.experiments.add("clouded", [] { return std::make_unique<Clouded>(); });
  sim::RunOptions options;
  options.experiment = "clouded";
  auto run = sim::Run::prepare(options, stage.library, stage.log);
  ASSERT_TRUE(run.ok()) << run.error().text();
  auto recorder = Recorder::start(**run, folder.path() / format::file_name);
  ASSERT_TRUE(recorder.ok());
  std::map<std::int64_t, Items> kept;
  while ((*run)->simulation().tick() < (*run)->ticks()) {
    ASSERT_TRUE((*run)->step().ok());
    if (const std::int64_t tick = (*run)->simulation().tick(); tick % 17 == 3) (*run)->cloud()->cloud_items(kept[tick]);
  }
  (*run)->end();
  ASSERT_TRUE((*recorder)->finish({}).ok());
  auto recording = Recording::open(folder.path());
  ASSERT_TRUE(recording.ok()) << recording.error().text();
  std::vector<std::int64_t> ticks;
  for (const auto& [tick, items] : kept) ticks.push_back(tick);
  for (int round = 0; round < 2; ++round) {  // forwards, then backwards
    for (const std::int64_t t : ticks) {
      const auto tick = (*recording)->tick(t);
      ASSERT_TRUE(tick.ok()) << tick.error().text();
      ASSERT_EQ((*tick)->cloud, kept[t]) << t;
    }
    std::reverse(ticks.begin(), ticks.end());
  }
  const auto verified = verify(**recording, stage.library, stage.log, 1);
  ASSERT_TRUE(verified.ok()) << verified.error().text();
  EXPECT_TRUE(verified->same) << verified->detail;
}

}  // namespace
}  // namespace volvox::record
