// A GPU that moves lone robots, in a library that is loaded at run time: one program runs with and without it.
// Owns what it took on the GPU. One thread at a time; the same states give the same bits, every time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/platform/shared_library.h"
#include "volvox/base/result.h"
#include "volvox/physics/cuda/device_api.h"

namespace volvox::physics::cuda {

class Device {
 public:
  // NVIDIA's. Errors: the library was not built or is of another version, or there is no GPU.
  // VOLVOX_ROBOTS_CUDA_LIBRARY names another file.
  static Result<std::shared_ptr<const Device>> find();
  // One that is not in a library, for tests.
  static std::shared_ptr<const Device> of(const DeviceApi& api);

  const DeviceApi& api() const { return *api_; }
  const std::string& name() const { return name_; }

 private:
  Device() = default;

  std::shared_ptr<platform::SharedLibrary> library_;
  const DeviceApi* api_ = nullptr;
  std::string name_;  // of the GPU
};

// Robots of one kind on a device: see DeviceApi.
class RobotsOnDevice {
 public:
  static Result<RobotsOnDevice> create(std::shared_ptr<const Device> device, const native::LonePattern& pattern,
                                       std::size_t count);
  RobotsOnDevice(RobotsOnDevice&&) = default;

  Result<void> load(std::size_t first, std::span<const double> words, std::span<const MotorWave> waves);
  Result<void> step(std::span<const DeviceTick> ticks);
  Result<void> watch(std::span<const int> words);
  Result<void> tick(std::span<const double> orders, std::span<double> watched, std::span<DeviceEnd> ends);
  Result<void> save(std::size_t first, std::span<double> words, std::span<DeviceEnd> ends) const;
  double seconds() const { return seconds_; }  // that the device worked at steps

 private:
  struct Destroy {
    std::shared_ptr<const Device> device;
    void operator()(DeviceRobots* robots) const { device->api().destroy(robots); }
  };
  RobotsOnDevice(std::shared_ptr<const Device> device, DeviceRobots* robots, const native::LonePattern& pattern)
      : robots_(robots, Destroy{std::move(device)}), layout_(layout_of(pattern)) {}
  const DeviceApi& api() const { return robots_.get_deleter().device->api(); }

  std::unique_ptr<DeviceRobots, Destroy> robots_;
  native::LoneLayout layout_;
  std::size_t watched_ = 0;  // words of a robot
  double seconds_ = 0;
};

}  // namespace volvox::physics::cuda
