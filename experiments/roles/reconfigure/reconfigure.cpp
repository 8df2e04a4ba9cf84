#include <cmath>
#include <limits>
#include <map>

#include "experiments.h"
#include "gait_roles.h"
#include "roles/synchrony.h"
#include "script.h"
#include "settings.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::roles {
namespace {

constexpr double winding_course = 0.63, walking_course = 0.87;  // m
// Figure 6, by experiment.
constexpr double paper_winding[] = {13, 11, 13, 12}, paper_walking[] = {25, 30, 28, 30};  // s

// m0 is the chain's root. Sequences 1 to 4 end as a body of two with four legs and a head.
std::vector<Move> sequence(int number) {
  switch (number) {
    case 1:
      return {{"m6", "m0.e"},
              {"m5", "m0.w"},
              {"m4", "m1.e"},
              {"m3", "m1.w"}};  // figure 4, as we understand it: from the end
    case 2: return {{"m6", "m1.w"}, {"m5", "m1.e"}, {"m4", "m0.w"}, {"m3", "m0.e"}};  // the front pair first
    case 3: return {{"m5", "m0.e"}, {"m6", "m0.w"}, {"m4", "m1.e"}, {"m3", "m1.w"}};  // m5 and m6 docked together first
    case 4:
      return {{"m0", "m2.e"},
              {"m1", "m2.w"},
              {"m6", "m3.e"},
              {"m5", "m3.w"}};  // the root first: two other modules become root in turn
    default: return {{"m4", ""}, {"m3", ""}, {"spare", "m2.n"}, {"m4", "spare.n"}};  // the spare replaces m3
  }
}

// Nobody puts a robot down twice in the same place: up to 2 cm and 10 degrees off, by the seed.
void shift_start(model::WorldModel& world, std::uint64_t seed) {
  RandomStream random(seed, 0, "start pose");
  Pose off;
  off.position = {random.uniform(-0.02, 0.02), random.uniform(-0.02, 0.02), 0};
  off.rotation = Quat::axis_angle({0, 0, 1}, random.uniform(-radians(10), radians(10)));
  for (model::Placement& placement : world.placements)
    if (placement.is_module()) placement.pose = off * placement.pose;
}

// The role-based control paper, section 5: a chain winds 63 cm, is re-arranged by hand into a quadruped while it runs,
// and walks 87 cm; nothing is reset. There are four sequences of moves, and one that replaces a module by a spare.
class Reconfigure final : public sim::Experiment {
 public:
  Reconfigure() : synchrony_(robots::conro_roles()) {}
  Result<model::WorldModel> init(sim::Setup& setup) override {
    const std::string& wanted = setup.settings.at("sequence");
    sequence_ = wanted == "replace" ? 5 : std::atoi(wanted.c_str());
    script_ = Script(sequence(sequence_));
    auto world = Experiment::init(setup);
    if (!world.ok()) return world;
    if (sequence_ != 5) world->placements.pop_back();  // the spare is the last in world.sdf
    shift_start(*world, setup.seed);
    Script::add_hands(*world, experiments::number(setup.settings, "hand_force"),
                      experiments::number(setup.settings, "hand_torque"));
    return world;
  }

  void begin(const sim::Simulation& simulation) override { from_ = robot(simulation); }

  void before_tick(sim::Simulation& simulation) override {
    if (part_ != Part::by_hand) return;
    const auto went = script_.before_tick(simulation);
    VOLVOX_CHECK(went.ok(), "a sequence names a module or a dock that does not exist");
  }

  void observe(const sim::Simulation& simulation) override {
    synchrony_.observe(simulation);
    const double now = simulation.now().seconds();
    const Vec3 at = robot(simulation), way = at - from_;
    const double distance = length(way.x, way.y);
    const auto over = [&](double& time, Part next) {
      time = now - since_;
      part_ = next;
      since_ = now;
      from_ = at;
    };
    switch (part_) {
      case Part::winding:
        if (distance >= winding_course) over(winding_time_, Part::by_hand);
        break;
      case Part::by_hand:
        if (script_.done()) over(handling_time_, Part::finding_step);
        break;
      case Part::finding_step:
        if (synchrony_.all_in_step()) over(step_time_, Part::walking);
        break;
      case Part::walking:
        if (distance >= (sequence_ == 5 ? winding_course : walking_course)) over(walking_time_, Part::arrived);
        break;
      case Part::arrived: break;
    }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const auto time = [](double t) { return sim::measured_time(t); };
    const std::string experiment =
        "role-based control paper, figure 6, experiment " + std::to_string(sequence_) + "; -: not within the run";
    if (sequence_ <= 4) {
      metrics.set_beside_paper("sidewinder_time_s", time(winding_time_), paper_winding[sequence_ - 1],
                               "time to synchronize and wind 0.63 m; " + experiment);
      metrics.set_beside_paper("walker_time_s", time(walking_time_), paper_walking[sequence_ - 1],
                               "time to walk 0.87 m; " + experiment);
      metrics.set("speed_m_s", time(walking_time_) > 0 ? walking_course / walking_time_ : time(-1),
                  "mean speed of the walker");
    } else {
      metrics.set("sidewinder_time_s", time(winding_time_), "time to synchronize and wind 0.63 m");
      metrics.set("sidewinder_again_time_s", time(walking_time_), "time to wind 0.63 m with the spare module");
      metrics.set("speed_m_s", time(walking_time_) > 0 ? winding_course / walking_time_ : time(-1),
                  "mean speed with the spare module");
    }
    metrics.set("handling_time_s", time(handling_time_), "time of the re-arrangement by hand");
    metrics.set("sync_time_s", time(step_time_), "time after the re-arrangement until all were in step");
    metrics.set("moves_made", real(script_.moves_made()), "modules moved by hand, of four");
    metrics.set("retries", script_.retries(), "failed attempts to dock by hand");
    int changes = 0;
    for (std::size_t i = 0; i < simulation.minds().size(); ++i)
      if (const auto* played = simulation.minds().agent(i).find_model<mind::RolePlayed>()) changes += played->changes;
    metrics.set("role_changes", changes, "sum over all modules");
    metrics.set("in_step", synchrony_.in_step(), "children in step with their parents, at the end");
    metrics.set("children", synchrony_.children(), "modules with a working parent");
  }

  void archive_state(Archive& ar) override {
    script_.archive(ar);
    synchrony_.archive(ar);
    ar("part", part_);
    ar("from", from_);
    ar("since", since_);
    ar("winding", winding_time_);
    ar("handling", handling_time_);
    ar("step", step_time_);
    ar("walking", walking_time_);
  }

 private:
  enum class Part : std::uint8_t { winding, by_hand, finding_step, walking, arrived };
  Vec3 robot(const sim::Simulation& simulation) const {
    const world::World& world = simulation.world();
    std::map<std::uint32_t, std::vector<world::PlacementIndex>> organisms;
    for (const world::PlacementIndex module : world.modules())
      organisms[world.graph().organisms()[module]].push_back(module);
    const std::vector<world::PlacementIndex>* largest = nullptr;
    for (const auto& [lowest, modules] : organisms)
      if (largest == nullptr || modules.size() > largest->size()) largest = &modules;
    Vec3 sum;
    for (const world::PlacementIndex module : *largest) sum += world::centre_of_mass(world, module);
    return sum * (1.0 / real(largest->size()));
  }
  // the centre of the largest organism

  int sequence_ = 1;  // 5: a module is replaced
  Script script_;
  Synchrony synchrony_;
  Part part_ = Part::winding;
  Vec3 from_;                                                                           // start of the present part
  double since_ = 0;                                                                    // s, its time
  double winding_time_ = -1, handling_time_ = -1, step_time_ = -1, walking_time_ = -1;  // s
};

}  // namespace

sim::ExperimentFactory reconfigure() { return make<Reconfigure>(); }

}  // namespace volvox::experiments::roles
