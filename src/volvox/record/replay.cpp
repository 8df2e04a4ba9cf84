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
  options.engine = text("engine");
  options.dt = recording.dt();
  try {
    options.seed = std::stoull(text("seed"));
    options.max_substep = std::stod(text("substep_s"));
    options.duration = std::stod(text("duration_s"));
    options.settings = nlohmann::json::parse(text("settings")).get<std::map<std::string, std::string>>();
    if (!text("isolate_s").empty()) options.isolate = std::stod(text("isolate_s"));
    if (options.isolate && !(*options.isolate >= 1e-3 && *options.isolate <= 3600))
      throw std::out_of_range("isolate_s");
    if (given.contains("plugins"))
      options.plugins = nlohmann::json::parse(text("plugins")).get<std::vector<std::string>>();
  } catch (const std::exception& error) {
    return Diagnostic{recording.file().string(), 0,
                      std::string("the description of the run cannot be read: ") + error.what(),
                      "record the run again"};
  }
  auto snapshot = recording.attachment("restored.snap");
  if (!snapshot.ok()) return snapshot.error();
  options.restore_bytes = std::move(*snapshot);
  return options;
}

namespace {

// The first number of the module's links and joints that differs from the recording.
std::string find_in_body(const RecordedTick& recorded, const RecordedNames& names, const world::World& world,
                         const std::string& module, std::string& field) {
  constexpr const char* coordinates[7] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
  for (world::PlacementIndex p = 0; p < world.placements(); ++p) {
    if (world.name(p) != module) continue;
    for (std::uint32_t l = 0; l < world.module_model(p).links.size(); ++l) {
      const world::LinkIndex link = world.part(p).first_link + l;
      if (link >= recorded.links.size()) return {};
      const Pose pose = world.link_pose(link);
      const double now[7] = {pose.position.x, pose.position.y, pose.position.z, pose.rotation.x,
                             pose.rotation.y, pose.rotation.z, pose.rotation.w};
      for (int i = 0; i < 7; ++i) {
        const float then = i < 3 ? recorded.links[link].position[i] : recorded.links[link].rotation[i - 3];
        if (to_float(now[i]) == then) continue;
        field = fmt::format("{} {}", names.links[link], coordinates[i]);
        return fmt::format("{} then, {} now", then, to_float(now[i]));
      }
    }
    for (std::uint32_t j = 0; j < world.module_model(p).joints.size(); ++j) {
      const world::JointIndex joint = world.part(p).first_joint + j;
      if (joint >= recorded.joints.size()) return {};
      const physics::JointState now = world.joint_state(joint);
      const RecordedTick::Joint& then = recorded.joints[joint];
      for (const auto& [name, a, b] : {std::tuple{"position", then.position, now.position},
                                       {"velocity", then.velocity, now.velocity},
                                       {"torque", then.torque, now.torque}}) {
        if (a == to_float(b)) continue;
        field = fmt::format("{} {}", names.joints[joint], name);
        return fmt::format("{} then, {} now", a, b);
      }
    }
  }
  return "by less than the seven digits that the recording keeps";
}

std::string find_in_docks(const RecordedTick& recorded, const RecordedNames& names, const world::World& world,
                          std::string& module, std::string& field) {
  for (world::DockIndex d = 0; d < std::min(recorded.docks.size(), world.docks()); ++d) {
    const world::DockStatus& status = world.dock_status(d);
    const std::uint32_t flags = (status.enabled ? format::enabled : 0u) | (status.broken ? format::broken : 0u) |
                                (status.phase == world::DockPhase::engaged    ? format::engaged
                                 : status.phase == world::DockPhase::latching ? format::latching
                                                                              : 0u);
    const RecordedTick::Dock& then = recorded.docks[d];
    if (then.flags == flags && then.partner == world.graph().partner(d)) continue;
    module = world.name(world.graph().owner(d));
    field = names.docks[d];
    const auto words = [&](std::uint32_t f, world::DockIndex partner) {
      return fmt::format("{}{}{}{}", f & format::enabled ? "enabled" : "disabled", f & format::broken ? ", broken" : "",
                         f & format::engaged    ? ", engaged"
                         : f & format::latching ? ", latching"
                                                : ", free",
                         partner < names.docks.size() ? " with " + names.docks[partner] : "");
    };
    return fmt::format("{} then; {} now", words(then.flags, then.partner), words(flags, world.graph().partner(d)));
  }
  return {};
}

void explain(Verification& found, const RecordedTick& recorded, const Recording& recording,
             const sim::Simulation& simulation, HashArchive& now) {
  const RecordedNames& names = recording.names();
  found.same = false;
  found.tick = recorded.tick;
  found.time = recorded.time.seconds();
  bool same_world = now.names().size() == names.sections.size() && recorded.sections.size() == names.sections.size();
  for (std::size_t i = 0; i < names.sections.size() && same_world; ++i)
    same_world = names.sections[i].owner == now.names()[i].owner && names.sections[i].part == now.names()[i].part;
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
  if (found.field == "links and joints") {
    std::string where;
    found.detail = find_in_body(recorded, names, simulation.world(), found.module, where);
    if (!where.empty()) found.field = where;
  } else if (found.field == "docks") {
    std::string where;
    found.detail = find_in_docks(recorded, names, simulation.world(), found.module, where);
    if (!where.empty()) found.field = where;
  }
}

}  // namespace

Result<Verification> verify(Recording& recording, const sim::Library& library, Log& log, int threads,
                            const std::function<void(const sim::Progress&)>& progress, const std::atomic<bool>* stop) {
  if (auto whole = recording.check(); !whole.ok()) return whole.error();
  auto options = options_of(recording);
  if (!options.ok()) return options.error();
  options->threads = threads;
  options->replay = true;
  auto run = sim::Run::prepare(*options, library, log);
  if (!run.ok()) return run.error();
  sim::Simulation& simulation = (*run)->simulation();
  Verification result;
  if (simulation.tick() != recording.first_tick())
    return Error(
        fmt::format("the run begins at tick {}, the recording at {}", simulation.tick(), recording.first_tick()),
        "record the run again");
  const double begin = platform::monotonic_seconds();
  double last_report = begin;
  for (std::int64_t t = recording.first_tick(); t <= recording.last_tick(); ++t) {
    auto recorded = recording.tick(t);
    if (!recorded.ok()) return recorded.error();
    if (t > recording.first_tick()) {
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
    ++result.ticks;
    if (simulation.hash() != (*recorded)->hash) {
      HashArchive now(HashArchive::Names::keep);
      simulation.hash(now);
      explain(result, **recorded, recording, simulation, now);
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

// Tables that grow together, tick by tick.
class Tables {
 public:
  explicit Tables(fs::path folder) : folder_(std::move(folder)) {}

  Csv& add(const std::string& name, Csv rows) {
    const std::string file = name + ".csv";
    return tables_.emplace(file, Table{std::ofstream(folder_ / file), std::move(rows)}).first->second.rows;
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
      good = good && table.file.flush();
      written.push_back(name);
    }
    if (!good)
      return Diagnostic{folder_.string(), 0, "the tables cannot be written",
                        "give a folder that can be written, with --out DIR"};
    return written;
  }

 private:
  struct Table {
    std::ofstream file;
    Csv rows;
  };
  fs::path folder_;
  std::map<std::string, Table> tables_;
};

}  // namespace

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
  Csv& messages = tables.add("messages", {"sent_s", "arrived_s", "receiver", "outlet", "bytes"});
  Csv& lines = tables.add("log", {"time_s", "module", "text"});
  Csv& inputs = tables.add(
      "inputs", {"time_s", "kind", "module", "name", "text", "value", "force_x_N", "force_y_N", "force_z_N"});
  Csv& metrics = tables.add("metrics", Csv(metric_headings));
  Csv& states = tables.add("state", {"tick", "time_s", "state_hash"});

  std::vector<RecordedTick::Dock> last_docks;
  for (std::int64_t t = recording.first_tick(); t <= recording.last_tick(); ++t) {
    auto tick = recording.tick(t);
    if (!tick.ok()) return tick.error();
    const RecordedTick& now = **tick;
    const std::string time = fmt::format("{}", now.time.seconds());
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
    for (const RecordedTick::Arrival& m : now.arrivals)
      messages.row(m.sent.seconds(), m.arrived.seconds(), names.agents[m.agent], names.outlet(m.agent, m.outlet),
                   m.bytes);
    for (const RecordedTick::LogLine& line : now.log) lines.row(time, line.module, line.text);
    for (const sim::Input& input : now.inputs) {
      const sim::InputRecord i = record_of(input);
      inputs.row(time, i.kind, i.module, i.name, i.text, i.value, i.force.x, i.force.y, i.force.z);
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
