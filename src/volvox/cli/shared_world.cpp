#include "volvox/cli/shared_world.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "volvox/base/platform/file_sync.h"
#include "volvox/base/text.h"
#include "volvox/cli/terminal.h"
#include "volvox/lattice/region.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* cells_file = "cells.sdf";  // of Library::experiment_files
constexpr std::size_t most_said = 2000;          // bytes of what a rank says when it cannot go on

std::unique_ptr<sim::Experiment> made_to_share(std::unique_ptr<sim::Experiment> experiment, cluster::Exchange& ranks) {
  if (auto* shared = dynamic_cast<lattice::SharedByRanks*>(experiment.get())) shared->share(ranks);
  return experiment;
}

std::string last_words(const fs::path& file) {
  std::ifstream stream(file);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.size() > most_said) text = text.substr(text.size() - most_said);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

bool SharedWorld::is_one_of_several() {
  const auto place = cluster::place_in_mpi();
  return place && place->size > 1;
}

Result<std::unique_ptr<SharedWorld>> SharedWorld::join() {
  std::unique_ptr<SharedWorld> shared(new SharedWorld);
  auto ranks = cluster::join_by_mpi();
  if (!ranks.ok()) return ranks.error();
  shared->ranks_ = std::move(*ranks);
  shared->exchange_ = std::make_unique<cluster::Exchange>(*shared->ranks_, &shared->stop_.requested());
  if (shared->leads()) return shared;
  if (auto kept = shared->keep_files_apart(); !kept.ok()) {
    // The others wait for this rank, and would for ever.
    shared->exchange_->fail(kept.error().text());
    return kept.error();
  }
  return shared;
}

Result<void> SharedWorld::keep_files_apart() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  folder_ = parent / fmt::format("volvox_rank_{}", platform::process_number());
  const fs::path errors = folder_ / "errors";
  if (!error) fs::create_directories(folder_, error);
  // Looked at before standard error is closed for it.
  if (error || !std::ofstream(errors) || std::freopen("/dev/null", "w", stdout) == nullptr ||
      std::freopen(errors.c_str(), "w", stderr) == nullptr)
    return Diagnostic{folder_.string(), 0, "a rank cannot keep its files here", "set TMPDIR to another folder"};
  return {};
}

SharedWorld::~SharedWorld() {
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

int SharedWorld::end(int status) {
  std::fflush(stdout);
  std::fflush(stderr);
  if (status != done && !exchange_->failure())
    exchange_->fail(leads() ? "the first rank has ended with an error" : last_words(folder_ / "errors"));
  if (exchange_->somebody_died()) {
    std::error_code error;
    if (!folder_.empty()) fs::remove_all(folder_, error);
    std::_Exit(run_failed);
  }
  return status;
}

Result<std::unique_ptr<SharedWorld>> join_shared_world(const RunArguments& arguments, const std::string& experiment,
                                                       const sim::Library& library) {
  if (!SharedWorld::is_one_of_several()) return std::unique_ptr<SharedWorld>();
  const auto located = sim::locate_experiment(experiment, library);
  if (!located.ok()) return located.error();
  const auto made = sim::make_experiment(*located, library);
  if (dynamic_cast<lattice::SharedByRanks*>(made.get()) == nullptr)
    return Error(
        fmt::format("mpirun has started several of this process, but {} cannot be shared by ranks", experiment),
        "start it without mpirun, or run one of dprsim/flood, gradient, shape, crawl, meld, a program in Meld "
        "or a world of cells (docs/cluster.md)");
  const bool watched = arguments.show || arguments.record || arguments.video || arguments.pcap;
  if (watched || !arguments.real_time.empty())
    return Error("ranks that share a world do not show, record or pace it: each knows only a part",
                 "leave out --view, --record, --video, --pcap and --real-time; --save FILE, and look at it with one "
                 "process: volvox run ... --restore FILE --view");
  return SharedWorld::join();
}

sim::Library shared_library(const sim::Library& library, const std::string& experiment, cluster::Exchange& ranks) {
  sim::Library shared = library;
  if (const auto factory = library.experiments.find(experiment); factory.ok())
    shared.experiments.add(
        experiment, [make = **factory, &ranks] { return made_to_share(make(), ranks); },
        library.experiments.description(experiment));
  if (const auto cells = library.experiment_files.find(cells_file); cells != library.experiment_files.end())
    shared.experiment_files[cells_file] = [make = cells->second, &ranks](const fs::path& file,
                                                                         const sim::Library& whole) {
      return made_to_share(make(file, whole), ranks);
    };
  return shared;
}

}  // namespace volvox::cli
