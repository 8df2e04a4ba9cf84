#include "volvox/sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/guarded.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/model/matter.h"
#include "volvox/physics/joint_friction.h"
#include "volvox/sim/snapshot_seal.h"
#include "volvox/world/start_check.h"

namespace volvox::sim {
namespace {

// Increased when older snapshots can no longer be read (see CHANGELOG.md).
constexpr std::uint64_t snapshot_version = 11;
constexpr std::uint64_t snapshot_mark = 0x564f4c564f583031;  // "VOLVOX01"

}  // namespace

Simulation::Simulation(const SimulationSettings& settings, Log& log)
    : settings_(settings), log_(log), threads_(settings.threads) {}
Simulation::~Simulation() = default;

void Simulation::give(Input input) { waiting_inputs_.push_back(std::move(input)); }

Result<void> Simulation::give_now(Input input) {
  auto applied = apply_input(input, *this);
  if (applied.ok()) taken_inputs_.push_back(std::move(input));
  return applied;
}

void Simulation::set_tap(Tap tap) { tap_ = std::move(tap); }

void Simulation::add_hashed(std::function<void(Archive&)> state) { hashed_.push_back(std::move(state)); }

Result<std::unique_ptr<Simulation>> Simulation::create(std::shared_ptr<const model::WorldModel> model,
                                                       const SimulationSettings& settings,
                                                       const physics::EngineRegistry& engines,
                                                       const mind::Registries& registries, Log& log) {
  std::unique_ptr<Simulation> simulation(new Simulation(settings, log));
  auto engine =
      engines.make(settings.engine, {model->gravity, settings.max_substep, &simulation->threads_, settings.precision});
  if (!engine.ok()) return engine.error();
  auto world = world::World::create(std::move(model), std::move(*engine), &simulation->threads_);
  if (!world.ok()) return world.error();
  simulation->world_ = std::move(*world);
  auto minds = mind::Minds::create(*simulation->world_, registries, settings.seed);
  if (!minds.ok()) return minds.error();
  simulation->minds_ = std::move(*minds);
  if (const exchange::Exchange* exchange = simulation->minds_->exchange())
    for (const std::string& warning : exchange->warnings(*simulation->world_)) log.warning(warning);
  if (auto started = simulation->minds_->start(*simulation->world_, settings.dt.seconds()); !started.ok())
    return started.error();
  return simulation;
}

void Simulation::attach(const std::string& name, mind::Extension& extension) {
  extensions_.push_back({fmt::format("extension '{}'", name), &extension});
}

void Simulation::add_script(Script script, std::string who) { scripts_.push_back({std::move(who), std::move(script)}); }

void Simulation::add_observer(Observer observer, std::string who) {
  observers_.push_back({std::move(who), std::move(observer)});
}

void Simulation::add_measure(Observer measure, std::string who) {
  measures_.push_back({std::move(who), std::move(measure)});
}

// The phases of a tick, in their order: begin_step(), move, after_move().
StepStatus Simulation::step() {
  StepStatus status = begin_step();
  timed(Phase::move, status, [&] { return move(now(), end_of_tick()); });
  return after_move(std::move(status));
}

StepStatus Simulation::begin_step() {
  VOLVOX_ASSERT(world_ != nullptr && minds_ != nullptr);
  VOLVOX_ASSERT(now() < end_of_tick());
  const Time begin = now();
  const double dt = settings_.dt.seconds();
  StepStatus status;
  const auto phase = [&](Phase which, auto&& work) { timed(which, status, work); };

  phase(Phase::input, [&] { return take_inputs(); });
  phase(Phase::sense, [&] { return minds_->sense(*world_, dt, threads_); });
  phase(Phase::think, [&] { return minds_->think(begin, dt, threads_); });
  phase(Phase::send, [&] { return minds_->send(*world_, tick_, dt); });
  phase(Phase::act, [&] { return minds_->act(*world_, threads_); });
  phase(Phase::dock, [&] { world_->update_docks(dock_events_); });
  return status;
}

StepStatus Simulation::after_move(StepStatus status) {
  const Time begin = now(), end = end_of_tick();
  const auto phase = [&](Phase which, auto&& work) { timed(which, status, work); };

  phase(Phase::break_, [&] { world_->break_docks(dock_events_); });
  phase(Phase::deliver, [&] { return minds_->deliver(*world_, end, tick_); });
  if (status.ok()) ++tick_;  // the next phases only read
  VOLVOX_ASSERT(!status.ok() || now() == end);
  phase(Phase::publish, [&] { return publish(begin); });
  phase(Phase::measure, [&] { return measure(); });
  return status;
}

StepStatus Simulation::end_step(StepStatus moved, double seconds) {
  StepStatus status;
  phase_times_.seconds[number_of(Phase::move)] += seconds;
  timed(Phase::move, status, [&] {
    StepStatus ended = world_->end_move(now(), end_of_tick(), std::move(moved));
    ended.time = end_of_tick();
    return ended;
  });
  return after_move(std::move(status));
}

std::string Simulation::cannot_be_moved() const {
  if (minds_->any_on_board()) return "controllers on board run in every substep";
  if (world_->matter() != nullptr) return "there is water, rubble or cloth beside it";
  if (world_->magnets() != nullptr) return "magnets pull in every substep";
  if (world_->joints_rub()) return "the friction of its joints follows their load";
  return "";
}

// Runs and times one phase, unless an earlier one has failed.
template <class Work>
void Simulation::timed(Phase phase, StepStatus& status, Work&& work) {
  if (!status.ok()) return;
  const Time begin = now();  // of the tick; the phases after deliver() are in the next
  const double started = platform::monotonic_seconds();
  status = guarded({}, work);
  phase_times_.seconds[number_of(phase)] += platform::monotonic_seconds() - started;
  if (status.ok()) return;
  status.phase = phase_names[number_of(phase)];
  if (phase == Phase::move) return;  // move() says it itself
  if (phase < Phase::move) status.time = begin;
  else status.time = phase < Phase::publish ? end_of_tick() : now();
}

StepStatus Simulation::take_inputs() {
  for (const auto& [who, extension] : extensions_)
    if (StepStatus heard = guarded(who, [&] { extension->before_tick(*this); }); !heard.ok()) return heard;
  for (const auto& [who, script] : scripts_)
    if (StepStatus acted = guarded(who, [&] { script(*this); }); !acted.ok()) return acted;
  dock_events_.clear();  // not earlier: scripts may read those of the last tick
  inputs_ = std::exchange(taken_inputs_, {});
  for (Input& input : waiting_inputs_) {
    if (auto applied = apply_input(input, *this); !applied.ok())
      log_.warning("an input was refused: " + applied.error().text());
    else inputs_.push_back(std::move(input));
  }
  waiting_inputs_.clear();
  inputs_so_far_ += std::ssize(inputs_);
  VOLVOX_ASSERT(inputs_so_far_ >= std::ssize(inputs_));
  return {};
}

StepStatus Simulation::move(Time begin, Time end) {
  Time reached = end;
  const auto control = [&](Time substep, double step) {
    if (!minds_->any_on_board()) return StepStatus{};
    StepStatus status = minds_->control(*world_, substep, step, threads_);
    if (!status.ok()) reached = substep;
    return status;
  };
  StepStatus status = guarded({}, [&] {
    const bool in_substeps = minds_->any_on_board() || world_->moves_in_substeps();
    return in_substeps ? world_->move(begin, end, settings_.max_substep, control) : world_->move(begin, end);
  });
  status.time = reached;
  return status;
}

StepStatus Simulation::publish(Time begin) {
  minds_->publish_logs(log_, begin);
  for (const auto& [who, observer] : observers_)
    if (StepStatus looked = guarded(who, [&] { observer(*this); }); !looked.ok()) return looked;
  for (const auto& [who, extension] : extensions_)
    if (StepStatus told = guarded(who, [&] { extension->after_tick(*this); }); !told.ok()) return told;
  return {};
}

StepStatus Simulation::measure() {
  for (const auto& [who, measure] : measures_)
    if (StepStatus measured = guarded(who, [&] { measure(*this); }); !measured.ok()) return measured;
  return {};
}

void Simulation::archive_tick(Archive& ar) {
  ar.section("", "tick");
  ar("tick", tick_);
}

void Simulation::archive(Archive& ar) {
  VOLVOX_ASSERT(!ar.hashing());
  archive_tick(ar);
  constexpr double a_century = 4e9;  // s: more nanoseconds would not fit
  if (ar.loading() && !(tick_ >= 0 && real(tick_) * settings_.dt.seconds() < a_century)) {
    ar.fail("its time is impossible");
    tick_ = 0;
  }
  minds_->archive(ar);
  world_->archive(ar);
}

std::uint64_t Simulation::hash() const {
  HashArchive ar;
  hash(ar);
  return ar.value();
}

// Hashing only reads, although the list of fields is shared with loading. With more than one thread, the sections that
// archive() visits one after another are hashed in parallel.
void Simulation::hash(HashArchive& sections) const {
  auto* self = const_cast<Simulation*>(this);
  HashArchive parts[2] = {HashArchive(sections.names_kept()), HashArchive(sections.names_kept())};
  parallel_for(&self->threads_, 2, 1, [&](std::size_t i) {
    if (i == 0) {
      self->archive_tick(parts[0]);
      self->minds_->archive(parts[0]);
    } else {
      self->world_->archive(parts[1]);
    }
  });
  for (HashArchive& part : parts) sections.append(part);
  for (const auto& state : hashed_) state(sections);
}

// The properties that must agree between the saved and the restoring simulation.
std::uint64_t Simulation::fingerprint() const {
  Hasher hasher;
  const auto text = [&](const std::string& s) { hasher.add(s.data(), s.size()); };
  text(settings_.engine);
  text(settings_.dt.text());
  hasher.add(settings_.seed);
  const auto number = [&](double x) { hasher.add(&x, sizeof x); };
  number(settings_.max_substep);
  text(physics::name(world_->engine_info().precision));
  for (int k = 0; k < 3; ++k) number(world_->model().gravity[k]);
  if (const auto& matter = world_->model().matter) {
    if (matter->fluid) number(matter->fluid->spacing), number(matter->fluid->density);
    for (const model::Debris& debris : matter->debris) number(debris.largest()), number(debris.density);
    for (const model::Cloth& cloth : matter->cloths) hasher.add(cloth.columns), hasher.add(cloth.rows);
    for (int k = 0; k < 3; ++k) number(matter->low[k]), number(matter->high[k]);
    number(matter->max_substep), number(matter->heap_layers);
  }
  for (world::PlacementIndex p = 0; p < world_->placements(); ++p) {
    const model::Placement& placement = world_->model().placements[p];
    const model::ModuleModel& module = *placement.model;
    text(placement.name);
    text(module.name);
    hasher.add(module.links.size());
    hasher.add(module.joints.size());
    hasher.add(module.docks.size());
    for (const model::Dock& dock : module.docks) hasher.add(std::uint64_t{dock.latch.has_value()});
    for (const model::Radio& radio : module.radios)
      hasher.add(std::uint64_t{radio.modulation == model::Modulation::ts_ook});
    hasher.add(module.magnets.size());
    for (const model::Magnet& magnet : module.magnets) {
      number(magnet.strength), number(magnet.size), number(magnet.range), hasher.add(magnet.link);
      for (int k = 0; k < 3; ++k) number(magnet.position[k]);
    }
    if (const model::Mind* mind = placement.effective_mind()) {
      text(mind->behavior);
      for (const auto& [key, value] : mind->parameters) text(key), text(value);
      for (const model::Mind& further : mind->further) {
        text(further.behavior);
        for (const auto& [key, value] : further.parameters) text(key), text(value);
      }
    }
  }
  return hasher.value();
}

Result<std::vector<std::byte>> Simulation::save() {
  if (const std::string why = minds_->cannot_save(); !why.empty())
    return Error("this run cannot be saved: " + why, "or run it without saving");
  SaveArchive ar;
  std::uint64_t mark = snapshot_mark, version = snapshot_version, same = fingerprint();
  ar("mark", mark);
  ar("version", version);
  ar("fingerprint", same);
  archive(ar);
  std::vector<std::byte> bytes = ar.take();
  add_seal(bytes);
  return bytes;
}

Result<void> Simulation::restore(std::span<const std::byte> snapshot) {
  if (const std::string why = minds_->cannot_save(); !why.empty())
    return Error("this run cannot be restored: " + why, "");
  const auto bytes = without_seal(snapshot);
  LoadArchive ar(bytes ? *bytes : snapshot);
  std::uint64_t mark = 0, version = 0, same = 0;
  ar("mark", mark);
  ar("version", version);
  ar("fingerprint", same);
  if (mark != snapshot_mark) return Error("this is not a snapshot of Volvox", "give a file that --save wrote");
  if (version != snapshot_version)
    return Error(fmt::format("the snapshot is of format {}, this program reads {}", version, snapshot_version),
                 "restore it with the version of Volvox that wrote it");
  if (!bytes)
    return Error("the snapshot is damaged: its seal does not match", "use another snapshot, whole and unchanged");
  if (same != fingerprint())
    return Error("the snapshot belongs to another run",
                 "use the same experiment, engine, --precision, --dt, --seed and --set as the run that wrote it");
  SaveArchive before;  // what is refused changes nothing
  archive(before);
  archive(ar);
  if (ar.ok() && ar.remaining() == 0) {
    taken_inputs_.clear(), inputs_.clear();  // they were given to the state that is gone
    return {};
  }
  LoadArchive back(before.bytes());
  archive(back);
  return Error("the snapshot is damaged: " + (ar.ok() ? "bytes are left over" : ar.failure()) +
                   (back.ok() ? "" : "; the state before it was no better, and the simulation cannot go on"),
               "use another snapshot");
}

Result<std::vector<std::string>> Simulation::change_engine(const std::string& name,
                                                           const physics::EngineRegistry& engines,
                                                           std::optional<physics::Precision> precision) {
  physics::EngineSettings settings{world_->model().gravity, settings_.max_substep, &threads_,
                                   precision ? precision : settings_.precision};
  auto engine = engines.make(name, settings);
  if (!engine.ok() && settings.precision) {  // most engines know double alone
    settings.precision.reset();
    engine = engines.make(name, settings);
  }
  if (!engine.ok()) return engine.error();
  const physics::EngineInfo before = world_->engine_info();
  if (auto changed = world_->change_engine(std::move(*engine)); !changed.ok()) return changed.error();
  settings_.engine = name;
  std::vector<std::string> lost;
  if (!before.own_state.empty()) lost.push_back(fmt::format("of {}: {}", before.name, before.own_state));
  const auto news = [&](const std::string& what) {
    return std::find(before.cannot.begin(), before.cannot.end(), what) == before.cannot.end();
  };
  for (const std::string& what : world_->engine_info().cannot)
    if (news(what) && what != physics::friction_by_load && what != physics::sliding_jaws)
      lost.push_back(fmt::format("{}: {} has none", what, name));
  for (std::string& what : world::left_out(*world_, &before))  // these, only where the world has them
    lost.push_back(std::move(what));
  return lost;
}

}  // namespace volvox::sim
