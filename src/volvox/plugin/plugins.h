// Finds the shared libraries of plugins, checks their ABI, and adds what they offer to the registries of a run. Every
// factory owns a share of its library, so the library stays in memory as long as a run uses it.
// For the thread of the run, before the first tick.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "volvox/base/platform/shared_library.h"
#include "volvox/plugin/plugin.h"

namespace volvox::plugin {

// The description of a plugin and the names that it offers.
struct PluginFacts {
  std::string name, description, build;
  std::filesystem::path file;
  std::vector<std::pair<std::string, std::vector<std::string>>> offers;  // "behaviors": their names
  double load_time = 0;                                                  // s
};

// What the process of an isolated plugin may use; one that uses more is disabled.
struct IsolationLimits {
  double call = 1;                                   // s, for one call
  std::uint64_t memory = std::uint64_t{4096} << 20;  // bytes, beyond what the run has when the process starts
};

class IsolatedLibrary;

class Plugins final : public sim::PluginHost {
 public:
  Result<void> load(const model::PluginSpec& plugin, std::optional<double> isolate, sim::Library& into,
                    Log& log) override;
  void add_metrics(sim::Metrics& metrics) const override;
  std::vector<std::string> warnings() const override { return said_of_users_; }
  bool clock_decided() const override;
  // Those that are in use: named by the world or by --plugin, or asked for something that they offer. Others on
  // VOLVOX_PLUGIN_PATH are no part of a run.
  std::vector<std::filesystem::path> files() const override;

  // Of the processes of isolated plugins, in bytes; before their first call.
  void set_memory_limit(std::uint64_t bytes);
  // Warns of behaviours in this world that are not isolated because they are built in: a user who asks for isolation
  // must know what is not isolated.
  void say_what_is_not_isolated(const model::WorldModel& world, Log& log);
  // Loads all plugins in the folders of VOLVOX_PLUGIN_PATH. A broken plugin causes a warning and is left out.
  void load_users(std::optional<double> isolate, sim::Library& into, Log& log);
  // Every plugin on the path, loadable or not; the error says why not.
  std::vector<std::pair<std::filesystem::path, Result<PluginFacts>>> find_all();

  // Of Volvox and of the plugins loaded so far.
  const view::RenderEngineRegistry& renderers() const { return renderers_; }
  view::RenderEngineRegistry& renderers() { return renderers_; }

 private:
  enum class Use { named, if_asked };
  Result<void> load(const std::filesystem::path& file, Use use, std::optional<double> isolate, sim::Library& into,
                    Log& log);

  view::RenderEngineRegistry renderers_ = view::built_in_render_engines();
  // Whether each plugin is in use. Its factories own the mark: with the run that loaded it, it is forgotten.
  std::map<std::filesystem::path, std::weak_ptr<std::atomic<bool>>> used_;
  std::set<std::filesystem::path> users_;  // those in every library already
  std::vector<std::string> said_of_users_;
  std::unique_ptr<Log>
      log_of_users_;  // passes on to the one given, and keeps the warnings; isolated ones write to it while they run
  std::vector<std::weak_ptr<IsolatedLibrary>> isolated_;
  std::uint64_t memory_limit_ = IsolationLimits{}.memory;
};

// Those of a library; null where it has none, or others than these.
inline Plugins* plugins_of(const sim::Library& library) { return dynamic_cast<Plugins*>(library.plugins.get()); }

// Finds the file of a plugin by its name in a world: a path, or a name that is searched for beside the world's file and
// on platform::plugin_path(). "mine" finds libmine.so, too.
Result<std::filesystem::path> find_plugin(const model::PluginSpec& plugin);

// A loaded library and what it offers.
struct LoadedPlugin {
  std::shared_ptr<platform::SharedLibrary> library;  // must outlive everything made from the registrations
  std::shared_ptr<Registrations> offered;
  PluginFacts facts;
};
Result<LoadedPlugin> load_plugin(const std::filesystem::path& file);

}  // namespace volvox::plugin
