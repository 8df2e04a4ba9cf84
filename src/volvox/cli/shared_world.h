// A world of catoms that the ranks of one mpirun share (lattice/region.h): `volvox run` and `volvox bench lattice`.
// For the thread of main. All ranks do the same; the first one speaks and writes, the others keep what they would say
// for the case that they cannot go on.
#pragma once

#include <filesystem>
#include <memory>

#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cluster/exchange.h"

namespace volvox::cli {

class SharedWorld {
 public:
  // Whether mpirun has started several of this process.
  static bool is_one_of_several();
  static Result<std::unique_ptr<SharedWorld>> join();
  ~SharedWorld();
  SharedWorld(const SharedWorld&) = delete;
  SharedWorld& operator=(const SharedWorld&) = delete;

  bool leads() const { return ranks_->rank() == 0; }
  cluster::Exchange& exchange() { return *exchange_; }
  const std::filesystem::path& folder() const { return folder_; }  // of a rank that is not the first; temporary
  // The exit status of the command. A rank that fails says so to the others; if one of them has died, nobody can leave
  // MPI in good order, and this ends the process.
  int end(int status);

 private:
  SharedWorld() = default;
  Result<void> keep_files_apart();  // of a rank that is not the first

  platform::StopOnSignal stop_;
  std::unique_ptr<cluster::Ranks> ranks_;
  std::unique_ptr<cluster::Exchange> exchange_;
  std::filesystem::path folder_;
};

// Null: this process is alone. The error: this experiment, or what is asked of it, cannot be shared.
Result<std::unique_ptr<SharedWorld>> join_shared_world(const RunArguments& arguments, const std::string& experiment,
                                                       const sim::Library& library);
// A library whose experiments share their worlds.
sim::Library shared_library(const sim::Library& library, const std::string& experiment, cluster::Exchange& ranks);

}  // namespace volvox::cli
