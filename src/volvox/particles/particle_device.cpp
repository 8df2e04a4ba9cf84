// The part of ParticleWorld that has its particles on a GPU. The arrays of the world are filled (`fetch`) when a caller
// reads particles. If the GPU fails, the ticks since the last fetch are made once more on the processor.
#include <algorithm>
#include <utility>

#include "volvox/base/index.h"
#include "volvox/particles/device.h"
#include "volvox/particles/particle_world.h"

namespace volvox::particles {
namespace {

// After so many parts of ticks the particles are fetched, so that no more is made again if the GPU fails: 256 ticks in
// a world. (To fetch 100,000 grains takes as long as 50 of their ticks.) After fewer where there are many shapes,
// because each part keeps a copy of the shapes.
constexpr std::size_t parts_to_make_again = 1024, shapes_to_keep = 1 << 17;

}  // namespace

void ParticleWorld::leave_device(const std::string& why) {
  fetch();
  device_.reset();
  tick_on_device_ = false;
  device_note_ = why;
}

// A device that failed in fetch() is freed only here, at the next change: other threads may have been in fetch(), too.
void ParticleWorld::drop_failed_device() {
  if (!device_failed_ || making_again_) return;
  device_.reset();
  device_failed_ = false;
}

void ParticleWorld::fetch() const {
  if (device_ == nullptr || !device_->newer) return;
  const std::lock_guard lock(fetching_);
  if (!device_->newer || making_again_) return;
  // The state of the world does not change, only where it lies: so this may be a const function.
  ParticleWorld& self = const_cast<ParticleWorld&>(*this);
  self.take_back();
}

void ParticleWorld::take_back() {
  DeviceSide& side = *device_;
  // Lists of neighbours stay on the device, and with new lists the rest of a tick would have other bits. So if the
  // device fails within a tick, the tick is made again from its beginning, or from that of an earlier one: keep the
  // arrays of then.
  if (side.in_tick && !side.before) side.before.emplace(DeviceSide::Arrays{fluid_, solid_, groups_});
  if (const auto saved = side.save(fluid_, solid_, groups_); !saved.ok()) {
    const std::vector<ShapeDesc> now = shapes_;  // they may have been set since the last part
    // Without the pool: the caller of fetch() may be in one of its loops.
    ThreadPool* const threads = std::exchange(options_.threads, nullptr);
    (void)make_again(saved.error().text());  // positions that are no numbers are an error of the next step
    options_.threads = threads;
    shapes_ = now;
    return;
  }
  if (!side.in_tick) settle();
  side.newer = false;
}

// The arrays have the present state: ticks would be made again from here on.
void ParticleWorld::settle() {
  device_->since.clear();
  device_->before.reset();
  device_->drained_since = drained_, device_->torn_since = torn_;
}

// Goes back to the state of the last settle() and makes the parts since then once more: with an empty `failure` on the
// device, otherwise on the processor.
Result<void> ParticleWorld::make_again(const std::string& failure) {
  DeviceSide& side = *device_;
  const std::vector<DeviceSide::Part> parts = std::move(side.since);
  drained_ = side.drained_since, torn_ = side.torn_since;
  if (side.before) fluid_ = std::move(side.before->fluid), solid_ = std::move(side.before->solid);
  if (side.before) groups_ = std::move(side.before->groups);
  side.before.reset(), side.since.clear();
  side.loaded = side.begins = listed_ = false;
  side.in_tick = !parts.empty() && !parts[0].begins;
  if (failure.empty()) side.newer = false;
  else device_failed_ = true, tick_on_device_ = false, device_note_ = failure;
  const bool outermost = !std::exchange(making_again_, true);
  Result<void> done = {};
  for (std::size_t k = 0; k < parts.size() && done.ok(); ++k) {
    shapes_ = parts[k].shapes;
    if (parts[k].begins) done = begin_tick();
    if (done.ok()) done = advance(parts[k].duration);
  }
  if (outermost) making_again_ = false;
  if (device_failed_ && device_ != nullptr) device_->newer = false;
  return done;
}

DeviceSettings ParticleWorld::device_settings() {
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
  settings.drains = drains_.data(), settings.drain_count = drains_.size();
  return settings;
}

bool ParticleWorld::prepare() {
  if (device_ != nullptr && device_->loaded) return true;
  if (!wants_device()) return false;
  DeviceSide& side = *device_;
  settle();
  side.drained_at_load = drained_, side.torn_at_load = torn_, side.lists_at_load = lists_made_;
  side.listed = false;
  const auto loaded = side.load(device_settings(), fluid_, solid_, groups_);
  if (!loaded.ok()) leave_device(loaded.error().text());
  return loaded.ok();
}

void ParticleWorld::begin_on_device() {
  DeviceSide& side = *device_;
  side.in_tick = false;
  if (side.before && !side.newer) settle();  // particles were fetched after the last part of a tick
  if (side.since.size() >= std::min(parts_to_make_again, shapes_to_keep / (shapes_.size() + 1))) fetch();
  if (device_failed_) return;  // the fetch failed: the processor begins the tick
  side.in_tick = side.begins = true;
  side.listed = listed_ = false;
  tick_on_device_ = true;
}

Result<void> ParticleWorld::advance_on_device(double duration) {
  const auto divided = divide(duration);
  if (!divided.ok()) return divided.error();
  if (!prepare()) {
    const bool begins = device_ == nullptr || device_->begins;
    tick_on_device_ = false;
    if (begins)
      if (auto begun = begin_tick(); !begun.ok()) return begun;
    return advance(duration);
  }
  last_substep_ = divided->dt;
  for (Wrench& impulse : impulses_) impulse = {};
  device_->since.push_back({device_->begins, duration, shapes_});
  return step_on_device(*divided);
}

// Where shapes go that particles do not push is known before: then the device makes all substeps at once. A shape that
// they push has to be moved by the host after every substep.
Result<void> ParticleWorld::step_on_device(const Substeps& substeps) {
  DeviceSide& side = *device_;
  const bool pushed = std::any_of(shapes_.begin(), shapes_.end(), [](const ShapeDesc& s) { return s.mass > 0; });
  const int at_once = pushed ? 1 : substeps.count;
  std::vector<ShapeView> views;
  std::vector<Pose> poses;
  std::vector<ShapePart> parts(shapes_.size() * at_once);
  for (int substep = 0; substep < substeps.count; substep += at_once) {
    views.clear(), poses.clear();
    for (int k = 0; k < at_once; ++k) {
      carry_shapes(substeps.dt);
      views.insert(views.end(), views_.begin(), views_.end());
      for (const ShapeDesc& shape : shapes_) poses.push_back(shape.pose);
    }
    const DeviceSubsteps some{.count = at_once,
                              .drains = side.begins,
                              .lists = !side.listed,
                              .since_diffusion = substep % substeps.a_diffusion,
                              .since_list = side.since_list,
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
    if (some.lists) side.since_list = 0;
    for (int k = 0; k < at_once; ++k)
      side.since_list = side.since_list >= some.substeps_a_list ? 1 : side.since_list + 1;
    side.begins = false, side.listed = true;
    drained_ = side.drained_at_load + outcome.drained, torn_ = side.torn_at_load + outcome.torn;
    lists_made_ = side.lists_at_load + outcome.lists_made;
    if (!outcome.finite) return not_a_number();
    for (int k = 0; k < at_once; ++k) {
      const std::ptrdiff_t first = k * std::ssize(shapes_), last = first + std::ssize(shapes_);
      partial_.assign(parts.begin() + first, parts.begin() + last);
      views_.assign(views.begin() + first, views.begin() + last);
      for (std::size_t s = 0; s < shapes_.size(); ++s) shapes_[s].pose = poses[static_cast<std::size_t>(first) + s];
      push_shapes(substeps.dt);
    }
  }
  return {};
}

}  // namespace volvox::particles
