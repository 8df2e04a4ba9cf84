// A letter goes by wire to a neighbour, by radio to a module far away, and back, within two ticks.
#include <fmt/format.h>
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>
#include <volvox/sim/run.h>

struct Letter {
  int stamps = 0;
};
VOLVOX_TYPE(Letter, stamps)

class Courier : public volvox::mind::Behavior {
 public:
  void start(volvox::mind::Agent& agent) override {
    agent.model<int>() = 0;                                                // letters received
    if (agent.parameter("begins", false)) agent.send("front", Letter{1});  // by wire, to the module docked there
  }
  void step(volvox::mind::Agent&) override {}
  // Called at the exact time of arrival; messages sent from here leave at once.
  bool receive(volvox::mind::Agent& agent, const volvox::mind::Message& message) override {
    const auto letter = message.as<Letter>();
    if (!letter) return false;
    ++agent.model<int>();
    agent.log("{:.3f} ms: a letter with {} stamps came in at {}", 1e3 * agent.time(), letter->stamps,
              agent.where(message));
    if (agent.where(message) == "back") agent.send("radio", Letter{letter->stamps + 1});       // to all in range
    else if (agent.name() == "c") agent.send("radio", Letter{letter->stamps + 1}, {.to = 0});  // only to a
    return true;
  }
  VOLVOX_STATE()
};

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: {} world.sdf\n", argv[0]);
    return 2;
  }
  auto library = volvox::cli::standard_library();
  library.minds.behaviors.add("courier", [] { return std::make_unique<Courier>(); });
  volvox::Log log([](volvox::LogLevel, std::string_view line) { fmt::print("{}\n", line); });
  volvox::sim::RunOptions options;
  options.experiment = argv[1];  // world.sdf
  auto run = volvox::sim::Run::prepare(options, library, log);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().text());
    return 2;
  }
  (*run)->finish();
  const auto& minds = (*run)->simulation().minds();
  // a hears b's broadcast and c's answer, b the wire, c the broadcast.
  for (std::size_t i = 0; i < minds.size(); ++i)
    fmt::print("{} got {}\n", minds.agent(i).name(), minds.agent(i).model<int>());
  if (minds.agent(2).model<int>() > 0) fmt::print("c heard b at {:.1f} dBm\n", minds.agent(2).signal("radio").last_dbm);
  return minds.agent(0).model<int>() == 2 && minds.agent(1).model<int>() == 1 && minds.agent(2).model<int>() == 1 ? 0
                                                                                                                  : 1;
}
