// Joysticks and other input devices of Linux, with force feedback if the device supports it.
// Owns its file. For one thread. When events arrive is a matter of chance, so they enter a run as inputs, which are
// recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "volvox/base/result.h"

namespace volvox::platform {

class InputDevice {
 public:
  // /dev/input/event5; also a FIFO or a file with a recording of its bytes.
  static Result<std::unique_ptr<InputDevice>> open(const std::filesystem::path& file);
  ~InputDevice();
  InputDevice(const InputDevice&) = delete;
  InputDevice& operator=(const InputDevice&) = delete;

  struct Event {
    enum Kind { axis, button } kind;
    int number;  // axis: ABS_X is 0, ...; button: counted from the first button of the joystick or gamepad
    std::int32_t value;
  };
  std::optional<Event> next();  // the next event, if one has arrived; does not wait

  struct AxisRange {
    std::int32_t low = -32767, high = 32767;
  };
  AxisRange range(int axis) const;  // as reported by the device; otherwise the default

  bool has_force() const { return effect_ >= 0; }
  void push(double force);  // along x, from -1 to 1

 private:
  InputDevice() = default;
  int file_ = -1;
  int effect_ = -1;  // the constant force effect; -1: not supported
  double pushed_ = 0;
};

}  // namespace volvox::platform
