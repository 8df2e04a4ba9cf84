// Finds shared libraries, asks them what they were built for, and adds what they offer to the
// registries of a run. Every factory, and so every run, keeps the library in memory that it is from.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "volvox/base/platform/shared_library.h"
#include "volvox/plugin/plugin.h"

namespace volvox::plugin {

// What a plugin says of itself, and offers.
struct PluginFacts {
  std::string name, description, build;
  std::filesystem::path file;
  std::vector<std::pair<std::string, std::vector<std::string>>> offers;  // "behaviors": their names
  double load_time = 0;                                                  // s
};

class IsolatedLibrary;

class Plugins final : public sim::PluginHost {
 public:
  Result<void> load(const model::PluginSpec& plugin, std::optional<double> isolate, sim::Library& into,
                    Log& log) override;
  void add_metrics(sim::Metrics& metrics) const override;
  std::vector<std::string> warnings() const override { return said_of_users_; }
  bool clock_decided() const override;

  // All that lie in the folders of VOLVOX_PLUGIN_PATH. One that is broken is warned of and left out.
  void load_users(std::optional<double> isolate, sim::Library& into, Log& log);
  // Every plugin along the path, loadable or not: the error says what is wrong with it.
  std::vector<std::pair<std::filesystem::path, Result<PluginFacts>>> find_all();

  // Those of Volvox and those of the plugins loaded so far.
  const view::RenderEngineRegistry& renderers() const { return renderers_; }
  view::RenderEngineRegistry& renderers() { return renderers_; }

 private:
  Result<void> load(const std::filesystem::path& file, std::optional<double> isolate, sim::Library& into, Log& log);

  view::RenderEngineRegistry renderers_ = view::built_in_render_engines();
  std::set<std::filesystem::path> users_;  // those in every library already
  std::vector<std::string> said_of_users_;
  std::unique_ptr<Log>
      log_of_users_;  // passes on to the one given, and keeps the warnings; isolated ones write to it while they run
  std::vector<std::weak_ptr<IsolatedLibrary>> isolated_;
};

// The file of a plugin by the name that a world gives it: a path, or a name to be looked for beside
// the world's file and along platform::plugin_path(). "mine" finds libmine.so too.
Result<std::filesystem::path> find_plugin(const model::PluginSpec& plugin);

// A library that is loaded, and what it offers.
struct LoadedPlugin {
  std::shared_ptr<platform::SharedLibrary> library;  // freed after what was made from the registrations
  std::shared_ptr<Registrations> offered;
  PluginFacts facts;
};
Result<LoadedPlugin> load_plugin(const std::filesystem::path& file);

}  // namespace volvox::plugin
