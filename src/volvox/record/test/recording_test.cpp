#include "volvox/record/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "volvox/base/test/temporary_folder.h"
#include "volvox/record/crc.h"
#include "volvox/record/mcap_fields.h"
#include "volvox/record/recorder.h"
#include "volvox/record/recording_format.h"
#include "volvox/record/replay.h"
#include "volvox/sim/test/worlds.h"

namespace volvox::record {
namespace fs = std::filesystem;
namespace {

constexpr const char* chain_text = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="chain">
  <volvox:parameter name="behavior" value="busy">which behavior</volvox:parameter>
  <volvox:parameter name="modules" value="4">how many</volvox:parameter>
  <volvox:run duration="1" dt="1/60"/>
  <model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
  <volvox:population name="m" type="chain" robot="superbot" count="${modules}" pose="0 0 0.05 0 0 0" from="back" to="front">
    <volvox:mind behavior="${behavior}"/>
  </volvox:population>
</world>
</sdf>)";

// Logs, and turns as fast as its parameter says.
class Turner final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override { speed_ = agent.parameter("speed", 0.5); }
  void tune(mind::Agent& agent) override { start(agent); }
  void step(mind::Agent& agent) override {
    angle_ += speed_ * agent.dt();
    agent.move_to("pitch", angle_);
    if (++steps_ % 20 == 0) agent.log("step {}", steps_);
  }
  VOLVOX_STATE(angle_, steps_)

 private:
  double speed_ = 0, angle_ = 0;
  int steps_ = 0;
};

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() {
    std::ofstream(folder_ / "chain.sdf") << chain_text;
    stage_.library.minds.behaviors.add("turner", [] { return std::make_unique<Turner>(); });
  }

  // Runs and records; `before_tick` may give inputs.
  sim::RunReport record(const std::string& behavior = "busy", const std::function<void(sim::Run&)>& before_tick = {},
                        const sim::RunOptions& base = {}) {
    sim::RunOptions options = base;
    options.experiment = (folder_ / "chain.sdf").string();
    options.settings["behavior"] = behavior;
    auto run = sim::Run::prepare(options, stage_.library, stage_.log);
    if (!run.ok()) throw std::runtime_error(run.error().text());
    auto recorder = Recorder::start(**run, folder_ / format::file_name);
    if (!recorder.ok()) throw std::runtime_error(recorder.error().text());
    while ((*run)->simulation().tick() < (*run)->ticks()) {
      if (before_tick) before_tick(**run);
      if (const StepStatus status = (*run)->step(); !status.ok()) throw std::runtime_error(status.text());
      hashes_.push_back((*run)->simulation().hash());
    }
    (*run)->end();
    poses_.clear();
    for (world::LinkIndex l = 0; l < (*run)->simulation().world().links(); ++l)
      poses_.push_back((*run)->simulation().world().link_pose(l));
    if (auto written = (*run)->write(folder_); !written.ok()) throw std::runtime_error(written.error().text());
    if (auto written = (*recorder)->finish({{"summary", (*run)->report().json()}}); !written.ok())
      throw std::runtime_error(written.error().text());
    return (*run)->report();
  }

  std::unique_ptr<Recording> open() {
    auto recording = Recording::open(folder_);
    if (!recording.ok()) throw std::runtime_error(recording.error().text());
    return std::move(*recording);
  }

  sim::Stage stage_;
  TemporaryFolder made_;
  const fs::path& folder_ = made_.path();
  std::vector<std::uint64_t> hashes_;
  std::vector<Pose> poses_;
};

TEST_F(RecordingTest, HoldsEveryTick) {
  const sim::RunReport report = record();
  auto recording = open();
  EXPECT_TRUE(recording->complete());
  EXPECT_EQ(recording->first_tick(), 0);
  EXPECT_EQ(recording->last_tick(), 60);
  std::size_t arrivals = 0, samples = 0;
  for (std::int64_t t = 0; t <= 60; ++t) {
    auto tick = recording->tick(t);
    ASSERT_TRUE(tick.ok()) << tick.error().text();
    EXPECT_EQ((*tick)->tick, t);
    EXPECT_TRUE(t == 0 || (*tick)->hash == hashes_[t - 1]) << t;
    arrivals += (*tick)->arrivals.size();
    samples += (*tick)->metrics.has_value();
  }
  EXPECT_GT(arrivals, 10u);
  EXPECT_GE(samples, 20u);
  EXPECT_EQ((*recording->tick(60))->hash, report.state_hash);
  for (std::size_t l = 0; l < poses_.size(); ++l)
    EXPECT_EQ((*recording->tick(60))->links[l].position[2], to_float(poses_[l].position.z))
        << recording->names().links[l];
  // Back, and forth again.
  EXPECT_EQ((*recording->tick(3))->hash, hashes_[2]);
  EXPECT_EQ((*recording->tick(40))->hash, hashes_[39]);
  EXPECT_FALSE(recording->tick(61).ok());
}

// Of many modules, a few a tick have their turn; wherever one looks, each is found as it was shortly before.
TEST_F(RecordingTest, MindsAreFoundWhereverOneLooks) {
  sim::RunOptions options;
  options.settings["modules"] = "24";
  options.duration = 5;
  std::vector<double> angles;  // of the last module, as it perceived them
  record(
      "turner",
      [&](sim::Run& run) {
        const mind::Agent& last = run.simulation().minds().agent(23);
        const auto names = last.percepts();
        const auto pitch = std::find(names.begin(), names.end(), "pitch.angle");
        angles.push_back(*last.percept_value(pitch - names.begin()).get<double>());
      },
      options);
  auto recording = open();
  for (const std::int64_t t : {0, 299, 40, 250, 251, 252, 120, 200, 10, 298}) {
    ASSERT_TRUE(recording->tick(t).ok());
    for (std::uint32_t agent = 0; agent < 24; ++agent) {
      const auto mind = recording->mind(agent);
      ASSERT_TRUE(mind.ok()) << mind.error().text();
      if (*mind == nullptr) {
        EXPECT_LT(t, 20) << agent;
        continue;
      }
      EXPECT_LE((*mind)->tick, t);
      EXPECT_GT((*mind)->tick, t - 20) << agent;
      const auto json = nlohmann::json::parse((*mind)->json);
      if (agent == 23) {
        EXPECT_EQ(json["percepts"]["pitch.angle"], angles[(*mind)->tick]);
      }
      EXPECT_TRUE(json["actions"].contains("pitch") || (*mind)->tick == 0) << (*mind)->json;
    }
  }
}

TEST_F(RecordingTest, RecordingChangesNothing) {
  const sim::RunReport recorded = record();
  sim::RunOptions options;
  options.experiment = (folder_ / "chain.sdf").string();
  auto run = sim::Run::prepare(options, stage_.library, stage_.log);
  ASSERT_TRUE(run.ok());
  (*run)->finish();
  EXPECT_EQ((*run)->report().state_hash, recorded.state_hash);
}

TEST_F(RecordingTest, VerifiesAtAnyNumberOfThreads) {
  record();
  auto recording = open();
  for (const int threads : {1, 3}) {
    auto verified = verify(*recording, stage_.library, stage_.log, threads);
    ASSERT_TRUE(verified.ok()) << verified.error().text();
    EXPECT_TRUE(verified->same) << verified->field << " " << verified->detail;
    EXPECT_EQ(verified->ticks, 60);
    EXPECT_EQ(verified->of, 60);
  }
}

TEST_F(RecordingTest, InputsReplay) {
  const sim::RunReport report = record("turner", [](sim::Run& run) {
    sim::Simulation& simulation = run.simulation();
    if (simulation.tick() == 10) simulation.give(sim::ParameterInput{"m1", "speed", "2.5"});
    if (simulation.tick() == 20) simulation.give(sim::PushInput{"m2", "head", {0, 0, 5}});
    if (simulation.tick() == 30) simulation.give(sim::DockInput{"m0", "front", false});
    if (simulation.tick() == 31) simulation.give(sim::ParameterInput{"m1", "speed", "fast"});  // refused
    if (simulation.tick() == 32) simulation.give(sim::DockInput{"m0", "nonsense", true});      // refused
  });
  EXPECT_EQ(report.inputs, 3);
  auto recording = open();
  EXPECT_EQ((*recording->tick(11))->inputs.size(), 1u);
  EXPECT_EQ(std::get<sim::PushInput>((*recording->tick(21))->inputs.front()).force.z, 5);
  EXPECT_EQ((*recording->tick(20))->log.size(), 4u);
  EXPECT_EQ((*recording->tick(20))->log.front().text, "step 20");
  auto verified = verify(*recording, stage_.library, stage_.log);
  ASSERT_TRUE(verified.ok()) << verified.error().text();
  EXPECT_TRUE(verified->same) << verified->tick << verified->field;
}

// What differs is named: here a behaviour that is not what it was.
class Slower final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override { speed_ = agent.parameter("speed", 0.5); }
  void step(mind::Agent& agent) override {
    angle_ += agent.dt() * speed_ * (++steps_ > 30 && agent.name() == "m2" ? 0.9 : 1.0);
    agent.move_to("pitch", angle_);
    if (steps_ % 20 == 0) agent.log("step {}", steps_);
  }
  VOLVOX_STATE(angle_, steps_)

 private:
  double speed_ = 0, angle_ = 0;
  int steps_ = 0;
};

TEST_F(RecordingTest, NamesTheFirstTickModuleAndField) {
  record("turner");
  sim::Stage changed;
  changed.library.minds.behaviors.add("turner", [] { return std::make_unique<Slower>(); });
  auto recording = open();
  auto verified = verify(*recording, changed.library, changed.log);
  ASSERT_TRUE(verified.ok()) << verified.error().text();
  EXPECT_FALSE(verified->same);
  EXPECT_EQ(verified->tick, 31);
  EXPECT_EQ(verified->module, "m2");
  EXPECT_EQ(verified->field, "actions");
}

TEST_F(RecordingTest, NamesAWorldThatHasChanged) {
  record();
  std::string text = chain_text;
  text.replace(text.find("0 0 0.05"), 8, "0 0 0.06");
  std::ofstream(folder_ / "chain.sdf") << text;
  auto recording = open();
  const auto refused = verify(*recording, stage_.library, stage_.log);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("chain.sdf has changed"), std::string::npos) << refused.error().text();
  const auto accepted = [&] { return verify(*recording, stage_.library, stage_.log, 1, {}, nullptr, true); };
  auto moved = accepted();
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->tick, 0);
  EXPECT_EQ(moved->module, "m0");
  EXPECT_EQ(moved->field, "m0.tail z");
  text.replace(text.find("${modules}"), 10, "5");
  std::ofstream(folder_ / "chain.sdf") << text;
  auto grown = accepted();
  ASSERT_TRUE(grown.ok());
  EXPECT_EQ(grown->field, "the world");
}

TEST_F(RecordingTest, ARestoredRunReplaysFromItsSnapshot) {
  sim::RunOptions options;
  options.duration = 0.5;
  options.save_to = folder_ / "half.snap";
  record("busy", {}, options);
  options.duration = 1;
  options.save_to.reset();
  options.restore_from = folder_ / "half.snap";
  record("busy", {}, options);
  fs::remove(folder_ / "half.snap");
  auto recording = open();
  EXPECT_EQ(recording->first_tick(), 30);
  auto verified = verify(*recording, stage_.library, stage_.log);
  ASSERT_TRUE(verified.ok()) << verified.error().text();
  EXPECT_TRUE(verified->same) << verified->field;
  EXPECT_EQ(verified->ticks, 30);
}

// Rewrites the recording as those of before were: without sums; `change` may alter messages; one that it
// empties is left out.
void write_without_sums(const fs::path& file, bool complete,
                        const std::function<void(const std::string& topic, std::int64_t tick, std::string&)>& change) {
  using namespace mcap;
  auto reader = McapReader::open(file);
  if (!reader.ok()) throw std::runtime_error(reader.error().text());
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto record = [](std::uint8_t opcode, const std::string& content) {
    return Fields().number(opcode).size(content.size()).raw(content).bytes();
  };
  std::string written(magic);
  std::size_t next_chunk = 0;
  for (std::size_t at = magic.size(); at < whole.size();) {
    FieldReader head(std::string_view(whole).substr(at, record_head));
    const auto opcode = head.number<std::uint8_t>();
    const std::size_t size = record_head + head.number<std::uint64_t>();
    if (opcode == Opcode::data_end) break;
    if (opcode == Opcode::chunk) {
      const McapChunk& chunk = (*reader)->chunks().at(next_chunk++);
      std::string content;
      auto read = (*reader)->read_chunk(chunk, [&](const McapMessage& m) {
        std::string data(m.data.begin(), m.data.end());
        change((*reader)->channels().at(m.channel).topic, m.sequence, data);
        if (data.empty() && !m.data.empty()) return;
        content +=
            record(Opcode::message,
                   Fields().number(m.channel).number(m.sequence).number(m.time).number(m.time).raw(data).bytes());
      });
      if (!read.ok()) throw std::runtime_error(read.error().text());
      written += record(Opcode::chunk, Fields()
                                           .number(chunk.begin_time)
                                           .number(chunk.end_time)
                                           .size(content.size())
                                           .number(std::uint32_t{0})
                                           .text("")
                                           .size(content.size())
                                           .raw(content)
                                           .bytes());
    } else if (opcode != Opcode::sum_so_far && opcode != Opcode::message_index) {
      written += whole.substr(at, size);
    }
    at += size;
  }
  if (complete) {
    written += record(Opcode::data_end, Fields().number(crc_of(written)).bytes());
    std::string footer = Fields().number(std::uint8_t{Opcode::footer}).size(20).size(0).size(0).bytes();
    written += Fields().raw(footer).number(crc_of(footer)).raw(magic).bytes();
  }
  std::ofstream(file, std::ios::binary | std::ios::trunc) << written;
}

TEST_F(RecordingTest, RecordingsOfBeforeOpenWithAWarning) {
  const auto no_change = [](const std::string&, std::int64_t, std::string&) {};
  record("turner");
  EXPECT_EQ(open()->warning(), "");
  write_without_sums(folder_ / format::file_name, true, no_change);
  EXPECT_NE(open()->warning().find("before every chunk had a sum"), std::string::npos) << open()->warning();
  EXPECT_TRUE(verify(*open(), stage_.library, stage_.log)->same);
  write_without_sums(folder_ / format::file_name, false, no_change);
  EXPECT_NE(open()->warning().find("damage may go unnoticed"), std::string::npos) << open()->warning();
  EXPECT_NE(open()->warning().find("cut off"), std::string::npos) << open()->warning();
  EXPECT_EQ(open()->last_tick(), 60);
}

// In a recording without sums other numbers than were computed can stand; verify() compares them all.
TEST_F(RecordingTest, VerifyComparesWhatWasRecorded) {
  const auto found_after = [&](const char* topic, std::int64_t tick, std::size_t from_end) {
    record("turner");
    bool changed = false;
    write_without_sums(folder_ / format::file_name, false,
                       [&](const std::string& t, std::int64_t k, std::string& data) {
                         if (t != topic || k != tick || changed) return;
                         data.at(data.size() - from_end) ^= 0x10;
                         changed = true;
                       });
    EXPECT_TRUE(changed) << topic;
    auto recording = open();
    auto verified = verify(*recording, stage_.library, stage_.log);
    EXPECT_TRUE(verified.ok()) << verified.error().text();
    EXPECT_FALSE(verified->same) << topic;
    EXPECT_EQ(verified->tick, tick) << topic;
    EXPECT_NE(verified->detail.find("damaged"), std::string::npos) << verified->field << ": " << verified->detail;
    return verified->module + ": " + verified->field;
  };
  EXPECT_EQ(found_after(format::transforms, 20, 3), "m3: m3.head qw");
  EXPECT_NE(found_after(format::joints, 20, 2).find("torque"), std::string::npos);
  EXPECT_NE(found_after(format::docks, 0, 2).find("load"), std::string::npos);
  EXPECT_EQ(found_after(format::metrics, 30, 2), ": connections");
  EXPECT_EQ(found_after(format::log, 20, 1), "m0: log line 1");
  EXPECT_NE(found_after(format::minds, 20, 8).find(": mind"), std::string::npos);
  EXPECT_NE(found_after(format::state, 20, 1), "");
}

TEST_F(RecordingTest, VerifyMissesADockEventThatWasNotRecorded) {
  record("turner", [](sim::Run& run) {
    if (run.simulation().tick() == 30) run.simulation().give(sim::DockInput{"m0", "back", false});
  });
  std::int64_t changed = -1;
  write_without_sums(folder_ / format::file_name, false, [&](const std::string& t, std::int64_t k, std::string& data) {
    if (t == format::dock_events) data.clear(), changed = k;
  });
  ASSERT_GE(changed, 30);
  auto verified = verify(*open(), stage_.library, stage_.log);
  ASSERT_TRUE(verified.ok()) << verified.error().text();
  EXPECT_FALSE(verified->same);
  EXPECT_EQ(verified->tick, changed);
  EXPECT_EQ(verified->field, "dock event 1");
}

// Whoever copied a file in part is not told that it comes from another program.
TEST_F(RecordingTest, AFileThatWasCutWithinItsBeginningIsNotCalledForeign) {
  record();
  const fs::path file = folder_ / format::file_name;
  for (const std::uintmax_t size : {4000, 400, 40}) {
    fs::resize_file(file, size);
    const auto opened = Recording::open(file);
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().text().find("cut off before anything of a run was in it"), std::string::npos)
        << size << ": " << opened.error().text();
  }
}

TEST_F(RecordingTest, VerifyTellsHowMuchOfTheRunIsThere) {
  sim::RunOptions options;
  options.experiment = (folder_ / "chain.sdf").string();
  auto run = sim::Run::prepare(options, stage_.library, stage_.log);
  ASSERT_TRUE(run.ok());
  for (const char* summary : {R"({"ticks": 40})", "damaged"}) {
    auto recorder = Recorder::start(**run, folder_ / format::file_name);  // the first state and nothing more
    ASSERT_TRUE(recorder.ok());
    ASSERT_TRUE((*recorder)->finish({{"summary", summary}}).ok());
    auto verified = verify(*open(), stage_.library, stage_.log);
    ASSERT_TRUE(verified.ok()) << verified.error().text();
    EXPECT_TRUE(verified->same);
    EXPECT_EQ(verified->ticks, 0);
    EXPECT_EQ(verified->of, summary[0] == '{' ? 40 : 60);
  }
}

TEST_F(RecordingTest, TellsWhoSentWhat) {
  record();
  auto recording = open();
  std::size_t messages = 0;
  for (std::int64_t t = 0; t <= 60; ++t) {
    auto tick = recording->tick(t);
    ASSERT_TRUE(tick.ok()) << tick.error().text();
    for (const RecordedTick::Arrival& arrival : (*tick)->arrivals) {
      ++messages;
      // A chain: the sender is a neighbour.
      ASSERT_TRUE(arrival.sender.valid());
      EXPECT_EQ(std::abs(int(std::uint32_t(arrival.sender)) - int(std::uint32_t(arrival.agent))), 1);
      EXPECT_FALSE(arrival.type.empty());
      EXPECT_FALSE(arrival.content.empty());
    }
  }
  EXPECT_GT(messages, 0u);
}

TEST_F(RecordingTest, ExportsTables) {
  record("turner");
  auto recording = open();
  auto written = export_csv(*recording, folder_ / "csv");
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(written->size(), 9u);  // no cloud.csv: there is no cloud
  const auto lines = [&](const char* name) {
    std::ifstream in(folder_ / "csv" / name);
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  };
  EXPECT_EQ(lines("state.csv"), 62u);
  EXPECT_EQ(lines("links.csv"), 1 + 61 * recording->names().links.size());
  EXPECT_EQ(lines("log.csv"), 1u + 3 * 4);
  std::ifstream log(folder_ / "csv" / "log.csv");
  std::string heading, first;
  std::getline(log, heading), std::getline(log, first);
  // The 20th step begins at 19/60 s: the time of agent.time() there, and of the log on the terminal.
  EXPECT_EQ(first, fmt::format("{},m0,step 20", sim::seconds_in_tables(TickLength::parse("1/60")->start_of(19))));
  EXPECT_FALSE(export_csv(*recording, "/proc/nowhere").ok());
}

}  // namespace
}  // namespace volvox::record
