// Two docked modules throw a ball to each other.
#include <fmt/format.h>
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>
#include <volvox/sim/run.h>

#include <cmath>

struct Ball {
  int throws = 0;
  double thrown_at = 0;  // s
};
VOLVOX_TYPE(Ball, throws, thrown_at)

struct Seen {  // what a module knows of the game
  int caught = 0;
  double longest_flight = 0;  // ticks
};
VOLVOX_TYPE(Seen, caught, longest_flight)

class Catch : public volvox::mind::Behavior {
 public:
  void start(volvox::mind::Agent& agent) override {
    if (agent.parameter("begins", false)) agent.send("front", Ball{1, agent.time()});
  }
  void step(volvox::mind::Agent& agent) override {
    while (const auto message = agent.read()) {
      const auto ball = message->as<Ball>();
      if (!ball) continue;
      Seen& seen = agent.model<Seen>();
      ++seen.caught;
      seen.longest_flight = std::max(seen.longest_flight, (agent.time() - ball->thrown_at) / agent.dt());
      agent.send(agent.where(*message), Ball{ball->throws + 1, agent.time()});  // back where it came from
    }
  }
  VOLVOX_STATE()
};

int main(int argc, char** argv) {
  if (argc < 2) return 2;  // it wants its world.sdf
  auto library = volvox::cli::standard_library();
  library.minds.behaviors.add("catch", [] { return std::make_unique<Catch>(); });
  volvox::Log log;
  volvox::sim::RunOptions options;
  options.experiment = argv[1];  // world.sdf
  auto run = volvox::sim::Run::prepare(options, library, log);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().text());
    return 2;
  }
  (*run)->finish();
  const Seen& a = (*run)->simulation().minds().agent(0).model<Seen>();
  const Seen& b = (*run)->simulation().minds().agent(1).model<Seen>();
  fmt::print("a caught {}, b caught {}; the longest flight took {:.3f} ticks\n", a.caught, b.caught,
             std::max(a.longest_flight, b.longest_flight));
  // Thrown in tick 0, caught in tick 1 by b, in tick 2 by a, ...: 59 catches in 60 ticks.
  const bool on_time = std::abs(a.longest_flight - 1) < 1e-6 && std::abs(b.longest_flight - 1) < 1e-6;
  return a.caught == 29 && b.caught == 30 && on_time ? 0 : 1;
}
