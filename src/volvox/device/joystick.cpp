#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

#include "volvox/base/index.h"
#include "volvox/base/platform/input_device.h"
#include "volvox/device/devices.h"
#include "volvox/device/targets.h"

namespace volvox::device {
namespace {

constexpr int most_axes = 16, most_buttons = 32;
constexpr int most_events = 10'000;  // of one tick; a device that sends more is broken

class Joystick final : public mind::Extension {
 public:
  explicit Joystick(const sim::ExtensionSetup& setup)
      : replay_(setup.replay),
        device_file_(setup.parameters.text("device", "")),
        dead_zone_(setup.parameters.number("dead_zone", 0.02, 0, 0.9)),
        force_text_(setup.parameters.text("force", "")) {
    for (int i = 0; i < most_axes; ++i) axes_[i].text = setup.parameters.text(fmt::format("axis{}", i), "");
    for (int i = 0; i < most_buttons; ++i) buttons_[i].text = setup.parameters.text(fmt::format("button{}", i), "");
  }

  Result<void> init() override {
    if (device_file_.empty()) return Error("no device is given", "add device=\"/dev/input/by-id/...-event-joystick\"");
    if (replay_) return {};
    auto opened = platform::InputDevice::open(device_file_);
    if (!opened.ok()) return opened.error();
    device_ = std::move(*opened);
    return {};
  }

  void begin(const sim::Simulation& simulation) override {
    for (auto* controls : {axes_.data(), buttons_.data()}) {
      for (Control* control = controls; control != controls + (controls == axes_.data() ? most_axes : most_buttons);
           ++control)
        if (!control->text.empty()) control->target = required(Target::find(control->text, simulation));
    }
    if (!force_text_.empty()) force_ = required(Source::find(force_text_, simulation));
  }

  // Only the last value of each control counts, because all events belong to the same tick.
  void before_tick(sim::Simulation& simulation) override {
    for (int count = 0; count < most_events; ++count) {
      const auto event = device_->next();
      if (!event) break;
      if (event->kind == platform::InputDevice::Event::axis && event->number < most_axes)
        axes_[event->number].value = of_axis(event->number, event->value);
      if (event->kind == platform::InputDevice::Event::button && event->number < most_buttons)
        buttons_[event->number].value = event->value != 0;
    }
    for (Control& control : axes_) tell(control, simulation);
    for (Control& control : buttons_) tell(control, simulation);
  }

  void after_tick(const sim::Simulation& simulation) override {
    if (force_ && device_->has_force()) device_->push(std::clamp(force_->number(simulation), -1.0, 1.0));
  }

  void shutdown() override { device_.reset(); }

 private:
  struct Control {
    std::string text;
    std::optional<Target> target;
    double value = 0, told = 0;
  };

  template <class T>
  static T required(Result<T> found) {
    if (!found.ok()) throw std::runtime_error(found.error().text());
    return std::move(*found);
  }

  // From -1 to 1, with a dead zone in the middle.
  double of_axis(int axis, std::int32_t value) const {
    const auto range = device_->range(axis);
    const double part = std::clamp((2.0 * value - range.low - range.high) / (real(range.high) - range.low), -1.0, 1.0);
    const double beyond = std::fabs(part) - dead_zone_;
    return beyond <= 0 ? 0 : std::copysign(beyond / (1 - dead_zone_), part);
  }

  static void tell(Control& control, sim::Simulation& simulation) {
    if (!control.target || control.value == control.told) return;
    simulation.give(control.target->input(control.value));
    control.told = control.value;
  }

  bool replay_;
  std::string device_file_;
  double dead_zone_;
  std::string force_text_;
  std::unique_ptr<platform::InputDevice> device_;
  std::array<Control, most_axes> axes_;
  std::array<Control, most_buttons> buttons_;
  std::optional<Source> force_;
};

}  // namespace

std::unique_ptr<mind::Extension> make_joystick(const sim::ExtensionSetup& setup) {
  return std::make_unique<Joystick>(setup);
}

void register_extensions(sim::ExtensionRegistry& extensions) {
  extensions.add("joystick", make_joystick,
                 "a Linux input device: device, axis0=\"MODULE.NAME [FACTOR]\", button0, force, dead_zone");
  extensions.add("udp", make_udp, "text lines in datagrams: port, host, to, send=\"MODULE.PERCEPT ...\", force, every");
  extensions.add("serial", make_serial,
                 "the same lines over a serial line: device, baud, send=\"MODULE.PERCEPT ...\", force, every");
}

}  // namespace volvox::device
