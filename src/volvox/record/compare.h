// Compares what a recording holds of a tick with the same tick of a run computed anew: poses, joints, docks and their
// events, messages, traffic, minds, log lines and metrics, rounded as they were recorded.
// SI units, world frame, as in the recording. Only reads the simulation; to be called by the thread that steps the run.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "volvox/record/recording.h"
#include "volvox/record/traffic.h"
#include "volvox/sim/run.h"

namespace volvox::record {

// A dock, as it is recorded.
RecordedTick::Dock dock_as_recorded(const world::World& world, std::uint32_t dock);

// What happened in the last tick, as it is recorded.
std::vector<RecordedTick::Arrival> arrivals_as_recorded(const mind::Minds& minds);
std::vector<RecordedTick::DockEvent> dock_events_as_recorded(const sim::Simulation& simulation);

struct Difference {
  std::string module;  // empty: it belongs to no module
  std::string field;
  std::string detail;  // "0.5 then, 0.6 now"
};

// The first number of the links and joints of this placement that is not as recorded.
std::optional<Difference> compare_body(const RecordedTick& then, const RecordedNames& names, const world::World& world,
                                       std::uint32_t placement);
std::optional<Difference> compare_docks(const RecordedTick& then, const RecordedNames& names,
                                        const world::World& world);

// Follows a run from its start, because what is recorded of traffic and minds depends on the ticks before.
class Comparison {
 public:
  // The run must outlive it, and must not have made a step.
  Comparison(Recording& recording, sim::Run& run);
  // To be called in every tick, from the first. An error: the recording cannot be read.
  Result<std::optional<Difference>> look(const RecordedTick& then);

 private:
  std::optional<Difference> compare_arrivals(const RecordedTick& then) const;
  std::optional<Difference> compare_dock_events(const RecordedTick& then) const;
  std::optional<Difference> compare_traffic(const RecordedTick& then);
  Result<std::optional<Difference>> compare_minds(const RecordedTick& then);
  std::optional<Difference> compare_log(const RecordedTick& then) const;
  std::optional<Difference> compare_metrics(const RecordedTick& then);
  std::optional<Difference> compare_cloud(const RecordedTick& then) const;

  Recording& recording_;
  sim::Simulation& simulation_;
  const sim::Cloud* cloud_;  // null: none
  TrafficWatch traffic_;
  std::vector<std::set<std::size_t>> too_long_;  // by agent: see describe_mind_briefly
  std::optional<sim::TimePoint> sample_;         // taken in the last tick
};

}  // namespace volvox::record
