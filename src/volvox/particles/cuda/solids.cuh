// Grains and points of cloth on a GPU: solids.cpp, with a thread for each lane.
#pragma once

#include "volvox/particles/cuda/fluid.cuh"

namespace volvox::particles::cuda {

struct SolidView {
  Point *position, *velocity, *spin, *at, *move, *push, *turn;
  Vector* other_spin;
  const std::uint8_t* grain;
  std::array<ShapeTouch, shape_touches>* on_shapes;
  Lists solids, fluids;
  Point* shift;  // where the bit is set
  std::uint8_t* shifted;
  // The fluid around them, if there is any.
  bool has_fluid;
  FluidNumbers numbers;
  const Point *seen, *fluid_move;
  float air_drag, rolling;
  const Control* control;
};

void predict_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream);
// Contacts among them and what the fluid does, applied.
void correct_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream);
// Contacts with shapes; velocities.
void finish_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream);

}  // namespace volvox::particles::cuda
