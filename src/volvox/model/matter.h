// Water, rubble and cloth of a world, as its file describes them (docs/formats.md) or as an experiment builds them.
// They are simulated as particles (src/volvox/particles). SI units, poses in the world frame; immutable once a world
// has it.
// Any thread may read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/model/shape.h"

namespace volvox::model {

// A volume that is full of particles at the start; those that would be within a body are left out.
struct Volume {
  Pose pose{};      // of the middle of a box, or of the frame of a mesh
  Vec3 size{};      // of a box, m
  Mesh mesh{};      // closed; null: a box
  Vec3 velocity{};  // m/s
  int line = 0;
};

// A round opening out of which particles come, layer by layer.
struct Emitter {
  Pose pose{};                   // of its middle; particles leave along its x axis
  double radius = 0.05;          // m
  double speed = 1;              // m/s
  double start = 0, stop = 1e9;  // s
  std::uint32_t most = 0;        // particles, in all
  int line = 0;
};

// A box in which particles vanish.
struct Drain {
  Pose pose{};  // of its middle
  Vec3 size{};  // m
  int line = 0;
};

struct Fluid {
  double spacing = 0.02;       // m: each particle is a cube of it at rest
  double density = 1000;       // kg/m^3
  double viscosity = 1e-3;     // Pa s
  double surface_tension = 0;  // N/m
  Color color{0.16, 0.42, 0.75, 1};
  std::vector<Volume> volumes{};
  std::vector<Emitter> emitters{};
  int line = 0;
};

// Grains of one material. Their radii are spread evenly between radius (1 - spread) and radius (1 + spread).
struct Debris {
  double radius = 0.01;   // m
  double spread = 0;      // 0 to 0.9
  double density = 2500;  // kg/m^3
  double friction = 0.5;
  Color color{0.55, 0.48, 0.38, 1};
  std::uint64_t seed = 1;  // of the radii
  std::vector<Volume> volumes{};
  std::vector<Emitter> emitters{};
  int line = 0;

  static constexpr int sizes = 8;  // radii are one of so many
  double radius_of(int size) const { return radius * (1 + spread * (2 * (size + 0.5) / sizes - 1)); }
  double largest() const { return radius_of(sizes - 1); }
};

// A rectangle of points joined by threads; with one row, a rope.
struct Cloth {
  enum class Pins : std::uint8_t { none, corners, first_row, last_row, first_column, edges };  // what holds it

  Pose pose{};                            // of its first corner; columns lie along x, rows along y
  double width = 1, height = 1;           // m, along x and y
  std::uint32_t columns = 20, rows = 20;  // points
  double density = 0.3;                   // kg/m^2; of a rope kg/m
  double friction = 0.4;
  double thickness = 0;          // m; 0: what the distance of its points allows
  double stretch = 1e5;          // N per part of its length, of a thread between two points
  double shear = 1e3, bend = 1;  // the same of diagonals, and from a point to the next but one
  double strength = 0;           // N at which a thread tears; 0: never
  Pins pins = Pins::none;
  Color color{0.75, 0.2, 0.2, 1};
  int line = 0;
};

struct Matter {
  std::optional<Fluid> fluid{};  // one a world
  std::vector<Debris> debris{};
  std::vector<Cloth> cloths{};
  std::vector<Drain> drains{};
  // What leaves this box is drained.
  Vec3 low{-100, -100, -100}, high{100, 100, 100};
  double max_substep = 1.0 / 480;  // s
  double heap_layers = 20;         // of grains, under which the lowest overlap by 2 % of a diameter; 0: any
  double rolling_resistance = 0;   // of grains, 0 to 1
  double air_drag = 0;             // of grains and cloth, 1/s
  std::string file{};
};

}  // namespace volvox::model
