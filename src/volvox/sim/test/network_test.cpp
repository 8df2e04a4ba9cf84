// The network in the loop: the same bits at any number of threads and after a restore, and the same events as in the
// network alone.
#include <gtest/gtest.h>

#include "talkers.h"
#include "volvox/base/index.h"
#include "volvox/net/power.h"
#include "volvox/net/scenarios/flood.h"

namespace volvox::sim {
namespace {

TEST(NetworkInTheLoop, SameBitsAtAnyNumberOfThreads) {
  Stage stage;
  const auto world = talking_world(stage);
  std::uint64_t reference = 0;
  for (const int threads : {1, 2, 5}) {
    auto simulation = stage.simulate(world, threads);
    advance(*simulation, 60);
    if (threads == 1) {
      reference = simulation->hash();
      const net::Counters& counters = simulation->minds().exchange()->network().counters();
      EXPECT_GT(counters.deliveries, 100u);
      EXPECT_GT(counters.collisions, 10u);
      EXPECT_GT(counters.unplugged, 0u);
    }
    EXPECT_EQ(simulation->hash(), reference) << threads;
  }
}

TEST(NetworkInTheLoop, GoesOnAfterRestoreAsIfItHadNotStopped) {
  Stage stage;
  const auto world = talking_world(stage);
  for (const std::string& engine : stage.library.engines.names()) {
    auto first = stage.simulate(world, 1, 1, engine);
    advance(*first, 31);
    ASSERT_FALSE(first->minds().exchange()->network().quiet()) << "frames must be on the way";
    const auto snapshot = first->save();
    ASSERT_TRUE(snapshot.ok());
    auto second = stage.simulate(world, 2, 1, engine);
    ASSERT_TRUE(second->restore(*snapshot).ok());
    EXPECT_EQ(first->hash(), second->hash());
    for (int i = 0; i < 3; ++i) {
      advance(*first, 10);
      advance(*second, 10);
      ASSERT_EQ(first->hash(), second->hash()) << engine << " after " << (i + 1) * 10;
    }
  }
}

// Forwards the first message that it receives, once.
class Relay final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    if (agent.parameter("source", false)) agent.send("radio", packet()), heard_ = true;
  }
  void step(mind::Agent&) override {}
  bool receive(mind::Agent& agent, const mind::Message&) override {
    if (!heard_) agent.send("radio", packet());
    heard_ = true;
    return true;
  }
  VOLVOX_STATE(heard_)
  bool heard_ = false;

 private:
  static mind::Bytes packet() { return mind::Bytes(53); }
};

// A flood in the loop has the same events as a flood in the network alone.
TEST(NetworkInTheLoop, AFloodIsTheFloodOfTheNetworkAlone) {
  net::FloodOptions alone;
  alone.nodes = 100;
  alone.source = 0;
  alone.seed = 5;
  alone.range_spacings = 3.05;
  const auto report = net::run_flood(alone);
  ASSERT_TRUE(report.ok());

  Stage stage;
  stage.library.minds.behaviors.add("relay", [] { return std::make_unique<Relay>(); });
  auto module = std::make_shared<model::ModuleModel>();
  module->name = "relay";
  module->links.emplace_back().name = "body";
  module->links[0].geometry = std::make_shared<model::Geometry>();
  module->mind = model::Mind{"relay", {}, "test", 1};
  model::Radio radio;
  radio.name = "radio";
  const double at_range = 1e-3 * net::Friis(alone.frequency_hz).gain({}, {alone.range_spacings, 0, 0});
  radio.bit_rate = radio.bandwidth = alone.bit_rate;
  radio.noise_factor = at_range / alone.capture_ratio / net::thermal_noise_w(alone.bit_rate);
  radio.receive_threshold = at_range;
  radio.carrier_threshold = at_range + at_range / alone.capture_ratio;
  radio.slot = alone.slot.seconds();
  radio.queue = 4;
  module->radios.push_back(radio);
  model::WorldBuilder builder("flood");
  for (int i = 0; i < 100; ++i)
    builder.placement(builder.add(module, Pose{{real(i % 10), real(i / 10), 0}, {}}, "n" + std::to_string(i)));
  builder.placement(0).mind = model::Mind{"relay", {{"source", "true"}}, "test", 1};
  auto simulation = stage.simulate(std::make_shared<const model::WorldModel>(*builder.build()), 1, 5, "none");
  while (simulation->now().seconds() < report->sim_time_s + 0.1) advance(*simulation, 1);
  const net::Counters& counters = simulation->minds().exchange()->network().counters();
  EXPECT_EQ(counters.transmissions, report->transmissions);
  EXPECT_EQ(counters.deliveries, report->deliveries);
  EXPECT_EQ(counters.collisions, report->collisions);
  EXPECT_EQ(counters.events, report->events);
  std::uint64_t reached = 0;
  for (std::size_t i = 0; i < 100; ++i) reached += static_cast<const Relay*>(simulation->minds().behavior(i))->heard_;
  EXPECT_EQ(reached, report->reached);
}

}  // namespace
}  // namespace volvox::sim
