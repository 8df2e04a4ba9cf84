// A watchman finds a pillar with one sensor and measures its distance with another that has noise.
#include <fmt/format.h>
#include <volvox/base/index.h>
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>
#include <volvox/sim/run.h>

#include <cmath>

class Watch : public volvox::mind::Behavior {
 public:
  void step(volvox::mind::Agent& agent) override {
    const auto& obstacle = agent.percept<volvox::mind::Obstacle>("eye");
    if (obstacle.seen) agent.move_to("pan", agent.angle("pan") + obstacle.bearing);
    if (agent.time() > 2) agent.model<std::vector<double>>().push_back(agent.percept<std::vector<double>>("laser")[0]);
  }
  VOLVOX_STATE()
};

int main(int argc, char** argv) {
  if (argc < 2) return 2;  // it wants its world.sdf
  auto library = volvox::cli::standard_library();
  library.minds.behaviors.add("watch", [] { return std::make_unique<Watch>(); });
  volvox::Log log;
  volvox::sim::RunOptions options;
  options.experiment = argv[1];  // world.sdf
  auto run = volvox::sim::Run::prepare(options, library, log);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().text());
    return 2;
  }
  (*run)->finish();
  volvox::mind::Agent& agent = (*run)->simulation().minds().agent(0);

  const auto& obstacle = agent.percept<volvox::mind::Obstacle>("eye");
  fmt::print("the eye: {}\nthe head is turned by {:.3f} rad\n", volvox::describe(obstacle), agent.angle("pan"));
  // A pillar of radius 0.1 m, seen from 0.98 m, is 2 asin(0.1 / 0.98) wide.
  const bool found = obstacle.seen && !obstacle.moves && !obstacle.is_module &&
                     std::abs(agent.angle("pan") - 0.5) < 0.03 && std::abs(obstacle.distance - 0.88) < 0.005 &&
                     std::abs(obstacle.width - 0.204) < 0.03;

  const auto& readings = agent.model<std::vector<double>>();
  double sum = 0, squares = 0;
  int repeated = 0, rounded = 0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    sum += readings[i];
    squares += (readings[i] - 0.88) * (readings[i] - 0.88);
    repeated += i > 0 && readings[i] == readings[i - 1];
    rounded += std::abs(readings[i] * 1000 - std::round(readings[i] * 1000)) < 1e-6;
  }
  const double count = volvox::real(readings.size());
  fmt::print("the laser: {:.4f} m on average, {:.4f} m rms error, {:.0f} % repeated\n", sum / count,
             std::sqrt(squares / count), 100 * repeated / count);
  const bool measured = std::abs(sum / count - 0.88) < 0.003 && std::abs(std::sqrt(squares / count) - 0.01) < 0.002;
  const bool noisy = rounded == count && repeated > 0.07 * count && repeated < 0.25 * count;
  return found && measured && noisy ? 0 : 1;
}
