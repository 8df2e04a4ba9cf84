#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiments.h"
#include "pit.h"
#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {
namespace {

constexpr double scout_length = 0.12, axle_height = 0.048;  // m

// The Symbrion paper, table 2, in us.
struct PaperTimes {
  double physical, collision;
};
PaperTimes paper_times(const std::string& arena) {
  if (arena == "gg") return {907, 221};
  if (arena == "gsrm") return {910, 222};
  return arena == "pf" ? PaperTimes{908, 223} : PaperTimes{901, 218};
}

// What was measured once a tick, in s.
class Stage {
 public:
  void add(double time) { times_.push_back(time); }
  std::size_t count() const { return times_.size(); }
  double mean() const { return sim::mean_of(std::accumulate(times_.begin(), times_.end(), 0.0), real(count())); }
  double deviation() const {
    double squares = 0;
    const double mean = this->mean();
    for (const double time : times_) squares += (time - mean) * (time - mean);
    return sim::measured_if(!times_.empty(), std::sqrt(squares / std::max(1.0, real(count()))));
  }
  // Less disturbed by other programs.
  double median() const {
    if (times_.empty()) return sim::not_measured;
    std::vector<double> sorted = times_;
    std::ranges::nth_element(sorted, sorted.begin() + narrow<std::ptrdiff_t>(count() / 2));
    return sorted[count() / 2];
  }

 private:
  std::vector<double> times_;
};

// The Symbrion paper, section 3.1 and figure 7: a snake of Scouts drives over a pit. A long snake crosses it; a short
// one falls in.
class PitSnake final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    std::vector<model::ParameterDesc> all = {
        {"modules", "8", 1, 12, {}, "number of Scouts", 0, true, true},
        {"bend", "0.05", -0.5, 0.5, {}, "angle of every hinge, in rad; positive: U-shaped", 0, false, true},
        {"speed", "0.25", 0, 0.55, {}, "of the wheels, in m/s", 0, false, true},
        {"pit", "0.4", 0.1, 1, {}, "width of the pit, in m", 0},
        {"spread", "0", 0, 0.1, {}, "how far the start differs from seed to seed, in m either way; in rad, too", 0}};
    for (const model::ParameterDesc& parameter : arena_parameters()) all.push_back(parameter);
    return all;
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment arenas/pit_snake");
    const std::int64_t modules = parameters.integer("modules", 8);
    pit_.width = parameters.number("pit", 0.4);
    const ArenaChoice choice = arena_choice(parameters);
    arena_ = choice.arena;
    const double spread = parameters.number("spread", 0);
    const model::Mind mind{
        "roll_on", {{"bend", parameters.text("bend", "0.05")}, {"speed", parameters.text("speed", "0.25")}}, {}, 0};
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto scout = setup.library.load("scout");
    if (!scout.ok()) return scout.error();
    auto arena = arena_of(choice, pit_, setup.seed);
    if (!arena.ok()) return arena.error();
    triangles_ = arena->mesh.triangles.size();

    model::WorldBuilder builder("pit_snake");
    add_arena(builder, *arena);
    model::PlacementOptions options;
    options.mind = mind;
    // The head is module 0; its dock is 0.1 m before the pit. The paper has 100 trials with "different initial
    // conditions".
    RandomStream random(setup.seed, 0, "start");
    const auto off = [&] { return spread > 0 ? random.uniform(-spread, spread) : 0.0; };
    Pose start{{-0.1 - scout_length / 2, 0, axle_height + 0.001}, {}};
    start.position += Vec3{off() - spread, off(), 0};
    if (spread > 0) start.rotation = Quat::axis_angle({0, 0, 1}, off());
    builder.add_chain(*scout, modules, "back", "front", 0, start, "scout", options);
    model::RunSettings run;
    run.duration = Time::seconds(10);
    builder.set_run(run);
    return builder.build();
  }

  // Steep enough to see into the pit, with the way to it.
  std::string camera() const override {
    const double middle = pit_.width / 2 - 0.2;
    return fmt::format("{0:.3f},-1.5,2.1:{0:.3f},0,-0.1", middle);
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    double first = -1e9, last = 1e9, lowest = 1e9;
    for (const world::PlacementIndex module : world.modules()) {
      const Vec3 hinge = world.link_pose(world.part(module).first_link).position;
      first = std::max(first, hinge.x);
      last = std::min(last, hinge.x);
      lowest = std::min(lowest, hinge.z);
      beside_ |= hinge.x > 0 && hinge.x < pit_.width && std::fabs(hinge.y) > Pit::half_length;
    }
    lowest_ = std::min(lowest_, lowest);
    if (lowest_ > 0 && !beside_) spanned_ = std::max(spanned_, first);
    const bool beyond = last > far_side() && lowest > 0 && !beside_;
    if (!beyond) crossed_at_ = -1;
    else if (crossed_at_ < 0) crossed_at_ = simulation.now().seconds();
    dock_distance_ = std::max(dock_distance_, world.largest_dock_error().distance);

    const double spent = simulation.phase_times().of(sim::Phase::move), tick = spent - spent_;
    spent_ = spent;
    move_.add(tick);
    const std::optional<double> looking = world.collision_time();
    if (!looking) return;
    const double looked = *looking - looking_;
    looking_ = *looking;
    // The first look makes the tree of the mesh; an engine that took over counts anew.
    if (move_.count() == 1 || looked < 0) return;
    collision_.add(looked), physical_.add(tick - looked);
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    metrics.set("crossed", crossed_at_ >= 0,
                "1: the whole snake is beyond the pit at the end, and did not go around it; Symbrion paper, figure 7");
    metrics.set("crossed_at_s", sim::measured_time(crossed_at_), "when it had crossed; -: never");
    metrics.set("share_across", beside_ ? 0 : share_across(simulation.world()),
                "of its Scouts, those that are on the floor beyond the pit at the end; 0 if one went around it");
    metrics.set(
        "spanned_m", spanned_,
        "how far its foremost hinge came beyond the near edge of the pit before a Scout hung below the floor or "
        "went around");
    metrics.set("lowest_m", sim::measured_if(move_.count() > 0, lowest_),
                "lowest height of any Scout's hinge in the run");
    metrics.set("dock_error_max_mm", dock_distance_ * 1e3, "largest gap in any dock during the run");
    metrics.set("triangles", real(triangles_), "of the arena");
    const double substeps =
        std::ceil(simulation.settings().dt.seconds() / simulation.world().model().run.max_substep - 1e-9);
    const auto us = [&](double tick) { return tick / substeps * 1e6; };
    const PaperTimes paper = paper_times(arena_);
    metrics.set_beside_paper("step_us", us(move_.mean()), paper.physical + paper.collision,
                             "mean wall time of a physics substep, collisions included; Symbrion paper, table 2");
    metrics.set("step_deviation_us", us(move_.deviation()), "standard deviation of step_us over the ticks");
    metrics.set_beside_paper(
        "physical_us", us(physical_.mean()), paper.physical,
        "of it without collision detection; -: the engine does not tell them apart (native and ode do)");
    metrics.set("physical_deviation_us", us(physical_.deviation()), "standard deviation over the ticks");
    metrics.set_beside_paper("collision_us", us(collision_.mean()), paper.collision, "of it to detect collisions");
    metrics.set("collision_deviation_us", us(collision_.deviation()), "standard deviation over the ticks");
    for (const auto& [name, stage] : {std::pair{"step_median_us", &move_}, std::pair{"physical_median_us", &physical_},
                                      std::pair{"collision_median_us", &collision_}})
      metrics.set(name, us(stage->median()), "median over the ticks, less disturbed by other programs");
  }

  void archive_state(Archive& ar) override {
    ar("crossed at", crossed_at_);
    ar("lowest", lowest_);
    ar("dock distance", dock_distance_);
    ar("beside", beside_);
    ar("spanned", spanned_);
  }

 private:
  double far_side() const { return pit_.width + scout_length / 2; }  // m, where a hinge is beyond the pit
  double share_across(const world::World& world) const {
    const auto across = std::ranges::count_if(world.modules(), [&](world::PlacementIndex module) {
      const Vec3 hinge = world.link_pose(world.part(module).first_link).position;
      return hinge.x > far_side() && hinge.z > 0;
    });
    return real(across) / std::max(1.0, real(world.modules().size()));
  }

  Pit pit_;
  std::string arena_;
  std::size_t triangles_ = 0;
  double crossed_at_ = -1;  // s; negative: not yet
  double lowest_ = 1;       // m, height of the lowest hinge so far
  double dock_distance_ = 0;
  double spanned_ = -2;  // m, the farthest that the foremost hinge came while all stood on the floor
  bool beside_ = false;  // a Scout was beside the pit: to go around is not to cross
  // Wall time of the move phase; not part of the state.
  double spent_ = 0, looking_ = 0;  // s, up to the last tick
  Stage move_, physical_, collision_;
};

}  // namespace

sim::ExperimentFactory pit_snake() { return make<PitSnake>(); }

}  // namespace volvox::experiments::arenas
