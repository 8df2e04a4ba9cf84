// One code module, every fidelity: on a lattice, as the mind of physically placed modules over ideal docks, over wires
// and by radio, and on SuperBots that dynamics moves.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "code_module.h"
#include "study.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/lattice/catom_world.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/leader.h"
#include "volvox/lattice/programs/spanning_tree.h"

namespace volvox::experiments {
namespace {

constexpr int columns = 6, rows = 5;

// Catoms in a rectangle, the first of them at a corner. The model has wires and a radio.
std::string world_of(const std::string& behavior, const std::string& parameters) {
  return R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="catoms">
<volvox:channel name="air" frequency="60e9"/>
<volvox:population name="c" type="lattice" robot="catom" count_x="6" count_y="5" count_z="1"
    spacing_x="0.01" spacing_y="0.01" spacing_z="0.01" pose="0 0 0.005 0 0 0">
<volvox:mind behavior=")" +
         behavior + "\">" + parameters + "</volvox:mind></volvox:population></world></sdf>";
}
std::string parameter(const std::string& name, const std::string& value) {
  return "<volvox:parameter name=\"" + name + "\" value=\"" + value + "\"/>";
}

std::unique_ptr<sim::Run> stepped(const TemporaryFolder& folder, const std::string& sdf, double seconds,
                                  const std::string& engine = "none", int threads = 1) {
  std::ofstream(folder / "world.sdf") << sdf;
  sim::RunOptions options;
  options.experiment = (folder / "world.sdf").string();
  options.engine = engine;
  options.duration = seconds;
  options.threads = threads;
  auto run = prepared(options);
  while (run->simulation().tick() < run->ticks()) EXPECT_TRUE(run->step().ok());
  return run;
}

template <class Program>
std::vector<Program> states(const sim::Run& run) {
  std::vector<Program> all;
  const mind::Minds& minds = run.simulation().minds();
  for (std::size_t i = 0; i < minds.size(); ++i) all.push_back(minds.agent(i).model<Program>());
  return all;
}

// The same program on a lattice.
template <class Program>
std::vector<Program> on_a_lattice(bool Program::*begins) {
  lattice::CatomWorld world{lattice::Lattice(lattice::Kind::square)};
  EXPECT_TRUE(world.load<Program>().ok());
  EXPECT_TRUE(world.add_box({0, 0, 0}, {columns - 1, rows - 1, 0}).ok());
  world.state<Program>(0)->*begins = true;
  EXPECT_TRUE(world.start().ok());
  EXPECT_TRUE(world.run(1000).ok());
  std::vector<Program> all;
  for (std::uint32_t i = 0; i < columns * rows; ++i) all.push_back(*world.state<Program>(i));
  return all;
}

const std::string first_is_source = parameter("source", "true") + parameter("first", "c0");

TEST(Fidelity, OverWiresItIsAsOnALattice) {
  const TemporaryFolder folder;
  const auto flood = states<lattice::Flood>(*stepped(folder, world_of("code_flood", first_is_source), 3));
  const auto gradient = states<lattice::Gradient>(*stepped(folder, world_of("code_gradient", first_is_source), 3));
  const auto tree = states<lattice::SpanningTree>(
      *stepped(folder, world_of("code_tree", parameter("root", "true") + parameter("first", "c0")), 3));
  const auto leader = states<lattice::Leader>(*stepped(folder, world_of("code_leader", ""), 3));
  const auto flood_there = on_a_lattice(&lattice::Flood::source);
  const auto gradient_there = on_a_lattice(&lattice::Gradient::source);
  ASSERT_EQ(flood.size(), std::size_t{columns * rows});
  for (std::size_t i = 0; i < flood.size(); ++i) {
    EXPECT_EQ(flood[i].hops, flood_there[i].hops) << i;
    EXPECT_EQ(gradient[i].distance, gradient_there[i].distance) << i;
    EXPECT_EQ(leader[i].number, leader[0].number) << i;
  }
  EXPECT_EQ(tree[0].size, std::uint32_t{columns * rows});
  EXPECT_GT(leader[0].number, 0u);
}

// Without docks, everybody within range hears it; from the corner to the other end, 7 cells away, it takes two hops or
// more.
TEST(Fidelity, ByRadioAFloodGoesFarther) {
  const TemporaryFolder folder;
  const std::string radio = first_is_source + parameter("wired", "false") + parameter("radio", "radio");
  const auto flood = states<lattice::Flood>(*stepped(folder, world_of("code_flood", radio), 10));
  int reached = 0;
  for (std::size_t i = 0; i < flood.size(); ++i) {
    if (flood[i].hops == lattice::Flood::unreached) continue;
    ++reached;
    EXPECT_LE(flood[i].hops, 6u);
    EXPECT_EQ(flood[i].parent, lattice::no_port);
  }
  EXPECT_GE(reached, 25);
  EXPECT_GE(flood.back().hops, 2u);
  EXPECT_EQ(flood[1].hops, 1u);
}

// A chain of five SuperBots that fall on the ground: their docks are ideal, a hop a tick.
TEST(Fidelity, RunsAsTheMindOfModulesThatDynamicsMoves) {
  const TemporaryFolder folder;
  const std::string sdf = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="chain">
<volvox:population name="s" type="chain" robot="superbot" count="5" pose="0 0 0.1 0 0 0" from="front" to="back" turn="0">
<volvox:mind behavior="code_gradient">)" +
                          parameter("source", "true") + parameter("first", "s0") +
                          "</volvox:mind></volvox:population></world></sdf>";
  const auto run = stepped(folder, sdf, 0.5, "native");
  const auto gradient = states<lattice::Gradient>(*run);
  ASSERT_EQ(gradient.size(), 5u);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(gradient[i].distance, i);
  EXPECT_EQ(stepped(folder, sdf, 0.5, "native", 3)->simulation().hash(), run->simulation().hash());
}

std::string refusal(const TemporaryFolder& folder, const std::string& behavior, const std::string& parameters) {
  try {
    (void)stepped(folder, world_of(behavior, parameters), 0.1);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Fidelity, AWorldGivesOnlyInputsAndNoRadioToThoseWhoNeedPorts) {
  const TemporaryFolder folder;
  const std::string root = parameter("root", "true") + parameter("first", "c0");
  EXPECT_EQ(refusal(folder, "code_tree", root), "");
  const std::string by_radio = refusal(folder, "code_tree", root + parameter("radio", "radio"));
  EXPECT_NE(by_radio.find("leave out the parameter 'radio'"), std::string::npos) << by_radio;
  EXPECT_NE(by_radio.find("world.sdf:6"), std::string::npos) << by_radio;
  for (const char* name : {"awaited", "reached", "complete", "parent", "size"}) {
    const std::string internal = refusal(folder, "code_tree", parameter(name, "1"));
    EXPECT_NE(internal.find("has no parameter '" + std::string(name) + "'"), std::string::npos) << internal;
  }
  EXPECT_NE(refusal(folder, "code_flood", parameter("sourc", "1")).find("did you mean 'source'?"), std::string::npos);
  EXPECT_NE(refusal(folder, "code_leader", parameter("first", "c0")).find("has no parameter 'first'"),
            std::string::npos);
}

// Notes the keys by which chance decides between modules.
struct Keys {
  std::uint8_t level = 7;
  std::uint64_t at_start = 0, first = 0, second = 0;
  void start(lattice::Catom& catom) { at_start = catom.key(); }
  void new_tick(lattice::Catom& catom) {
    EXPECT_EQ(catom.key(), catom.key());
    if (catom.tick() == 0) first = catom.key();
    if (catom.tick() == 1) second = catom.key();
  }
  template <class Visitor>
  void visit_inputs(Visitor& visit) {
    visit("level", level);
  }
};
VOLVOX_TYPE(Keys, level, at_start, first, second)

Result<std::vector<Keys>> keys_of(const TemporaryFolder& folder, std::uint64_t seed, const std::string& level) {
  std::ofstream(folder / "keys.sdf") << world_of("keys", parameter("level", level));
  sim::Library with_keys = library();
  with_keys.minds.behaviors.add(
      "keys", [] { return std::make_unique<robots::CodeModuleBehavior<Keys>>(); }, "");
  sim::RunOptions options;
  options.experiment = (folder / "keys.sdf").string();
  options.engine = "none";
  options.seed = seed;
  Log silent([](LogLevel, std::string_view) {});
  auto run = sim::Run::prepare(options, with_keys, silent);
  if (!run.ok()) return run.error();
  for (int tick = 0; tick < 3; ++tick) EXPECT_TRUE((*run)->step().ok());
  return states<Keys>(**run);
}

TEST(Fidelity, KeysAreBySeedModuleAndTick) {
  const TemporaryFolder folder;
  std::set<std::uint64_t> all;
  for (const std::uint64_t seed : {1u, 2u}) {
    const auto keys = keys_of(folder, seed, "9"), again = keys_of(folder, seed, "9");
    ASSERT_TRUE(keys.ok() && again.ok()) << keys.error().text();
    ASSERT_EQ(keys->size(), std::size_t{columns * rows});
    for (std::size_t i = 0; i < keys->size(); ++i) {
      const Keys& own = (*keys)[i];
      EXPECT_EQ(own.level, 9);
      for (const std::uint64_t key : {own.at_start, own.first, own.second}) EXPECT_TRUE(all.insert(key).second) << i;
      EXPECT_EQ((*again)[i].second, own.second);
    }
  }
  const auto bad = keys_of(folder, 1, "1000");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().text().find("'level' is 1000: give a whole number from 0 to 255"), std::string::npos)
      << bad.error().text();
}

TEST(Fidelity, GoesOnFromASnapshot) {
  const TemporaryFolder folder;
  std::ofstream(folder / "world.sdf") << world_of("code_gradient", first_is_source);
  sim::RunOptions options;
  options.experiment = (folder / "world.sdf").string();
  options.engine = "none";
  options.duration = 0.05;  // in the middle of the wave
  options.save_to = folder / "half.snap";
  (void)run(options);
  options.save_to = {};
  options.duration = 3;
  const auto whole = run(options);
  options.restore_from = folder / "half.snap";
  EXPECT_EQ(run(options).state_hash, whole.state_hash);
}

}  // namespace
}  // namespace volvox::experiments
