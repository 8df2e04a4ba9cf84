// The world on a GPU: its memory, and the launches of a tick, which are captured once and replayed.
#include <cstring>
#include <map>
#include <memory>
#include <tuple>

#include "volvox/particles/cuda/fluid.cuh"
#include "volvox/particles/cuda/lists.cuh"
#include "volvox/particles/device_api.h"

namespace volvox::particles {

using namespace cuda;

namespace {

constexpr std::size_t message_size = 256;
constexpr std::uint32_t first_stride = 96;  // neighbours; there are about 50

void say(char* message, const char* what) {
  std::strncpy(message, what, message_size - 1);
  message[message_size - 1] = 0;
}

struct Graph {
  cudaGraphExec_t exec = nullptr;
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (exec != nullptr) cudaGraphExecDestroy(exec);
  }
};

}  // namespace

struct DeviceWorld {
  explicit DeviceWorld(const DeviceSettings& s);
  ~DeviceWorld();

  void load(const DeviceState& state);
  DeviceAnswer step(const DeviceSubsteps& substeps, DeviceOutcome& outcome);
  void save(const DeviceState& state);
  void densities(float* out);

  std::string name;

 private:
  void make_room(std::size_t count);
  void reserve_substeps(std::size_t substeps, std::size_t shapes);
  void launch(const DeviceSubsteps& substeps);
  FluidView fluid_view() const;
  SubstepView substep_view(std::size_t at, std::size_t shapes, float dt) const;
  Sorting sorting() const;

  DeviceSettings settings_;
  cudaStream_t stream_ = nullptr;
  std::size_t room_ = 0, cells_ = 0, blocks_ = 0;
  std::uint32_t stride_ = first_stride;
  Buffer<Point> position_, velocity_, at_, move_, seen_, scratch_, sorted_position_, sorted_velocity_;
  Buffer<std::uint32_t> id_, sorted_id_, cell_, slot_, unsorted_, sorted_cell_, count_of_cell_, first_, list_,
      list_count_;
  Buffer<unsigned char> scan_;
  Buffer<Control> control_;
  Buffer<ShapeView> shapes_;
  Buffer<ShapePart> parts_, sums_;
  Buffer<float> density_;
  Pinned<Control> control_here_;
  Pinned<ShapeView> shapes_here_;
  Pinned<ShapePart> sums_here_;
  std::size_t last_shapes_ = 0, last_substeps_ = 0;
  // By what a part of a tick is made of.
  using Key = std::tuple<int, int, int, int, double, std::size_t>;
  std::map<Key, std::unique_ptr<Graph>> graphs_;
};

DeviceWorld::DeviceWorld(const DeviceSettings& s) : settings_(s) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "no GPU");
  if (count == 0) throw Failure("there is no GPU");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "the GPU");
  name = properties.name;
  check(cudaSetDevice(0), "the GPU");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "the GPU");
  control_.reserve(1);
  control_here_.reserve(1);
}

DeviceWorld::~DeviceWorld() {
  if (stream_ == nullptr) return;
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

void DeviceWorld::make_room(std::size_t count) {
  graphs_.clear();
  room_ = count;
  blocks_ = blocks_of(count) == 0 ? 1 : blocks_of(count);
  cells_ = static_cast<std::size_t>(Cells::most(count)) + 8;
  for (Buffer<Point>* array : {&position_, &velocity_, &at_, &move_, &seen_, &scratch_, &sorted_position_, &sorted_velocity_})
    array->reserve(count + 1);
  for (Buffer<std::uint32_t>* array : {&id_, &sorted_id_, &cell_, &slot_, &unsorted_, &sorted_cell_, &list_count_})
    array->reserve(count + 1);
  count_of_cell_.reserve(cells_);
  first_.reserve(cells_);
  list_.reserve(count * stride_ + 1);
  density_.reserve(count + 1);
  scan_.reserve(scan_bytes(cells_));
}

void DeviceWorld::reserve_substeps(std::size_t substeps, std::size_t shapes) {
  const std::size_t views = substeps * shapes;
  bool moved = shapes_.reserve(views + 1);
  moved = shapes_here_.reserve(views + 1) || moved;
  moved = sums_.reserve(views + 1) || moved;
  moved = sums_here_.reserve(views + 1) || moved;
  moved = parts_.reserve(views * blocks_ + 1) || moved;
  if (moved) graphs_.clear();
}

FluidView DeviceWorld::fluid_view() const {
  return {settings_.numbers, position_.get(), velocity_.get(),   at_.get(), move_.get(),    seen_.get(),
          scratch_.get(),    list_.get(),     list_count_.get(), stride_,   control_.get()};
}

SubstepView DeviceWorld::substep_view(std::size_t at, std::size_t shapes, float dt) const {
  const auto g = [&](int axis) { return static_cast<float>(settings_.gravity[axis]) * dt; };
  return {shapes_.get() + at * shapes, static_cast<std::uint32_t>(shapes), parts_.get() + at * blocks_ * shapes, dt,
          {g(0), g(1), g(2)}};
}

Sorting DeviceWorld::sorting() const {
  return {position_.get(),      velocity_.get(),    id_.get(),   sorted_position_.get(), sorted_velocity_.get(),
          sorted_id_.get(),     cell_.get(),        slot_.get(), unsorted_.get(),        sorted_cell_.get(),
          count_of_cell_.get(), first_.get(),       list_.get(), list_count_.get(),      stride_};
}

void DeviceWorld::load(const DeviceState& state) {
  make_room(state.fluids);
  const auto copy = [&](auto* to, const auto* from) {
    check(cudaMemcpyAsync(to, from, state.fluids * sizeof *from, cudaMemcpyHostToDevice, stream_), "to the GPU");
  };
  copy(position_.get(), state.position);
  copy(velocity_.get(), state.velocity);
  copy(id_.get(), state.id);
  control_here_[0] = {};
  control_here_[0].fluids = static_cast<std::uint32_t>(state.fluids);
  check(cudaMemcpyAsync(control_.get(), control_here_.get(), sizeof(Control), cudaMemcpyHostToDevice, stream_),
        "to the GPU");
  check(cudaStreamSynchronize(stream_), "to the GPU");
}

// The phases of ParticleWorld::step.
void DeviceWorld::launch(const DeviceSubsteps& s) {
  const FluidView fluid = fluid_view();
  const Sorting points = sorting();
  const auto dt = static_cast<float>(s.dt);
  const FluidNumbers& n = settings_.numbers;
  ListSettings lists{};
  for (int axis = 0; axis < 3; ++axis) lists.low[axis] = settings_.low[axis], lists.high[axis] = settings_.high[axis];
  lists.skin = static_cast<float>(settings_.fluid_skin);
  const float size = n.support + lists.skin;
  lists.cell_size = (size > 1e-5f ? size : 1e-5f) * 1.0001;
  lists.reach = n.support / 2;
  const bool diffuses = n.viscous != 0 || n.cohesion != 0;
  const std::size_t views = static_cast<std::size_t>(s.last - s.first) * s.shape_count;
  if (views > 0) {
    check(cudaMemcpyAsync(shapes_.get(), shapes_here_.get(), views * sizeof(ShapeView), cudaMemcpyHostToDevice, stream_),
          "shapes");
    check(cudaMemsetAsync(parts_.get(), 0, views * blocks_ * sizeof(ShapePart), stream_), "shapes");
  }
  const auto lists_at = [&](int substep) { return substep % s.substeps_a_list == 0; };
  const auto diffuses_at = [&](int substep) { return diffuses && substep % s.substeps_a_diffusion == 0; };
  for (int substep = s.first; substep < s.last; ++substep) {
    const SubstepView here = substep_view(static_cast<std::size_t>(substep - s.first), s.shape_count, dt);
    if (lists_at(substep))
      sort_and_list(points, lists, control_.get(), room_, cells_, substep == 0, scan_.get(), scan_.size(), stream_);
    if (diffuses_at(substep))
      diffuse(fluid, here, dt * static_cast<float>(s.substeps_a_diffusion), room_, stream_);
    else if (substep == s.first || lists_at(substep))
      predict(fluid, here, room_, stream_);
    const int next = substep + 1;
    const bool goes_on = next < s.last && !lists_at(next) && !diffuses_at(next);
    correct(fluid, here, goes_on ? Then::predict : Then::nothing, room_, stream_);
  }
  sum_parts(parts_.get(), sums_.get(), static_cast<std::uint32_t>(blocks_), static_cast<std::uint32_t>(s.shape_count),
            static_cast<std::uint32_t>(s.last - s.first), control_.get(), stream_);
  if (views > 0)
    check(cudaMemcpyAsync(sums_here_.get(), sums_.get(), views * sizeof(ShapePart), cudaMemcpyDeviceToHost, stream_),
          "shapes");
  check(cudaMemcpyAsync(control_here_.get(), control_.get(), sizeof(Control), cudaMemcpyDeviceToHost, stream_),
        "what was done");
  check(cudaGetLastError(), "the GPU");
}

DeviceAnswer DeviceWorld::step(const DeviceSubsteps& s, DeviceOutcome& outcome) {
  const auto substeps = static_cast<std::size_t>(s.last - s.first);
  reserve_substeps(substeps, s.shape_count);
  std::copy_n(s.shapes, substeps * s.shape_count, shapes_here_.get());
  last_shapes_ = s.shape_count, last_substeps_ = substeps;
  std::unique_ptr<Graph>& graph =
      graphs_[{s.first, s.last, s.substeps_a_diffusion, s.substeps_a_list, s.dt, s.shape_count}];
  if (graph == nullptr) {
    cudaGraph_t captured = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "launches");
    launch(s);
    check(cudaStreamEndCapture(stream_, &captured), "launches");
    graph = std::make_unique<Graph>();
    const cudaError_t made = cudaGraphInstantiate(&graph->exec, captured, 0);
    cudaGraphDestroy(captured);
    check(made, "launches");
  }
  check(cudaGraphLaunch(graph->exec, stream_), "the tick");
  check(cudaStreamSynchronize(stream_), "the tick");
  const Control& now = control_here_[0];
  if (now.longest_list > 0) {
    stride_ = (now.longest_list + now.longest_list / 4 + lanes) / lanes * lanes;
    return DeviceAnswer::lists_full;
  }
  outcome.fluids = now.fluids;
  outcome.drained = now.drained;
  outcome.lists_made = now.lists_made;
  outcome.finite = now.not_finite == 0;
  std::copy_n(sums_here_.get(), substeps * s.shape_count, outcome.parts);
  return DeviceAnswer::done;
}

void DeviceWorld::save(const DeviceState& state) {
  const auto copy = [&](auto* to, const auto* from) {
    if (to == nullptr) return;
    check(cudaMemcpyAsync(to, from, state.fluids * sizeof *from, cudaMemcpyDeviceToHost, stream_), "from the GPU");
  };
  copy(state.position, position_.get());
  copy(state.velocity, velocity_.get());
  copy(state.id, id_.get());
  copy(state.seen, seen_.get());
  check(cudaStreamSynchronize(stream_), "from the GPU");
}

void DeviceWorld::densities(float* out) {
  const std::size_t count = control_here_[0].fluids;
  const std::size_t at = last_substeps_ > 0 ? last_substeps_ - 1 : 0;
  find_densities(fluid_view(), substep_view(at, last_shapes_, 0), density_.get(), room_, stream_);
  check(cudaMemcpyAsync(out, density_.get(), count * sizeof(float), cudaMemcpyDeviceToHost, stream_), "from the GPU");
  check(cudaStreamSynchronize(stream_), "from the GPU");
}

namespace {

template <class Work>
DeviceAnswer guarded(char* message, const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    say(message, error.what());
    return DeviceAnswer::failed;
  }
}

const DeviceApi api = {
    device_api_version,
    sizeof(DeviceSettings),
    sizeof(DeviceSubsteps),
    sizeof(ShapeView),
    [](const DeviceSettings* settings, char* message) -> DeviceWorld* {
      DeviceWorld* world = nullptr;
      guarded(message, [&] { return world = new DeviceWorld(*settings), DeviceAnswer::done; });
      return world;
    },
    [](DeviceWorld* world) { delete world; },
    [](DeviceWorld* world, const DeviceState* state, char* message) {
      return guarded(message, [&] { return world->load(*state), DeviceAnswer::done; });
    },
    [](DeviceWorld* world, const DeviceSubsteps* substeps, DeviceOutcome* outcome, char* message) {
      return guarded(message, [&] { return world->step(*substeps, *outcome); });
    },
    [](DeviceWorld* world, const DeviceState* state, char* message) {
      return guarded(message, [&] { return world->save(*state), DeviceAnswer::done; });
    },
    [](DeviceWorld* world, float* out, char* message) {
      return guarded(message, [&] { return world->densities(out), DeviceAnswer::done; });
    },
    [](DeviceWorld* world) { return world->name.c_str(); },
};

}  // namespace
}  // namespace volvox::particles

extern "C" __attribute__((visibility("default"))) const volvox::particles::DeviceApi* volvox_particles_device() {
  return &volvox::particles::api;
}
