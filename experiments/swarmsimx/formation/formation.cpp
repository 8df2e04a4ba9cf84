#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "sphere_formation.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"
#include "volvox/sim/experiment.h"
#include "volvox/sim/tick_times.h"

namespace volvox::experiments::swarmsimx {
namespace {

constexpr double spacing = 1.6;  // m, between neighbours at rest

// Point i of a Fibonacci lattice: evenly spread over the unit sphere.
Vec3 on_sphere(int i, int count) {
  const double z = 1 - (2 * i + 1) / real(count), ring = std::sqrt(1 - z * z);
  const double angle = i * pi * (3 - std::sqrt(5.0));
  return {ring * volvox::cos(angle), ring * volvox::sin(angle), z};
}

// In a triangular lattice each robot takes 0.866 spacing^2 of the surface.
double radius_for(int robots) { return std::max(1.8, spacing * std::sqrt(0.866 * robots / (4 * pi))); }

// The SwarmSimX paper, section 3.2 and figure 5: quadrotors keep a formation on a sphere among pillars; the time of a
// tick is measured against their number. The world is built in C++ because the sphere's radius depends on that number.
class Formation final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"robots", "70", 2, 10'000, {}, "number of quadrotors", 0, true},
        {"pillars", "6", 0, 100, {}, "number of pillars around the sphere", 0, true},
        {"sway", "3", 0, 10, {}, "amplitude of the sphere's motion, in m", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment swarmsimx/formation");
    const int robots = narrow<int>(parameters.integer("robots", 70));
    const std::int64_t pillars = parameters.integer("pillars", 6);
    const double sway = parameters.number("sway", 3);
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto model = setup.library.load("quadrotor");
    if (!model.ok()) return model.error();
    const double radius = radius_for(robots);
    const Vec3 middle{0, 0, radius + 1.5};
    model::WorldBuilder builder("formation");
    builder.add_ground();
    RandomStream random(setup.seed, 0, "formation");
    model::PlacementOptions options;
    options.mind = model::Mind{"formation",
                               {{"z", fmt::format("{:.6f}", middle.z)},
                                {"radius", fmt::format("{:.6f}", radius)},
                                {"sway", fmt::format("{:.6f}", sway)},
                                {"period", "40"},
                                {"spacing", fmt::format("{}", spacing)},
                                {"clearance", "1.6"}},
                               {},
                               0};
    std::vector<Vec3> places;
    for (int i = 0; i < robots; ++i) {
      const Vec3 jitter{random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2)};
      places.push_back(middle + on_sphere(i, robots) * radius + jitter);
    }
    // Pillars stand beside the sphere, which later moves back and forth over them.
    pillars_.clear();
    for (int tries = 0; std::ssize(pillars_) < pillars && tries < 10'000; ++tries) {
      const double away = radius + 1.5 + random.uniform(0, 1),
                   angle = random.uniform(-1, 1) + (tries % 2 == 0 ? 0 : pi);
      const Pillar pillar{away * volvox::cos(angle), away * volvox::sin(angle)};
      if (std::all_of(pillars_.begin(), pillars_.end(),
                      [&](const Pillar& p) { return length(p.x - pillar.x, p.y - pillar.y) > 2.5; }))
        pillars_.push_back(pillar);
    }
    const double height = 2 * radius + 3;
    for (const Pillar& p : pillars_)
      builder.add_obstacle(model::Cylinder{pillar_radius, height}, {{p.x, p.y, height / 2}, {}}, 0, {},
                           {0.80, 0.76, 0.68, 1});
    for (int i = 0; i < robots; ++i) builder.add(*model, Pose{places[i], {}}, "q" + std::to_string(i), options);
    model::RunSettings run;
    run.duration = Time::seconds(100);
    run.dt = {1, 50};
    run.max_substep = 1.0 / 250;
    builder.set_run(run);
    return builder.build();
  }

  void before_tick(sim::Simulation&) override { tick_begin_ = platform::monotonic_seconds(); }

  void observe(const sim::Simulation& simulation) override {
    const double took = platform::monotonic_seconds() - tick_begin_, dt = simulation.settings().dt.seconds();
    tick_times_.add(Time::seconds(took).ns);
    backlog_ = std::max(0.0, backlog_ + took - dt);
    if (took > dt) ++late_ticks_;
    const world::World& world = simulation.world();
    double error = 0;
    for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
      const mind::Agent& agent = simulation.minds().agent(i);
      const auto& neighbors = agent.percept<std::vector<Vec3>>("neighbors");
      if (!neighbors.empty()) min_distance_ = std::min(min_distance_, length(neighbors.front()));
      const Vec3 place = world.link_pose(world.part(agent.placement()).first_link).position;
      for (const Pillar& p : pillars_)
        min_obstacle_ = std::min(min_obstacle_, length(place.x - p.x, place.y - p.y) - pillar_radius);
      if (const auto* flyer = dynamic_cast<const robots::SphereFormation*>(simulation.minds().behavior(i)))
        error += std::fabs(length(place - flyer->centre(simulation.now().seconds())) - flyer->radius());
    }
    sphere_error_ = error / real(simulation.minds().size());
  }

  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    const bool ran = tick_times_.count() > 0;
    metrics.set("min_distance_m", sim::measured_if(min_distance_ < farthest, min_distance_),
                "smallest distance between the centres of two robots in the run");
    metrics.set("min_obstacle_m", sim::measured_if(min_obstacle_ < farthest, min_obstacle_),
                "smallest distance from a robot's centre to a pillar in the run");
    metrics.set("sphere_error_m", sim::measured_if(ran, sphere_error_),
                "mean distance of the robots from the sphere at the end");
    metrics.set("tick_median_ms", sim::measured_if(ran, 1e3 * tick_times_.quantile(0.5)), "median wall time of a tick");
    const sim::Box box = tick_times_.box("");
    metrics.set("tick_low_ms", sim::measured_if(ran, 1e3 * box.low), "lower whisker of its box plot");
    metrics.set("tick_p25_ms", sim::measured_if(ran, 1e3 * box.q1), "first quartile");
    metrics.set("tick_p75_ms", sim::measured_if(ran, 1e3 * box.q3), "third quartile");
    metrics.set("tick_high_ms", sim::measured_if(ran, 1e3 * box.high), "upper whisker");
    metrics.set("tick_longest_ms", sim::measured_if(ran, 1e3 * tick_times_.longest()), "the longest tick");
    metrics.set("tick_p99_ms", sim::measured_if(ran, 1e3 * tick_times_.quantile(0.99)),
                "99th percentile of the wall time of a tick");
    metrics.set("late_ticks", real(late_ticks_), "ticks whose wall time was longer than dt");
    metrics.set("drift_s", backlog_, "delay at the end of a run paced to real time");
  }

  // One box of figure 5: the tick times of this run.
  Result<void> write(const std::filesystem::path& folder) const override {
    return write_file(
        folder / "tick_times.svg",
        svg(report::time_boxes("What a tick took", "", {tick_times_.box("this run")}, {0.02, "a tick of 50 Hz"})));
  }

  void archive_state(Archive& ar) override {
    ar("min distance", min_distance_);
    ar("min obstacle", min_obstacle_);
    ar("sphere error", sphere_error_);
  }

  const sim::TimeDistribution& tick_times() const { return tick_times_; }

 private:
  struct Pillar {
    double x = 0, y = 0;
  };
  static constexpr double pillar_radius = 0.4;  // m

  std::vector<Pillar> pillars_;
  static constexpr double farthest = 1e9;                     // m: not measured yet
  double min_distance_ = farthest, min_obstacle_ = farthest;  // m, over the run
  double sphere_error_ = 0;                                   // m, mean over the robots in the last tick

  // Wall-clock times are not part of the state and are not saved.
  double tick_begin_ = 0, backlog_ = 0;  // s
  sim::TimeDistribution tick_times_;
  std::int64_t late_ticks_ = 0;
};

}  // namespace

sim::ExperimentFactory formation() { return make<Formation>(); }

}  // namespace volvox::experiments::swarmsimx
