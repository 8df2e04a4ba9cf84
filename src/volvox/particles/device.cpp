#include "volvox/particles/device.h"

#include <fmt/format.h>

#include <cstdlib>

#include "volvox/base/platform/paths.h"

namespace volvox::particles {
namespace fs = std::filesystem;
namespace {

constexpr const char* entry = "volvox_particles_device";
constexpr std::size_t message_size = 256;

std::vector<fs::path> places() {
  if (const char* file = std::getenv("VOLVOX_CUDA_LIBRARY"); file != nullptr && *file != 0) return {file};
  const fs::path name = fs::path("volvox") / "libvolvox_cuda.so", folder = platform::library().parent_path();
  return {folder / name, folder.parent_path() / "lib" / name};  // beside the library; of a program in the build folder
}

}  // namespace

Result<std::shared_ptr<const Device>> Device::cuda() {
  std::error_code error;
  std::string looked;
  for (const fs::path& file : places()) {
    looked += (looked.empty() ? "" : ", ") + file.string();
    if (!fs::is_regular_file(file, error)) continue;
    auto library = platform::SharedLibrary::open(file);
    if (!library.ok()) return library.error();
    const auto function = reinterpret_cast<volvox_particles_device_function>((*library)->symbol(entry));
    const DeviceApi* api = function == nullptr ? nullptr : function();
    if (api == nullptr || api->version != device_api_version || api->settings_size != sizeof(DeviceSettings) ||
        api->substeps_size != sizeof(DeviceSubsteps) || api->shape_size != sizeof(ShapeView))
      return Diagnostic{file.string(), 0, "the library for GPUs is of another version of Volvox", "build it again"};
    return std::shared_ptr<const Device>(new Device(*library, api));
  }
  return Error(fmt::format("there is no library for GPUs: looked for {}", looked),
               "install NVIDIA's CUDA toolkit and build again, or use --device cpu");
}

Result<std::shared_ptr<const Device>> Device::by_name(const std::string& name) {
  if (name == "cpu" || name == "auto") return std::shared_ptr<const Device>();
  if (name == "cuda") return cuda();
  return Error(fmt::format("there is no device '{}'", name), "choose one of: auto, cpu, cuda");
}

DeviceSide::~DeviceSide() {
  if (world_ != nullptr) device_->api().destroy(world_);
}

Error DeviceSide::failure(const char* message) const {
  return Error(fmt::format("the GPU does not go on: {}", message), "the processor does; the result is the same");
}

Result<void> DeviceSide::load(const DeviceSettings& settings, FluidArrays& fluid) {
  char message[message_size] = "";
  if (world_ == nullptr) world_ = device_->api().create(&settings, message);
  if (world_ == nullptr) return failure(message);
  const DeviceState state{.fluids = fluid.count,
                          .position = fluid.position.data(),
                          .velocity = fluid.velocity.data(),
                          .id = fluid.id.data()};
  if (device_->api().load(world_, &state, message) != DeviceAnswer::done) return failure(message);
  loaded = true;
  newer = false;
  fluids = fluid.count;
  return {};
}

Result<DeviceAnswer> DeviceSide::step(const DeviceSubsteps& substeps, DeviceOutcome& outcome) {
  char message[message_size] = "";
  const DeviceAnswer answer = device_->api().step(world_, &substeps, &outcome, message);
  if (answer == DeviceAnswer::failed) return failure(message);
  if (answer == DeviceAnswer::done) fluids = outcome.fluids;
  return answer;
}

Result<void> DeviceSide::save(FluidArrays& fluid) {
  char message[message_size] = "";
  const DeviceState state{.fluids = fluid.count,
                          .position = fluid.position.data(),
                          .velocity = fluid.velocity.data(),
                          .id = fluid.id.data(),
                          .seen = fluid.seen.data()};
  if (device_->api().save(world_, &state, message) != DeviceAnswer::done) return failure(message);
  return {};
}

Result<void> DeviceSide::densities(std::vector<float>& out) {
  char message[message_size] = "";
  out.resize(fluids);
  if (device_->api().densities(world_, out.data(), message) != DeviceAnswer::done) return failure(message);
  return {};
}

}  // namespace volvox::particles
