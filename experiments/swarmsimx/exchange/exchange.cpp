#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "experiments.h"
#include "flight.h"
#include "volvox/base/index.h"
#include "volvox/base/parameters.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {
namespace {

// Its first link; the world of this experiment has one snake.
Vec3 head_of_snake(const world::World& world) {
  for (world::LinkIndex l = 0; l < world.links(); ++l)
    if (world.module_model(world.placement_of_link(l)).name == "superbot") return world.link_pose(l).position;
  return {};
}

// The SwarmSimX paper, sections 2 and 4: "an online exchange of the implementation of the main modules". A snake crawls
// and a quadrotor flies its eight while the physics engine under them is changed again and again.
class Exchange final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    engines_.clear();
    const std::vector<std::string> known = physics::built_in_engines().names();
    std::istringstream words(setup.settings.at("engines"));
    for (std::string name; words >> name;) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        return Error(fmt::format("engines: there is no engine '{}' in this build", name),
                     fmt::format("use some of: {}", fmt::join(known, ", ")));
      engines_.push_back(name);
    }
    if (engines_.empty()) return Error("engines: none is named", "such as --set \"engines=native bullet\"");
    every_ = Parameters(setup.settings, "experiment swarmsimx/exchange").number("every", 3);
    return Experiment::init(setup);
  }

  std::string camera() const override { return "2.6,-3.4,2.0:-0.3,0,0.6"; }
  void begin(const sim::Simulation& simulation) override { start_ = head_of_snake(simulation.world()); }

  void before_tick(sim::Simulation& simulation) override {
    const double now = simulation.now().seconds();
    const auto due = static_cast<std::size_t>(std::floor(now / every_ + 1e-9));
    const std::string& wanted = engines_[due % engines_.size()];
    const world::World& world = simulation.world();
    expected_.clear();
    for (world::LinkIndex l = 0; l < world.links(); ++l) {  // velocities are those of centres of mass
      const Pose pose = world.link_pose(l);
      const Twist velocity = world.link_velocity(l);
      const Vec3 arm = pose.rotation * world.link_model(l).inertial.position;
      expected_.push_back(pose.position +
                          (velocity.linear - cross(velocity.angular, arm)) * simulation.settings().dt.seconds());
    }
    exchanged_ = wanted != simulation.settings().engine;
    if (exchanged_) change_engine(simulation, wanted);
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    double& kick = exchanged_ ? kick_ : usual_kick_;
    for (world::LinkIndex l = 0; l < expected_.size(); ++l)
      kick = std::max(kick, length(world.link_pose(l).position - expected_[l]));
    dock_gap_ = std::max(dock_gap_, world.largest_dock_error().distance);
    const double now = simulation.now().seconds();
    for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
      const auto* eight = dynamic_cast<const robots::FigureEight*>(simulation.minds().behavior(i));
      if (eight == nullptr || now < eight->begins()) continue;
      const Vec3 place = world.link_pose(world.part(simulation.minds().agent(i).placement()).first_link).position;
      error_sum_ += length(place - eight->target(now).position);
      ++errors_;
    }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const Vec3 moved = head_of_snake(simulation.world()) - start_;
    metrics.set("exchanges", real(exchanges_), "how often the physics engine was changed");
    metrics.set("exchange_jump_m", jump_, "largest displacement of any link by an exchange");
    metrics.set(
        "exchange_kick_m", kick_,
        "in the tick after an exchange: largest distance of a link from where its velocity would have taken it");
    metrics.set("usual_kick_m", usual_kick_, "the same in all other ticks");
    metrics.set("eight_mean_m", sim::measured_if(errors_ > 0, error_sum_ / real(std::max<std::int64_t>(errors_, 1))),
                "mean tracking error of the quadrotor");
    metrics.set("snake_m", length(moved.x, moved.y), "how far the snake crawled");
    metrics.set("dock_gap_max_m", dock_gap_, "largest gap between two engaged docks");
  }

  void archive_state(Archive& ar) override {
    ar("exchanges", exchanges_), ar("jump", jump_), ar("dock gap", dock_gap_);
    ar("kick", kick_), ar("usual kick", usual_kick_);
    ar("error sum", error_sum_), ar("errors", errors_), ar("start", start_);
  }

 private:
  void change_engine(sim::Simulation& simulation, const std::string& name) {
    const world::World& world = simulation.world();
    std::vector<Vec3> before;
    for (world::LinkIndex l = 0; l < world.links(); ++l) before.push_back(world.link_pose(l).position);
    if (auto changed = simulation.change_engine(name, physics::built_in_engines()); !changed.ok())
      throw std::runtime_error(changed.error().text());
    for (world::LinkIndex l = 0; l < world.links(); ++l)
      jump_ = std::max(jump_, length(world.link_pose(l).position - before[l]));
    ++exchanges_;
  }

  std::vector<std::string> engines_;
  double every_ = 3;            // s
  std::int64_t exchanges_ = 0;  // so far
  double jump_ = 0;             // m, of a link, at an exchange
  // How far links end a tick from where their velocity would have taken them, m: the largest over the ticks after an
  // exchange, and over the others.
  double kick_ = 0, usual_kick_ = 0;
  std::vector<Vec3> expected_;  // scratch: where the links would be after this tick
  bool exchanged_ = false;      // before this tick
  double dock_gap_ = 0;         // m
  double error_sum_ = 0;        // m, of the quadrotor
  std::int64_t errors_ = 0;
  Vec3 start_;  // of the snake's first module
};

}  // namespace

sim::ExperimentFactory exchange() { return make<Exchange>(); }

}  // namespace volvox::experiments::swarmsimx
