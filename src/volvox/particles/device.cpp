#include "volvox/particles/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"

namespace volvox::particles {
namespace {

constexpr const char* entry = "volvox_particles_device";
constexpr std::size_t message_size = 256;

}  // namespace

Result<std::shared_ptr<const Device>> Device::cuda() {
  const auto found = platform::open_optional_library("VOLVOX_CUDA_LIBRARY", "libvolvox_cuda.so");
  if (!found.ok()) return found.error();
  if (!found->library)
    return Error(fmt::format("there is no library for GPUs: looked for {}", found->looked),
                 "install NVIDIA's CUDA toolkit and build again, or use --device cpu");
  const auto function = reinterpret_cast<volvox_particles_device_function>(found->library->symbol(entry));
  const DeviceApi* api = function == nullptr ? nullptr : function();
  if (api == nullptr || api->version != device_api_version || api->settings_size != sizeof(DeviceSettings) ||
      api->state_size != sizeof(DeviceState) || api->shape_size != sizeof(ShapeView))
    return Diagnostic{found->file.string(), 0, "the library for GPUs is of another version of Volvox",
                      "build it again"};
  return std::shared_ptr<const Device>(new Device(found->library, api));
}

std::string Device::lacks() const {
  char message[message_size] = "";
  DeviceSettings settings;
  settings.numbers = numbers_of({});
  DeviceWorld* world = api_->create(&settings, message);
  if (world == nullptr) return message;
  api_->destroy(world);
  return {};
}

Result<DeviceChoice> choose_device(const std::string& name) {
  // From here on a GPU is faster in all worlds that were measured, with two and eight threads (docs/benchmarks.md).
  constexpr std::size_t many = 2'000;
  if (name == "cpu") return DeviceChoice{};
  if (name != "cuda" && name != "auto")
    return Error(fmt::format("there is no device '{}'", name), "choose one of: auto, cpu, cuda");
  const auto found = Device::cuda();
  if (name == "cuda") return found.ok() ? DeviceChoice{*found, 0, {}} : DeviceChoice{{}, 0, found.error().text()};
  if (!found.ok() || !(*found)->lacks().empty()) return DeviceChoice{};
  return DeviceChoice{*found, many, {}};
}

DeviceSide::~DeviceSide() {
  if (world_ != nullptr) device_->api().destroy(world_);
}

Error DeviceSide::failure(const char* message) const {
  return Error(fmt::format("the GPU does not go on: {}", message), "the processor does; the result is the same");
}

namespace {

DeviceState state_of(FluidArrays& fluid, SolidArrays& solid) {
  DeviceState state;
  state.fluids = fluid.count, state.solids = solid.count, state.ids = solid.index.size();
  state.position = fluid.position.data(), state.velocity = fluid.velocity.data(), state.id = fluid.id.data();
  state.seen = fluid.seen.data();
  state.solid_position = solid.position.data(), state.solid_velocity = solid.velocity.data();
  state.spin = solid.spin.data(), state.solid_id = solid.id.data(), state.grain = solid.grain.data();
  state.on_shapes = solid.on_shapes.data();
  return state;
}

// The touches of solids in rows of the same length.
struct TouchRows {
  std::size_t room = 0;
  std::vector<std::uint32_t> count, id;
  std::vector<Vector> shift;

  TouchRows(std::size_t solids, std::size_t entries)
      : room(entries), count(solids), id(solids * entries), shift(solids * entries) {}
  void join(DeviceState& state) {
    state.touch_room = room;
    state.touch_count = count.data(), state.touch_id = id.data(), state.touch_shift = shift.data();
  }
};

// All threads in one array each; `rest` goes back from it.
struct AllThreads {
  std::vector<DeviceThreads> blocks;
  std::vector<std::uint32_t> points;
  std::vector<float> rest;

  explicit AllThreads(std::span<const ThreadGroup> groups) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const ThreadBlock& block : groups[g].blocks) {
        blocks.push_back({narrow<std::uint32_t>(g), block.segments, narrow<std::uint32_t>(points.size()),
                          narrow<std::uint32_t>(rest.size()), groups[g].compliance, groups[g].strength,
                          groups[g].longest});
        points.insert(points.end(), block.points.begin(), block.points.end());
        rest.insert(rest.end(), block.rest.begin(), block.rest.end());
      }
    }
  }
  void join(DeviceState& state) {
    state.thread_blocks = blocks.size(), state.points = points.size(), state.rests = rest.size();
    state.threads = blocks.data(), state.thread_points = points.data(), state.rest = rest.data();
  }
};

}  // namespace

Result<void> DeviceSide::load(const DeviceSettings& settings, FluidArrays& fluid, SolidArrays& solid,
                              std::span<ThreadGroup> groups) {
  char message[message_size] = "";
  // What is settled once would be wrong for larger grains.
  if (world_ != nullptr && settings.largest_radius != largest_radius_) {
    device_->api().destroy(world_);
    world_ = nullptr;
  }
  largest_radius_ = settings.largest_radius;
  if (world_ == nullptr) world_ = device_->api().create(&settings, message);
  if (world_ == nullptr) return failure(message);
  DeviceState state = state_of(fluid, solid);
  std::uint32_t most = 0;
  for (const std::uint32_t count : solid.touch_count) most = std::max(most, count);
  TouchRows rows(solid.count, most);
  for (std::size_t i = 0; i < solid.count; ++i) {
    const std::uint32_t first = solid.touch_first[i], count = rows.count[i] = solid.touch_count[i];
    std::copy_n(solid.touch_id.begin() + first, count, rows.id.begin() + static_cast<std::ptrdiff_t>(i * most));
    std::copy_n(solid.touch_shift.begin() + first, count, rows.shift.begin() + static_cast<std::ptrdiff_t>(i * most));
  }
  rows.join(state);
  AllThreads threads(groups);
  threads.join(state);
  if (device_->api().load(world_, &state, message) != DeviceAnswer::done) return failure(message);
  loaded = true;
  newer = false;
  fluids = fluid.count, solids = solid.count;
  return {};
}

Result<DeviceAnswer> DeviceSide::step(const DeviceSubsteps& substeps, DeviceOutcome& outcome) {
  char message[message_size] = "";
  const DeviceAnswer answer = device_->api().step(world_, &substeps, &outcome, message);
  if (answer == DeviceAnswer::failed) return failure(message);
  if (answer == DeviceAnswer::done) fluids = outcome.fluids, solids = outcome.solids, touch_room_ = outcome.touch_room;
  return answer;
}

Result<void> DeviceSide::save(FluidArrays& fluid, SolidArrays& solid, std::span<ThreadGroup> groups) {
  FluidArrays water;
  water.resize(fluids);
  water.next_id = fluid.next_id;
  SolidArrays grains;
  grains.resize(solids);
  grains.index.assign(solid.index.size(), ~0u);
  DeviceState state = state_of(water, grains);
  TouchRows rows(solids, touch_room_);
  rows.join(state);
  AllThreads threads(groups);
  threads.join(state);
  char message[message_size] = "";
  if (device_->api().save(world_, &state, message) != DeviceAnswer::done) return failure(message);
  for (std::size_t i = 0; i < solids; ++i) {
    grains.index[grains.id[i]] = static_cast<std::uint32_t>(i);
    grains.touch_first[i] = narrow<std::uint32_t>(grains.touch_id.size());
    grains.touch_count[i] = rows.count[i];
    const auto first = static_cast<std::ptrdiff_t>(i * touch_room_), last = first + rows.count[i];
    grains.touch_id.insert(grains.touch_id.end(), rows.id.begin() + first, rows.id.begin() + last);
    grains.touch_shift.insert(grains.touch_shift.end(), rows.shift.begin() + first, rows.shift.begin() + last);
  }
  auto rest = threads.rest.begin();
  for (ThreadGroup& group : groups)
    for (ThreadBlock& block : group.blocks) {
      std::copy_n(rest, block.rest.size(), block.rest.begin());
      rest += std::ssize(block.rest);
    }
  fluid = std::move(water);
  solid = std::move(grains);
  return {};
}

Result<void> DeviceSide::densities(std::vector<float>& out) {
  char message[message_size] = "";
  out.resize(fluids);
  if (device_->api().densities(world_, out.data(), message) != DeviceAnswer::done) return failure(message);
  return {};
}

}  // namespace volvox::particles
