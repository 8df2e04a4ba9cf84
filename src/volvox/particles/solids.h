// Grains and the points of cloth: spheres that touch, with dry friction that holds (Cundall and Strack 1979, written
// for positions) and rolling resistance. Kernels over plain arrays, which their caller owns. SI units, world frame.
// Threads may work on different blocks of particles side by side, and the bits do not depend on how many there are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/particles/fluid.h"
#include "volvox/particles/neighbours.h"
#include "volvox/particles/shapes.h"

namespace volvox::particles {

inline constexpr std::uint32_t no_shape = ~0u;
// Friction on a shape holds by how far the point has been shifted along it since it touched.
struct ShapeTouch {
  std::uint32_t shape = no_shape;
  float x = 0, y = 0, z = 0;
};
inline constexpr int shape_touches = 2;  // at a time; further shapes have no friction

// Arrays of points have one entry more than `count`: a point far away from all others, with which lists are filled up
// to a multiple of eight.
struct SolidArrays {
  std::size_t count = 0;
  std::vector<Point> position;  // w: 1 / mass; 0: pinned
  std::vector<Point> velocity;  // w: radius
  std::vector<Point> spin;      // rad/s; w: friction
  std::vector<std::uint32_t> id;
  std::vector<std::uint8_t> grain;  // 1: rolls; 0: a point of a cloth
  std::vector<std::array<ShapeTouch, shape_touches>> on_shapes;
  std::vector<std::uint32_t> index;  // by id; ~0: drained
  // Touches, kept from one sorting to the next. Particle i has `touch_count[i]` entries of touch_id (the other
  // particle) and touch_shift, from `touch_first[i]` on. Every substep writes touch_count; the others are filled before
  // a sorting.
  std::vector<std::uint32_t> touch_first, touch_count;
  std::vector<std::uint32_t> touch_id;
  std::vector<Vector> touch_shift;
  // Within a substep.
  std::vector<Point> at, move;     // w as above
  std::vector<Point> push, turn;   // corrections; w of `push`: the sum of normal corrections, times mass
  std::vector<Vector> other_spin;  // mean of what it touches, weighted by that
  void resize(std::size_t count);
  void reorder(const std::vector<std::uint32_t>& order, ThreadPool* threads);  // order: old numbers
};

// By entry of the lists: how far the two have been shifted along each other since they touched. Most entries do not
// touch: eight entries of which none is shifted have no bits set, and their numbers are neither read nor written.
struct Touches {
  struct Block {
    std::vector<float> x, y, z;         // 0 where the bit of an entry is not set, but another of its eight is
    std::vector<std::uint8_t> shifted;  // eight entries a byte
  };
  std::vector<Block> blocks;
};

// Lists of solids hold until one has strayed by its skin from the mean of all: a heap that falls as one keeps its
// lists.
struct SkinRule {
  float least = 0, most = 0;  // m
  float time = 0;             // s: a fast one has a skin for so long
};

// Computes the corrections by contacts among solids, none of which is larger than `largest_radius`, into `push`, `turn`
// and `other_spin`. Sets `touch_count` to the number of contacts that have a shift afterwards.
void touch_solids(SolidArrays& solid, const Neighbours& solids, Touches& touches, float largest_radius, float dt,
                  std::size_t begin, std::size_t end);
// Applies these corrections. touch_shapes does the same first if `applies_pushes` is set.
void apply_pushes(SolidArrays& solid, std::size_t begin, std::size_t end);
// Contacts with shapes, rolling resistance.
void touch_shapes(SolidArrays& solid, const ShapesView& shapes, float rolling, float dt, bool applies_pushes,
                  std::size_t begin, std::size_t end);

}  // namespace volvox::particles
