// A world whose particles are on a GPU: what its arrays have is fetched when somebody looks.
#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/particles/device.h"
#include "volvox/particles/particle_world.h"

namespace volvox::particles {
namespace {

constexpr std::size_t ticks_to_make_again = 64;  // at most, when a GPU fails

}  // namespace

std::string ParticleWorld::device_lacks() const {
  const auto any = [&](const auto& what) { return std::any_of(shapes_.begin(), shapes_.end(), what); };
  if (any([](const ShapeDesc& s) { return s.kind > ShapeKind::capsule; })) return "such shapes";
  if (any([](const ShapeDesc& s) { return length_squared(s.offset.position) > 0 || s.offset.rotation.w != 1; }))
    return "shapes beside their middle";
  return options_.drains.empty() ? "" : "drains";
}

void ParticleWorld::leave_device_if_unable() {
  if (device_ == nullptr) return;
  if (const std::string lacks = device_lacks(); !lacks.empty())
    leave_device("the GPU has no " + lacks + " yet: the processor goes on");
}

void ParticleWorld::leave_device(const std::string& why) {
  fetch();
  device_.reset();
  device_note_ = why;
}

void ParticleWorld::fetch() const {
  if (device_ == nullptr || !device_->newer) return;
  // Nothing that can be seen changes: the arrays get what the world already is.
  ParticleWorld& self = const_cast<ParticleWorld&>(*this);
  self.take_back();
}

void ParticleWorld::take_back() {
  if (const auto saved = device_->save(fluid_, solid_, groups_); !saved.ok()) {
    const std::vector<ShapeDesc> now = shapes_;  // they may have been set since the last tick
    (void)make_again(saved.error().text());      // positions that are no numbers are an error of the next step
    shapes_ = now;
    return;
  }
  device_->newer = false;
  device_->since.clear();
  device_->drained_since = drained_, device_->torn_since = torn_;
}

// Goes back to what the arrays have, and on from there: on the device, if it may, or on the processor.
Result<void> ParticleWorld::make_again(const std::string& failure) {
  const std::vector<DeviceSide::Tick> ticks = std::move(device_->since);
  drained_ = device_->drained_since, torn_ = device_->torn_since;
  device_->since.clear();
  device_->loaded = device_->newer = false;
  if (!failure.empty()) {
    device_.reset();
    device_note_ = failure;
  }
  for (const DeviceSide::Tick& tick : ticks) {
    shapes_ = tick.shapes;
    if (auto done = step(tick.duration); !done.ok()) return done;
  }
  return {};
}

DeviceSettings ParticleWorld::device_settings() const {
  DeviceSettings settings;
  settings.numbers = numbers_;
  for (int axis = 0; axis < 3; ++axis) {
    settings.gravity[axis] = options_.gravity[axis];
    settings.low[axis] = options_.low[axis];
    settings.high[axis] = options_.high[axis];
  }
  settings.fluid_skin = to_float(fluid_skin());
  settings.largest_radius = largest_radius_;
  settings.wet = wet_reach();
  settings.skins = skin_rule();
  settings.air_drag = to_float(options_.air_drag), settings.rolling = to_float(options_.rolling_resistance);
  return settings;
}

bool ParticleWorld::prepare() {
  leave_device_if_unable();
  if (device_ == nullptr) return false;
  DeviceSide& side = *device_;
  if (side.loaded) return true;
  side.since.clear();
  side.drained_at_load = side.drained_since = drained_;
  side.torn_at_load = side.torn_since = torn_;
  const auto loaded = side.load(device_settings(), fluid_, solid_, groups_);
  if (!loaded.ok()) leave_device(loaded.error().text());
  return loaded.ok();
}

Result<void> ParticleWorld::step_on_device(double duration) {
  const auto divided = divide(duration);
  if (!divided.ok()) return divided.error();
  const Substeps& substeps = *divided;
  last_substep_ = substeps.dt;
  for (Wrench& impulse : impulses_) impulse = {};
  end_tick();
  DeviceSide& side = *device_;
  if (side.since.size() >= ticks_to_make_again) fetch();
  if (!prepare()) return step(duration);
  side.since.push_back({duration, shapes_});
  listed_ = false;
  // Shapes that nothing pushes are known ahead: the device makes the whole tick.
  const bool pushed = std::any_of(shapes_.begin(), shapes_.end(), [](const ShapeDesc& s) { return s.mass > 0; });
  const int at_once = pushed ? 1 : substeps.count;
  std::vector<ShapeView> views;
  std::vector<ShapePart> parts(shapes_.size() * at_once);
  for (int substep = 0; substep < substeps.count; substep += at_once) {
    views.clear();
    for (int k = 0; k < at_once; ++k) {
      carry_shapes(substeps.dt);
      views.insert(views.end(), views_.begin(), views_.end());
    }
    const DeviceSubsteps some{.first = substep,
                              .last = substep + at_once,
                              .substeps_a_diffusion = substeps.a_diffusion,
                              .substeps_a_list = substeps_a_list(substeps.dt),
                              .dt = substeps.dt,
                              .shapes = views.data(),
                              .shape_count = shapes_.size()};
    DeviceOutcome outcome{.parts = parts.data()};
    const auto answer = side.step(some, outcome);
    if (!answer.ok()) return make_again(answer.error().text());
    if (*answer == DeviceAnswer::lists_full) return make_again("");
    side.newer = true;
    drained_ = side.drained_at_load + outcome.drained, torn_ = side.torn_at_load + outcome.torn;
    lists_made_ = outcome.lists_made;
    if (!outcome.finite) return not_a_number();
    for (int k = 0; k < at_once; ++k) {
      partial_.assign(parts.begin() + k * std::ssize(shapes_), parts.begin() + (k + 1) * std::ssize(shapes_));
      push_shapes(substeps.dt);
    }
  }
  return {};
}

}  // namespace volvox::particles
