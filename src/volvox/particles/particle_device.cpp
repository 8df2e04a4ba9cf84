// A world whose particles are on a GPU: what its arrays have is fetched when somebody looks.
#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/particles/device.h"
#include "volvox/particles/particle_world.h"

namespace volvox::particles {
namespace {

constexpr std::size_t ticks_to_make_again = 64;  // at most, when a GPU fails

}  // namespace

bool ParticleWorld::device_can() {
  const char* lacks = nullptr;
  if (solid_.count > 0) lacks = "grains and cloth";
  if (std::any_of(shapes_.begin(), shapes_.end(), [](const ShapeDesc& s) { return s.kind > ShapeKind::capsule; }))
    lacks = "such shapes";
  if (lacks != nullptr) leave_device(std::string("the GPU has no ") + lacks + " yet: the processor goes on");
  return device_ != nullptr;
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
  FluidArrays now;
  now.resize(device_->fluids);
  if (const auto saved = device_->save(now); !saved.ok()) {
    (void)make_again(saved.error().text());  // positions that are no numbers are an error of the next step
    return;
  }
  now.next_id = fluid_.next_id;
  fluid_ = std::move(now);
  device_->newer = false;
  device_->since.clear();
  device_->drained_since = drained_;
}

// Goes back to what the arrays have, and on from there: on the device, if it may, or on the processor.
Result<void> ParticleWorld::make_again(const std::string& failure) {
  const std::vector<DeviceSide::Tick> ticks = std::move(device_->since);
  drained_ = device_->drained_since;
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
  settings.fluid_skin = fluid_skin();
  return settings;
}

Result<void> ParticleWorld::step_on_device(double duration, const Substeps& substeps) {
  DeviceSide& side = *device_;
  if (side.since.size() >= ticks_to_make_again) fetch();
  if (!side.loaded) {
    side.since.clear();
    side.drained_at_load = side.drained_since = drained_;
    if (const auto loaded = side.load(device_settings(), fluid_); !loaded.ok()) {
      leave_device(loaded.error().text());
      return step(duration);
    }
  }
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
    drained_ = side.drained_at_load + outcome.drained;
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
