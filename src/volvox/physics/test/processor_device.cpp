// The same as a library, which VOLVOX_ROBOTS_CUDA_LIBRARY can name: for tests of the command.
#include "volvox/physics/test/processor_device.h"

extern "C" __attribute__((visibility("default"))) const volvox::physics::cuda::DeviceApi* volvox_robots_device() {
  static const volvox::physics::cuda::DeviceApi api = volvox::physics::cuda::processor_api();
  return &api;
}
