// The behaviours of a plugin in a process of their own. The library is loaded there and nowhere
// else; in this process each behaviour is a stand-in that sends its agent over, lets the real one
// run, and takes the agent back. Same results, at the cost of a round trip; what crashes or hangs is
// that process, and the run goes on without the plugin.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "volvox/base/platform/companion.h"
#include "volvox/plugin/plugins.h"
#include "volvox/sim/tick_times.h"

namespace volvox::plugin {

class IsolatedLibrary : public std::enable_shared_from_this<IsolatedLibrary> {
 public:
  // Asks the library, in a process that ends at once, what it offers. `limit`: s, for one call.
  static Result<std::shared_ptr<IsolatedLibrary>> create(const std::filesystem::path& file, double limit, Log& log);

  const PluginFacts& facts() const { return facts_; }
  std::vector<std::string> behaviors() const;
  const std::string& description(const std::string& behavior) const;
  mind::BehaviorFactory factory(const std::string& behavior);

  // What a call cost, and why there are no more (empty: it still runs).
  sim::TimeDistribution round_trips() const;
  const std::string& disabled() const { return disabled_; }

 private:
  friend class IsolatedBehavior;
  enum class Operation : std::uint8_t { start, step, receive, sent, end_tick, tune };
  struct Known {  // of a behaviour, before it runs
    std::string name, description;
    bool lists_state = false, omniscient = false;
  };
  struct Reply {
    bool taken = false;              // of receive
    double period = 0;
    std::vector<std::byte> state;    // of the behaviour
  };

  IsolatedLibrary(std::filesystem::path file, double limit, Log& log) : file_(std::move(file)), limit_(limit), log_(log) {}
  const Known& known(const std::string& behavior) const;
  // Does nothing once the plugin is disabled.
  void call(Operation operation, std::uint32_t behavior, mind::Agent& agent, const std::vector<std::byte>& more, Reply& reply);
  // In the companion:
  std::vector<std::byte> answer(std::span<const std::byte> call);
  mind::Behavior& behavior_here(std::uint32_t number);
  static Reply carry_out(Operation operation, mind::Behavior& behavior, mind::Agent& agent, std::span<const std::byte> more);

  std::filesystem::path file_;
  double limit_;
  Log& log_;
  PluginFacts facts_;
  std::vector<Known> known_;
  std::vector<std::string> names_;  // of the behaviours that were made, by number
  mutable std::mutex mutex_;        // one call at a time: behaviours run in several threads
  std::unique_ptr<platform::Companion> companion_;
  std::string disabled_;
  sim::TimeDistribution round_trips_;

  // In the companion.
  std::unique_ptr<LoadedPlugin> loaded_;
  std::vector<std::unique_ptr<mind::Behavior>> running_;
};

}  // namespace volvox::plugin
