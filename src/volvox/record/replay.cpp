#include "volvox/record/replay.h"

#include <fmt/format.h>
#include <fmt/os.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/record/compare.h"
#include "volvox/record/recording_format.h"

namespace volvox::record {
namespace fs = std::filesystem;

Result<sim::RunOptions> options_of(Recording& recording) {
  const Metadata& given = recording.description();
  const auto text = [&](const char* key) {
    const auto found = given.find(key);
    return found == given.end() ? std::string() : found->second;
  };
  sim::RunOptions options;
  options.experiment = text("experiment");
  // A world that was made in code has no file that lasts: Python leaves a copy beside the recording.
  if (const fs::path file(options.experiment), copy = recording.file().parent_path() / "world" / file.filename();
      file.is_absolute() && !fs::exists(file) && fs::exists(copy))
    options.experiment = copy.string();
  options.engine = text("engine");
  options.dt = recording.dt();
  options.accept_changes = text("accept_changes") == "true";
  try {
    options.seed = std::stoull(text("seed"));
    options.max_substep = std::stod(text("substep_s"));
    options.duration = std::stod(text("duration_s"));
    options.settings = nlohmann::json::parse(text("settings")).get<std::map<std::string, std::string>>();
    if (!text("isolate_s").empty()) options.isolate = std::stod(text("isolate_s"));
    if (!text("isolate_mb").empty()) options.isolate_megabytes = std::stod(text("isolate_mb"));
    if (!(options.isolate_megabytes >= 1 && options.isolate_megabytes <= 1e9)) throw std::out_of_range("isolate_mb");
    if (options.isolate && !(*options.isolate >= 1e-3 && *options.isolate <= 3600))
      throw std::out_of_range("isolate_s");
    if (given.contains("behaviors"))
      options.behaviors = nlohmann::json::parse(text("behaviors")).get<std::map<std::string, std::string>>();
    if (given.contains("plugins"))
      options.plugins = nlohmann::json::parse(text("plugins")).get<std::vector<std::string>>();
  } catch (const std::exception& error) {
    return Diagnostic{recording.file().string(), 0,
                      std::string("the description of the run cannot be read: ") + error.what(),
                      "record the run again"};
  }
  // Before there was a choice, it was double.
  const std::string given_precision = given.contains("precision") ? text("precision") : "double";
  const auto precision = physics::parse_precision(given_precision);
  if (!precision.ok())
    return Diagnostic{recording.file().string(), 0, fmt::format("there is no precision '{}'", given_precision),
                      "record the run again"};
  options.precision = *precision;
  auto snapshot = recording.attachment("restored.snap");
  if (!snapshot.ok()) return snapshot.error();
  options.restore_bytes = std::move(*snapshot);
  return options;
}

namespace {

// None: the recording is older than this.
Result<std::optional<model::Sources>> files_of(Recording& recording) {
  const auto found = recording.description().find("files");
  if (found == recording.description().end()) return std::optional<model::Sources>();
  try {
    return std::optional(nlohmann::json::parse(found->second).get<model::Sources>());
  } catch (const nlohmann::json::exception&) {
    return Diagnostic{recording.file().string(), 0, "the recording is damaged: its list of files cannot be read",
                      "record the run again"};
  }
}

Error other_files(const Recording& recording, const std::vector<std::string>& changes) {
  return Diagnostic{
      recording.file().string(), 0,
      fmt::format("the files of this run have changed since it was recorded: {}", fmt::join(changes, "; ")),
      "verify it with the files as they were, or record it again; with --accept-changes it is compared all the same"};
}

// The first number of the module's links and joints that differs from the recording.
std::string find_in_body(const RecordedTick& recorded, const RecordedNames& names, const world::World& world,
                         const std::string& module, std::string& field) {
  for (world::PlacementIndex p = 0; p < world.placements(); ++p)
    if (valid_utf8(world.name(p)) == module)
      if (const auto found = compare_body(recorded, names, world, p)) {
        field = found->field;
        return found->detail;
      }
  return "by less than the seven digits that the recording keeps";
}

void explain(Verification& found, const RecordedTick& recorded, const Recording& recording,
             const sim::Simulation& simulation, HashArchive& now) {
  const RecordedNames& names = recording.names();
  found.same = false;
  found.tick = recorded.tick;
  found.time = recorded.time.seconds();
  bool same_world = now.names().size() == names.sections.size() && recorded.sections.size() == names.sections.size();
  for (std::size_t i = 0; i < names.sections.size() && same_world; ++i)
    same_world =
        names.sections[i].owner == valid_utf8(now.names()[i].owner) && names.sections[i].part == now.names()[i].part;
  if (!same_world) {
    found.field = "the world";
    found.detail =
        "other modules, or other parts of them, than were recorded: the experiment or a robot's file has changed";
    return;
  }
  const std::vector<std::uint32_t> sections = now.sections();
  for (std::size_t i = names.sections.size(); i-- > 0;) {
    if (recorded.sections[i] == sections[i]) continue;
    ++found.parts;
    found.module = names.sections[i].owner;
    found.field = names.sections[i].part;
  }
  if (now.value() == recorded.hash) {
    found.detail = "the hash of the whole state is the same, so the recording is damaged";
  } else if (found.parts == 0) {
    found.field = "the state hash";
    found.detail = "no part of the state differs, so the recording is damaged";
  } else if (found.field == "links and joints") {
    found.detail = find_in_body(recorded, names, simulation.world(), found.module, found.field);
  } else if (found.field == "docks") {
    if (const auto docks = compare_docks(recorded, names, simulation.world()))
      found.module = docks->module, found.field = docks->field, found.detail = docks->detail;
  }
}

// The state is as it was, but not what was recorded of it.
void blame_recording(Verification& found, const RecordedTick& recorded, const Difference& difference) {
  found.same = false;
  found.tick = recorded.tick;
  found.time = recorded.time.seconds();
  found.module = difference.module;
  found.field = difference.field;
  found.detail = difference.detail + "; the state is the same, so the recording is damaged";
  if (difference.field.starts_with("log line")) found.detail += ", or a behavior was changed";
}

// Up to where the run went, whatever is left of its recording.
std::int64_t ticks_made(const Recording& recording, const sim::Run& run) {
  const auto summary = recording.results().find("summary");
  if (summary == recording.results().end()) return run.ticks();
  const auto json = nlohmann::json::parse(summary->second, nullptr, false);
  if (!json.is_object() || !json.contains("ticks") || !json["ticks"].is_number_integer()) return run.ticks();
  return json["ticks"].get<std::int64_t>();
}

}  // namespace

Result<Verification> verify(Recording& recording, const sim::Library& library, Log& log, int threads,
                            const std::function<void(const sim::Progress&)>& progress, const std::atomic<bool>* stop,
                            bool accept_changes) {
  auto options = options_of(recording);
  if (!options.ok()) return options.error();
  const auto files = files_of(recording);
  if (!files.ok()) return files.error();
  options->threads = threads;
  options->replay = true;
  options->accept_changes |= accept_changes;
  for (const auto& [name, other] : options->behaviors)
    if (!library.minds.behaviors.contains(other))
      return Diagnostic{recording.file().string(), 0,
                        fmt::format("the behavior '{}' of this run was '{}', which is not there", name, other),
                        "where it was a class in Python: volvox.Recording(FOLDER).verify(behaviors={NAME: CLASS})"};
  auto run = sim::Run::prepare(*options, library, log);
  if (!run.ok()) {  // perhaps because a file was changed
    const auto changed = *files && !accept_changes ? model::changes_since(**files) : std::vector<std::string>();
    return changed.empty() ? run.error() : other_files(recording, changed);
  }
  // Those that were read now, which may lie elsewhere than those that were recorded.
  const auto changed = *files ? model::changes(**files, (*run)->report().files) : std::vector<std::string>();
  if (!changed.empty() && !accept_changes) return other_files(recording, changed);
  sim::Simulation& simulation = (*run)->simulation();
  Verification result;
  result.changed = changed;
  result.of = ticks_made(recording, **run) - recording.first_tick();
  if (simulation.tick() != recording.first_tick())
    return Error(
        fmt::format("the run begins at tick {}, the recording at {}", simulation.tick(), recording.first_tick()),
        "record the run again");
  Comparison comparison(recording, **run);
  const double begin = platform::monotonic_seconds();
  double last_report = begin;
  for (std::int64_t t = recording.first_tick(); t <= recording.last_tick(); ++t) {
    auto recorded = recording.tick(t);
    if (!recorded.ok()) return recorded.error();
    if (t == recording.first_tick()) {
      for (const sim::Input& input : (*recorded)->inputs)
        if (auto given = simulation.give_now(input); !given.ok()) return given.error();
    } else {
      for (const sim::Input& input : (*recorded)->inputs) simulation.give(input);
      if (const StepStatus status = (*run)->step(); !status.ok()) {
        result.same = false;
        result.tick = t;
        result.time = (*recorded)->time.seconds();
        result.field = "the run failed, which it did not when it was recorded";
        result.detail = status.text();
        return result;
      }
    }
    result.ticks = t - recording.first_tick();
    HashArchive hash;
    simulation.hash(hash);
    if (hash.value() != (*recorded)->hash || hash.sections() != (*recorded)->sections) {
      HashArchive now(HashArchive::Names::keep);
      simulation.hash(now);
      explain(result, **recorded, recording, simulation, now);
      return result;
    }
    const auto difference = comparison.look(**recorded);
    if (!difference.ok()) return difference.error();
    if (*difference) {
      blame_recording(result, **recorded, **difference);
      return result;
    }
    const double wall = platform::monotonic_seconds();
    if (progress && wall - last_report >= 0.1) {
      progress({t, recording.last_tick(), simulation.now().seconds(), wall - begin});
      last_report = wall;
    }
    if (stop != nullptr && stop->load()) {
      result.stopped = true;
      return result;
    }
  }
  return result;
}

namespace {

// Tables that grow together, tick by tick. They stand beside those of before until all of them are complete.
class Tables {
 public:
  explicit Tables(fs::path folder) : folder_(std::move(folder)) {}
  ~Tables() {
    std::error_code error;
    for (auto& [name, table] : tables_) fs::remove(part_of(name), error);
  }
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  Csv& add(const std::string& name, Csv rows) {
    const std::string file = name + ".csv";
    return tables_.emplace(file, Table{std::ofstream(part_of(file)), std::move(rows)}).first->second.rows;
  }
  void flush() {
    for (auto& [name, table] : tables_) table.file << table.rows.take();
  }
  // The names of the files.
  Result<std::vector<std::string>> finish() {
    flush();
    std::vector<std::string> written;
    bool good = true;
    for (auto& [name, table] : tables_) {
      table.file.close();
      good = good && table.file.good();
      written.push_back(name);
    }
    std::error_code error;
    for (const std::string& name : written)
      if (good) fs::rename(part_of(name), folder_ / name, error), good = !error;
    if (!good)
      return Diagnostic{folder_.string(), 0, "the tables cannot be written",
                        "give a folder that can be written and has room, with --out DIR"};
    return written;
  }

 private:
  struct Table {
    std::ofstream file;
    Csv rows;
  };
  fs::path part_of(const std::string& name) const { return folder_ / (name + ".part"); }

  fs::path folder_;
  std::map<std::string, Table> tables_;
};

void add_changed_items(double time, const std::vector<sim::CloudItem>& last, const std::vector<sim::CloudItem>& now,
                       Csv& table) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    const sim::CloudItem& item = now[i];
    if (i < last.size() && last[i] == item) continue;
    const auto& [x, y, z] = item.position;
    table.row(time, i, x, y, z, fmt::format("#{:02x}{:02x}{:02x}", item.color[0], item.color[1], item.color[2]),
              item.shown == sim::CloudItem::gone ? 0 : 1);
  }
}

}  // namespace

std::vector<std::string> table_names() {
  return {"cloud.csv", "dock_events.csv", "docks.csv",    "inputs.csv",  "joints.csv",
          "links.csv", "log.csv",         "messages.csv", "metrics.csv", "state.csv"};
}

Result<std::vector<std::string>> export_csv(Recording& recording, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const RecordedNames& names = recording.names();
  std::vector<std::string> metric_headings = {"time_s"};
  metric_headings.insert(metric_headings.end(), std::begin(sim::TimePoint::names), std::end(sim::TimePoint::names));
  Tables tables(folder);
  Csv& links = tables.add("links", {"time_s", "link", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw"});
  Csv& joints = tables.add("joints", {"time_s", "joint", "position", "velocity", "torque"});
  Csv& docks = tables.add("docks", {"time_s", "dock", "enabled", "latching", "engaged", "broken", "partner", "load"});
  Csv& messages =
      tables.add("messages", {"sent_s", "arrived_s", "receiver", "outlet", "bytes", "sender", "type", "content"});
  Csv& events = tables.add("dock_events",
                           {"time_s", "event", "dock", "partner", "axial_N", "shear_N", "bending_Nm", "torsion_Nm"});
  Csv& lines = tables.add("log", {"time_s", "module", "text"});
  Csv& inputs = tables.add(
      "inputs", {"time_s", "kind", "module", "name", "text", "value", "force_x_N", "force_y_N", "force_z_N"});
  Csv& metrics = tables.add("metrics", Csv(metric_headings));
  Csv& states = tables.add("state", {"tick", "time_s", "state_hash"});
  Csv* cloud = nullptr;  // where there is one

  std::vector<RecordedTick::Dock> last_docks;
  std::vector<sim::CloudItem> last_cloud;
  for (std::int64_t t = recording.first_tick(); t <= recording.last_tick(); ++t) {
    auto tick = recording.tick(t);
    if (!tick.ok()) return tick.error();
    const RecordedTick& now = **tick;
    const double time = sim::seconds_in_tables(now.time);
    states.row(t, time, hash_text(now.hash));
    for (std::size_t i = 0; i < now.links.size(); ++i) {
      const auto& p = now.links[i].position;
      const auto& q = now.links[i].rotation;
      links.row(time, names.links[i], p[0], p[1], p[2], q[0], q[1], q[2], q[3]);
    }
    for (std::size_t i = 0; i < now.joints.size(); ++i)
      joints.row(time, names.joints[i], now.joints[i].position, now.joints[i].velocity, now.joints[i].torque);
    for (std::size_t i = 0; i < now.docks.size(); ++i) {  // docks that changed
      const RecordedTick::Dock& d = now.docks[i];
      if (!last_docks.empty() && last_docks[i].flags == d.flags && last_docks[i].partner == d.partner &&
          last_docks[i].load == d.load)
        continue;
      const auto flag = [&](std::uint32_t f) { return (d.flags & f) != 0 ? 1 : 0; };
      docks.row(time, names.docks[i], flag(format::enabled), flag(format::latching), flag(format::engaged),
                flag(format::broken), d.partner < names.docks.size() ? names.docks[d.partner] : "", d.load);
    }
    last_docks = now.docks;
    if (!now.cloud.empty() && cloud == nullptr)
      cloud = &tables.add("cloud", {"time_s", "item", "x_m", "y_m", "z_m", "color", "shown"});
    if (cloud != nullptr) add_changed_items(time, last_cloud, now.cloud, *cloud);
    last_cloud = now.cloud;
    for (const RecordedTick::Arrival& m : now.arrivals)
      messages.row(sim::seconds_in_tables(m.sent), sim::seconds_in_tables(m.arrived), names.agents[m.agent],
                   names.outlet(m.agent, m.outlet), m.bytes,
                   m.sender < names.agents.size() ? names.agents[m.sender] : "", m.type, m.content);
    for (const RecordedTick::DockEvent& e : now.dock_events)
      events.row(time, e.event, names.docks[e.dock], names.docks[e.partner], e.load.axial, e.load.shear, e.load.bending,
                 e.load.torsion);
    // Agents think at the beginning of the tick that ends here; the log of the run has that time, too.
    const double begin = sim::seconds_in_tables(recording.dt().start_of(std::max<std::int64_t>(0, t - 1)));
    for (const RecordedTick::LogLine& line : now.log) lines.row(begin, line.module, line.text);
    for (const sim::Input& input : now.inputs) {
      const sim::InputRecord i = record_of(input);
      inputs.row(begin, i.kind, i.module, i.name, i.text, i.value, i.force.x, i.force.y, i.force.z);
    }
    if (now.metrics) {
      metrics.field(time);
      for (const double value : *now.metrics) metrics.field(value);
      metrics.end_row();
    }
    tables.flush();
  }
  return tables.finish();
}

}  // namespace volvox::record
