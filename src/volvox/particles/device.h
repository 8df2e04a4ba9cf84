// A GPU that steps particles, in a library that is loaded at run time: one program runs with and without it. A Device
// may be shared by worlds and threads. A DeviceSide belongs to one world, and one thread at a time may call it; it has
// the processor's bits. SI units.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
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

  // Why worlds cannot use it; empty: they can. Takes a moment: it asks the GPU.
  std::string lacks() const;

  const DeviceApi& api() const { return *api_; }

 private:
  Device(std::shared_ptr<platform::SharedLibrary> library, const DeviceApi* api)
      : library_(std::move(library)), api_(api) {}

  std::shared_ptr<platform::SharedLibrary> library_;
  const DeviceApi* api_;
};

// What moves the particles of a world, as a user chooses it.
struct DeviceChoice {
  std::shared_ptr<const Device> device;  // null: the processor
  std::size_t least = 0;                 // with fewer particles, the processor moves them
  std::string note;                      // why it is not what was asked for; empty: it is
};
// "cpu"; "cuda", or the processor and a note if there is no library for it; "auto": a GPU, if there is one and the
// particles are many enough to be worth it. All have the same bits.
Result<DeviceChoice> choose_device(const std::string& name);

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
  std::atomic<bool> newer = false;     // than the arrays of the world
  std::size_t fluids = 0, solids = 0;  // left
  std::uint64_t drained_at_load = 0, torn_at_load = 0, lists_at_load = 0;
  // Of the tick that goes on.
  bool in_tick = false;
  bool begins = false;  // nothing of it was done yet
  bool listed = false;  // there are lists of it
  int since_list = 0;   // substeps, where the fluid is alone
  // The parts of ticks since the world's own arrays had the state that a tick began with. If the device fails, they are
  // made again.
  struct Part {
    bool begins;  // the tick
    double duration;
    std::vector<ShapeDesc> shapes;
  };
  std::vector<Part> since;
  std::uint64_t drained_since = 0, torn_since = 0;  // before them
  // Who looks within a tick overwrites the world's arrays: what they had is here.
  struct Arrays {
    FluidArrays fluid;
    SolidArrays solid;
    std::vector<ThreadGroup> groups;
  };
  std::optional<Arrays> before;

 private:
  Error failure(const char* message) const;

  std::shared_ptr<const Device> device_;
  DeviceWorld* world_ = nullptr;
  float largest_radius_ = 0;  // that it was made for
  std::size_t touch_room_ = 0;
};

}  // namespace volvox::particles
