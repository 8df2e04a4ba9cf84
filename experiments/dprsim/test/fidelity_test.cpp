// One code module, every fidelity: on a lattice, as the mind of physically placed modules over ideal docks, over wires
// and by radio, and on SuperBots that dynamics moves.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

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
