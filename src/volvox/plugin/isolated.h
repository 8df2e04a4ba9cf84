// Runs the behaviours and sensors of a plugin in a separate process, the companion, which alone loads the library. In
// this process each behaviour is a proxy that sends its agent, lets the real behaviour run, and receives the agent
// back; each sensor is a proxy that sends the changes of the world and receives the reading. The results are the same,
// at the cost of a round trip. If the companion crashes or hangs, the run continues without the plugin; if one
// behaviour or sensor throws, the run continues without that one. Nothing that the companion answers can harm this
// process.
// Calls come from several threads, and wait for each other. A run has the same bits with the plugin in its own process
// or in another, as long as that does not fail.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/platform/companion.h"
#include "volvox/exchange/neighborhood.h"
#include "volvox/plugin/guards.h"
#include "volvox/plugin/plugins.h"
#include "volvox/sim/tick_times.h"

namespace volvox::plugin {

class IsolatedLibrary : public std::enable_shared_from_this<IsolatedLibrary> {
 public:
  // Lists what the library offers, in a short-lived process.
  static Result<std::shared_ptr<IsolatedLibrary>> create(const std::filesystem::path& file,
                                                         const IsolationLimits& limits, Log& log);

  const PluginFacts& facts() const { return facts_; }
  // Factories of the proxies.
  void add_to(mind::Registries& minds);

  std::vector<std::string> behaviors() const;  // their names
  void set_memory_limit(std::uint64_t bytes) { limits_.memory = bytes; }
  // The durations of the calls, and whether the plugin, or a part of it, was disabled.
  sim::TimeDistribution round_trips() const;
  bool disabled() const { return !disabled_.empty() || part_disabled_; }
  bool took_too_long() const { return companion_ && companion_->took_too_long(); }

 private:
  friend class IsolatedBehavior;
  friend class IsolatedSensor;
  enum class Operation : std::uint8_t { start, step, receive, sent, end_tick, tune, control, rays, read };
  struct Known {  // of a behaviour, before it runs
    std::string name, description;
    bool lists_state = false, omniscient = false;
  };
  struct Reply {
    bool taken = false;  // of receive
    double period = 0;
    mind::Behavior::OnBoard on_board;
    std::vector<std::byte> state;    // of the behaviour
    std::vector<std::string> asked;  // parameters that it has read

    template <class Archive>
    void archive(Archive& ar) {
      ar("taken", taken), ar("period", period);
      ar("on board percepts", on_board.percepts), ar("on board actions", on_board.actions);
      ar("state", state), ar("asked", asked);
    }
  };
  enum class Outcome : std::uint8_t { done, threw, bad_parameters };  // of a call, in the companion
  struct BehaviorMade {
    std::string name;
    bool stopped = false;  // it threw, and is not called any more
  };
  struct SensorMade {  // the arguments of its factory, to make it again in the companion
    model::Sensor model;
    Parameters parameters;
    double neighbor_range = 0;
    bool stopped = false;  // likewise
  };
  // The parts of a world that a sensor can read, as last sent to the companion.
  struct Seen {
    std::vector<Pose> poses;
    std::vector<Twist> velocities, last_velocities;
    std::vector<physics::JointState> joints;
    std::vector<Wrench> loads;
    std::vector<double> others;              // docks, colours, the length of the last advance
    bool update(const world::World& world);  // true: something has changed
  };

  void take_offers(const nlohmann::json& listed);
  IsolatedLibrary(std::filesystem::path file, const IsolationLimits& limits, Log& log)
      : file_(std::move(file)), limits_(limits), log_(log) {}
  mind::BehaviorFactory behavior_factory(const Known& known);
  mind::SensorFactory sensor_factory(const std::string& type);
  // Both do nothing once the plugin is disabled.
  void call(Operation operation, std::uint32_t behavior, mind::Agent& agent, const std::vector<std::byte>& more,
            Reply& reply);
  void sense(Operation operation, std::uint32_t sensor, const mind::SenseContext& context, std::vector<mind::Ray>* rays,
             Value* reading);
  // One round trip; none: the plugin is disabled. `where` is named in the warning.
  std::optional<std::span<const std::byte>> exchange(const SaveArchive& ar, const std::string& where);
  void disable(const std::string& how, const std::string& where);
  // Reads how the call went, and acts on it. False: it threw, which is logged and sets `stopped`, or the answer is
  // malformed, which disables the plugin. Throws for parameters that are bad input.
  bool take_outcome(LoadArchive& back, const std::string& where, bool& stopped);

  // In the companion:
  std::vector<std::byte> answer(std::span<const std::byte> call);
  void answer_behavior(Operation operation, LoadArchive& ar, SaveArchive& back);
  void answer_sensor(Operation operation, LoadArchive& ar, SaveArchive& back);
  const LoadedPlugin& library_here();
  Guard guard_here();
  mind::Behavior& behavior_here(std::uint32_t number);
  const mind::Sensor& sensor_here(std::uint32_t number);
  static Reply carry_out(Operation operation, mind::Behavior& behavior, mind::Agent& agent,
                         std::span<const std::byte> more);

  std::filesystem::path file_;
  IsolationLimits limits_;
  Log& log_;
  PluginFacts facts_;
  std::vector<Known> known_;
  std::vector<std::pair<std::string, std::string>> known_sensors_;  // and their descriptions
  std::vector<BehaviorMade> behaviors_;                             // that were made, by number
  std::vector<SensorMade> sensors_;                                 // that were made, by number
  mutable std::mutex mutex_;  // one call at a time: behaviours run on several threads
  std::unique_ptr<platform::Companion> companion_;
  std::string disabled_;  // why; empty: it still runs
  bool part_disabled_ = false;
  sim::TimeDistribution round_trips_;
  Seen seen_;

  // In the companion.
  std::unique_ptr<LoadedPlugin> loaded_;
  std::vector<std::unique_ptr<mind::Behavior>> running_;
  std::vector<std::unique_ptr<mind::Sensor>> sensing_;
  exchange::Neighborhood neighborhood_;
  bool neighborhood_stale_ = true;  // the world has changed since it was computed
};

}  // namespace volvox::plugin
