// The fluid's kernels on a GPU: fluid.cpp, with a thread for each lane.
#pragma once

#include "volvox/particles/cuda/lists.cuh"
#include "volvox/particles/fluid.h"

namespace volvox::particles::cuda {

struct FluidView {
  FluidNumbers numbers;
  Point *position, *velocity, *at, *move, *seen;
  Point* scratch;  // new velocities, moves
  Lists fluids, solids;
  bool has_solids;
  const Point *solid_at, *solid_move;
  const Control* control;
};
// In one substep.
struct SubstepView {
  std::int32_t number;  // of those that are launched together
  const ShapeView* shapes;
  std::uint32_t shape_count;
  ShapePart* parts;  // by block of 128 particles and shape
  float dt;
  Vector gravity;  // m/s in a substep
  double exact_dt;
  bool others;  // some shapes are cylinders, sampled solids or terrains

  // Lists do not hold for it.
  __device__ bool is_void(const Control& control) const { return number > control.last_substep; }
};

// What follows a substep: nothing, or the prediction of the next one.
enum class Then { nothing, predict };

void predict(const FluidView& fluid, const SubstepView& substep, std::size_t room, cudaStream_t stream);
// And predicts.
void diffuse(const FluidView& fluid, const SubstepView& substep, float duration, std::size_t room, cudaStream_t stream);
void correct(const FluidView& fluid, const SubstepView& substep, Then then, std::size_t room, cudaStream_t stream);
// Where particles are now; of solids, too (w: 1 / mass; radius).
void find_densities(const FluidView& fluid, const SubstepView& substep, const Point* solids, const Point* radii,
                    float* out, std::size_t room, cudaStream_t stream);
// What all blocks gave: by substep and shape, in the order of blocks, and what else the host must know; both in its
// memory.
void sum_parts(const ShapePart* parts, ShapePart* sums, std::uint32_t blocks, std::uint32_t shapes,
               std::uint32_t substeps, const Control* control, Control* control_here, cudaStream_t stream);

}  // namespace volvox::particles::cuda
