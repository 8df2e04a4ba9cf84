// The launches of a tick, which are captured once and replayed.
#include "volvox/particles/cuda/world.cuh"

#include <algorithm>
#include <cstring>

namespace volvox::particles {

using namespace cuda;

DeviceWorld::DeviceWorld(const DeviceSettings& s) : settings_(s) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "no GPU");
  if (count == 0) throw Failure("there is no GPU");
  check(cudaSetDevice(0), "the GPU");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "the GPU");
  control_.reserve(1);
  control_here_.reserve(1);
  const std::uint32_t strides[4] = {96, 48, 32, 128};  // neighbours; there are about 50 and 15, and few of the others
  for (int k = 0; k < 4; ++k) lists_[k].stride = strides[k];
  drains_.reserve(s.drain_count);
  if (s.drain_count > 0)
    check(cudaMemcpy(drains_.get(), s.drains, s.drain_count * sizeof(DrainView), cudaMemcpyHostToDevice), "drains");
}

DeviceWorld::~DeviceWorld() {
  if (stream_ == nullptr) return;
  cudaStreamSynchronize(stream_);
  graphs_.clear();
  cudaStreamDestroy(stream_);
}

void DeviceWorld::reserve_substeps(std::size_t substeps, std::size_t shapes) {
  const std::size_t views = substeps * shapes;
  bool moved = shapes_.reserve(views + 1);
  moved = shapes_here_.reserve(views + 1) || moved;
  moved = sums_here_.reserve(views + 1) || moved;
  moved = parts_.reserve(views * blocks_ + 1) || moved;
  if (moved) graphs_.clear();
}

// `lists_next`: lists may come between this substep and the next.
void DeviceWorld::launch_fluid(const DeviceSubsteps& s, int substep, bool lists_next, const SubstepView& here) {
  const FluidView fluid = fluid_view();
  const FluidNumbers& n = settings_.numbers;
  const bool alone = solid_.room == 0;
  const auto diffuses_at = [&](int k) {
    return (n.viscous != 0 || n.cohesion != 0) && (s.since_diffusion + k) % s.substeps_a_diffusion == 0;
  };
  if (diffuses_at(substep))
    diffuse(fluid, here, here.dt * static_cast<float>(s.substeps_a_diffusion), fluid_.room, stream_);
  else if (!predicted_) predict(fluid, here, fluid_.room, stream_);
  if (!alone) predict_solids(solid_view(), here, solid_.room, stream_);
  // Where it is known that no lists come between, the next prediction follows at once.
  const int next = substep + 1;
  predicted_ = alone && next < s.count && !lists_next && !diffuses_at(next);
  correct(fluid, here, predicted_ ? Then::predict : Then::nothing, fluid_.room, stream_);
}

// `more`: substeps follow in this launch. Where solids are alone, the next is predicted at once.
void DeviceWorld::launch_solids(const SubstepView& here, bool more) {
  const SolidView solid = solid_view();
  push_solids(solid, here, solid_.room, stream_);
  const FinishOptions options{.applies = groups_.size() < 2, .looks = more, .predicts = more && fluid_.room == 0};
  if (!options.applies) apply_to_solids(solid, here, solid_.room, stream_);
  for (std::size_t group = 0; group + 1 < groups_.size(); ++group)
    pull_threads(thread_view(), groups_[group], groups_[group + 1], here, stream_);
  finish_solids(solid, here, options, solid_.room, stream_);
}

// The phases of ParticleWorld::advance. Where there are solids, it ends early if their lists do not hold.
void DeviceWorld::launch(const DeviceSubsteps& s) {
  const auto substeps = static_cast<std::uint32_t>(s.count);
  const auto shapes = static_cast<std::uint32_t>(s.shape_count);
  const std::size_t views = std::size_t{substeps} * shapes;
  const bool solids = solid_.room > 0;
  if (views > 0) {
    check(
        cudaMemcpyAsync(shapes_.get(), shapes_here_.get(), views * sizeof(ShapeView), cudaMemcpyHostToDevice, stream_),
        "shapes");
    check(cudaMemsetAsync(parts_.get(), 0, views * blocks_ * sizeof(ShapePart), stream_), "shapes");
  }
  begin_substeps(control_.get(), stream_);
  predicted_ = false;
  int age = s.since_list;  // of the fluid's lists
  for (int substep = 0; substep < s.count; ++substep) {
    const SubstepView here = substep_view(static_cast<std::size_t>(substep), s.shape_count, s.dt);
    if (substep == 0 && s.lists) {
      keep_touches(points(), stream_);
      sort_and_list(points(), s.drains, stream_);
      age = 0;
    } else if (substep == 0 && solids) {
      find_strays(points(), s.dt, stream_);
    } else if (!solids && age >= s.substeps_a_list) {
      sort_and_list(points(), false, stream_);
      age = 0;
    }
    ++age;
    if (fluid_.room > 0) launch_fluid(s, substep, age >= s.substeps_a_list, here);
    else if (substep == 0) predict_solids(solid_view(), here, solid_.room, stream_);
    if (solids) launch_solids(here, substep + 1 < s.count);
  }
  sum_parts(parts_.get(), sums_here_.get(), static_cast<std::uint32_t>(blocks_), shapes, substeps, control_.get(),
            control_here_.get(), stream_);
  check(cudaGetLastError(), "the GPU");
}

// Whether there was too little room for lists: the next load makes more.
bool DeviceWorld::grow() {
  const Control& now = control_here_[0];
  bool full = false;
  for (int k = 0; k < 4; ++k) {
    if (now.longest_list[k] == 0) continue;
    lists_[k].stride = (now.longest_list[k] + now.longest_list[k] / 4 + lanes) / lanes * lanes;
    full = true;
  }
  if (now.most_touches > 0) touch_room_ = now.most_touches + now.most_touches / 4 + 4, full = true;
  if (full) fits_ = false;
  return full;
}

// Where the GPU has numbers that the host has at `from`.
const float* DeviceWorld::samples(const float* from, std::size_t count) {
  const auto [place, is_new] = samples_.try_emplace(from);
  if (is_new) {
    place->second.reserve(count);
    check(cudaMemcpy(place->second.get(), from, count * sizeof(float), cudaMemcpyHostToDevice), "shapes");
  }
  return place->second.get();
}

void DeviceWorld::copy_shapes(const DeviceSubsteps& s) {
  other_shapes_ = false;
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.count) * s.shape_count; ++k) {
    ShapeView& shape = shapes_here_[k] = s.shapes[k];
    const auto number = [](std::int32_t n) { return static_cast<std::size_t>(n); };
    const auto& n = shape.field.count;
    other_shapes_ = other_shapes_ || shape.kind > ShapeKind::capsule;
    if (shape.kind == ShapeKind::field)
      shape.field.distance = samples(shape.field.distance, number(n[0]) * number(n[1]) * number(n[2]));
    if (shape.kind == ShapeKind::terrain)
      shape.terrain.heights =
          samples(shape.terrain.heights, number(shape.terrain.columns) * number(shape.terrain.rows));
  }
}

// Launches substeps, and waits.
void DeviceWorld::run(const DeviceSubsteps& s) {
  constexpr std::size_t most_graphs = 256;  // parts differ in how long they are, to a nanosecond
  if (graphs_.size() > most_graphs) graphs_.clear();
  std::unique_ptr<Graph>& graph = graphs_[{s.count, s.drains, s.lists, s.since_diffusion % s.substeps_a_diffusion,
                                           solid_.room > 0 ? 0 : s.since_list, s.substeps_a_diffusion,
                                           s.substeps_a_list, s.dt, s.shape_count, other_shapes_}];
  if (graph == nullptr) {
    cudaGraph_t captured = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "launches");
    launch(s);
    check(cudaStreamEndCapture(stream_, &captured), "launches");
    auto made = std::make_unique<Graph>();
    const cudaError_t error = cudaGraphInstantiate(&made->exec, captured, 0);
    cudaGraphDestroy(captured);
    check(error, "launches");
    graph = std::move(made);
  }
  check(cudaGraphLaunch(graph->exec, stream_), "the tick");
  check(cudaStreamSynchronize(stream_), "the tick");
}

// Solids' lists end when one of them strays, which turns out on the GPU: what follows is then launched again, behind
// new lists. (A graph's conditional nodes could decide there, but each took longer than a word with the host.)
DeviceAnswer DeviceWorld::step(const DeviceSubsteps& all, DeviceOutcome& outcome) {
  reserve_substeps(static_cast<std::size_t>(all.count), all.shape_count);
  DeviceSubsteps s = all;
  for (int done = 0;;) {
    const bool wet = solid_.room > 0 && control_here_[0].count[fluid_set] > 0;
    s.count = all.count - done;
    s.since_diffusion = all.since_diffusion + done;
    s.shapes = all.shapes + static_cast<std::size_t>(done) * all.shape_count;
    if (wet && !s.lists) s.lists = since_list_ >= s.substeps_a_list;
    if (wet) s.count = std::min(s.count, s.substeps_a_list - (s.lists ? 0 : since_list_));
    copy_shapes(s);
    run(s);
    if (grow()) return DeviceAnswer::lists_full;
    const int made = std::min(s.count, control_here_[0].last_substep + 1);
    std::copy_n(sums_here_.get(), static_cast<std::size_t>(made) * s.shape_count,
                outcome.parts + static_cast<std::size_t>(done) * s.shape_count);
    since_list_ = (s.lists ? 0 : since_list_) + made;
    if (made > 0) last_shapes_ = s.shape_count, last_substep_ = static_cast<std::size_t>(made) - 1;
    if ((done += made) == all.count) break;
    s.lists = made < s.count, s.drains = false;
  }
  const Control& now = control_here_[0];
  outcome.fluids = now.count[fluid_set], outcome.solids = now.count[solid_set];
  outcome.touch_room = touch_room_;
  outcome.drained = now.drained, outcome.torn = now.torn, outcome.lists_made = now.lists_made;
  outcome.finite = now.not_finite == 0;
  return DeviceAnswer::done;
}

void DeviceWorld::densities(float* out) {
  find_densities(fluid_view(), substep_view(last_substep_, last_shapes_, 0), solid_.position.get(),
                 solid_.velocity.get(), density_.get(), fluid_.room, stream_);
  copy_out(out, density_, control_here_[0].count[fluid_set]);
  check(cudaStreamSynchronize(stream_), "from the GPU");
}

namespace {

template <class Work>
DeviceAnswer guarded(char* message, const Work& work) {
  constexpr std::size_t message_size = 256;
  try {
    return work();
  } catch (const std::exception& error) {
    std::strncpy(message, error.what(), message_size - 1);
    message[message_size - 1] = 0;
    cudaGetLastError();  // forgotten: other worlds would find it
    return DeviceAnswer::failed;
  }
}

const DeviceApi api = {
    device_api_version,
    sizeof(DeviceSettings),
    sizeof(DeviceState),
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
};

}  // namespace
}  // namespace volvox::particles

extern "C" __attribute__((visibility("default"))) const volvox::particles::DeviceApi* volvox_particles_device() {
  return &volvox::particles::api;
}
