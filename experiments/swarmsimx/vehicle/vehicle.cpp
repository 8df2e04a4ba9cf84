#include <cmath>

#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {
namespace {

// What the buggy's numbers (robots/buggy) give by pencil.
constexpr double g = 9.81, sprung = 18, mass = 20;   // m/s^2, kg
constexpr double spring = 1500, damper = 40;         // N/m, N s/m, of each wheel
constexpr double tyre = 20000, cornering = 400;      // N/m, N/rad, of each
constexpr double to_front = 0.205, to_rear = 0.295;  // m, from the centre of mass, with the wheels, to the axles
constexpr double sag = sprung * g / (4 * spring);    // m, the mean of the springs
constexpr double base = to_front + to_rear;
constexpr double understeer = mass / base * (to_rear - to_front) / (2 * cornering);  // rad per m/s^2

// The SwarmSimX paper, its future work: vehicle models.
class Vehicle final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    steer_ = std::stod(setup.settings.at("steer"));
    return sim::Experiment::init(setup);
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    const double now = simulation.now().seconds();
    double depth = 0;
    for (world::JointIndex j = 0; j < world.module_model(buggy(world)).joints.size(); ++j)
      if (world.module_model(buggy(world)).joints[j].type == model::JointType::prismatic)
        depth += 0.25 * world.joint_state(world.part(buggy(world)).first_joint + j).position;
    if (now < 3) {
      // From unloaded springs it swings about its sag: where it is deepest, half a period is over.
      if (depth > deepest_) deepest_ = depth, deepest_at_ = now;
      sag_ = depth;
    }
    if (now > 11) {
      const Twist body = world.link_velocity(world.part(buggy(world)).first_link);
      const double speed = length(body.linear.x, body.linear.y);
      speeds_ += speed;
      turns_ += body.angular.z;
      ++samples_;
    }
  }

  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    // One mass on springs and tyres in line, as the dampers brake it.
    const double stiffness = 4 * spring * tyre / (spring + tyre), omega = std::sqrt(stiffness / sprung);
    const double damping = 4 * damper / (2 * sprung * omega);
    const double half_period = pi / (omega * std::sqrt(1 - damping * damping));
    const double speed = sim::mean_of(speeds_, real(samples_)), turn = sim::mean_of(turns_, real(samples_));
    const double expected = speed * steer_ / (base + understeer * speed * speed);
    metrics.set("sag_ratio", sag_ / sag, "of the springs at rest, over m g / 4 k");
    metrics.set("half_period_ratio", deepest_at_ / half_period,
                "of the first swing, over pi / damped natural frequency");
    metrics.set("speed_m_s", speed, "in the circle");
    metrics.set("turn_ratio", turn / expected, "rate of turning, over v steer / (L + K v^2)");
    // K follows from the circle: steer = L turn / v + K v turn.
    metrics.set("understeer_ratio", (steer_ - base * turn / speed) / (speed * turn) / understeer,
                "understeer gradient, over m / L (b / Cf - a / Cr)");
  }

  void archive_state(Archive& ar) override {
    ar("sag", sag_);
    ar("deepest", deepest_);
    ar("deepest at", deepest_at_);
    ar("speeds", speeds_);
    ar("turns", turns_);
    ar("samples", samples_);
  }

 private:
  static world::PlacementIndex buggy(const world::World& world) { return world.modules().front(); }

  double steer_ = 0;                               // rad
  double sag_ = 0, deepest_ = 0, deepest_at_ = 0;  // m, m, s
  double speeds_ = 0, turns_ = 0;                  // sums: m/s, rad/s
  std::int64_t samples_ = 0;
};

}  // namespace

sim::ExperimentFactory vehicle() { return make<Vehicle>(); }

}  // namespace volvox::experiments::swarmsimx
