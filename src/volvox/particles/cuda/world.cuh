// The world in the memory of a GPU.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "volvox/particles/cuda/fluid.cuh"
#include "volvox/particles/cuda/lists.cuh"
#include "volvox/particles/cuda/solids.cuh"
#include "volvox/particles/cuda/threads.cuh"
#include "volvox/particles/device_api.h"

namespace volvox::particles {

struct DeviceWorld {
  explicit DeviceWorld(const DeviceSettings& s);
  ~DeviceWorld();

  void load(const DeviceState& state);
  DeviceAnswer step(const DeviceSubsteps& substeps, DeviceOutcome& outcome);
  void save(const DeviceState& state);
  void densities(float* out);

 private:
  template <class T>
  using Buffer = cuda::Buffer<T>;
  // A set of points and what they are sorted with.
  struct SetMemory {
    std::size_t room = 0;  // 0: there are none of this set
    Buffer<Point> position, velocity, sorted_position, sorted_velocity, at, move;
    Buffer<std::uint32_t> id, sorted_id, cell, slot, unsorted, sorted_cell, count_of_cell, first;
    bool reserve(std::size_t cells);
    cuda::Points view(std::uint32_t set) const;
  };
  struct ListMemory {
    Buffer<std::uint32_t> entry, count;
    std::uint32_t stride = 0;
    bool reserve(std::size_t points);
    cuda::Lists view() const { return {entry.get(), count.get(), stride}; }
  };
  struct Graph {
    cudaGraphExec_t exec = nullptr;
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
      if (exec != nullptr) cudaGraphExecDestroy(exec);
    }
  };

  void make_room(const DeviceState& state);
  bool reserve_all(const DeviceState& state);
  void load_solids(const DeviceState& state);
  void reserve_substeps(std::size_t substeps, std::size_t shapes);
  void launch(const DeviceSubsteps& substeps);
  void launch_fluid(const DeviceSubsteps& substeps, int substep, bool lists_next, const cuda::SubstepView& here);
  void launch_solids(const cuda::SubstepView& here, bool more);
  void run(const DeviceSubsteps& substeps);
  void copy_shapes(const DeviceSubsteps& substeps);
  const float* samples(const float* from, std::size_t count);
  bool grow();
  cuda::AllPoints points() const;
  cuda::FluidView fluid_view() const;
  cuda::SolidView solid_view() const;
  cuda::ThreadView thread_view() const;
  cuda::SubstepView substep_view(std::size_t at, std::size_t shapes, double dt) const;
  template <class T>
  void copy_in(const Buffer<T>& to, const T* from, std::size_t count);
  template <class T>
  void copy_out(T* to, const Buffer<T>& from, std::size_t count);

  DeviceSettings settings_;
  cudaStream_t stream_ = nullptr;
  std::size_t cells_ = 0, blocks_ = 0;
  SetMemory fluid_, solid_;
  ListMemory lists_[4];  // fluid of fluid, solid of solid, solid of fluid, fluid of solid: as Control::longest_list
  Buffer<Point> seen_, scratch_, spin_, sorted_spin_, push_, turn_, ball_, sought_, shift_;
  Buffer<Vector> other_spin_, touch_shift_;
  Buffer<std::uint8_t> grain_, sorted_grain_, shifted_;
  Buffer<std::array<ShapeTouch, shape_touches>> on_shapes_, sorted_on_shapes_;
  Buffer<float> skin_, rest_, density_;
  Buffer<std::uint32_t> from_, index_, touch_count_, touch_id_, thread_points_;
  Buffer<DeviceThreads> threads_;
  std::vector<std::uint32_t> groups_;  // the first block of each group of threads, and the end
  std::size_t rests_ = 0;
  std::uint32_t touch_room_ = 24;
  Buffer<unsigned char> scan_, solving_;
  Buffer<cuda::Control> control_;
  Buffer<ShapeView> shapes_;
  Buffer<ShapePart> parts_;
  cuda::Pinned<cuda::Control> control_here_;
  cuda::Pinned<ShapeView> shapes_here_;
  cuda::Pinned<ShapePart> sums_here_;
  std::size_t last_shapes_ = 0, last_substep_ = 0;
  int since_list_ = 0;         // substeps, where there are solids and fluid
  bool other_shapes_ = false;  // than planes, boxes, tanks, spheres and capsules
  bool fits_ = false;          // strides and rooms are those that graphs were made for
  bool predicted_ = false;     // the fluid, by the launch before
  // Samples of distances and heights of terrains, by where the host has them. They never change.
  std::map<const float*, Buffer<float>> samples_;
  Buffer<DrainView> drains_;
  // By what a part of a tick is made of.
  using Key = std::tuple<int, bool, bool, int, int, int, int, double, std::size_t, bool>;
  std::map<Key, std::unique_ptr<Graph>> graphs_;
};

}  // namespace volvox::particles
