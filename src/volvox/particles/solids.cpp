#include "volvox/particles/solids.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "volvox/particles/solid_kernels.h"

namespace volvox::particles {
namespace {

constexpr float far_away = -1e15f;
struct TouchJob {
  const Point *at, *move, *spin;
  const std::uint8_t* grain;
  const std::uint32_t *first, *count, *lists;
  float *shift_x, *shift_y, *shift_z;
  std::uint8_t* shifted_bits;
  float dt, largest;
  Point *push, *turn;
  Vector* other_spin;
  std::uint32_t* shifted;  // how many of its entries have a shift after
};

VOLVOX_FOR_EACH_ISA(void, touch_block, (const TouchJob& job, std::size_t begin, std::size_t end), (job, begin, end)) {
  for (std::size_t i = begin; i < end; ++i) {
    const Solid own{job.at[i], job.move[i], job.spin[i]};
    TouchSums<Lanes> all = {};
    int shifted = 0;
    // Beyond it none touches, whatever its radius: a little more than rounding takes.
    const float far = own.move.w + job.largest, far2 = far * far * 1.0001f;
    for (std::uint32_t k = job.first[i]; k < job.first[i] + job.count[i]; k += lanes) {
      PointLanes at, moved, spin;
      gather(at, job.at, job.lists + k);
      const Shift<Lanes> offset{own.at.x - at.x, own.at.y - at.y, own.at.z - at.z};
      const Lanes square = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
      std::uint8_t& bits = job.shifted_bits[k / lanes];
      if (bits_of(square < far2) == 0) {
        bits = 0;
        continue;
      }
      gather(moved, job.move, job.lists + k);
      const Lanes distance = square_root(square);
      const Lanes overlap = positive(own.move.w + moved.w - distance);
      if (bits_of(overlap > 0) == 0) {
        bits = 0;
        continue;
      }
      gather(spin, job.spin, job.lists + k);
      Shift<Lanes> before = {};
      if (bits != 0) before = {load(job.shift_x + k), load(job.shift_y + k), load(job.shift_z + k)};
      const Shift<Lanes> shift = touch(own, at, moved, spin, offset, distance, overlap, before, job.dt, all);
      bits = static_cast<std::uint8_t>(bits_of((shift.x != 0) | (shift.y != 0) | (shift.z != 0)));
      if (bits == 0) continue;
      shifted += std::popcount(bits);
      store(job.shift_x + k, shift.x), store(job.shift_y + k, shift.y), store(job.shift_z + k, shift.z);
    }
    const auto sum3 = [](const Lanes(&v)[3], float(&out)[3]) {
      for (int axis = 0; axis < 3; ++axis) out[axis] = sum(v[axis]);
    };
    TouchSums<float> sums;
    sum3(all.push, sums.push), sum3(all.turn, sums.turn), sum3(all.rolling, sums.rolling);
    sums.load = sum(all.load);
    const Push pushed = push_of(own, job.grain[i] != 0, job.dt, sums);
    job.push[i] = pushed.push, job.turn[i] = pushed.turn, job.other_spin[i] = pushed.other_spin;
    job.shifted[i] = static_cast<std::uint32_t>(shifted);
  }
}

// Touches of shapes that are not near any longer.
void forget_far(std::array<ShapeTouch, shape_touches>& touches, std::span<const NearShape> near_shapes, std::size_t k) {
  for (ShapeTouch& touch : touches) {
    if (touch.shape == no_shape) continue;
    const auto near = std::find_if(near_shapes.begin(), near_shapes.end(),
                                   [&](const NearShape& n) { return n.shape == touch.shape; });
    if (near == near_shapes.end() || !near->has(k)) touch = {};
  }
}

// A solid far from all shapes.
void leave_shapes(SolidArrays& solid, std::size_t i, float rolling, float dt) {
  for (ShapeTouch& touch : solid.on_shapes[i])
    if (touch.shape != no_shape) touch = {};
  if (rolling <= 0 || solid.grain[i] == 0 || solid.push[i].w <= 0) return;
  ShapeContacts c{
      {solid.at[i], solid.move[i], solid.spin[i]}, true, solid.push[i].w, solid.other_spin[i], {}, {}, {}, {}};
  brake(c, rolling, dt);
  solid.spin[i] = c.own.spin;
}

}  // namespace

void SolidArrays::resize(std::size_t size) {
  count = size;
  for (auto* array : {&position, &velocity, &spin, &at, &move, &push, &turn}) array->resize(size + 1);
  position[size] = at[size] = {far_away, far_away, far_away, 0};
  velocity[size] = spin[size] = move[size] = {};
  id.resize(size);
  grain.resize(size);
  on_shapes.resize(size);
  other_spin.resize(size);
  touch_first.resize(size);
  touch_count.resize(size);
}

void SolidArrays::reorder(const std::vector<std::uint32_t>& order, ThreadPool* threads) {
  particles::reorder(position, order, 1, threads);
  particles::reorder(velocity, order, 1, threads);
  particles::reorder(spin, order, 1, threads);
  particles::reorder(id, order, 0, threads);
  particles::reorder(grain, order, 0, threads);
  particles::reorder(on_shapes, order, 0, threads);
  particles::reorder(touch_first, order, 0, threads);
  particles::reorder(touch_count, order, 0, threads);
  resize(order.size());
  for_blocks(threads, count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) index[id[i]] = static_cast<std::uint32_t>(i);
  });
}

void touch_solids(SolidArrays& solid, const Neighbours& solids, Touches& touches, float largest_radius, float dt,
                  std::size_t begin, std::size_t end) {
  Touches::Block& block = touches.blocks[begin / block_size];
  touch_block({solid.at.data(), solid.move.data(), solid.spin.data(), solid.grain.data(), solids.first.data(),
               solids.count.data(), solids.blocks[begin / block_size].data(), block.x.data(), block.y.data(),
               block.z.data(), block.shifted.data(), dt, largest_radius, solid.push.data(), solid.turn.data(),
               solid.other_spin.data(), solid.touch_count.data()},
              begin, end);
}

void apply_pushes(SolidArrays& solid, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    Solid own{solid.at[i], solid.move[i], solid.spin[i]};
    apply(solid.push[i], solid.turn[i], own);
    solid.at[i] = own.at, solid.move[i] = own.move, solid.spin[i] = own.spin;
  }
}

void touch_shapes(SolidArrays& solid, const ShapesView& shapes, float rolling, float dt, bool applies_pushes,
                  std::size_t begin, std::size_t end) {
  if (applies_pushes) apply_pushes(solid, begin, end);
  float largest = 0;
  for (std::size_t i = begin; i < end; ++i) largest = larger(largest, solid.move[i].w);
  // Whatever the other shapes do to one, it comes no nearer to the next than another radius.
  const auto near_shapes =
      find_near({shapes.shapes, shapes.count}, {solid.at.data() + begin, end - begin}, 2 * largest);
  NearShape any;  // whatever shape
  for (const NearShape& near : near_shapes)
    for (std::size_t word = 0; word < 2; ++word) any.bits[word] |= near.bits[word];
  for (std::size_t i = begin; i < end; ++i) {
    if (solid.at[i].w == 0) continue;
    if (!any.has(i - begin)) {
      leave_shapes(solid, i, rolling, dt);
      continue;
    }
    forget_far(solid.on_shapes[i], near_shapes, i - begin);
    ShapeContacts c{{solid.at[i], solid.move[i], solid.spin[i]},
                    solid.grain[i] != 0,
                    solid.push[i].w,
                    solid.other_spin[i],
                    {solid.on_shapes[i][0], solid.on_shapes[i][1]},
                    {},
                    {},
                    {}};
    for (const NearShape& near : near_shapes) {
      if (!near.has(i - begin)) continue;
      const ShapeView& shape = shapes.shapes[near.shape];
      const Given given = touch_shape(c, shape, near.shape, distance_to(shape, xyz(c.own.at)), dt);
      if (given.touches)
        give(shapes.parts[begin / block_size * shapes.count + near.shape], shape, given.foot, given.got);
    }
    end_contacts(c, rolling, dt);
    solid.at[i] = c.own.at, solid.move[i] = c.own.move, solid.spin[i] = c.own.spin;
    solid.on_shapes[i] = {c.touches[0], c.touches[1]};
  }
}

}  // namespace volvox::particles
