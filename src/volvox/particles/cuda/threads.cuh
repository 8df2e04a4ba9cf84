// Cloth and ropes on a GPU: threads.cpp, with a thread of the GPU for each thread of cloth.
#pragma once

#include "volvox/particles/cuda/solids.cuh"
#include "volvox/particles/device_api.h"

namespace volvox::particles::cuda {

struct ThreadView {
  const DeviceThreads* blocks;  // eight threads each
  std::uint32_t count;          // of blocks
  const std::uint32_t* points;  // ids
  float* rest;
  void* solving;               // room for the elimination
  const std::uint32_t* index;  // by id
  Point *at, *move;
  Control* control;
};
std::size_t solving_bytes(std::size_t rests);
// The blocks [first, last), of one group.
void pull_threads(const ThreadView& threads, std::uint32_t first, std::uint32_t last, const SubstepView& substep,
                  cudaStream_t stream);

}  // namespace volvox::particles::cuda
