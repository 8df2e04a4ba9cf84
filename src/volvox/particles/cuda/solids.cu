#include "volvox/particles/cuda/solids.cuh"

#include "volvox/particles/cuda/block.cuh"
#include "volvox/particles/solid_kernels.h"

namespace volvox::particles::cuda {
namespace {

constexpr unsigned threads = 256;

__device__ void predict_one(const SolidView& f, const SubstepView& s, std::uint32_t i, const Point& position,
                            const Point& velocity) {
  const float slowed = s.dt / (1 + f.air_drag * s.dt);
  Point at, move;
  advance_solid(position, velocity, s.gravity, slowed, at, move);
  f.at[i] = at;
  f.move[i] = move;
  f.ball[i] = {at.x, at.y, at.z, move.w};
}

__global__ void predict_all(SolidView f, SubstepView s) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!s.is_void(*f.control) && i < f.control->count[solid_set]) predict_one(f, s, i, f.position[i], f.velocity[i]);
}

// What the fluid does to a solid. (How far fluid particles go stays as it was predicted.)
__device__ void push_by_fluid(const SolidView& f, std::uint32_t i, const Solid& own, float dt, Point& push) {
  Vector got;
  for (std::uint32_t k = 0; k < f.fluids.count[i]; ++k) {
    const std::uint32_t j = f.fluids.entry[std::size_t{i} * f.fluids.stride + k];
    meet_fluid(f.numbers, f.seen[j], xyz(f.fluid_move[j]), own.at, own.move, dt, got);
  }
  const float share = f.numbers.mass * own.at.w;
  push.x += got.x * share, push.y += got.y * share, push.z += got.z * share;
}

__global__ void __launch_bounds__(threads, 5) touch_all(SolidView f, SubstepView s) {
  if (s.is_void(*f.control)) return;
  const float dt = s.dt;
  const Lane l = lane_of_thread();
  const std::uint32_t i = l.particle;
  if (i == 0 && l.lane == 0) ++f.control->age;
  if (i >= f.control->count[solid_set]) return;
  const Solid own{f.at[i], f.move[i], f.spin[i]};
  const std::size_t first = std::size_t{i} * f.solids.stride;
  const std::uint32_t count = f.solids.count[i];
  TouchSums<float> sums = {};
  for (std::uint32_t k = 0; k < count; k += lanes) {
    bool shifted = false;
    const unsigned bits = f.shifted[(first + k) / lanes];
    if (k + l.lane < count) {
      const std::size_t entry = first + k + l.lane;
      const std::uint32_t j = f.solids.entry[entry];
      const Point ball = f.ball[j];
      const Shift<float> offset{own.at.x - ball.x, own.at.y - ball.y, own.at.z - ball.z};
      const float distance = square_root(offset.x * offset.x + offset.y * offset.y + offset.z * offset.z);
      const float overlap = positive(own.move.w + ball.w - distance);
      if (overlap > 0) {
        const Point at = f.at[j], moved = f.move[j];
        const Point before = (bits >> l.lane & 1) != 0 ? f.shift[entry] : Point{};
        const Shift<float> shift = touch<float>(own, at, moved, f.spin[j], offset, distance, overlap,
                                                {before.x, before.y, before.z}, dt, sums);
        shifted = shift.x != 0 || shift.y != 0 || shift.z != 0;
        if (shifted) f.shift[entry] = {shift.x, shift.y, shift.z, 0};
      }
    }
    const unsigned now = __ballot_sync(l.group, shifted) >> l.shift & 0xffu;
    if (l.lane == 0 && now != bits) f.shifted[(first + k) / lanes] = static_cast<std::uint8_t>(now);
  }
  for (int axis = 0; axis < 3; ++axis) {
    sums.push[axis] = sum_lanes(l.group, sums.push[axis]);
    sums.turn[axis] = sum_lanes(l.group, sums.turn[axis]);
    sums.rolling[axis] = sum_lanes(l.group, sums.rolling[axis]);
  }
  sums.load = sum_lanes(l.group, sums.load);
  if (l.lane != 0) return;
  Push pushed = push_of(own, f.grain[i] != 0, dt, sums);
  if (f.has_fluid) push_by_fluid(f, i, own, dt, pushed.push);
  f.push[i] = pushed.push, f.turn[i] = pushed.turn, f.other_spin[i] = pushed.other_spin;
}

__global__ void apply_all(SolidView f, SubstepView s) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (s.is_void(*f.control) || i >= f.control->count[solid_set]) return;
  Solid own{f.at[i], f.move[i], f.spin[i]};
  apply(f.push[i], f.turn[i], own);
  f.at[i] = own.at, f.move[i] = own.move, f.spin[i] = own.spin;
}

__device__ float largest_of_block(float value) {
  __shared__ float warps[block / 32];
  for (int offset = 16; offset > 0; offset /= 2) value = larger(value, __shfl_xor_sync(~0u, value, offset));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  for (unsigned w = 0; w < block / 32; ++w) value = larger(value, warps[w]);
  return value;
}

// Whether one will be too far from where it was listed after the next substep.
__device__ bool strays_next(const SolidView& f, float dt, double exact_dt, std::uint32_t i, const Point& position,
                            const Point& velocity) {
  const double age = f.control->age * exact_dt;
  return strays(position, velocity, xyz(f.listed_at[i]), f.control->drift, f.skin[i],
                static_cast<float>(age + exact_dt), dt);
}

template <bool others>
__global__ void __launch_bounds__(block) meet_shapes(SolidView f, SubstepView s, FinishOptions options) {
  if (s.is_void(*f.control)) return;
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  const bool exists = i < f.control->count[solid_set];
  ShapeContacts c{};
  if (exists) {
    c.own = {f.at[i], f.move[i], f.spin[i]};
    c.rolls = f.grain[i] != 0;
    c.load = f.push[i].w;
    c.others = f.other_spin[i];
    c.touches[0] = f.on_shapes[i][0], c.touches[1] = f.on_shapes[i][1];
    if (options.applies) apply(f.push[i], f.turn[i], c.own);
  }
  const bool active = exists && c.own.at.w != 0;
  const bool touched = c.touches[0].shape != no_shape || c.touches[1].shape != no_shape;
  if (s.shape_count > 0) {
    const float distance = 2 * largest_of_block(exists ? c.own.move.w : 0);
    const Point began = c.own.at;
    const BlockBox box = box_of_block(began, exists);
    for (int k = 0; k < shape_touches; ++k) {
      const std::uint32_t shape = c.touches[k].shape;
      if (active && shape != no_shape &&
          !(near_block<others>(s.shapes[shape], box, distance) &&
            may_be_near(s.shapes[shape], began.x, began.y, began.z, distance)))
        c.touches[k] = {};
    }
    for (std::uint32_t k = 0; k < s.shape_count; ++k) {
      const ShapeView& shape = s.shapes[k];
      if (!near_block<others>(shape, box, distance)) continue;
      Given given;
      if (active && may_be_near(shape, began.x, began.y, began.z, distance))
        given = touch_shape(c, shape, k, distance_at<others>(shape, xyz(c.own.at)), s.dt);
      if (__syncthreads_or(given.touches) == 0) continue;
      give_in_order(s.parts[blockIdx.x * s.shape_count + k], shape, given.foot, given.got, given.touches);
    }
  }
  if (!exists) return;
  if (active) {
    end_contacts(c, f.rolling, s.dt);
    // Most touch none, before and after.
    if (touched || c.touches[0].shape != no_shape || c.touches[1].shape != no_shape)
      f.on_shapes[i] = {c.touches[0], c.touches[1]};
  }
  if (active || options.applies) f.spin[i] = c.own.spin;
  Point position{0, 0, 0, c.own.at.w}, velocity{0, 0, 0, c.own.move.w};
  land(c.own.at, c.own.move, 1 / s.dt, position, velocity);
  f.position[i] = position;
  f.velocity[i] = velocity;
  if (options.looks && strays_next(f, s.dt, s.exact_dt, i, position, velocity)) f.control->last_substep = s.number;
  if (options.predicts) predict_one(f, s, i, position, velocity);
}

}  // namespace

void predict_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream) {
  predict_all<<<blocks_for(room, threads), threads, 0, stream>>>(solid, substep);
}

void push_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream) {
  touch_all<<<blocks_for(room * lanes, threads), threads, 0, stream>>>(solid, substep);
}

void apply_to_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream) {
  apply_all<<<blocks_for(room, threads), threads, 0, stream>>>(solid, substep);
}

void finish_solids(const SolidView& solid, const SubstepView& substep, const FinishOptions& options, std::size_t room,
                   cudaStream_t stream) {
  const auto meet = substep.others ? meet_shapes<true> : meet_shapes<false>;
  meet<<<blocks_for(room, block), block, 0, stream>>>(solid, substep, options);
}

}  // namespace volvox::particles::cuda
