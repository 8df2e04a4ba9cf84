// What a library that steps particles on a GPU offers: plain C, because it is loaded at run time and may be built by
// another compiler. It has the arithmetic of *_kernels.h, and so the bits of the processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "volvox/particles/fluid.h"

namespace volvox::particles {

inline constexpr std::uint32_t device_api_version = 1;  // goes up with every change of this file

struct DeviceSettings {
  FluidNumbers numbers;
  double gravity[3] = {};
  double low[3] = {}, high[3] = {};  // of the world
  double fluid_skin = 0;             // m
};

// Arrays of the caller, which are read (load) or filled (save). Those that are null are left out.
struct DeviceState {
  std::size_t fluids = 0;
  Point *position = nullptr, *velocity = nullptr;
  std::uint32_t* id = nullptr;
  Point* seen = nullptr;  // only saved: where multipliers were found in the last substep
};

// Some substeps of a tick. What a tick begins with, draining and lists, is done before substep 0.
struct DeviceSubsteps {
  int first = 0, last = 0;  // of the tick: [first, last)
  int substeps_a_diffusion = 1;
  int substeps_a_list = 1;            // lists hold for so many
  double dt = 0;                      // s
  const ShapeView* shapes = nullptr;  // by substep, then by shape
  std::size_t shape_count = 0;
};
struct DeviceOutcome {
  ShapePart* parts = nullptr;  // filled: by substep and shape, what all blocks gave
  std::size_t fluids = 0;      // left
  std::uint64_t drained = 0;   // since the state was loaded
  std::uint64_t lists_made = 0;
  bool finite = true;  // all positions were numbers when the tick began
};

enum class DeviceAnswer : std::uint32_t { done, failed, lists_full };

struct DeviceWorld;
struct DeviceApi {
  std::uint32_t version = 0;
  std::uint32_t settings_size = 0, substeps_size = 0, shape_size = 0;  // for what it was built
  // All return whether it worked; `message`, of 256 characters, says why not.
  DeviceWorld* (*create)(const DeviceSettings* settings, char* message);
  void (*destroy)(DeviceWorld* world);
  DeviceAnswer (*load)(DeviceWorld* world, const DeviceState* state, char* message);
  // lists_full: a particle had more neighbours than there was room for. The next load makes more.
  DeviceAnswer (*step)(DeviceWorld* world, const DeviceSubsteps* substeps, DeviceOutcome* outcome, char* message);
  DeviceAnswer (*save)(DeviceWorld* world, const DeviceState* state, char* message);
  DeviceAnswer (*densities)(DeviceWorld* world, float* out, char* message);  // by particle, at the end of the last step
  const char* (*describe)(DeviceWorld* world);                               // the GPU
};

}  // namespace volvox::particles

// The only function of the library.
extern "C" {
typedef const volvox::particles::DeviceApi* (*volvox_particles_device_function)();
}
