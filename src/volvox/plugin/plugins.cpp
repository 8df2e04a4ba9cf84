#include "volvox/plugin/plugins.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/paths.h"
#include "volvox/plugin/guards.h"
#include "volvox/plugin/isolated.h"

namespace volvox::plugin {
namespace fs = std::filesystem;
namespace {

constexpr const char* entry = "volvox_plugin";

std::vector<fs::path> libraries_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_regular_file(folder, error)) return {folder};
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".so") files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

template <class R>
void note(PluginFacts& facts, const char* kind, const R& registry) {
  if (!registry.names().empty()) facts.offers.emplace_back(kind, registry.names());
}

using Mark = std::shared_ptr<std::atomic<bool>>;

// The same factory, which notes that it was called.
template <class Made, class... Arguments>
std::function<Made(Arguments...)> marking(std::function<Made(Arguments...)> make, const Mark& used) {
  return [make = std::move(make), used](Arguments... arguments) {
    used->store(true);
    return make(std::forward<Arguments>(arguments)...);
  };
}

// Makes those of the registry that the plugin offers note their calls.
template <class R>
void mark_offers(R& registry, const PluginFacts& facts, std::string_view kind, const Mark& used) {
  for (const auto& [offered, names] : facts.offers)
    for (const std::string& name : names)
      if (offered == kind && registry.contains(name))
        registry.add(name, marking(**registry.find(name), used), registry.description(name));
}

// Adds all of one registry to another, each factory wrapped by `guard`.
template <class From, class To, class Guard>
void add_guarded(const From& from, To& to, const char* kind, const PluginFacts& facts, Log& log, Guard&& guard) {
  for (const std::string& name : from.names()) {
    if (to.contains(name))
      log.warning(fmt::format("plugin '{}' ({}) replaces the {} '{}'", facts.name, facts.file.string(), kind, name));
    to.add(name, guard(**from.find(name), name), from.description(name));
  }
}

}  // namespace

Result<fs::path> find_plugin(const model::PluginSpec& plugin) {
  const fs::path wanted = plugin.filename;
  std::vector<fs::path> folders;
  if (!plugin.file.empty()) folders.push_back(fs::absolute(plugin.file).parent_path());
  else folders.push_back(fs::current_path());
  for (const fs::path& folder : platform::plugin_path()) folders.push_back(folder);
  std::error_code error;
  std::string looked;
  for (const fs::path& folder : folders) {
    for (const fs::path& name : {wanted, fs::path(wanted).replace_filename("lib" + wanted.filename().string() + ".so")})
      if (const fs::path file = folder / name; fs::is_regular_file(file, error)) return file.lexically_normal();
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  return Diagnostic{plugin.file, plugin.line, fmt::format("the plugin '{}' is not there", plugin.filename),
                    fmt::format("put its folder into VOLVOX_PLUGIN_PATH; it was looked for in {}", looked)};
}

Result<LoadedPlugin> load_plugin(const fs::path& file) {
  const double begin = platform::monotonic_seconds();
  auto library = platform::SharedLibrary::open(file);
  if (!library.ok()) return library.error();
  const auto bad = [&](const std::string& what, const std::string& fix) {
    return Diagnostic{file.string(), 0, what, fix};
  };
  const auto function = reinterpret_cast<volvox_plugin_function>((*library)->symbol(entry));
  if (function == nullptr)
    return bad("this is not a plugin of Volvox: it has no function volvox_plugin",
               "use VOLVOX_PLUGIN of <volvox/plugin/plugin.h> in it");
  const volvox_plugin_info* info = function();
  if (info == nullptr)
    return bad("the plugin says nothing of itself", "use VOLVOX_PLUGIN of <volvox/plugin/plugin.h> in it");
  if (info->abi_version != VOLVOX_PLUGIN_ABI_VERSION)
    return bad(fmt::format("plugin '{}' is built for version {} of the interface, this is version {}",
                           info->name == nullptr ? "" : info->name, info->abi_version, VOLVOX_PLUGIN_ABI_VERSION),
               "build it again against this version of Volvox");
  const std::string ours = build_id(), theirs = info->build == nullptr ? "nothing" : info->build;
  if (info->size < sizeof *info || info->name == nullptr || info->description == nullptr || info->add_all == nullptr ||
      theirs != ours)
    return bad(fmt::format("the plugin is built for another Volvox: it has {}, this is {}", theirs, ours),
               "build it again against this version of Volvox, with its compiler");
  LoadedPlugin loaded{
      *library, std::make_shared<Registrations>(), {info->name, info->description, theirs, file, {}, 0}};
  char error[512] = "";
  if (info->add_all(loaded.offered.get(), error, sizeof error) != 0)
    return bad(fmt::format("plugin '{}' failed while it was loaded: {}", info->name,
                           std::string(error, strnlen(error, sizeof error))),
               "correct the plugin, or leave it out");
  const Registrations& offered = *loaded.offered;
  note(loaded.facts, "behaviors", offered.behaviors);
  note(loaded.facts, "sensors", offered.sensors);
  note(loaded.facts, "actuators", offered.actuators);
  note(loaded.facts, "noise", offered.noise);
  note(loaded.facts, "propagations", offered.propagations);
  note(loaded.facts, "engines", offered.engines);
  note(loaded.facts, "renderers", offered.renderers);
  note(loaded.facts, "extensions", offered.extensions);
  note(loaded.facts, "experiments", offered.experiments);
  loaded.facts.load_time = platform::monotonic_seconds() - begin;
  return loaded;
}

namespace {

// Adds all that it offers, or all but its behaviours and sensors. Renderers do not change results: their use is not
// marked.
void add_to(const LoadedPlugin& loaded, bool isolated, const Mark& used, sim::Library& into,
            view::RenderEngineRegistry& renderers, Log& log) {
  const Registrations& offered = *loaded.offered;
  const Guard guard{fmt::format("plugin '{}' ({})", loaded.facts.name, loaded.facts.file.string()), loaded.library};
  const PluginFacts& facts = loaded.facts;
  // A factory is code of the plugin, so it must own its library.
  if (!isolated)
    add_guarded(offered.behaviors, into.minds.behaviors, "behavior", facts, log,
                [&](const auto& make, const std::string&) { return marking(guard.behavior(make), used); });
  if (!isolated)
    add_guarded(offered.sensors, into.minds.sensors, "sensor", facts, log,
                [&](const auto& make, const std::string& name) { return marking(guard.sensor(make, name), used); });
  add_guarded(offered.actuators, into.minds.actuators, "actuator", facts, log,
              [&](const auto& make, const std::string&) { return marking(guard.actuator(make), used); });
  add_guarded(offered.noise, into.minds.noise, "noise model", facts, log,
              [&](const auto& make, const std::string& name) { return marking(guard.noise(make, name), used); });
  add_guarded(offered.propagations, into.minds.propagations, "law of propagation", facts, log,
              [&](const auto& make, const std::string& name) { return marking(guard.propagation(make, name), used); });
  add_guarded(offered.extensions, into.extensions, "extension", facts, log,
              [&](const auto& make, const std::string&) { return marking(guard.extension(make), used); });
  add_guarded(offered.experiments, into.experiments, "experiment", facts, log,
              [&](const auto& make, const std::string&) { return marking(guard.plain(make), used); });
  add_guarded(offered.renderers, renderers, "render engine", facts, log,
              [&](const auto& make, const std::string&) { return guard.plain(make); });
  for (const std::string& name : offered.engines.names())
    into.engines.add(name, marking(guard.engine(**offered.engines.find(name), name), used));
}

}  // namespace

Result<void> Plugins::load(const fs::path& file, Use use, std::optional<double> isolate, sim::Library& into, Log& log) {
  const Mark used = std::make_shared<std::atomic<bool>>(use == Use::named);
  std::error_code error;
  used_[fs::canonical(file, error)] = used;
  if (!isolate) {
    auto loaded = load_plugin(file);
    if (!loaded.ok()) return loaded.error();
    add_to(*loaded, false, used, into, renderers_, log);
    return {};
  }
  auto library = IsolatedLibrary::create(file, {*isolate, memory_limit_}, log);
  if (!library.ok()) return library.error();
  (*library)->add_to(into.minds);
  mark_offers(into.minds.behaviors, (*library)->facts(), "behaviors", used);
  mark_offers(into.minds.sensors, (*library)->facts(), "sensors", used);
  isolated_.push_back(*library);
  std::string others;
  for (const auto& [kind, names] : (*library)->facts().offers)
    if (kind != "behaviors" && kind != "sensors") others += (others.empty() ? "" : ", ") + kind;
  if (others.empty()) return {};
  log.warning(
      fmt::format("plugin '{}': its {} cannot be isolated and run in this process", (*library)->facts().name, others));
  auto loaded = load_plugin(file);
  if (!loaded.ok()) return loaded.error();
  add_to(*loaded, true, used, into, renderers_, log);
  return {};
}

Result<void> Plugins::load(const model::PluginSpec& plugin, std::optional<double> isolate, sim::Library& into,
                           Log& log) {
  const auto file = find_plugin(plugin);
  if (!file.ok()) return file.error();
  std::error_code error;
  if (const fs::path whole = fs::canonical(*file, error); users_.contains(whole)) {
    if (const Mark used = used_[whole].lock()) used->store(true);
    return {};
  }
  const auto loaded = load(*file, Use::named, isolate, into, log);
  if (loaded.ok()) return {};
  Error named(Diagnostic{plugin.file, plugin.line, fmt::format("the plugin '{}' cannot be used", plugin.filename), ""});
  named.add(loaded.error());
  return named;
}

void Plugins::load_users(std::optional<double> isolate, sim::Library& into, Log& log) {
  log_of_users_ = std::make_unique<Log>(
      [this, &log](LogLevel level, std::string_view line) {
        if (level == LogLevel::warning) said_of_users_.emplace_back(line);
        log.write(level, line);
      },
      LogLevel::debug);
  for (const fs::path& folder : platform::users_plugin_path()) {
    for (const fs::path& file : libraries_in(folder)) {
      std::error_code error;
      if (!users_.insert(fs::canonical(file, error)).second) continue;
      if (auto loaded = load(file, Use::if_asked, isolate, into, *log_of_users_); !loaded.ok())
        log_of_users_->warning("a plugin of VOLVOX_PLUGIN_PATH is left out: " + loaded.error().text());
    }
  }
}

std::vector<fs::path> Plugins::files() const {
  std::vector<fs::path> files;
  for (const auto& [file, mark] : used_)
    if (const Mark used = mark.lock(); used && used->load()) files.push_back(file);
  return files;
}

void Plugins::add_metrics(sim::Metrics& metrics) const {
  double calls = 0, disabled = 0, median = 0, p99 = 0;
  for (const auto& weak : isolated_) {
    const auto library = weak.lock();
    if (!library) continue;
    const sim::TimeDistribution times = library->round_trips();
    calls += real(times.count());
    disabled += library->disabled() ? 1 : 0;
    median = std::max(median, times.quantile(0.5));
    p99 = std::max(p99, times.quantile(0.99));
  }
  if (isolated_.empty()) return;
  metrics.set("isolated_calls", calls, "of behaviors and sensors in separate processes");
  metrics.set("isolated_round_trip_us", median * 1e6, "median of the slowest plugin");
  metrics.set("isolated_round_trip_p99_us", p99 * 1e6, "of the slowest plugin");
  metrics.set("isolated_disabled", disabled, "plugins that crashed or did not answer, or of which a part threw");
}

void Plugins::set_memory_limit(std::uint64_t bytes) {
  memory_limit_ = bytes;
  for (const auto& weak : isolated_)
    if (const auto library = weak.lock()) library->set_memory_limit(bytes);
}

void Plugins::say_what_is_not_isolated(const model::WorldModel& world, Log& log) {
  std::set<std::string> isolated, here;
  for (const auto& weak : isolated_)
    if (const auto library = weak.lock())
      for (std::string& name : library->behaviors()) isolated.insert(std::move(name));
  for (const model::Placement& placement : world.placements) {
    const model::Mind* mind = placement.effective_mind();
    if (mind == nullptr) continue;
    here.insert(mind->behavior);
    for (const model::Mind& further : mind->further) here.insert(further.behavior);
  }
  here.erase("");
  for (const std::string& name : isolated) here.erase(name);
  if (here.empty() && !isolated_.empty()) return;
  const std::string said = here.empty()
                               ? "--isolate does nothing: no plugin is loaded"
                               : fmt::format("--isolate: built in, and not isolated: {}; only behaviors of plugins are",
                                             fmt::join(here, ", "));
  log.warning(said);
  said_of_users_.push_back(said);
}

bool Plugins::clock_decided() const {
  return std::any_of(isolated_.begin(), isolated_.end(), [](const auto& weak) {
    const auto library = weak.lock();
    return library && library->took_too_long();
  });
}

std::vector<std::pair<fs::path, Result<PluginFacts>>> Plugins::find_all() {
  std::vector<std::pair<fs::path, Result<PluginFacts>>> found;
  for (const fs::path& folder : platform::plugin_path()) {
    for (const fs::path& file : libraries_in(folder)) {
      auto loaded = load_plugin(file);
      if (loaded.ok()) found.emplace_back(file, loaded->facts);
      else found.emplace_back(file, loaded.error());
    }
  }
  return found;
}

}  // namespace volvox::plugin
