#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/base/platform/real_time.h"
#include "volvox/mind/camera.h"
#include "volvox/mind/dock_beacon.h"
#include "volvox/mind/range_sensors.h"
#include "volvox/plugin/isolated.h"
#include "volvox/world/latches.h"

namespace volvox::plugin {
namespace {

using nlohmann::json;
constexpr double making_limit = 10;  // s, to load a library and make one sensor

// The type of a percept must be known in the run's process, which has no code of the plugin.
const TypeInfo* known_type(std::uint64_t key) {
  static const std::array known = {&type_of<bool>(),
                                   &type_of<int>(),
                                   &type_of<double>(),
                                   &type_of<std::string>(),
                                   &type_of<Vec3>(),
                                   &type_of<Quat>(),
                                   &type_of<Pose>(),
                                   &type_of<Twist>(),
                                   &type_of<Wrench>(),
                                   &type_of<std::vector<bool>>(),
                                   &type_of<std::vector<int>>(),
                                   &type_of<std::vector<double>>(),
                                   &type_of<std::vector<Vec3>>(),
                                   &type_of<std::vector<Pose>>(),
                                   &type_of<mind::Obstacle>(),
                                   &type_of<mind::Contact>(),
                                   &type_of<mind::Proximity>(),
                                   &type_of<mind::DockState>(),
                                   &type_of<mind::DockLoad>(),
                                   &type_of<mind::LatchState>(),
                                   &type_of<mind::CameraImage>(),
                                   &type_of<mind::DockBeacon>(),
                                   &type_of<mind::LinkState>(),
                                   &type_of<mind::Signal>()};
  for (const TypeInfo* type : known)
    if (type->key == key) return type;
  return nullptr;
}

// Plain structs, copied byte by byte: both processes are the same program.
template <class T>
void archive_bytes(Archive& ar, std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  ar("bytes", bytes);
  if (!ar.loading()) return;
  values.resize(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), values.size() * sizeof(T));
}

// A call of a sensor in the companion, which answers with rays or a reading.
struct SensorCall {
  std::uint32_t sensor = 0;
  std::uintptr_t world = 0;  // its address, which is valid in the companion, too: that is a copy of this process
  world::PlacementIndex module = 0;
  double dt = 0;  // s
  std::vector<mind::RayHit> hits;
  std::vector<double> forces;
  bool neighborhood = false;  // the sensor looks at modules near it
  bool moved = false;         // the state of the world follows
  void archive(Archive& ar) {
    ar("sensor", sensor);
    ar("world", world);
    ar("module", module);
    ar("dt", dt);
    archive_bytes(ar, hits);
    archive_bytes(ar, forces);
    ar("neighborhood", neighborhood);
    ar("moved", moved);
  }
};

bool sound_ray(const mind::Ray& ray) { return finite(ray.origin) && finite(ray.direction) && ray.range >= 0; }

// True if the loop, the recorder and the viewer can work with it.
bool sound_reading(const Value& reading) {
  bool sound = true;
  const_cast<Value&>(reading).each_number([&](double& x) { sound = sound && std::isfinite(x); });
  if (const auto* image = reading.get<mind::CameraImage>()) {
    const std::int64_t pixels = std::int64_t{image->width} * image->height;
    sound = sound && image->width >= 0 && image->height >= 0 && std::ssize(image->rgb) == 3 * pixels &&
            std::ssize(image->depth) == pixels;
  }
  return sound;
}

template <class T>
bool changed(std::span<const T> now, std::vector<T>& before) {
  if (now.size() == before.size() && (now.empty() || std::memcmp(now.data(), before.data(), now.size_bytes()) == 0))
    return false;
  before.assign(now.begin(), now.end());
  return true;
}

}  // namespace

// The proxy, in this process, of a sensor that runs in the companion.
class IsolatedSensor final : public mind::Sensor {
 public:
  struct Facts {
    const TypeInfo* type;
    bool casts_rays, needs_contacts;
    double neighbor_range;
  };
  IsolatedSensor(std::shared_ptr<IsolatedLibrary> library, std::uint32_t number, const Facts& facts)
      : library_(std::move(library)), number_(number), facts_(facts) {}
  const TypeInfo& type() const override { return *facts_.type; }
  bool casts_rays() const override { return facts_.casts_rays; }
  void rays(const mind::SenseContext& context, std::vector<mind::Ray>& out) const override {
    library_->sense(IsolatedLibrary::Operation::rays, number_, context, &out, nullptr);
  }
  bool needs_contacts() const override { return facts_.needs_contacts; }
  double neighbor_range() const override { return facts_.neighbor_range; }
  void read(const mind::SenseContext& context, Value& reading) const override {
    library_->sense(IsolatedLibrary::Operation::read, number_, context, nullptr, &reading);
  }

 private:
  std::shared_ptr<IsolatedLibrary> library_;
  std::uint32_t number_;
  Facts facts_;
};

// The sensor is made in a short-lived process, which returns what the loop must know about it.
mind::SensorFactory IsolatedLibrary::sensor_factory(const std::string& type) {
  return [self = shared_from_this(), type](const model::Sensor& sensor,
                                           const Parameters& parameters) -> std::unique_ptr<mind::Sensor> {
    const auto fail = [&](const std::string& what) {
      throw PluginError(
          fmt::format("plugin '{}' ({}): its sensor '{}' {}", self->facts_.name, self->file_.string(), type, what));
    };
    self->sensors_.push_back({sensor, parameters, 0});
    const auto number = narrow<std::uint32_t>(self->sensors_.size() - 1);
    const platform::ChildOutcome outcome = platform::run_in_child(
        [&]() -> std::string {
          try {
            const mind::Sensor& made = self->sensor_here(number);
            const Parameters& given = self->sensors_[number].parameters;
            if (const auto checked = given.check(false); !checked.ok())
              return to_json_text(json{{"error", checked.error().text()}});
            return to_json_text(json{{"type", made.type().key},
                                     {"type name", made.type().name},
                                     {"casts rays", made.casts_rays()},
                                     {"needs contacts", made.needs_contacts()},
                                     {"neighbor range", made.neighbor_range()},
                                     {"asked", given.asked()}});
          } catch (const std::exception& error) {
            return to_json_text(json{{"error", error.what()}});
          }
        },
        making_limit, nullptr, {.memory_bytes = self->limits_.memory});
    if (!outcome.failure.empty()) fail("cannot be made: its process " + outcome.failure);
    try {
      const json told = json::parse(outcome.text);
      if (told.contains("error")) throw PluginError(told["error"].get<std::string>());
      const TypeInfo* known = known_type(told.at("type").get<std::uint64_t>());
      if (known == nullptr)
        fail(fmt::format("reads a type of its own, {}, which the run's process does not know; run it without --isolate",
                         told.value("type name", "")));
      for (const json& key : told.at("asked")) parameters.text(key.get<std::string>(), "");
      self->sensors_[number].neighbor_range = told.at("neighbor range").get<double>();  // JSON has no NaN
      return std::make_unique<IsolatedSensor>(
          self, number,
          IsolatedSensor::Facts{known, told.at("casts rays").get<bool>(), told.at("needs contacts").get<bool>(),
                                self->sensors_[number].neighbor_range});
    } catch (const json::exception&) {
      fail("says nothing of itself");
    }
    return nullptr;
  };
}

// --- in this process ----------------------------------------------------------------------------

bool IsolatedLibrary::Seen::update(const world::World& world) {
  const physics::StateArrays& state = world.engine_state();
  bool any = changed(std::span(state.poses), poses);
  any = changed(std::span(state.velocities), velocities) || any;
  any = changed(std::span(state.joints), joints) || any;
  any = changed(std::span(state.loads), loads) || any;
  std::vector<Twist> before;
  for (world::LinkIndex link = 0; link < world.links(); ++link) before.push_back(world.last_velocity(link));
  any = changed(std::span<const Twist>(before), last_velocities) || any;
  std::vector<double> rest{world.last_advance()};
  for (world::DockIndex dock = 0; dock < world.docks(); ++dock) {
    const world::DockStatus& status = world.dock_status(dock);
    rest.push_back(real(number_of(status.phase)) + 4 * status.enabled + 8 * status.broken);
    rest.push_back(world.graph().partner(dock));
    if (world.latches() != nullptr && world.latches()->model(dock) != nullptr) {
      const world::Latches::Jaws& jaws = world.latches()->jaws(dock);
      rest.insert(rest.end(), {jaws.opening, jaws.jammed ? 1.0 : 0.0, jaws.stuck ? 1.0 : 0.0, world.dock_slip(dock)});
    }
  }
  for (world::PlacementIndex placement = 0; placement < world.placements(); ++placement) {
    const auto color = world.color(placement);
    if (color) rest.insert(rest.end(), {real(std::uint32_t{placement}), color->r, color->g, color->b, color->a});
  }
  return changed(std::span<const double>(rest), others) || any;
}

void IsolatedLibrary::sense(Operation operation, std::uint32_t sensor, const mind::SenseContext& context,
                            std::vector<mind::Ray>* rays, Value* reading) {
  const std::lock_guard lock(mutex_);
  VOLVOX_ASSERT(sensor < sensors_.size());
  if (!disabled_.empty() || sensors_[sensor].stopped) return;
  const std::int64_t begin = platform::monotonic_ns();
  SaveArchive ar;
  const bool differs = seen_.update(context.world);
  SensorCall call{.sensor = sensor,
                  .world = reinterpret_cast<std::uintptr_t>(&context.world),
                  .module = context.module,
                  .dt = context.dt,
                  .hits = {context.hits.begin(), context.hits.end()},
                  .forces = {context.contact_forces.begin(), context.contact_forces.end()},
                  .neighborhood = sensors_[sensor].neighbor_range > 0,
                  // At the first call the companion's copy is up to date.
                  .moved = companion_ != nullptr && differs};
  ar("operation", operation);
  call.archive(ar);
  if (call.moved) const_cast<world::World&>(context.world).archive(ar);
  if (reading != nullptr) reading->archive(ar);
  const std::string where =
      fmt::format("sensor '{}' of module '{}'", sensors_[sensor].model.name, context.world.name(context.module));
  const auto answered = exchange(ar, where);
  if (!answered) return;
  LoadArchive back(*answered);
  if (!take_outcome(back, where, sensors_[sensor].stopped)) return;
  std::vector<mind::Ray> wanted;
  Value read = reading != nullptr ? *reading : Value();
  try {
    if (rays != nullptr) archive_bytes(back, wanted);
    if (reading != nullptr) read.archive(back);
  } catch (const std::exception&) {
    back.fail("it asks for too much memory");
  }
  if (!back.ok() || !std::all_of(wanted.begin(), wanted.end(), sound_ray) || !sound_reading(read))
    return disable("gave a malformed answer", where);
  if (rays != nullptr) rays->insert(rays->end(), wanted.begin(), wanted.end());
  if (reading != nullptr) *reading = std::move(read);
  round_trips_.add(platform::monotonic_ns() - begin);
}

// --- in the companion ---------------------------------------------------------------------------

const mind::Sensor& IsolatedLibrary::sensor_here(std::uint32_t number) {
  sensing_.resize(sensors_.size());
  const SensorMade& made = sensors_[number];
  if (!sensing_[number])
    sensing_[number] = guard_here().sensor(**library_here().offered->sensors.find(made.model.type), made.model.type)(
        made.model, made.parameters);
  return *sensing_[number];
}

void IsolatedLibrary::answer_sensor(Operation operation, LoadArchive& ar, SaveArchive& back) {
  SensorCall call;
  call.archive(ar);
  auto& world = *reinterpret_cast<world::World*>(call.world);
  if (call.moved) world.archive(ar);
  if (!ar.ok())
    throw PluginError(
        fmt::format("plugin '{}': the world could not be sent to its process: {}", facts_.name, ar.failure()));
  const mind::Sensor& sensor = sensor_here(call.sensor);
  // The world may have been sent by an earlier sensor that does not use the neighbourhood.
  neighborhood_stale_ = neighborhood_stale_ || call.moved;
  if (call.neighborhood && neighborhood_stale_) {
    double range = 0;
    for (const SensorMade& made : sensors_) range = std::max(range, made.neighbor_range);
    neighborhood_.update(world, range);
    neighborhood_stale_ = false;
  }
  // Messages of others are not available: the frames of the network are in the run's process.
  const mind::SenseContext context{world,       call.module, call.dt, call.hits,
                                   call.forces, nullptr,     0,       call.neighborhood ? &neighborhood_ : nullptr};
  if (operation == Operation::rays) {
    std::vector<mind::Ray> rays;
    sensor.rays(context, rays);
    archive_bytes(back, rays);
    return;
  }
  Value reading = Value::of(sensor.type());
  reading.archive(ar);
  sensor.read(context, reading);
  reading.archive(back);
}

}  // namespace volvox::plugin
