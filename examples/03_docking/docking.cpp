// Two carts meet, dock by themselves, and part again.
#include <fmt/format.h>
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>
#include <volvox/sim/run.h>

class Court : public volvox::mind::Behavior {
 public:
  void step(volvox::mind::Agent& agent) override {
    const volvox::mind::DockState& dock = agent.dock("front");
    if (dock.engaged && together_ < 0) together_ = agent.time();
    const bool parting = together_ >= 0 && agent.time() - together_ > 1;
    if (parting) agent.disable_dock("front");
    const double speed = parting ? -3 : dock.engaged || dock.latching ? 0 : 3;  // rad/s
    for (const char* wheel : {"front_left", "front_right", "rear_left", "rear_right"}) agent.turn(wheel, speed);
  }
  VOLVOX_STATE(together_)

 private:
  double together_ = -1;  // s, since when they are docked; negative: they never were
};

int main(int argc, char** argv) {
  if (argc < 2) return 2;  // it wants its world.sdf
  auto library = volvox::cli::standard_library();
  library.minds.behaviors.add("court", [] { return std::make_unique<Court>(); });
  volvox::Log log;
  volvox::sim::RunOptions options;
  options.experiment = argv[1];  // world.sdf
  auto run = volvox::sim::Run::prepare(options, library, log);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().text());
    return 2;
  }
  using Kind = volvox::world::DockEvent::Kind;
  std::string story;
  volvox::sim::Simulation& simulation = (*run)->simulation();
  while (simulation.tick() < (*run)->ticks() && (*run)->step().ok())
    for (const volvox::world::DockEvent& event : simulation.dock_events()) {
      const char* what = event.kind == Kind::captured   ? "captured"
                         : event.kind == Kind::engaged  ? "engaged"
                         : event.kind == Kind::released ? "released"
                                                        : "broken";
      fmt::print("{:5.2f} s  {} and {}: {}\n", simulation.now().seconds(), simulation.world().dock_name(event.dock_a),
                 simulation.world().dock_name(event.dock_b), what);
      story += std::string(what) + " ";
    }
  const volvox::world::World& world = simulation.world();
  const double apart = length(world.dock_pose(0).position - world.dock_pose(1).position);
  fmt::print("at the end their docks are {:.0f} mm apart\n", 1e3 * apart);
  return story == "captured engaged released " && apart > 0.1 ? 0 : 1;
}
