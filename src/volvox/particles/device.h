// A GPU that steps particles, in a library that is loaded at run time: one program runs with and without it. A Device
// may be shared by worlds and threads. A DeviceSide belongs to one world, and one thread at a time may call it; it has
// the processor's bits. SI units.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "volvox/base/platform/shared_library.h"
#include "volvox/base/result.h"
#include "volvox/particles/device_api.h"
#include "volvox/particles/threads.h"

namespace volvox::particles {

class Device {
 public:
  // NVIDIA's. Errors: the library was not built or is of another version. Whether there is a GPU turns out when a world
  // uses it. VOLVOX_CUDA_LIBRARY names another file.
  static Result<std::shared_ptr<const Device>> cuda();
  // "cpu" (null), "cuda", or "auto": null, until a GPU can do all that worlds need.
  static Result<std::shared_ptr<const Device>> by_name(const std::string& name);

  const DeviceApi& api() const { return *api_; }

 private:
  Device(std::shared_ptr<platform::SharedLibrary> library, const DeviceApi* api)
      : library_(std::move(library)), api_(api) {}

  std::shared_ptr<platform::SharedLibrary> library_;
  const DeviceApi* api_;
};

// The state of a world on a device.
class DeviceSide {
 public:
  explicit DeviceSide(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  ~DeviceSide();
  DeviceSide(const DeviceSide&) = delete;
  DeviceSide& operator=(const DeviceSide&) = delete;

  Result<void> load(const DeviceSettings& settings, FluidArrays& fluid, SolidArrays& solid,
                    std::span<ThreadGroup> groups);
  // lists_full: nothing is lost but the state on the device, which must be loaded again.
  Result<DeviceAnswer> step(const DeviceSubsteps& substeps, DeviceOutcome& outcome);
  Result<void> save(FluidArrays& fluid, SolidArrays& solid, std::span<ThreadGroup> groups);
  Result<void> densities(std::vector<float>& out);

  bool loaded = false;                 // it has the state
  bool newer = false;                  // than the arrays of the world
  std::size_t fluids = 0, solids = 0;  // left
  std::uint64_t drained_at_load = 0, torn_at_load = 0;
  // The ticks since the world's own arrays had the state. If the device fails, they are made again.
  struct Tick {
    double duration;
    std::vector<ShapeDesc> shapes;
  };
  std::vector<Tick> since;
  std::uint64_t drained_since = 0, torn_since = 0;  // before them

 private:
  Error failure(const char* message) const;

  std::shared_ptr<const Device> device_;
  DeviceWorld* world_ = nullptr;
  float largest_radius_ = 0;  // that it was made for
  std::size_t touch_room_ = 0;
};

}  // namespace volvox::particles
