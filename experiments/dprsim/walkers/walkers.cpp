#include "walkers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/csv.h"
#include "volvox/base/random.h"
#include "volvox/base/text.h"
#include "volvox/lattice/scenes.h"
#include "volvox/report/chart.h"

namespace volvox::experiments::dprsim {
namespace {

using lattice::Cell;
using lattice::Walker;

constexpr double pitch = 0.044;        // m, that of planar catoms
constexpr std::uint32_t patience = 8;  // rounds without news of the leader: in dynamics groups may split

// Groups, which grow from a cell by chance, and single catoms; no two of them touch.
class Places {
 public:
  Places(std::int32_t side, std::uint64_t seed)
      : side_(side), random_(seed, 0, "walkers"), taken_(lattice::Lattice(lattice::Kind::hex)) {}

  // False: there is no room.
  bool add(std::size_t count) {
    for (int attempt = 0; attempt < 10'000; ++attempt) {
      std::vector<Cell> group = {{random(side_), random(side_), 0}};
      const lattice::Lattice& hex = taken_.lattice();
      while (group.size() < count) {
        const Cell next =
            hex.neighbor(group[random_.below(narrow<std::uint32_t>(group.size()))], narrow<int>(random_.below(6)));
        if (std::find(group.begin(), group.end(), next) == group.end()) group.push_back(next);
      }
      if (!std::all_of(group.begin(), group.end(), [&](const Cell& cell) { return is_lonely(cell); })) continue;
      for (const Cell& cell : group) (void)taken_.add(cell);
      cells.insert(cells.end(), group.begin(), group.end());
      return true;
    }
    return false;
  }

  std::vector<Cell> cells;

 private:
  std::int32_t random(std::int32_t below) { return narrow<std::int32_t>(random_.below(narrow<std::uint32_t>(below))); }
  bool is_lonely(const Cell& cell) const {
    if (taken_.at(cell) != lattice::nobody) return false;
    for (int port = 0; port < 6; ++port)
      if (taken_.at(taken_.lattice().neighbor(cell, port)) != lattice::nobody) return false;
    return true;
  }

  std::int32_t side_;
  RandomStream random_;
  lattice::Ensemble taken_;
};

Vec3 barycentre(const lattice::CatomWorld& world) {
  Vec3 sum;
  const std::size_t count = world.ensemble().count();
  for (std::uint32_t i = 0; i < count; ++i) sum += world.place(i);
  return sum * (1 / real(std::max<std::size_t>(1, count)));
}

}  // namespace

Result<std::vector<model::ParameterDesc>> Walkers::parameters(const std::filesystem::path&) const {
  std::vector<model::ParameterDesc> all = {
      {"groups", "6", 1, 100000, {}, "walkers: groups that can move", 0, true},
      {"size", "5", 3, 1000, {}, "catoms of a group", 0, true},
      {"isolated", "6", 0, 1000000, {}, "single catoms, which cannot move", 0, true},
      {"side", "60", 4, 100000, {}, "of the square in which they are strewn, in pitches", 0, true},
      {"range", "0", 0, 1e9, {}, "of the radio, in pitches; 0: everybody hears everybody", 0},
      {"period", "30", 4, 10000, {}, "ticks between announcements", 0, true},
      {"magnets", "false", {}, {}, {"true", "false"}, "in dynamics, by magnets alone; false: on the lattice", 0},
      {"roll", "1", 0.01, 1, {}, "part of a magnet's strength that rolls a catom; others are held by all of it", 0},
      {"table", "0.3", 0, 10, {}, "friction of the table, with magnets", 0}};
  // A roll is two steps of dprsim/stepper, at the 4 steps a second at which it missed none: 0.5 s.
  all.push_back({"motion_ticks", "30", 1, 1e6, {}, "of a roll; 30 of 1/60 s are two steps of dprsim/stepper", 0, true});
  return all;
}

Result<model::WorldModel> Walkers::init(sim::Setup& setup) {
  const auto whole = [&](const char* name) { return truncated<std::size_t>(number(setup, name)); };
  const std::size_t groups = whole("groups"), size = whole("size"), isolated = whole("isolated");
  const std::size_t count = groups * size + isolated;
  const double side = number(setup, "side");
  if (const auto fits = lattice::check_memory(count, side * side, sizeof(Walker) + sizeof(Cell)); !fits.ok())
    return fits.error();
  lattice::WorldOptions options{.seed = setup.seed};
  options.motion = {.ticks = narrow<std::uint32_t>(whole("motion_ticks")), .keep_connected = true};
  const double range = number(setup, "range");
  options.radio_range = range > 0 ? range * pitch : 1e12;
  world_ = std::make_unique<lattice::CatomWorld>(lattice::Lattice(lattice::Kind::hex, pitch), options);
  Places places(truncated<std::int32_t>(side), setup.seed);
  for (std::size_t i = 0; i < groups + isolated; ++i)
    if (!places.add(i < groups ? size : 1))
      return Error(fmt::format("{} groups of {} and {} single catoms have no room in {} x {} pitches", groups, size,
                               isolated, side, side),
                   "give a larger side (--set side=200), or fewer of them");
  first_isolated_ = narrow<std::uint32_t>(groups * size);
  Walker prototype;
  const bool magnets = setup.settings.at("magnets") == "true";
  prototype.period = narrow<std::uint16_t>(whole("period"));
  if (magnets) prototype.patience = patience * prototype.period;
  if (const auto done = world_->load(prototype); !done.ok()) return done.error();
  if (const auto done = world_->add(places.cells); !done.ok()) return done.error();
  const auto started = magnets ? put_into_dynamics(setup) : world_->start();
  if (!started.ok()) return started.error();
  begun_at_ = barycentre(*world_);
  model::WorldModel world = empty_world("walkers", magnets ? 300 : 1500);
  if (magnets) world.run.engine = physics::default_engine, world.run.max_substep = 1.0 / 480;
  return world;
}

// Planar catoms (robots/planar_catom) on a table. A roll takes as long as on the lattice.
Result<void> Walkers::put_into_dynamics(const sim::Setup& setup) {
  mixed::MixedOptions options;
  options.body = {.mass = 0.06, .friction = 0.6, .ground_friction = number(setup, "table")};
  options.ground = -pitch / 4;
  options.goes_back = false;
  options.rings.emplace();
  options.rings->roll = number(setup, "roll");
  options.rings->step_time = number(setup, "motion_ticks") / 120;
  mixed_ = std::make_unique<mixed::MixedWorld>(*world_, options);
  if (auto started = mixed_->start(); !started.ok()) return started;
  for (std::uint32_t i = 0; i < world_->ensemble().count(); ++i)
    if (auto released = mixed_->release(i); !released.ok()) return released;
  return {};
}

void Walkers::before_tick(sim::Simulation& simulation) {
  tick(simulation);
  if (world_->ticks() % look_every != 0) return;
  pieces_.push_back(met_ < 0 ? count_pieces() : pieces_.back());  // what has met stays together
  if (met_ < 0 && pieces_.back() == 1) met_ = world_->ticks();
}

// Isolated catoms are red, walkers have a colour by their leader, and those on their way are orange.
std::array<std::uint8_t, 3> Walkers::color(std::uint32_t catom) const {
  const Walker& state = *world_->state<Walker>(catom);
  if (!state.walks) return {215, 40, 40};
  if (state.turn != 0) return {245, 150, 40};
  return sim::ramp_color(std::fmod(0.1 + 0.381966 * state.leader, 1.0));
}

void Walkers::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const lattice::Ensemble& ensemble = world_->ensemble();
  const auto count = narrow<std::uint32_t>(ensemble.count());
  const double dt = simulation.settings().dt.seconds();
  const Vec3 middle = barycentre(*world_);
  double radio = 0, rescued = 0, far = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Walker& state = *world_->state<Walker>(i);
    radio += state.radioed;
    if (i >= first_isolated_ && state.walks) ++rescued;
    far += length(world_->place(i) - middle);
  }
  const double disc = 2.0 / 3 * std::sqrt(real(count) * std::sqrt(3.0) / 2 / pi);
  metrics.set("catoms", count, "");
  metrics.set("pieces", count_pieces(), "at the end: groups and isolated catoms; 1: all have met");
  metrics.set("time_to_meet_s", sim::measured_if(met_ >= 0, real(met_) * dt), "until all are one piece");
  metrics.set("ticks_to_meet", sim::measured_if(met_ >= 0, real(met_)), "");
  metrics.set("isolated", count - first_isolated_, "catoms that could not move at the start");
  metrics.set("rescued", rescued, "of those, catoms that belong to a walker");
  metrics.set("radio_messages", radio, "announcements and calls");
  metrics.set("messages", real(world_->traffic().delivered), "by wire and radio, at each receiver");
  const bool magnets = mixed_ != nullptr;
  metrics.set("rolls", real(magnets ? mixed_->changes().rolls : world_->motion().moves), "by a sixth of a turn");
  if (magnets) metrics.set("steps_missed", real(mixed_->changes().steps_missed), "by magnets, of two a roll");
  metrics.set("final_distance", far / count / pitch, "mean from the barycentre, in pitches");
  metrics.set("final_distance_of_disc", disc, "the least possible: that of a full disc");
  metrics.set("barycentre_moved", length(middle - begun_at_) / pitch, "of all catoms, since the start, in pitches");
  metrics.set("lost", real(world_->motion().lost), "wishes to roll that gave way to others");
  metrics.set("cuts_refused", real(magnets ? mixed_->changes().rolls_refused : world_->cuts_refused()),
              "rolls that would have cut a group in two; with magnets also while another one rolls");
  measure_world(metrics);
}

Result<void> Walkers::write(const std::filesystem::path& folder) const {
  Csv csv({"tick", "pieces"});
  report::Curve curve{.label = "pieces", .points = {}, .join = report::Join::steps};
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto tick = (i + 1) * look_every;
    csv.row(tick, pieces_[i]);
    curve.points.push_back({real(tick), real(pieces_[i])});
  }
  if (auto written = write_file(folder / "pieces.csv", csv.text()); !written.ok()) return written;
  report::Panel panel;
  panel.x.label = "tick";
  panel.y.label = "groups and isolated catoms";
  panel.curves = {curve};
  return write_file(folder / "pieces.svg", svg(report::Chart{.title = "Walkers meet", .panels = {panel}}));
}

void Walkers::archive_state(Archive& ar) {
  CatomExperiment::archive_state(ar);
  ar.section("dprsim", "walkers");
  ar("pieces", pieces_);
  ar("met", met_);
}

}  // namespace volvox::experiments::dprsim
