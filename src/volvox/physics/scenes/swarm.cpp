#include "volvox/physics/scenes/swarm.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/lone.h"
#include "volvox/physics/native/native_engine.h"
#include "volvox/physics/robot_batch.h"
#include "volvox/physics/scenes/robots.h"
#include "volvox/physics/system.h"

namespace volvox::physics::scenes {
namespace {

constexpr std::size_t starts = 64;  // attitudes
constexpr std::size_t loaded_at_once = 16384;
const TickLength tick_length = *TickLength::parse("1/60");

double spread(std::size_t i, double ratio) { return real(i) * ratio - std::floor(real(i) * ratio); }

std::unique_ptr<Engine> make_world(std::size_t robot) {
  EngineSettings settings;
  settings.precision = Precision::double_;
  auto engine = make_native_engine(settings);
  BenchScene scene;
  static const RobotParts parts(scene.friction);
  add_fixed(scene, model::Plane{}, {});
  const double yaw = 2 * pi * spread(robot % starts, 0.6180339887498949);
  (void)add_superbot(scene, parts, {{0, 0, 0.062}, Quat::axis_angle({0, 0, 1}, yaw)}, 0);
  std::vector<BodyId> ids;
  for (BodyDesc& body : scene.bodies) {
    if (body.motion == Motion::dynamic) body.owner = 1, body.quiet = true;
    ids.push_back(*engine->add_body(body));
  }
  for (const SceneJoint& joint : scene.joints) {
    JointDesc desc = joint.desc;
    desc.a = ids[desc.a.index], desc.b = ids[desc.b.index];
    (void)engine->add_joint(desc);
  }
  return engine;
}

// By joint index.
std::vector<MotorWave> waves_of(std::size_t robot) {
  std::vector<MotorWave> waves(3);
  for (std::size_t k = 0; k < waves.size(); ++k) {
    waves[k].command = {Control::position, 0, 2000, 200, 1e300, 6.4};
    waves[k].amplitude = 0.8, waves[k].frequency = 0.5;
    waves[k].phase = 2 * pi * spread(3 * robot + k, 0.7548776662466927);
  }
  return waves;
}

std::uint64_t hash_of(std::vector<std::unique_ptr<Engine>>& worlds) {
  Hasher all;
  for (std::size_t i = 0; i < std::min(worlds.size(), hashed_robots); ++i) {
    HashArchive archive;
    worlds[i]->archive(archive);
    const std::uint64_t value = archive.value();
    all.add(value);
  }
  return all.value();
}

Result<SwarmMeasure> on_engines(std::size_t n, std::int64_t ticks, int threads) {
  SwarmMeasure m;
  ThreadPool pool(threads);
  double begin = platform::monotonic_seconds();
  std::vector<std::unique_ptr<Engine>> worlds;
  std::vector<RobotBatch::Member> members;
  for (std::size_t i = 0; i < n; ++i) {
    worlds.push_back(make_world(i));
    members.push_back({worlds.back().get(), waves_of(i)});
  }
  RobotBatch all(std::move(members), nullptr, &pool);
  m.load_s = platform::monotonic_seconds() - begin;
  begin = platform::monotonic_seconds();
  const double cpu = platform::process_cpu_seconds();
  for (const StepStatus& status : all.advance(tick_length, 0, ticks))
    if (!status.ok()) return Error(status.text(), "lower the number of ticks");
  m.run_s = platform::monotonic_seconds() - begin, m.cpu_s = platform::process_cpu_seconds() - cpu;
  m.module_ticks = static_cast<std::int64_t>(n) * ticks;
  m.state_hash = hash_of(worlds);
  return m;
}

// The worlds get their states of a GPU, and go on from there by their engines.
Result<void> finish(std::vector<std::unique_ptr<Engine>>& worlds, const native::LoneKind& kind,
                    std::span<const double> words, std::span<const cuda::DeviceEnd> ends, std::int64_t ticks) {
  const std::size_t width = narrow<std::size_t>(kind.layout().all_words());
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    const bool whole = ends[i].end == native::LoneEnd::moved;
    if (ends[i].ticks > 0) native::LoneWorld::of(*worlds[i])->write(kind, words.subspan(i * width, width), whole);
    RobotBatch rest({{worlds[i].get(), waves_of(i)}}, nullptr, nullptr);
    for (const StepStatus& status : rest.advance(tick_length, ends[i].ticks, ticks - ends[i].ticks))
      if (!status.ok()) return Error(status.text(), "lower the number of ticks");
  }
  return {};
}

Result<SwarmMeasure> on_gpu(std::size_t n, std::int64_t ticks, const std::shared_ptr<const cuda::Device>& device) {
  SwarmMeasure m;
  m.device = device->name();
  const double begin = platform::monotonic_seconds();
  std::vector<std::unique_ptr<Engine>> worlds;
  for (std::size_t i = 0; i < std::min(starts, n); ++i) worlds.push_back(make_world(i));
  auto first = native::LoneWorld::of(*worlds[0]);
  if (!first.ok()) return first.error();
  auto kind = first->kind();
  if (!kind.ok()) return kind.error();
  const native::LoneLayout layout = kind->layout();
  const std::size_t width = narrow<std::size_t>(layout.all_words());
  auto robots = cuda::RobotsOnDevice::create(device, kind->pattern(), n);
  if (!robots.ok()) return robots.error();
  std::vector<double> some(worlds.size() * width);
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    auto world = native::LoneWorld::of(*worlds[i]);
    if (auto own = world->kind(); !own.ok()) return own.error();
    if (auto read = world->read(layout, std::span(some).subspan(i * width, width)); !read.ok()) return read.error();
  }
  std::vector<double> words;
  std::vector<MotorWave> waves;
  for (std::size_t at = 0; at < n; at += loaded_at_once) {
    words.clear(), waves.clear();
    for (std::size_t i = at; i < std::min(n, at + loaded_at_once); ++i) {
      const auto start = some.begin() + static_cast<std::ptrdiff_t>(i % starts * width);
      words.insert(words.end(), start, start + static_cast<std::ptrdiff_t>(width));
      const std::vector<MotorWave> own = waves_of(i);
      for (int node = 1; node < layout.nodes; ++node)
        waves.push_back(
            own[static_cast<std::size_t>(kind->pattern().links[static_cast<std::size_t>(node)].joint_index)]);
    }
    if (auto loaded = robots->load(at, words, waves); !loaded.ok()) return loaded.error();
  }
  m.load_s = platform::monotonic_seconds() - begin;
  std::vector<cuda::DeviceTick> all;
  for (std::int64_t k = 0; k < ticks; ++k) {
    const double length = (tick_length.start_of(k + 1) - tick_length.start_of(k)).seconds();
    all.push_back({tick_length.start_of(k).seconds(), length, substep_count(length, kind->pattern().max_substep)});
  }
  const double cpu = platform::process_cpu_seconds();
  if (auto moved = robots->step(all); !moved.ok()) return moved.error();
  m.run_s = robots->seconds(), m.cpu_s = platform::process_cpu_seconds() - cpu;
  for (std::size_t at = 0; at < n; at += loaded_at_once) {
    std::vector<cuda::DeviceEnd> ends(std::min(n - at, loaded_at_once));
    words.resize(ends.size() * width);
    if (auto saved = robots->save(at, words, ends); !saved.ok()) return saved.error();
    for (const cuda::DeviceEnd& end : ends) m.module_ticks += end.ticks, m.left += end.end != native::LoneEnd::moved;
    if (at > 0) continue;
    if (auto finished = finish(worlds, *kind, words, ends, ticks); !finished.ok()) return finished.error();
  }
  m.state_hash = hash_of(worlds);
  return m;
}

}  // namespace

Result<SwarmMeasure> measure_swarm(std::size_t n, std::int64_t ticks, std::shared_ptr<const cuda::Device> device,
                                   int threads) {
  auto m = device == nullptr ? on_engines(n, ticks, threads) : on_gpu(n, ticks, device);
  if (!m.ok()) return m;
  m->n = n, m->ticks = ticks;
  m->module_ticks_per_s = m->run_s > 0 ? real(m->module_ticks) / m->run_s : 0;
  return m;
}

}  // namespace volvox::physics::scenes
