#include <fmt/format.h>

#include "volvox/base/platform/shared_library.h"
#include "volvox/cluster/mpi_api.h"
#include "volvox/cluster/ranks.h"

namespace volvox::cluster {
namespace {

class MpiRanks final : public Ranks {
 public:
  MpiRanks(std::shared_ptr<platform::SharedLibrary> library, const volvox_mpi_api& api, int rank, int size)
      : library_(std::move(library)), api_(api), rank_(rank), size_(size) {}
  ~MpiRanks() override { api_.end(); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Result<void> send(int to, const std::string& text) override {
    if (api_.send(to, text.data(), text.size()) == 0) return {};
    return Error(fmt::format("MPI does not send to rank {}", to), "look at what mpirun says");
  }
  std::optional<Letter> receive() override {
    int from = 0;
    const char* bytes = nullptr;
    std::size_t count = 0;
    if (api_.receive(&from, &bytes, &count) == 0) return std::nullopt;
    return Letter{from, std::string(bytes, count)};
  }
  bool is_lost(int) override { return false; }
  bool rank_0_may_come_back() const override { return false; }
  double longest_pause() const override { return 0.005; }

 private:
  std::shared_ptr<platform::SharedLibrary> library_;
  const volvox_mpi_api& api_;
  int rank_, size_;
};

}  // namespace

Result<std::unique_ptr<Ranks>> join_by_mpi() {
  const auto found = platform::open_optional_library("VOLVOX_MPI_LIBRARY", "libvolvox_mpi.so");
  if (!found.ok()) return found.error();
  if (!found->library)
    return Error(
        fmt::format("this process is one of several ranks of MPI, but Volvox was built without MPI: looked for {}",
                    found->looked),
        "install libopenmpi-dev and build again, or give --ranks none (each rank then does everything for itself)");
  const auto function = reinterpret_cast<volvox_mpi_function>(found->library->symbol("volvox_mpi"));
  const volvox_mpi_api* api = function == nullptr ? nullptr : function();
  if (api == nullptr || api->version != VOLVOX_MPI_API_VERSION)
    return Diagnostic{found->file.string(), 0, "the library for MPI is of another version of Volvox", "build it again"};
  int rank = 0, size = 1;
  char message[256] = {};
  if (api->begin(&rank, &size, message, sizeof message) != 0)
    return Error(fmt::format("MPI does not begin: {}", message), "start it by mpirun of the same MPI");
  return std::unique_ptr<Ranks>(std::make_unique<MpiRanks>(found->library, *api, rank, size));
}

}  // namespace volvox::cluster
