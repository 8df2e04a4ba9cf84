#include "volvox/physics/scenes/scene_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"

namespace volvox::physics::scenes {
namespace {

constexpr TickLength tick_length{1, 60};
constexpr int ticks_between_contact_looks = 10;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / real(values.size());
}

// The extra time of ticks with events, by their position in the cycle of four.
class EventCost {
 public:
  void add(std::int64_t tick, double seconds, int events) {
    const auto place = tick % 4;
    cycle_[place] = seconds;
    if (place % 2 == 0) events_[place / 2] = events;
    begun_ = begun_ || place == 0;
    if (place != 3 || !begun_) return;  // only whole cycles count
    for (const std::size_t i : {0u, 1u})
      if (events_[i] > 0) costs_[i].push_back((cycle_[2 * i] - cycle_[2 * i + 1]) / events_[i]);
  }
  std::optional<double> undock_us() const { return typical(0); }
  std::optional<double> dock_us() const { return typical(1); }

 private:
  std::optional<double> typical(std::size_t i) const {
    if (costs_[i].empty()) return std::nullopt;
    return 1e6 * median(costs_[i]);
  }
  double cycle_[4] = {};
  int events_[2] = {};
  bool begun_ = false;
  std::vector<double> costs_[2];
};

}  // namespace

Result<SceneRun> SceneRun::create(const BenchScene& scene, Engine& engine, TickLength tick) {
  SceneRun run(scene, engine, tick);
  for (const BodyDesc& body : scene.bodies) {
    const auto added = engine.add_body(body);
    if (!added.ok()) return added.error();
    run.bodies_.push_back(*added);
  }
  for (std::size_t i = 0; i < scene.joints.size(); ++i) {
    JointDesc desc = scene.joints[i].desc;
    desc.a = run.bodies_[desc.a.index], desc.b = run.bodies_[desc.b.index];
    run.joints_.push_back(engine.add_joint(desc));
    if (desc.type == JointType::dock) run.docks_.push_back(i);
  }
  return run;
}

void SceneRun::command() {
  const double now = time();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const SceneJoint& joint = scene_.joints[i];
    if (joint.desc.type != JointType::revolute) continue;
    const std::size_t index = joints_[i].index;
    const double speed = scene_.drive(joint, now, engine_.joints()[index].position, tick_.seconds());
    engine_.motors()[index] = {Control::velocity, speed, 0, scene_.motor_gain, 1e300, scene_.motor_torque};
  }
  if (!scene_.keep_awake) return;
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (scene_.bodies[i].motion == Motion::dynamic) engine_.forces()[bodies_[i].index].force.z += 1e-9;
}

int SceneRun::change_docks() {
  if (scene_.events.count == 0 || docks_.empty()) return 0;
  if (ticks_ % 4 == 0) {
    const std::size_t count = std::min<std::size_t>(scene_.events.count, docks_.size());
    // A stride that spreads the docks over the scene and reaches each in the end.
    const std::size_t stride = std::max<std::size_t>(1, truncated<std::size_t>(0.382 * real(docks_.size())));
    while (undocked_.size() < count) {
      next_dock_ = (next_dock_ + stride) % docks_.size();
      while (!joints_[docks_[next_dock_]].valid()) next_dock_ = (next_dock_ + 1) % docks_.size();
      const std::size_t dock = docks_[next_dock_];
      engine_.remove_joint(joints_[dock]);
      joints_[dock] = {};
      undocked_.push_back(dock);
    }
    return narrow<int>(count);
  }
  if (ticks_ % 4 != 2) return 0;
  for (const std::size_t dock : undocked_) {
    JointDesc desc = scene_.joints[dock].desc;
    desc.a = bodies_[desc.a.index], desc.b = bodies_[desc.b.index];
    joints_[dock] = engine_.add_joint(desc);
  }
  const int closed = narrow<int>(undocked_.size());
  undocked_.clear();
  return closed;
}

StepStatus SceneRun::step() {
  const Time begin = now();
  ++ticks_;
  return engine_.advance(begin, now());
}

void SceneRun::look(Quality& worst) const {
  const auto poses = engine_.poses();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const JointDesc& desc = scene_.joints[i].desc;
    const bool dock = desc.type == JointType::dock;
    if (!joints_[i].valid() || (dock && engine_.latched()[joints_[i].index] == 0)) continue;
    const Pose a = poses[bodies_[desc.a.index].index] * desc.frame_a,
               b = poses[bodies_[desc.b.index].index] * desc.frame_b;
    const double gap = 1e3 * length(a.position - b.position);
    if (dock) {
      worst.has_docks = true;
      worst.dock_mm = std::max(worst.dock_mm, gap);
      worst.dock_deg = std::max(worst.dock_deg, degrees(angle(a.rotation.conjugate() * b.rotation)));
    } else {
      const Vec3 x = a.rotation * Vec3{0, 0, 1}, y = b.rotation * Vec3{0, 0, 1};
      worst.has_hinges = true;
      worst.hinge_mm = std::max(worst.hinge_mm, gap);
      worst.hinge_deg = std::max(worst.hinge_deg, degrees(volvox::atan2(length(cross(x, y)), dot(x, y))));
    }
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (scene_.bodies[i].motion == Motion::dynamic)
      worst.lift_m = std::max(worst.lift_m, poses[bodies_[i].index].position.z);
}

void SceneRun::look_at_contacts(Quality& worst) const {
  std::vector<Pose> poses;
  for (const BodyId body : bodies_) poses.push_back(engine_.poses()[body.index]);
  worst.penetration_mm = std::max(worst.penetration_mm, 1e3 * meter_.deepest(poses));
}

Vec3 SceneRun::centre_of_mass() const {
  Vec3 sum;
  double mass = 0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyDesc& body = scene_.bodies[i];
    if (body.motion != Motion::dynamic) continue;
    sum += engine_.poses()[bodies_[i].index].position * body.mass;
    mass += body.mass;
  }
  return mass > 0 ? sum / mass : sum;
}

Measurement measure(const BenchScene& scene, const EngineRegistry& engines, const std::string& engine_name,
                    const MeasureOptions& options) {
  ThreadPool pool(options.threads);
  EngineSettings settings;
  settings.max_substep = options.substep;
  settings.precision = options.precision;
  settings.threads = options.threads > 1 ? &pool : nullptr;
  Measurement m;
  auto engine = engines.make(engine_name, settings);
  if (!engine.ok()) {
    m.failure = engine.error().text();
    return m;
  }
  m.settings = (*engine)->info().settings;
  m.settle = std::min(scene.settle, options.seconds / 3);
  auto created = SceneRun::create(scene, **engine, tick_length);
  if (!created.ok()) {
    m.failure = created.error().text();
    return m;
  }
  SceneRun& run = *created;
  const Vec3 start = run.centre_of_mass();
  const std::int64_t ticks = std::max<std::int64_t>(2, tick_length.ticks_in(Time::seconds(options.seconds)));
  const double begin = platform::monotonic_seconds();
  std::vector<double> times, contact_counts;
  std::vector<Contact> contacts;
  EventCost events;
  double cpu = 0;
  std::vector<WorkCount> before_ticks;
  while (run.ticks() < ticks && m.failure.empty()) {
    if (platform::monotonic_seconds() - begin > options.limit) break;
    const bool counts = run.time() >= m.settle;
    if (counts && times.empty()) before_ticks = (*engine)->work();
    run.command();
    const std::int64_t tick = run.ticks();
    const double cpu_before = platform::process_cpu_seconds(), before = platform::monotonic_seconds();
    const int changes = run.change_docks();
    const StepStatus status = run.step();
    const double taken = platform::monotonic_seconds() - before,
                 cpu_taken = platform::process_cpu_seconds() - cpu_before;
    cpu += counts ? cpu_taken : 0;
    m.failure = status.what;
    if (!counts || !status.ok()) continue;
    times.push_back(1e3 * taken);
    // CPU time, because an event costs little compared with the noise of wall time on a busy machine.
    events.add(tick, cpu_taken, changes);
    run.look(m.worst);
    if (times.size() % ticks_between_contact_looks != 1) continue;
    run.look_at_contacts(m.worst);
    (*engine)->contacts(contacts);
    contact_counts.push_back(real(contacts.size()));
  }
  if (times.empty() && m.failure.empty())
    m.failure = fmt::format("within {:.3g} s it came to {:.2f} s of the {:.2f} s in which the scene settles",
                            options.limit, run.time(), m.settle);
  m.simulated = run.time();
  const std::vector<WorkCount> work = (*engine)->work();
  for (std::size_t i = 0; !times.empty() && i < work.size(); ++i)
    m.work.emplace_back(work[i].what, real(work[i].count - before_ticks[i].count) / real(times.size()));
  m.ticks = narrow<int>(times.size());
  m.ms_median = median(times);
  m.ms_mean = mean(times);
  m.ms_min = times.empty() ? 0 : *std::min_element(times.begin(), times.end());
  m.cpu_ms_mean = times.empty() ? 0 : 1e3 * cpu / real(times.size());
  m.contacts = mean(contact_counts);
  const Vec3 moved = run.centre_of_mass() - start;
  m.travel_m = length(moved.x, moved.y);
  HashArchive hash;
  (*engine)->archive(hash);
  m.state_hash = hash.value();
  m.undock_us = events.undock_us(), m.dock_us = events.dock_us();
  return m;
}

}  // namespace volvox::physics::scenes
