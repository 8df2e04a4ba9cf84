#include "volvox/physics/cuda/device.h"

#include <fmt/format.h>

#include "volvox/base/check.h"

namespace volvox::physics::cuda {
namespace {

constexpr const char* entry = "volvox_robots_device";
constexpr std::size_t message_size = 256;

Error failure(const char* message) {
  return Error(fmt::format("the GPU does not go on: {}", message), "the processor does; the result is the same");
}

}  // namespace

std::shared_ptr<const Device> Device::of(const DeviceApi& api) {
  const std::shared_ptr<Device> device(new Device());
  device->api_ = &api;
  return device;
}

Result<std::shared_ptr<const Device>> Device::find() {
  const auto found = platform::open_optional_library("VOLVOX_ROBOTS_CUDA_LIBRARY", "libvolvox_robots_cuda.so");
  if (!found.ok()) return found.error();
  if (!found->library)
    return Error(fmt::format("there is no library for robots on GPUs: looked for {}", found->looked),
                 "install NVIDIA's CUDA toolkit and build again, or use --device cpu");
  const auto function = reinterpret_cast<volvox_robots_device_function>(found->library->symbol(entry));
  const DeviceApi* api = function == nullptr ? nullptr : function();
  if (api == nullptr || api->version != device_api_version || api->pattern_size != sizeof(native::LonePattern) ||
      api->link_size != sizeof(native::LoneLink) || api->wave_size != sizeof(MotorWave))
    return Diagnostic{found->file.string(), 0, "the library for GPUs is of another version of Volvox",
                      "build it again"};
  const std::shared_ptr<Device> device(new Device());
  device->library_ = found->library, device->api_ = api;
  char message[message_size] = "";
  if (api->name(message) != DeviceAnswer::done)
    return Error(fmt::format("there is no GPU here that CUDA can use: {}", message), "use --device cpu");
  device->name_ = message;
  return std::shared_ptr<const Device>(device);
}

Result<RobotsOnDevice> RobotsOnDevice::create(std::shared_ptr<const Device> device, const native::LonePattern& pattern,
                                              std::size_t count) {
  char message[message_size] = "";
  DeviceRobots* robots = device->api().create(&pattern, count, message);
  if (robots == nullptr) return failure(message);
  return RobotsOnDevice(std::move(device), robots, pattern);
}

Result<void> RobotsOnDevice::load(std::size_t first, std::span<const double> words, std::span<const MotorWave> waves) {
  const std::size_t count = words.size() / static_cast<std::size_t>(layout_.all_words());
  VOLVOX_CHECK(waves.size() == count * static_cast<std::size_t>(layout_.nodes - 1), "a wave for each joint");
  char message[message_size] = "";
  if (api().load(robots_.get(), first, count, words.data(), waves.data(), message) != DeviceAnswer::done)
    return failure(message);
  return {};
}

Result<void> RobotsOnDevice::step(std::span<const DeviceTick> ticks) {
  char message[message_size] = "";
  if (api().step(robots_.get(), ticks.data(), ticks.size(), &seconds_, message) != DeviceAnswer::done)
    return failure(message);
  return {};
}

Result<void> RobotsOnDevice::watch(std::span<const int> words) {
  char message[message_size] = "";
  watched_ = words.size();
  if (api().watch(robots_.get(), words.data(), words.size(), message) != DeviceAnswer::done) return failure(message);
  return {};
}

Result<void> RobotsOnDevice::tick(std::span<const double> orders, std::span<double> watched,
                                  std::span<DeviceEnd> ends) {
  VOLVOX_CHECK(orders.size() == ends.size() * static_cast<std::size_t>(order_words(layout_.nodes)) &&
                   watched.size() == ends.size() * watched_,
               "orders, room and an end for each robot");
  char message[message_size] = "";
  if (api().tick(robots_.get(), orders.data(), watched.data(), ends.data(), &seconds_, message) != DeviceAnswer::done)
    return failure(message);
  return {};
}

Result<void> RobotsOnDevice::save(std::size_t first, std::span<double> words, std::span<DeviceEnd> ends) const {
  VOLVOX_CHECK(words.size() == ends.size() * static_cast<std::size_t>(layout_.all_words()), "an end for each robot");
  char message[message_size] = "";
  if (api().save(robots_.get(), first, ends.size(), words.data(), ends.data(), message) != DeviceAnswer::done)
    return failure(message);
  return {};
}

}  // namespace volvox::physics::cuda
