// An experiment as a class: a chain of SuperBots on the ground that lifts its first module.
#include <fmt/format.h>
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>
#include <volvox/sim/run.h>
#include <volvox/world/measures.h>

namespace model = volvox::model;

class Lift : public volvox::mind::Behavior {
 public:
  void step(volvox::mind::Agent& agent) override { agent.move_to("pitch", -std::min(0.8, 0.4 * agent.time())); }
  VOLVOX_STATE()
};

class Rear : public volvox::sim::Experiment {
 public:
  volvox::Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{{"modules", "4", 2, 100, {}, "number of SuperBots", 0}};
  }
  volvox::Result<model::WorldModel> init(volvox::sim::Setup& setup) override {
    setup.registries.behaviors.add("lift", [] { return std::make_unique<Lift>(); });
    auto superbot = setup.library.load("superbot");
    if (!superbot.ok()) return superbot.error();
    model::WorldBuilder builder("rear");
    builder.add_ground();
    builder.add_chain(*superbot, std::stoi(setup.settings["modules"]), "back", "front", 0,
                      volvox::Pose{{0, 0, 0.0425}, {}}, "m");
    builder.placement(builder.find("m1")).mind = model::Mind{"lift", {}, {}, 0};  // m1 lifts m0
    builder.set_run({volvox::Time::seconds(4), {1, 60}, 1.0 / 240});
    return builder.build();
  }
  void observe(const volvox::sim::Simulation& simulation) override {  // after every tick
    head_ = volvox::world::centre_of_mass(simulation.world(), simulation.world().modules().front()).z;
    highest_ = std::max(highest_, head_);
  }
  void shutdown(const volvox::sim::Simulation&, volvox::sim::Metrics& metrics) override {
    metrics.set("head_m", head_, "height of the first module's centre of mass at the end");
    metrics.set("head_highest_m", highest_, "largest height of the first module's centre of mass");
  }
  void archive_state(volvox::Archive& ar) override { ar("head", head_), ar("highest", highest_); }

 private:
  double head_ = 0, highest_ = 0;  // m
};

int main() {
  auto library = volvox::cli::standard_library();
  library.experiments.add(
      "rear", [] { return std::make_unique<Rear>(); }, "a chain lifts its first module");
  volvox::Log log;
  const auto head_with = [&](const char* modules) {
    volvox::sim::RunOptions options;
    options.experiment = "rear";
    options.settings["modules"] = modules;
    auto run = volvox::sim::Run::prepare(options, library, log);
    if (!run.ok()) return fmt::print(stderr, "{}\n", run.error().text()), -1.0;
    (*run)->finish();
    fmt::print("{} modules: the head is {:.3f} m above the ground\n", modules,
               (*run)->report().metrics.find("head_m")->value);
    return (*run)->report().metrics.find("head_m")->value;
  };
  return head_with("2") < 0.1 && head_with("4") > 0.115 ? 0 : 1;  // two tip over; four can lift it
}
