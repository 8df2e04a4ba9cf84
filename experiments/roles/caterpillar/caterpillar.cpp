#include "experiments.h"
#include "gait_roles.h"
#include "roles/gait.h"
#include "settings.h"

namespace volvox::experiments::roles {
namespace {

struct Body {
  const char *parent, *child;  // the docks that join a chain
  double height;               // m, of a module's centre on the ground
};
Body body_of(const std::string& robot) {
  return robot == "conro" ? Body{"s", "n", 0.0226} : Body{"back", "front", 0.0425};
}

// The caterpillar that the role-based control paper quotes (section 2.1): the same role program on two robots.
class Caterpillar final : public Gait {
 public:
  Caterpillar() : Gait({}, {}) {}
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{{"robot", "conro", {}, {}, {"conro", "superbot"}, "robot model", 0},
                                             {"modules", "8", 2, 1000, {}, "number of modules", 0, true},
                                             {"friction", "0.5", 0.05, 3, {}, "between modules and ground", 0},
                                             {"loss", "0", 0, 1, {}, "probability that a signal is lost", 0},
                                             {"settle", "5", 0, 1e6, {}, "start of the speed measurement, in s", 0}};
  }

 protected:
  Result<model::WorldModel> make_world(sim::Setup& setup) override {
    const std::string& robot = setup.settings.at("robot");
    const Body body = body_of(robot);
    const auto model = setup.library.load(robot, setup.folder, &setup.warnings);
    if (!model.ok()) return model.error();
    watch(robot == "conro" ? robots::conro_caterpillar() : robots::superbot_caterpillar());

    model::WorldBuilder builder("caterpillar");
    model::RunSettings run;
    run.duration = Time::seconds(20);
    run.dt = TickLength{1, 72};
    builder.set_run(run);
    builder.set_clocks({2.5, 50});
    builder.add_ground();
    model::PlacementOptions options;
    options.mind = model::Mind{robot + "_caterpillar", {}, {}, 0};
    builder.add_chain(*model, truncated(number(setup.settings, "modules")), body.child, body.parent, 0,
                      Pose{{0, 0, body.height}, {}}, "m", options);
    return builder.build();
  }
};

}  // namespace

sim::ExperimentFactory caterpillar() { return make<Caterpillar>(); }

}  // namespace volvox::experiments::roles
