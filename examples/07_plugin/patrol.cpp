// A plugin with a behavior, a sensor and an extension: a lookout turns its head by a compass and counts its turns in a
// log book that all modules of the run share.
#include <volvox/plugin/plugin.h>

#include <algorithm>
#include <atomic>

using namespace volvox;

// The heading of the sensor's x axis, in rad from the world's x axis.
class Compass : public mind::Sensor {
 public:
  explicit Compass(const model::Sensor& mounted) : link_(mounted.link), pose_(mounted.pose) {}
  const TypeInfo& type() const override { return type_of<double>(); }
  void read(const mind::SenseContext& context, Value& reading) const override {
    const Vec3 forward = (context.world.link_pose(context.link(link_)) * pose_).rotation * Vec3{1, 0, 0};
    *reading.get<double>() = volvox::atan2(forward.y, forward.x);
  }

 private:
  int link_;
  Pose pose_;
};

// One for the whole run. Behaviors run in several threads, so shared data must be thread-safe.
class LogBook : public mind::Extension {
 public:
  void turned() { ++turns_; }
  void shutdown() override { std::fprintf(stderr, "log book: %d turns\n", turns_.load()); }

 private:
  std::atomic<int> turns_ = 0;
};

// Turns the head by a quarter of a turn every two seconds.
class Watch : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    speed_ = agent.parameter("speed", 2.0);
    agent.observe<double>("compass", [this](const double& heading) { heading_ = heading; });  // called in every tick
  }
  void step(mind::Agent& agent) override {
    double error = goal_ - heading_;
    while (error < -pi) error += 2 * pi;
    agent.turn("neck", std::clamp(8 * error, -speed_, speed_));
    if (agent.time() < next_turn_) return;
    goal_ = goal_ + pi / 2 > pi ? goal_ - 1.5 * pi : goal_ + pi / 2;
    next_turn_ = agent.time() + 2;
    agent.extension<LogBook>("log_book").turned();
  }
  VOLVOX_STATE(speed_, heading_, goal_, next_turn_)

 private:
  double speed_ = 0, heading_ = 0, goal_ = 0, next_turn_ = 1;
};

VOLVOX_PLUGIN("patrol", "a lookout with a compass and a log book") {
  plugin.behaviors.add(
      "watch", [] { return std::make_unique<Watch>(); }, "looks into every direction in turn");
  plugin.sensors.add(
      "compass", [](const model::Sensor& mounted, const Parameters&) { return std::make_unique<Compass>(mounted); },
      "the heading, in rad");
  plugin.extensions.add(
      "log_book", [](const sim::ExtensionSetup&) { return std::make_unique<LogBook>(); }, "counts turns");
}
