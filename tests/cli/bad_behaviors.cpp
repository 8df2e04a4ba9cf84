// A volvox command with faulty behaviours and a faulty experiment, for bad_input_test.py.
#include <cmath>
#include <stdexcept>

#include "volvox/cli/cli.h"
#include "volvox/mind/behavior.h"

namespace {

using volvox::mind::Agent;
using volvox::mind::Behavior;

// Does nothing for 0.1 s, then one bad thing.
class Bad final : public Behavior {
 public:
  explicit Bad(void (*deed)(Agent&), bool listed = true) : deed_(deed), listed_(listed) {}
  void step(Agent& agent) override {
    if (agent.time() > 0.1) deed_(agent);
  }
  bool lists_state() const override { return listed_; }

 private:
  void (*deed_)(Agent&);
  bool listed_;
};

class BadStart final : public Behavior {
 public:
  void start(Agent& agent) override { agent.move_to("no_such_joint", 1); }
  void step(Agent&) override {}
};

class ReadsLate final : public Behavior {
 public:
  void step(Agent& agent) override { (void)agent.parameter("gain", 1.0); }
};

class Throwing final : public volvox::sim::Experiment {
 public:
  volvox::Result<volvox::model::WorldModel> init(volvox::sim::Setup&) override {
    throw std::runtime_error("thrown on purpose");
  }
  volvox::Result<std::vector<volvox::model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<volvox::model::ParameterDesc>{};
  }
};

class ThrowingAtItsBegin final : public volvox::sim::Experiment {
 public:
  void begin(const volvox::sim::Simulation&) override { throw std::runtime_error("thrown at the begin"); }
  volvox::Result<volvox::model::WorldModel> init(volvox::sim::Setup&) override {
    return volvox::model::WorldBuilder().build();
  }
  volvox::Result<std::vector<volvox::model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<volvox::model::ParameterDesc>{};
  }
};

}  // namespace

int main(int argc, char** argv) {
  volvox::sim::Library library = volvox::cli::standard_library();
  const auto add = [&](const char* name, void (*deed)(Agent&), bool listed = true) {
    library.minds.behaviors.add(name, [=] { return std::make_unique<Bad>(deed, listed); });
  };
  add("commands_nan", [](Agent& agent) { agent.move_to("pitch", std::nan("")); });
  add("commands_infinity", [](Agent& agent) { agent.turn("pitch", INFINITY); });
  add("loops", [](Agent&) {
    for (volatile bool for_ever = true; for_ever;) {}
  });
  add("throws", [](Agent&) { throw std::runtime_error("thrown on purpose"); });
  add("throws_a_number", [](Agent&) { throw 42; });
  add("senses_nothing", [](Agent& agent) { agent.percept<double>("pich.angle"); });
  add("senses_another_type", [](Agent& agent) { agent.percept<bool>("pitch.angle"); });
  add("sends_nowhere", [](Agent& agent) { agent.send("frnt", 1.0); });
  add(
      "lists_no_state", [](Agent&) {}, false);
  library.minds.behaviors.add("starts_badly", [] { return std::make_unique<BadStart>(); });
  library.minds.behaviors.add("reads_late", [] { return std::make_unique<ReadsLate>(); });
  library.experiments.add("throwing", [] { return std::make_unique<Throwing>(); });
  library.experiments.add("throwing_at_its_begin", [] { return std::make_unique<ThrowingAtItsBegin>(); });
  return volvox::cli::main(argc, argv, library);
}
