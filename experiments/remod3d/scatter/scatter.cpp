#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {
namespace {

// The ReMod3D paper, figure 1(b): disconnected modules move all their motors. An example of a world that is built in
// C++ instead of read from a file.
class Scatter final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{{"modules", "100", 1, 100'000, {}, "number of modules", 0, true},
                                             {"robot", "superbot", {}, {}, {"superbot", "atron"}, "robot model", 0},
                                             {"spacing", "0.3", 0.2, 10, {}, "distance between neighbours, in m", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment remod3d/scatter");
    const int modules = narrow<int>(parameters.integer("modules", 100));
    const std::string robot = parameters.text("robot", "superbot");
    const double spacing = parameters.number("spacing", 0.3);
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto model = setup.library.load(robot);
    if (!model.ok()) return model.error();

    model::WorldBuilder builder("scatter");
    builder.add_ground();
    const int side = truncated(std::ceil(std::sqrt(modules)));
    const double height = robot == "atron" ? 0.08 : 0.0425;
    RandomStream random(setup.seed, 0, "scatter");
    for (int i = 0; i < modules; ++i) {
      const Vec3 place{spacing * (i % side - 0.5 * (side - 1)), spacing * (i / side - 0.5 * (side - 1)), height};
      // As in the paper's picture: ATRONs have random orientations, SuperBots lie flat.
      Quat attitude = Quat::axis_angle({0, 0, 1}, random.uniform(0, 2 * pi));
      if (robot == "atron")
        attitude = normalized(Quat{random.normal(), random.normal(), random.normal(), random.normal()});
      model::PlacementOptions options;
      options.mind = model::Mind{robot == "atron" ? "spin" : "alternate", {}, {}, 0};
      builder.add(*model, Pose{place, attitude}, "m" + std::to_string(i), options);
    }
    model::RunSettings run;
    run.duration = Time::seconds(5);
    builder.set_run(run);
    return builder.build();
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    for (const world::PlacementIndex module : world.modules())
      for (std::uint32_t i = 0; i < world.module_model(module).links.size(); ++i) {
        const world::LinkIndex link = world.part(module).first_link + i;
        const Vec3& centre = world.link_model(link).inertial.position;
        const Pose pose = world.link_pose(link);
        if (pose.position.z - 1.000001 * length(centre) < lowest_) lowest_ = std::min(lowest_, (pose * centre).z);
      }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    double turned = 0;
    std::size_t joints = 0;
    const world::World& world = simulation.world();
    for (const world::PlacementIndex module : world.modules())
      for (std::uint32_t j = 0; j < world.module_model(module).joints.size(); ++j, ++joints)
        turned += std::fabs(world.joint_state(world.part(module).first_joint + j).position);
    metrics.set("joint_angle_mean_rad", sim::mean_of(turned, real(joints)), "mean absolute joint angle at the end");
    metrics.set("below_ground_m", -lowest_, "largest depth of any link's centre below the ground; 0: none");
  }

  void archive_state(Archive& ar) override { ar("lowest", lowest_); }

 private:
  double lowest_ = 0;  // m, lowest z of any link's centre below the ground; 0 or negative
};

}  // namespace

sim::ExperimentFactory scatter() { return make<Scatter>(); }

}  // namespace volvox::experiments::remod3d
