// Grains and points of cloth on a GPU: solids.cpp, with a thread for each lane.
#pragma once

#include "volvox/particles/cuda/fluid.cuh"

namespace volvox::particles::cuda {

struct SolidView {
  Point *position, *velocity, *spin, *at, *move, *push, *turn;
  Point* ball;  // as `at`, but w is the radius: all that is needed of those that do not touch
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
  // When they were listed.
  const Point* listed_at;
  const float* skin;
  Control* control;
};

void predict_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream);
// Contacts among them and what the fluid does, into `push` and `turn`.
void push_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream);
// Applies these.
void apply_to_solids(const SolidView& solid, const SubstepView& substep, std::size_t room, cudaStream_t stream);

// What else a kernel that finishes a substep does.
struct FinishOptions {
  bool applies = false;   // the pushes, before: nothing else needs them
  bool looks = false;     // whether lists hold for the next substep
  bool predicts = false;  // that
};
// Contacts with shapes; velocities.
void finish_solids(const SolidView& solid, const SubstepView& substep, const FinishOptions& options, std::size_t room,
                   cudaStream_t stream);

}  // namespace volvox::particles::cuda
