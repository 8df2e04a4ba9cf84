#include <algorithm>
#include <cmath>
#include <memory>

#include "experiments.h"
#include "pit.h"
#include "scout_pair.h"
#include "volvox/base/index.h"
#include "volvox/rays/ray_caster.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {
namespace {

// The Symbrion paper, table 3, in ms.
double paper_scan_ms(const std::string& arena) {
  return arena == "gg" ? 333 : arena == "gsrm" ? 115 : arena == "pf" ? 2.5 : 3.5;
}

// The Symbrion paper, section 3.2 and table 3: a laser rangefinder with 360 rays, in arenas of few and of many
// triangles. A pair of Scouts carries it in a circle beside the pit.
class Rangefinder final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    std::vector<model::ParameterDesc> all = {
        {"rays", "360", 1, 10'000, {}, "number of rays in a full turn", 0, true},
        {"noise", "0", 0, 1, {}, "standard deviation of a range, in m (the paper's SICK: 0.007)", 0},
        {"divergence", "0", 0, 0.1, {}, "of a beam, in rad: gives mixed pixels at edges", 0}};
    for (const model::ParameterDesc& parameter : arena_parameters()) all.push_back(parameter);
    return all;
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment arenas/rangefinder");
    const ArenaChoice choice = arena_choice(parameters);
    arena_ = choice.arena;
    const std::int64_t rays = parameters.integer("rays", 360);
    const double noise = parameters.number("noise", 0);
    const std::string divergence = parameters.text("divergence", "0");
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto arena = arena_of(choice, {}, setup.seed);
    if (!arena.ok()) return arena.error();
    triangles_ = arena->mesh.triangles.size();
    truth_ = std::make_unique<rays::RayCaster>(std::make_shared<const model::MeshData>(simple_arena({})));

    // A full circle: the last ray is one step short of the first.
    const double view = 2 * pi * real(rays - 1) / real(rays);
    const model::Sensor sensor{laser,
                               "laser",
                               0,
                               {{0, 0, 0.06}, Quat::axis_angle({0, 0, 1}, pi)},
                               {{"rays", std::to_string(rays)},
                                {"field_of_view", std::to_string(view)},
                                {"max_range", "8"},
                                {"divergence", divergence}},
                               0};
    std::map<std::string, model::NoiseChainSpec> disturbed;
    if (noise > 0) disturbed[laser] = {{"ranging", {{"deviation", std::to_string(noise)}, {"max_range", "8"}}, 0}};
    model::WorldBuilder builder("rangefinder");
    add_arena(builder, *arena);
    const auto added = add_scout_pair(builder, setup.library, {sensor}, Pose{{-1.1, -0.3, scout_clearance}, {}},
                                      {{"speed", "0.15"}, {"yaw", "0.5"}, {"ramp", "0.2"}}, disturbed);
    if (!added.ok()) return added.error();
    model::RunSettings run;
    run.duration = Time::seconds(6);  // later the Scouts would roll into the pit
    builder.set_run(run);
    return builder.build();
  }

  std::string camera() const override { return overview; }
  void observe(const sim::Simulation& simulation) override {
    const auto& ranges = simulation.minds().agent(0).percept<std::vector<double>>(laser);
    const auto cast = simulation.minds().rays();
    const std::size_t spots = ranges.empty() ? 1 : cast.size() / ranges.size();
    std::vector<rays::Ray> rays;
    for (std::size_t i = 0; i < ranges.size(); ++i)
      rays.push_back({cast[i * spots].origin, cast[i * spots].direction, cast[i * spots].range, 0});
    std::vector<rays::Hit> hits(rays.size());
    truth_->cast(rays, hits);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      ++rays_;
      if (ranges[i] >= rays[i].range || !hits[i].hit()) continue;
      ++returned_;
      nearest_ = std::min(nearest_, ranges[i]);
      const double error = std::fabs(ranges[i] - hits[i].distance);
      error_sum_ += error;
      error_max_ = std::max(error_max_, error);
    }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    metrics.set("triangles", real(triangles_), "of the arena");
    metrics.set_beside_paper(
        "scan_ms", sim::mean_of(simulation.phase_times().of(sim::Phase::sense), real(simulation.tick())) * 1e3,
        paper_scan_ms(arena_), "mean wall time of a scan (the sense phase); Symbrion paper, table 3");
    metrics.set("returned", sim::mean_of(real(returned_), real(rays_)), "fraction of the rays that hit something");
    metrics.set("range_error_mean_mm", sim::mean_of(error_sum_, real(returned_)) * 1e3, "against the true arena");
    metrics.set("range_error_max_mm", sim::measured_if(returned_ > 0, error_max_ * 1e3), "against the true arena");
    metrics.set("nearest_m", sim::measured_if(returned_ > 0, nearest_), "shortest range in the run");
  }

  void archive_state(Archive& ar) override {
    ar("error sum", error_sum_);
    ar("error max", error_max_);
    ar("rays", rays_);
    ar("returned", returned_);
    ar("nearest", nearest_);
  }

 private:
  std::string arena_;
  std::size_t triangles_ = 0;
  std::unique_ptr<rays::RayCaster> truth_;  // the arena as it really is
  // Over all rays: how far a reading is from what the true arena would give.
  double error_sum_ = 0, error_max_ = 0;
  std::int64_t rays_ = 0, returned_ = 0;
  double nearest_ = 1e9;  // m
};

}  // namespace

sim::ExperimentFactory rangefinder() { return make<Rangefinder>(); }

}  // namespace volvox::experiments::arenas
