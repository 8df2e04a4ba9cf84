// The behaviours and sensors of a plugin in a process of their own. The library is loaded there and
// nowhere else; in this process each behaviour is a stand-in that sends its agent over, lets the real
// one run, and takes the agent back, and each sensor one that sends what has changed in the world and
// takes the reading. Same results, at the cost of a round trip; what crashes or hangs is that process,
// and the run goes on without the plugin.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
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
  // Asks the library, in a process that ends at once, what it offers. `limit`: s, for one call.
  static Result<std::shared_ptr<IsolatedLibrary>> create(const std::filesystem::path& file, double limit, Log& log);

  const PluginFacts& facts() const { return facts_; }
  // Their stand-ins.
  void add_to(mind::Registries& minds);

  // What a call cost, and why there are no more (empty: it still runs).
  sim::TimeDistribution round_trips() const;
  const std::string& disabled() const { return disabled_; }
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
    std::vector<std::string> asked;  // parameters that it looked at

    template <class Archive>
    void archive(Archive& ar) {
      ar("taken", taken), ar("period", period);
      ar("on board percepts", on_board.percepts), ar("on board actions", on_board.actions);
      ar("state", state), ar("asked", asked);
    }
  };
  struct SensorMade {  // all that it was made from, for it to be made again in the companion
    model::Sensor model;
    Parameters parameters;
    double neighbor_range = 0;
  };
  // What a sensor can see in a world, as it was when it was last sent over.
  struct Seen {
    std::vector<Pose> poses;
    std::vector<Twist> velocities, last_velocities;
    std::vector<physics::JointState> joints;
    std::vector<Wrench> loads;
    std::vector<double> others;              // docks, colours, the length of the last advance
    bool update(const world::World& world);  // whether anything has changed
  };

  IsolatedLibrary(std::filesystem::path file, double limit, Log& log)
      : file_(std::move(file)), limit_(limit), log_(log) {}
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
  double limit_;
  Log& log_;
  PluginFacts facts_;
  std::vector<Known> known_;
  std::vector<std::pair<std::string, std::string>> known_sensors_;  // and their descriptions
  std::vector<std::string> names_;                                  // of the behaviours that were made, by number
  std::vector<SensorMade> sensors_;                                 // that were made, by number
  mutable std::mutex mutex_;  // one call at a time: behaviours run in several threads
  std::unique_ptr<platform::Companion> companion_;
  std::string disabled_;
  sim::TimeDistribution round_trips_;
  Seen seen_;

  // In the companion.
  std::unique_ptr<LoadedPlugin> loaded_;
  std::vector<std::unique_ptr<mind::Behavior>> running_;
  std::vector<std::unique_ptr<mind::Sensor>> sensing_;
  exchange::Neighborhood neighborhood_;
  bool neighborhood_stale_ = true;  // the world has changed since
};

}  // namespace volvox::plugin
