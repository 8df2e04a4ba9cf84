#include <algorithm>

#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

// The ReMod3D paper, figure 6: heavy spheres fly into a grid of docked SuperBots in zero gravity, and docks break.
class Breakage final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"spheres", "5", 1, 9, {}, "number of spheres", 0, true},
        {"mass", "20", 0.1, 1000, {}, "of a sphere, in kg", 0},
        {"speed", "3", 0, 50, {}, "of the spheres, in m/s", 0},
        {"strength", "0.3", 0.01, 1000, {}, "of the docks, as a multiple of a SuperBot dock's strength", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment remod3d/breakage");
    const int spheres = narrow<int>(parameters.integer("spheres", 5));
    const double mass = parameters.number("mass", 20), speed = parameters.number("speed", 3),
                 strength = parameters.number("strength", 0.3);
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto loaded = setup.library.load("superbot");
    if (!loaded.ok()) return loaded.error();
    auto superbot = std::make_shared<model::ModuleModel>(**loaded);
    for (model::Dock& dock : superbot->docks) {
      dock.strength.axial *= strength, dock.strength.shear *= strength;
      dock.strength.bending *= strength, dock.strength.torsion *= strength;
    }

    model::WorldBuilder builder("breakage");
    builder.set_gravity({});
    model::GridOptions grid;
    grid.count_x = 5, grid.count_y = 9;
    grid.spacing = {0.168, 0.084, 0.084};
    model::PlacementOptions options;
    options.mind = model::Mind{"hold", {}, {}, 0};
    builder.add_lattice(superbot, grid, {}, "m", options);
    RandomStream random(setup.seed, 0, "spheres");
    constexpr double radius = 0.06;
    for (int i = 0; i < spheres; ++i) {
      // Spread over the grid; they arrive shortly one after the other.
      const Vec3 aim{0.14 * (i % 5 - 2) + random.uniform(-0.03, 0.03),
                     0.17 * ((2 * i) % 5 - 2) + random.uniform(-0.03, 0.03), 0.15 + 0.05 * i};
      const int sphere = builder.add_obstacle(model::Sphere{radius}, {aim, {}}, mass, {}, {0.85, 0.45, 0.1, 1},
                                              "sphere" + std::to_string(i));
      builder.placement(sphere).velocity.linear = {0, 0, -speed};
    }
    model::RunSettings run;
    run.duration = Time::seconds(1);
    builder.set_run(run);
    return builder.build();
  }

  void begin(const sim::Simulation& simulation) override {
    momentum_ = world::momentum(simulation.world());
    spin_ = world::angular_momentum(simulation.world(), {});
    docks_ = simulation.world().graph().connections();
  }

  void observe(const sim::Simulation& simulation) override {
    const double scale = std::max(length(momentum_), 1e-12);
    momentum_error_ = std::max(momentum_error_, length(world::momentum(simulation.world()) - momentum_) / scale);
    spin_error_ = std::max(spin_error_, length(world::angular_momentum(simulation.world(), {}) - spin_) / scale);
    if (first_break_ < 0 && simulation.world().docks_broken() > 0) first_break_ = simulation.now().seconds();
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const double broken = real(simulation.world().docks_broken());
    metrics.set("docks_broken", broken, "connections that broke under load");
    metrics.set("broken_fraction", sim::mean_of(broken, real(docks_)), "of the connections at the start");
    metrics.set("first_break_s", sim::measured_time(first_break_), "when the first connection broke; -: never");
    metrics.set("momentum_error", momentum_error_, "largest relative change of the linear momentum");
    metrics.set("angular_momentum_error_m", spin_error_,
                "largest change of the angular momentum, divided by the linear momentum");
  }

  void archive_state(Archive& ar) override {
    ar("momentum", momentum_);
    ar("spin", spin_);
    ar("momentum error", momentum_error_);
    ar("spin error", spin_error_);
    ar("docks", docks_);
    ar("first break", first_break_);
  }

 private:
  Vec3 momentum_;                               // kg m/s, at the start
  Vec3 spin_;                                   // kg m^2/s, at the start, about the origin
  double momentum_error_ = 0, spin_error_ = 0;  // the largest changes so far, divided by the linear momentum; 1, m
  std::int64_t docks_ = 0;                      // engaged at the start
  double first_break_ = -1;                     // s
};

}  // namespace

sim::ExperimentFactory breakage() { return make<Breakage>(); }

}  // namespace volvox::experiments::remod3d
