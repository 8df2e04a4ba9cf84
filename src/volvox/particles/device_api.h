// What a library that steps particles on a GPU offers: plain C, because it is loaded at run time and may be built by
// another compiler. It has the arithmetic of *_kernels.h, and so the bits of the processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "volvox/particles/fluid.h"
#include "volvox/particles/solids.h"

namespace volvox::particles {

inline constexpr std::uint32_t device_api_version = 5;  // goes up with every change of this file

struct DeviceSettings {
  FluidNumbers numbers;
  double gravity[3] = {};
  double low[3] = {}, high[3] = {};  // of the world
  float fluid_skin = 0;              // m
  float largest_radius = 0;          // m, of solids
  float wet = 0;                     // m: how far fluid and solids see each other, besides half a support and a radius
  SkinRule skins;
  float air_drag = 0, rolling = 0;
  const DrainView* drains = nullptr;  // read once
  std::size_t drain_count = 0;
};

// Eight threads of cloth: see ThreadBlock and ThreadGroup. Their points and rests are in arrays of all.
struct DeviceThreads {
  std::uint32_t group = 0, segments = 0, first_point = 0, first_rest = 0;
  float compliance = 0, strength = 0, longest = 0;
};

// Arrays of the caller, which are read (load) or filled (save).
struct DeviceState {
  std::size_t fluids = 0;
  Point *position = nullptr, *velocity = nullptr;
  std::uint32_t* id = nullptr;
  Point* seen = nullptr;  // only saved: where multipliers were found in the last substep

  std::size_t solids = 0, ids = 0;  // ids: that were ever given to solids
  Point *solid_position = nullptr, *solid_velocity = nullptr, *spin = nullptr;
  std::uint32_t* solid_id = nullptr;
  std::uint8_t* grain = nullptr;
  std::array<ShapeTouch, shape_touches>* on_shapes = nullptr;
  // Touches by ids, `touch_room` entries a solid.
  std::size_t touch_room = 0;
  std::uint32_t *touch_count = nullptr, *touch_id = nullptr;
  Vector* touch_shift = nullptr;

  std::size_t thread_blocks = 0, points = 0, rests = 0;
  const DeviceThreads* threads = nullptr;  // these and their points are only loaded
  const std::uint32_t* thread_points = nullptr;
  float* rest = nullptr;
};

// Some substeps of a tick.
struct DeviceSubsteps {
  int count = 1;
  bool drains = false;  // before the first, because the tick begins
  bool lists = false;   // are made before the first: there are none of this tick
  // How many substeps before the first there were since the fluid was last diffused (0: it is, now), and since lists
  // were made.
  int since_diffusion = 0, since_list = 0;
  int substeps_a_diffusion = 1;
  int substeps_a_list = 1;            // those of the fluid hold for so many
  double dt = 0;                      // s
  const ShapeView* shapes = nullptr;  // by substep, then by shape; samples and heights are copied when first seen
  std::size_t shape_count = 0;
};
struct DeviceOutcome {
  ShapePart* parts = nullptr;                           // filled: by substep and shape, what all blocks gave
  std::size_t fluids = 0, solids = 0;                   // left
  std::size_t touch_room = 0;                           // for DeviceState
  std::uint64_t drained = 0, torn = 0, lists_made = 0;  // since the state was loaded
  bool finite = true;                                   // all positions were numbers when ticks began
};

enum class DeviceAnswer : std::uint32_t { done, failed, lists_full };

struct DeviceWorld;
struct DeviceApi {
  std::uint32_t version = 0;
  std::uint32_t settings_size = 0, state_size = 0, shape_size = 0;  // for what it was built
  // When it fails, `message`, of 256 characters, says why.
  DeviceWorld* (*create)(const DeviceSettings* settings, char* message);
  void (*destroy)(DeviceWorld* world);
  DeviceAnswer (*load)(DeviceWorld* world, const DeviceState* state, char* message);
  // lists_full: a particle had more neighbours than there was room for. The next load makes more.
  DeviceAnswer (*step)(DeviceWorld* world, const DeviceSubsteps* substeps, DeviceOutcome* outcome, char* message);
  DeviceAnswer (*save)(DeviceWorld* world, const DeviceState* state, char* message);
  DeviceAnswer (*densities)(DeviceWorld* world, float* out, char* message);  // by particle, at the end of the last step
};

}  // namespace volvox::particles

// The only function of the library.
extern "C" {
typedef const volvox::particles::DeviceApi* (*volvox_particles_device_function)();
}
