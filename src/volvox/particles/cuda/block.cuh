// What threads of a GPU do together: the lanes of a particle, and the blocks by which the processor sums.
#pragma once

#include "volvox/particles/fluid.h"
#include "volvox/particles/shape_kernels.h"

namespace volvox::particles::cuda {

constexpr unsigned block = block_size;  // of the processor: shapes' parts are summed by it

// The lanes of a particle, in the order of sum(Lanes): ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
__device__ inline float sum_lanes(unsigned group, float value) {
  value += __shfl_xor_sync(group, value, 4);
  value += __shfl_xor_sync(group, value, 2);
  return value + __shfl_xor_sync(group, value, 1);
}

// What a thread has of eight that share a particle.
struct Lane {
  std::uint32_t particle, lane;
  unsigned shift, group;  // the threads of the particle, in their warp
};
__device__ inline Lane lane_of_thread() {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned shift = threadIdx.x % 32 / lanes * lanes;
  return {thread / lanes, thread % lanes, shift, 0xffu << shift};
}

// The box around the points of a block, as find_near has it.
struct BlockBox {
  Vector low, high;
};
__device__ inline BlockBox box_of_block(const Point& p, bool active) {
  __shared__ float box[6][block / 32];
  float bounds[6] = {p.x, p.y, p.z, p.x, p.y, p.z};
  for (int k = 0; k < 6; ++k) {
    if (!active) bounds[k] = k < 3 ? INFINITY : -INFINITY;
    for (int offset = 16; offset > 0; offset /= 2) {
      const float other = __shfl_xor_sync(~0u, bounds[k], offset);
      bounds[k] = k < 3 ? smaller(bounds[k], other) : larger(bounds[k], other);
    }
    if (threadIdx.x % 32 == 0) box[k][threadIdx.x / 32] = bounds[k];
  }
  __syncthreads();
  for (int k = 0; k < 6; ++k) {
    bounds[k] = box[k][0];
    for (unsigned w = 1; w < block / 32; ++w)
      bounds[k] = k < 3 ? smaller(bounds[k], box[k][w]) : larger(bounds[k], box[k][w]);
  }
  return {{bounds[0], bounds[1], bounds[2]}, {bounds[3], bounds[4], bounds[5]}};
}

// Cylinders, sampled solids and terrains take many registers. Kernels are compiled with (`others`) and without them, so
// that worlds without such shapes do not pay for them.
static __device__ __noinline__ Distance other_distance(const ShapeView& shape, Vector point) {
  return any_distance(shape, point);
}
static __device__ __noinline__ Covered other_covered(const ShapeView& shape, Vector point, float support) {
  return any_covered(shape, point, support);
}
template <bool others>
__device__ inline Distance distance_at(const ShapeView& shape, const Vector& point) {
  if constexpr (others)
    if (shape.kind > ShapeKind::capsule) return other_distance(shape, point);
  return simple_distance(shape, point);
}
template <bool others>
__device__ inline Covered covered_at(const ShapeView& shape, const Vector& point, float support) {
  if constexpr (others)
    if (shape.kind > ShapeKind::capsule) return other_covered(shape, point, support);
  return simple_covered(shape, point, support);
}
// may_be_near of a block.
template <bool others>
__device__ inline bool near_block(const ShapeView& shape, const BlockBox& box, float distance) {
  if constexpr (others) return may_be_near(shape, box.low, box.high, distance);
  const Vector middle = (box.low + box.high) * 0.5f;
  return !(simple_distance(shape, middle).distance > 0.5001f * length(box.high - box.low) + distance);
}

// Adds what the particles of a block give a shape, in their order, as one thread of the processor does. All threads of
// the block call it; `gives`: this one has something.
__device__ inline void give_in_order(ShapePart& part, const ShapeView& shape, const Vector& point, const Vector& got,
                                     bool gives) {
  __shared__ double given[6][block + 1];  // the six threads that sum read other banks
  __shared__ unsigned warps[block / 32];
  const unsigned givers = __ballot_sync(~0u, gives);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = givers;
  ShapePart own;  // zeros change no sum
  if (gives) give(own, shape, point, got);
  for (int k = 0; k < 3; ++k) given[k][threadIdx.x] = own.push[k], given[3 + k][threadIdx.x] = own.turn[k];
  __syncthreads();
  if (threadIdx.x < 6) {
    double& to = threadIdx.x < 3 ? part.push[threadIdx.x] : part.turn[threadIdx.x - 3];
    double sum = to;
    for (unsigned w = 0; w < block / 32; ++w) {
      if (warps[w] == 0) continue;
#pragma unroll
      for (unsigned k = 0; k < 32; ++k) sum += given[threadIdx.x][w * 32 + k];
    }
    to = sum;
  }
  __syncthreads();
}

}  // namespace volvox::particles::cuda
