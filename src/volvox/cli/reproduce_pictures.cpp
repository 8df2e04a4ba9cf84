#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "volvox/base/hash.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/cli/reproduce.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

constexpr double most_seconds = 300;  // for one picture, with the run that leads to it

PictureArguments arguments_of(const report::Claim& claim, std::uint64_t seed, const fs::path& file) {
  PictureArguments arguments;
  arguments.run.experiment = claim.experiment;
  for (const auto& [key, value] : claim.set) arguments.run.set.push_back(key + "=" + value);
  arguments.run.duration = claim.duration;
  if (!claim.dt.empty()) arguments.run.dt = claim.dt;
  arguments.run.seed = seed;
  arguments.run.quiet = true;
  arguments.run.view.size = "960x540";
  arguments.run.view.camera = claim.picture->camera;
  arguments.at = claim.picture->at;
  arguments.strobe = claim.picture->strobe;
  arguments.file = file.string();
  return arguments;
}

}  // namespace

Result<void> draw_pictures(Reproduction& r, const fs::path& folder, sim::Library& library, Log& log, bool quiet) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error(fmt::format("{}: {}", folder.string(), error.message()), "give another --out");
  std::size_t wanted = 0, drawn = 0;
  for (const ReproducedClaim& row : r.claims) wanted += row.claim.picture.has_value();
  for (ReproducedClaim& row : r.claims) {
    if (!row.claim.picture) continue;
    const std::string command = report::picture_command_of(row.claim, r.first_seed);
    // Named by the command: the same view is drawn once, and another one is not taken for it when the command goes on.
    const fs::path file = folder / (hash_text(hash_of(command)) + ".jpg");
    ++drawn;
    if (!fs::exists(file, error)) {
      if (!quiet) log.info(fmt::format("drawing {} of {}: {}", drawn, wanted, row.claim.place));
      const auto arguments = arguments_of(row.claim, r.first_seed, file);
      const auto outcome = platform::run_in_child(
          [&] { return picture_command(arguments, library, log) == done ? std::string() : std::string("failed"); },
          most_seconds);
      if (!outcome.failure.empty() || !outcome.text.empty()) {
        log.warning(fmt::format("there is no picture of {} {}: {}", row.claim.paper, row.claim.place,
                                outcome.failure.empty() ? "see above" : outcome.failure));
        continue;
      }
    }
    row.picture = file;
  }
  return {};
}

}  // namespace volvox::cli
