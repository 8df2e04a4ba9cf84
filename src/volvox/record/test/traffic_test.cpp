#include "volvox/record/traffic.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include "volvox/record/recorder.h"
#include "volvox/record/recording.h"
#include "volvox/record/recording_format.h"
#include "volvox/sim/test/talkers.h"

namespace volvox::record {
namespace {

// Who looks on sees wires between docks that hold each other and rings around antennas, through a
// recording too; and that he looks changes nothing.
TEST(Traffic, IsSeenAndRecorded) {
  sim::Stage stage;
  const auto world = sim::talking_world(stage);
  auto simulation = stage.simulate(world, 1, 1, "none"), unwatched = stage.simulate(world, 1, 1, "none");
  TrafficWatch::prepare(*simulation);
  const auto file = std::filesystem::temp_directory_path() / ("volvox-traffic-" + std::to_string(getpid()) + ".mcap");
  auto recorder =
      Recorder::create(file, {{"format", format::version}, {"dt", simulation->settings().dt.text()}}, *simulation);
  ASSERT_TRUE(recorder.ok()) << recorder.error().text();
  TrafficWatch watch;
  std::vector<Traffic> seen;
  for (int tick = 0; tick < 40; ++tick) {
    (*recorder)->record(*simulation);
    watch.look(*simulation);
    seen.push_back(watch.take(*simulation));
    sim::advance(*simulation, 1);
    sim::advance(*unwatched, 1);
  }
  EXPECT_EQ(simulation->hash(), unwatched->hash());
  ASSERT_TRUE((*recorder)->finish({}).ok());
  auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok()) << recording.error().text();
  std::size_t wires = 0, rings = 0;
  for (std::size_t t = 0; t < seen.size(); ++t) {
    const auto tick = (*recording)->tick(t);
    ASSERT_TRUE(tick.ok()) << tick.error().text();
    EXPECT_EQ((*tick)->traffic.wires, seen[t].wires) << t;
    ASSERT_EQ((*tick)->traffic.rings.size(), seen[t].rings.size()) << t;
    for (std::size_t i = 0; i < seen[t].rings.size(); ++i)
      EXPECT_EQ((*tick)->traffic.rings[i].radius, seen[t].rings[i].radius);
    wires += seen[t].wires.size(), rings += seen[t].rings.size();
  }
  EXPECT_GT(wires, 20u);
  EXPECT_GT(rings, 20u);
  // An antenna that fell silent says when: within the tick that was looked at.
  const double dt = simulation->settings().dt.seconds();
  std::size_t silent = 0;
  for (const Traffic& traffic : seen)
    for (const Traffic::Ring& ring : traffic.rings) {
      EXPECT_GE(ring.age, 0);
      EXPECT_LE(ring.age, dt + 1e-6);
      silent += ring.age > 0 ? 1 : 0;
    }
  EXPECT_GT(silent, 0u);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace volvox::record
