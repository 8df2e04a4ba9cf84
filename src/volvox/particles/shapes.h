// Rigid shapes that particles meet: planes, boxes, tanks (the inside of a box), spheres, capsules, cylinders and
// terrains with exact signed distances, any other solid with sampled ones (distance_field.h); and what they add to the
// density of a fluid particle. SI units, world axes. Views refer to the fields and terrains of what they were made
// from. All functions may be called from any thread, and give the same bits everywhere.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/result.h"
#include "volvox/particles/distance_field.h"
#include "volvox/particles/kernel.h"

namespace volvox::particles {

enum class ShapeKind : std::uint8_t { plane, box, tank, sphere, capsule, cylinder, field, terrain };

// The frame is at the middle; a plane's normal is its z axis, and so is the axis of a capsule and a cylinder.
struct ShapeDesc {
  ShapeKind kind = ShapeKind::plane;
  Vec3 half_size{};        // box and tank, m
  double radius = 0;       // sphere, capsule and cylinder, m
  double half_length = 0;  // capsule and cylinder: of its axis, m
  double friction = 0.5;   // of grains and cloth on it
  Pose pose{};
  Twist velocity{};  // at the middle
  // A shape with a mass is moved by gravity and particles in every substep; what moves it after the tick (an engine)
  // may set it anew. One without moves by its velocity only.
  double mass = 0;        // kg; 0: it is not pushed
  Vec3 moments{1, 1, 1};  // of inertia about its axes, kg m^2
  bool gravity = true;    // it falls, if it has a mass
  // Of a body whose middle is not that of the shape: where the shape lies in the frame of the body. Pose, velocity and
  // impulse are then those of the body, at its centre of mass.
  Pose offset{};
  std::shared_ptr<const DistanceField> field{};  // of this kind
  std::shared_ptr<const HeightGrid> terrain{};   // of this kind; it stands upright in its frame
};
Result<void> check(const ShapeDesc& desc);
double volume(const ShapeDesc& desc);  // of all but planes, tanks and terrains

// What kernels need of a shape in one substep.
struct ShapeView {
  ShapeKind kind = ShapeKind::plane;
  float center[3] = {}, axes[3][3] = {};  // axes[k]: the k-th axis of its frame
  float half[3] = {};                     // of all but boxes and tanks: of the box around them
  float radius = 0, axis = 0;             // axis: half the length of a capsule's and a cylinder's
  float friction = 0;
  float velocity[3] = {}, spin[3] = {};
  float inverse_mass = 0;
  FieldView field;
  float field_middle[3] = {};  // of the box around the solid, in its frame: there is the center
  TerrainView terrain;
};
ShapeView view_of(const ShapeDesc& desc);

// A box in which particles are drained.
struct DrainView {
  Pose into;  // its frame
  Vec3 half;  // m
};

struct Vector {
  float x = 0, y = 0, z = 0;
};
VOLVOX_KERNEL Vector operator+(const Vector& a, const Vector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
VOLVOX_KERNEL Vector operator-(const Vector& a, const Vector& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
VOLVOX_KERNEL Vector operator*(const Vector& a, float s) { return {a.x * s, a.y * s, a.z * s}; }
VOLVOX_KERNEL float dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
VOLVOX_KERNEL Vector cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
VOLVOX_KERNEL float length(const Vector& a) { return square_root(dot(a, a)); }
VOLVOX_KERNEL Vector xyz(const Point& p) { return {p.x, p.y, p.z}; }
VOLVOX_KERNEL Vector vector_of(const float (&v)[3]) { return {v[0], v[1], v[2]}; }

// The distance to a shape, negative within it, and the way out.
struct Distance {
  float distance = 0;
  Vector normal;
};
Distance distance_to(const ShapeView& shape, const Vector& point);
// Not more than that distance, and cheap.
float least_distance(const ShapeView& shape, const Vector& point);

// What a shape adds to the density at a point, as a part of that at rest, and its gradient (1/m).
struct Covered {
  float part = 0;
  Vector gradient;
};
Covered covered_by(const ShapeView& shape, const Vector& point, float support);
// A shape that may be near some points of a block.
struct NearShape {
  std::uint32_t shape = 0;
  std::uint64_t bits[2] = {};  // bit k of both: not set, points[k] is certainly farther away

  bool has(std::size_t k) const { return (bits[k / 64] >> k % 64 & 1) != 0; }
  // Calls work(k) for the points that may be near, in their order.
  template <class Work>
  void for_points(const Work& work) const {
    for (std::size_t word = 0; word < 2; ++word)
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1)
        work(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
  }
};
// All that may be within this distance of some of the points, 128 at most. The span holds until the next call in this
// thread.
std::span<const NearShape> find_near(std::span<const ShapeView> shapes, std::span<const Point> points, float distance);

VOLVOX_KERNEL Vector velocity_at(const ShapeView& shape, const Vector& point) {
  return vector_of(shape.velocity) + cross(vector_of(shape.spin), point - vector_of(shape.center));
}

}  // namespace volvox::particles
