// One SuperBot that nods.
#include <fmt/format.h>
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>
#include <volvox/sim/run.h>

#include <algorithm>
#include <cmath>

class Nod : public volvox::mind::Behavior {
 public:
  void start(volvox::mind::Agent& agent) override { amplitude_ = agent.parameter("amplitude", 0.3); }
  void step(volvox::mind::Agent& agent) override {
    agent.move_to("pitch", amplitude_ * volvox::sin(2 * volvox::pi * 0.5 * agent.time()));
  }
  VOLVOX_STATE(amplitude_)

 private:
  double amplitude_ = 0;
};

int main(int argc, char** argv) {
  if (argc < 2) return 2;  // it wants its world.sdf
  auto library = volvox::cli::standard_library();
  library.minds.behaviors.add("nod", [] { return std::make_unique<Nod>(); });
  volvox::Log log;
  volvox::sim::RunOptions options;
  options.experiment = argv[1];  // world.sdf
  auto run = volvox::sim::Run::prepare(options, library, log);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().text());
    return 2;
  }
  double lowest = 0, highest = 0;
  volvox::sim::Simulation& simulation = (*run)->simulation();
  while (simulation.tick() < (*run)->ticks() && (*run)->step().ok()) {
    const double pitch = simulation.minds().agent(0).angle("pitch");
    lowest = std::min(lowest, pitch);
    highest = std::max(highest, pitch);
  }
  fmt::print("in {:.1f} s the module nodded between {:.2f} and {:.2f} rad\n", simulation.now().seconds(), lowest,
             highest);
  return std::abs(lowest + 0.5) < 0.05 && std::abs(highest - 0.5) < 0.05 ? 0 : 1;
}
