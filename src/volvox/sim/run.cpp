#include "volvox/sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "volvox/base/check.h"
#include "volvox/base/guarded.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/real_time.h"
#include "volvox/base/text.h"
#include "volvox/sim/matter_cloud.h"
#include "volvox/sim/snapshot_seal.h"
#include "volvox/world/matter.h"
#include "volvox/world/measures.h"
#include "volvox/world/start_check.h"

namespace volvox::sim {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t run_snapshot_mark = 0x564f4c564f585233;  // "VOLVOXR3"

}  // namespace

// The hooks of the run in every tick of the simulation. An experiment that throws has failed; an extension that does
// cannot do what the world file wants of it (there is no such joystick), which is an error of the input.
Result<void> Run::begin_hooks() {
  const std::string who = fmt::format("experiment '{}'", report_.experiment);
  begun_ = guarded(who, [&] { experiment_->begin(*simulation_); });
  if (!options_.replay && begun_.ok())
    for (const auto& [name, extension] : extensions_.all()) {
      const auto begin = [&, &hook = extension] { hook->begin(*simulation_); };
      if (const StepStatus begun = guarded(fmt::format("extension '{}'", name), begin); !begun.ok())
        return Error(begun.text(), "");
      simulation_->attach(name, *extension);
    }
  if (begun_.ok() && experiment_->state_is_hashed())
    simulation_->add_hashed([this](Archive& ar) { experiment_->archive_state(ar); });
  simulation_->add_script([this](Simulation& simulation) { experiment_->before_tick(simulation); }, who);
  simulation_->add_measure([this](const Simulation& simulation) { experiment_->observe(simulation); }, who);
  simulation_->add_measure([this](const Simulation& simulation) {
    loads_.observe(simulation.world(), simulation.dock_events(), simulation.now().seconds());
    if (simulation.tick() % sample_every_ == 0) sample();
  });
  return {};
}

Origin Run::origin() const {
  const bool registered = library_.experiments.contains(options_.experiment);
  return {registered ? report_.experiment : "",
          simulation_->settings().engine,  // an experiment may have changed it
          report_.dt.text(),
          simulation_->settings().max_substep,
          physics::name(simulation_->world().engine_info().precision),
          report_.seed,
          report_.settings,
          report_.files};
}

// A snapshot of a run: what it was made of, that of its simulation, and the measurements so far.
void Run::archive(Archive& ar, std::vector<std::byte>& simulation) {
  ar("simulation", simulation);
  ar("start", start_centre_);
  loads_.archive(ar);
  experiment_->archive_state(ar);
}

Result<std::string> Run::snapshot() {
  auto snapshot = simulation_->save();
  if (!snapshot.ok()) return snapshot.error();
  SaveArchive ar;
  ar("mark", run_snapshot_mark);
  ar("origin", origin());
  archive(ar, *snapshot);
  if (!ar.ok()) return Error("the snapshot is not complete: " + ar.failure(), "");
  std::vector<std::byte> bytes = ar.take();
  add_seal(bytes);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<void> Run::save(const fs::path& file) {
  const auto bytes = snapshot();
  if (!bytes.ok()) return bytes.error();
  if (!write_file(file, *bytes).ok())
    return Diagnostic{file.string(), 0, "the snapshot cannot be written",
                      "give a path that can be written, and see whether the disk is full"};
  return {};
}

// The samples of what is simulated once more, or of another run, are not this run's.
void Run::forget_samples_after(double time) {
  std::erase_if(report_.history, [time](const TimePoint& sample) { return sample.time > time; });
  samples_ = std::ssize(report_.history) * keep_every_;
  last_sample_ = report_.history.empty() ? TimePoint{} : report_.history.back();
}

Result<void> Run::restore(std::string_view snapshot) {
  std::vector<std::byte> nothing;  // the simulation puts itself back
  SaveArchive before;
  archive(before, nothing);
  if (auto restored = restore(snapshot, "the snapshot"); !restored.ok()) {
    LoadArchive back(before.bytes());
    archive(back, nothing);
    return restored;
  }
  report_.status = "done";
  report_.failure.clear();
  report_.metrics = {};
  sim_begin_ = std::min(sim_begin_, simulation_->now().seconds());
  forget_samples_after(simulation_->now().seconds());
  return {};
}

// A snapshot that cannot be written does not end the run, and the one before is still there.
void Run::save_on_the_way() {
  const auto saved = save(*options_.save_to);
  if (!saved.ok() && !save_failed_)
    log_.warning(fmt::format("at {:.3f} s: {}", simulation_->now().seconds(), saved.error().text()));
  save_failed_ = !saved.ok();
}

Result<void> Run::restore(std::string_view text, const std::string& file) {
  const auto bytes = without_seal(std::as_bytes(std::span(text)));
  if (!bytes)
    return Diagnostic{file, 0, "this is not a snapshot of a run, or it is damaged",
                      "give a file that --save wrote, whole and unchanged"};
  LoadArchive ar(*bytes);
  std::uint64_t mark = 0;
  Origin then;
  ar("mark", mark);
  if (mark != run_snapshot_mark)
    return Diagnostic{file, 0, "the snapshot is of another version of Volvox",
                      "restore it with the version that wrote it, or run from the start"};
  ar("origin", then);
  Origin here = origin();
  if (!options_.precision) here.precision = then.precision;  // nobody asked for another
  std::vector<std::string> differ = ar.ok() ? differences(then, here) : std::vector<std::string>{};
  if (!differ.empty() && !options_.accept_changes)
    return Diagnostic{file, 0, fmt::format("the snapshot is of another run: {}", fmt::join(differ, "; ")),
                      "use the files and settings of the run that wrote it, or, where only files and --set differ, "
                      "restore it all the same with --accept-changes"};
  for (const std::string& difference : differ) log_.warning(fmt::format("{}: {}", file, difference));
  std::vector<std::byte> snapshot;
  archive(ar, snapshot);
  std::vector<std::string> not_carried;
  auto restored = restore_simulation(snapshot, then, not_carried);
  if (restored.ok() && ar.ok() && ar.remaining() == 0) {
    report_.restored = {file,        simulation_->tick(), simulation_->now().seconds(), std::move(differ),
                        then.engine, not_carried};
    if (const std::string now = simulation_->settings().engine; then.engine != now)
      log_.warning(
          fmt::format("{}: the state of the engine '{}' goes on in '{}'{}", file, then.engine, now,
                      not_carried.empty() ? "" : fmt::format("; not carried: {}", fmt::join(not_carried, "; "))));
    return {};
  }
  Error error(Diagnostic{file, 0, "the snapshot cannot be restored", ""});
  if (!restored.ok()) error.add(restored.error());
  else error.add(Error("it is cut off or damaged", "use another snapshot"));
  return error;
}

// A snapshot is read by the engine that wrote it, in its precision. The run goes on with that engine unless its options
// name another, which then takes the state over.
Result<void> Run::restore_simulation(const std::vector<std::byte>& snapshot, const Origin& then,
                                     std::vector<std::string>& not_carried) {
  const std::string here = simulation_->settings().engine;
  const bool same = then.precision == physics::name(simulation_->world().engine_info().precision);
  if (then.engine == here && (same || options_.precision)) return simulation_->restore(snapshot);
  const auto precision = physics::parse_precision(then.precision);
  if (!precision.ok()) return precision.error();
  if (auto changed = simulation_->change_engine(then.engine, library_.engines, *precision); !changed.ok())
    return changed.error();
  auto restored = simulation_->restore(snapshot);
  if (restored.ok() && (options_.engine.empty() || then.engine == here)) {
    report_.engine = then.engine;
    report_.engine_settings = simulation_->world().engine_info().settings;
    report_.precision = physics::name(simulation_->world().engine_info().precision);
    return {};
  }
  auto back = simulation_->change_engine(here, library_.engines);
  if (!restored.ok()) return restored;
  if (!back.ok()) return back.error();
  not_carried = *back;
  return {};
}

void Run::add_onlooker(std::function<void(const Simulation&)> look) {
  simulation_->add_observer([this, look = std::move(look)](const Simulation& simulation) {
    const double begin = platform::monotonic_seconds();
    look(simulation);
    onlooking_ += platform::monotonic_seconds() - begin;
  });
}

StepStatus Run::step() { return stepped(begun_.ok() ? simulation_->step() : begun_); }

StepStatus Run::begin_step() {
  StepStatus status = begun_.ok() ? simulation_->begin_step() : begun_;
  return status.ok() ? std::move(status) : stepped(std::move(status));
}

StepStatus Run::end_step(StepStatus moved, double seconds) {
  return stepped(simulation_->end_step(std::move(moved), seconds));
}

StepStatus Run::stepped(StepStatus status) {
  if (!status.ok()) {
    report_.status = "failed";
    report_.failure = status.text();
  } else if (save_every_ > 0 && simulation_->tick() % save_every_ == 0 && simulation_->tick() < ticks_) {
    save_on_the_way();
  }
  return status;
}

void Run::finish(const std::function<void(const Progress&)>& progress, const std::atomic<bool>* stop) {
  wall_begin_ = platform::monotonic_seconds();
  onlooking_ = 0;
  if (options_.real_time) return finish_paced(progress, stop);
  double last_report = wall_begin_;
  while (simulation_->tick() < ticks_ && step().ok()) {
    if (stop != nullptr && stop->load()) {
      this->stop();
      break;
    }
    const double now = platform::monotonic_seconds();
    if (progress && now - last_report >= 0.1) {
      progress({simulation_->tick(), ticks_, simulation_->now().seconds(), now - wall_begin_});
      last_report = now;
    }
  }
  end();
}

// The same run in real time.
void Run::finish_paced(const std::function<void(const Progress&)>& progress, const std::atomic<bool>* stop) {
  constexpr double between_warnings = 10;  // s of wall time
  const platform::LockedMemory memory;
  const platform::RealTimePriority priority;
  Pacer pacer(simulation_->settings().dt, *options_.real_time);
  pacer.report().scheduling = priority.scheduling();
  pacer.report().memory = memory.outcome();
  wall_begin_ = platform::monotonic_seconds();
  double last_report = wall_begin_, last_warning = wall_begin_ - between_warnings;
  pacer.start(simulation_->tick());
  while (simulation_->tick() < ticks_) {
    pacer.begin_tick();
    const StepStatus status = step();
    pacer.end_tick();
    if (!status.ok()) break;
    const double now = platform::monotonic_seconds();
    if (pacer.late() && now - last_warning >= between_warnings) {
      log_.warning(fmt::format("real time is broken at {:.3f} s: {:.3g} ms behind; {} of {} ticks were late so far",
                               simulation_->now().seconds(), pacer.report().drift * 1e3, pacer.report().late_ticks,
                               pacer.report().ticks));
      last_warning = now;
    }
    if (progress && now - last_report >= 0.1) {
      progress({simulation_->tick(), ticks_, simulation_->now().seconds(), now - wall_begin_});
      last_report = now;
    }
    if (!pacer.wait(stop)) {
      this->stop();
      break;
    }
  }
  report_.pacing = pacer.report();
  end();
}

void Run::stop() {
  report_.status = "stopped";
  report_.failure = fmt::format("stopped at {:.3f} s, on request", simulation_->now().seconds());
}

void Run::add_module_metrics() {
  const world::World& world = simulation_->world();
  const Vec3 moved = world::centre_of_mass(world) - start_centre_;
  const auto add = [&](const char* name, double value, const char* note) {
    if (report_.metrics.find(name) == nullptr) report_.metrics.set(name, value, note);
  };
  if (report_.metrics.find("distance_m") == nullptr)
    add("moved_m", length(moved.x, moved.y), "horizontal distance of the centre of mass from its start");
  add("organisms", real(world.organism_count()), "robots: connected components of modules");
  add("docks_engaged", real(world.graph().connections()), "at the end");
  add("docks_formed", real(world.docks_formed()), "during the run");
  add("docks_released", real(world.docks_released()), "during the run");
  add("docks_broken", real(world.docks_broken()), "during the run");
  if (world.graph().connections() > 0 || world.docks_broken() + world.docks_released() > 0) {
    const std::string where = loads_.where(world);
    add("dock_axial_max_N", loads_.highest().axial, "largest pull on any dock during the run");
    add("dock_shear_max_N", loads_.highest().shear, "largest shear force on any dock");
    add("dock_bending_max_Nm", loads_.highest().bending, "largest bending moment on any dock");
    add("dock_torsion_max_Nm", loads_.highest().torsion, "largest torsion on any dock");
    // Docks that cannot break have no strength to compare with.
    if (!where.empty())
      add("dock_load_max", loads_.utilisation(),
          ("highest load as a fraction of the dock's strength (1: it breaks): " + where).c_str());
  }
  const mind::NetworkCounters& network = simulation_->minds().network();
  add("messages_sent", real(network.sent), "by behaviors");
  add("messages_lost", real(network.lost), "including those sent to a dock without a neighbour");
}

void Run::end() {
  const world::World& world = simulation_->world();
  report_.wall_time = platform::monotonic_seconds() - wall_begin_ - onlooking_;
  report_.ticks = simulation_->tick();
  report_.sim_time = simulation_->now().seconds();
  report_.sim_time_here = report_.sim_time - sim_begin_;
  VOLVOX_ASSERT(report_.ticks >= 0 && report_.sim_time_here >= 0);
  report_.phases = simulation_->phase_times();
  report_.memory_bytes = world.memory_bytes() + simulation_->minds().memory_bytes();
  const auto note_failure = [&](const StepStatus& status) {
    if (!status.ok() && report_.status != "failed") report_.status = "failed", report_.failure = status.text();
  };
  note_failure(guarded(fmt::format("experiment '{}'", report_.experiment),
                       [&] { experiment_->shutdown(*simulation_, report_.metrics); }));
  for (const auto& [name, extension] : extensions_.all())
    note_failure(
        guarded(fmt::format("extension '{}'", name), [&, &hook = extension] { hook->add_metrics(report_.metrics); }));

  // The metrics of every run, after those of its experiment.
  const auto add = [&](const char* name, double value, const char* note) {
    if (report_.metrics.find(name) == nullptr) report_.metrics.set(name, value, note);
  };
  if (report_.modules > 0) add_module_metrics();
  if (const world::Matter* matter = world.matter()) {
    add("fluid_particles", real(matter->particles().fluid_ids().size()), "at the end");
    add("solid_particles", real(matter->particles().solid_ids().size()), "grains and points of cloth at the end");
    add("emitted", real(matter->emitted()), "particles that came out of emitters");
    add("drained", real(matter->particles().drained()), "particles that left the world");
    if (matter->particles().on_device()) add("on_gpu", 1, "1: a GPU moved the particles; the bits are the same");
    const std::string& note = matter->device_note();
    const auto told = [&](const std::string& warning) { return warning.find(note) != std::string::npos; };
    if (!note.empty() && std::none_of(report_.warnings.begin(), report_.warnings.end(), told)) log_.warning(note);
  }
  if (const exchange::Exchange* exchange = simulation_->minds().exchange()) {
    const net::Counters& frames = exchange->network().counters();
    add("frames_sent", real(frames.transmissions), "started on a wire, bus or antenna");
    add("frames_received", real(frames.deliveries), "delivered to an interface");
    add("frames_collided", real(frames.collisions), "at a receiver: one frame may collide at many");
    add("frames_weak", real(frames.weak), "above a receiver's noise, too weak to decode");
    add("frames_aborted", real(frames.transmit_aborts), "lost because the receiver was transmitting");
    add("frames_cut", real(frames.unplugged + frames.switched_off),
        "lost because their link was missing, or was cut during transmission");
    add("frames_dropped", real(frames.queue_drops), "lost because a queue was full");
  }
  if (report_.pacing) {
    add("tick_median_ms", report_.pacing->tick_times.quantile(0.5) * 1e3, "median wall time of a tick");
    add("tick_p99_ms", report_.pacing->tick_times.quantile(0.99) * 1e3,
        "wall time that 99 of 100 ticks did not exceed");
    add("late_ticks", real(report_.pacing->late_ticks), "ended after their deadline");
    add("drift_s", report_.pacing->drift, "behind real time at the end");
  }
  if (library_.plugins) {
    library_.plugins->add_metrics(report_.metrics);
    report_.clock_decided = library_.plugins->clock_decided();
    for (const std::string& warning : library_.plugins->warnings())
      if (report_.warnings.size() < RunReport::most_warnings) report_.warnings.push_back(warning);
  }
  if (!report_.history.empty() && report_.history.back().time < last_sample_.time)
    report_.history.push_back(last_sample_);
  const auto hash = [&] { report_.state_hash = simulation_->hash(); };
  if (const StepStatus hashed = guarded(fmt::format("experiment '{}'", report_.experiment), hash); !hashed.ok())
    report_.status = "failed", report_.failure = hashed.text();
  report_.inputs = simulation_->inputs_so_far();
}

void Run::sample() {
  VOLVOX_ASSERT(simulation_->now().seconds() >= last_sample_.time && keep_every_ > 0);
  const world::World& world = simulation_->world();
  last_sample_ = {seconds_in_tables(simulation_->now()),
                  world::centre_of_mass(world),
                  world::kinetic_energy(world),
                  world.modules().empty() ? 0 : world::highest_link(world),
                  world.organism_count(),
                  world.graph().connections()};
  if (samples_++ % keep_every_ == 0) report_.history.push_back(last_sample_);
  if (report_.history.size() >= RunReport::longest_history) {
    for (std::size_t i = 1; 2 * i < report_.history.size(); ++i) report_.history[i] = report_.history[2 * i];
    report_.history.resize((report_.history.size() + 1) / 2);
    keep_every_ *= 2;
    VOLVOX_ASSERT(std::is_sorted(report_.history.begin(), report_.history.end(),
                                 [](const TimePoint& a, const TimePoint& b) { return a.time < b.time; }));
  }
  if (metrics_file_) metrics_file_->add(last_sample_);
  for (const auto& take : sample_observers_) take(last_sample_);
}

namespace {

Result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Diagnostic{folder.string(), 0, "the output folder cannot be made: " + error.message(),
                      "give a folder that can be written, with --out DIR"};
  return {};
}

// The files in the folder itself; nothing if it cannot be listed.
std::optional<std::set<std::string>> files_of(const fs::path& folder) {
  std::set<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error)) files.insert(entry->path().filename().string());
  if (error) return std::nullopt;
  return files;
}

}  // namespace

Result<void> Run::announce(const fs::path& folder) {
  if (auto made = make_folder(folder); !made.ok()) return made;
  const nlohmann::ordered_json json = {{"experiment", report_.experiment}, {"engine", report_.engine},
                                       {"precision", report_.precision},   {"seed", report_.seed},
                                       {"dt", report_.dt.text()},          {"threads", report_.threads},
                                       {"modules", report_.modules},       {"status", "running"}};
  if (auto written = write_file(folder / "summary.json", to_json_text(json, 2) + "\n"); !written.ok()) return written;
  metrics_folder_ = folder;
  metrics_file_.emplace(folder / "metrics.csv");
  for (const TimePoint& sample : report_.history) metrics_file_->add(sample);
  metrics_file_->flush();
  return {};
}

void Run::fail(const fs::path& folder, const std::string& why) {
  if (report_.status != "failed") report_.failure = why;
  report_.status = "failed";
  (void)write_file(folder / "summary.json", report_.summary());
}

Result<void> Run::write(const fs::path& folder) {
  if (auto made = make_folder(folder); !made.ok()) return made;
  Result<void> first;
  const auto keep = [&](Result<void> written) {
    if (first.ok()) first = std::move(written);
  };
  keep(write_file(folder / "summary.json", report_.summary()));
  // The samples are in the file already, if it grew here and all of them could be written.
  if (!metrics_file_ || metrics_folder_ != folder || !metrics_file_->flush())
    keep(write_file(folder / "metrics.csv", report_.csv()));
  if (options_.save_to && report_.status != "failed") keep(save(*options_.save_to));
  const auto before = files_of(folder);
  const StepStatus written =
      guarded(fmt::format("experiment '{}'", report_.experiment), [&] { keep(experiment_->write(folder)); });
  if (!written.ok()) keep(Error(written.text(), ""));
  report_.own_files.clear();
  // Those that are new: others may be written meanwhile, such as a film.
  if (const auto after = files_of(folder); before && after)
    std::ranges::set_difference(*after, *before, std::back_inserter(report_.own_files));
  if (!report_.own_files.empty()) keep(write_file(folder / "summary.json", report_.summary()));
  return first;
}

}  // namespace volvox::sim
