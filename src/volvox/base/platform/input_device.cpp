#include "volvox/base/platform/input_device.h"

#include <fcntl.h>
#include <linux/input.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "volvox/base/index.h"

namespace volvox::platform {
namespace {

ff_effect constant_force(int id, double force) {
  ff_effect effect{};
  effect.type = FF_CONSTANT;
  effect.id = narrow<__s16>(id);
  effect.direction = force >= 0 ? 0x4000 : 0xc000;  // to the left, to the right
  effect.u.constant.level = truncated<__s16>(std::clamp(std::abs(force), 0.0, 1.0) * 32767);
  effect.replay.length = 0xffff;
  return effect;
}

}  // namespace

Result<std::unique_ptr<InputDevice>> InputDevice::open(const std::filesystem::path& file) {
  std::unique_ptr<InputDevice> device(new InputDevice);
  device->file_ = ::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device->file_ < 0) device->file_ = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (device->file_ < 0)
    return Diagnostic{file.string(), 0, std::string("the input device cannot be opened: ") + std::strerror(errno),
                      "see the devices in /dev/input/by-id, and check that you may read them"};
  ff_effect effect = constant_force(-1, 0);
  if (ioctl(device->file_, EVIOCSFF, &effect) >= 0) {
    device->effect_ = effect.id;
    input_event play{};
    play.type = EV_FF;
    play.code = narrow<__u16>(effect.id);
    play.value = 1;
    if (write(device->file_, &play, sizeof play) != sizeof play) device->effect_ = -1;
  }
  return device;
}

InputDevice::~InputDevice() {
  if (effect_ >= 0) push(0);
  if (file_ >= 0) close(file_);
}

std::optional<InputDevice::Event> InputDevice::next() {
  input_event event{};
  while (read(file_, &event, sizeof event) == sizeof event) {
    if (event.type == EV_ABS && event.code < ABS_CNT) return Event{Event::axis, event.code, event.value};
    const int first = event.code >= BTN_GAMEPAD ? BTN_GAMEPAD : BTN_JOYSTICK;
    if (event.type == EV_KEY && event.code >= BTN_JOYSTICK && event.code < BTN_DIGI)
      return Event{Event::button, event.code - first, event.value};
  }
  return std::nullopt;
}

InputDevice::AxisRange InputDevice::range(int axis) const {
  input_absinfo info{};
  if (ioctl(file_, EVIOCGABS(narrow<unsigned>(axis)), &info) < 0 || info.maximum <= info.minimum) return {};
  return {info.minimum, info.maximum};
}

void InputDevice::push(double force) {
  if (effect_ < 0 || force == pushed_) return;
  ff_effect effect = constant_force(effect_, force);
  if (ioctl(file_, EVIOCSFF, &effect) >= 0) pushed_ = force;
}

}  // namespace volvox::platform
