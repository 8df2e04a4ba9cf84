// Writes the results of a run into its folder, for all commands.
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/report/run_report.h"
#include "volvox/view/render_tree.h"
#include "volvox/view/web/codec.h"

namespace volvox::cli {
namespace fs = std::filesystem;

Result<std::shared_ptr<record::Recorder>> start_recording(sim::Run& run, const fs::path& file) {
  auto recorder = record::Recorder::start(run, file);
  if (recorder.ok())
    (*recorder)->attach("render_tree", "application/octet-stream", view::encode_tree(view::RenderTree::of(run)));
  return recorder;
}

Result<platform::FolderLock> keep_folder(const fs::path& folder, double patience) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Diagnostic{folder.string(), 0, "the output folder cannot be made: " + error.message(),
                      "give a folder that can be written, with --out DIR"};
  return platform::FolderLock::take(folder, patience);
}

Result<void> write_results(sim::Run& run, record::Recorder* recorder, const fs::path& folder) {
  auto written = run.write(folder);
  // A snapshot that could not be saved must not cost the report.
  const auto page = write_file(folder / "report.html", report::report_html(run.report(), folder));
  if (written.ok()) written = page;
  if (recorder == nullptr) return written;
  const auto finished = recorder->finish({{"summary", run.report().json()}});  // even if the rest failed
  return written.ok() ? finished : written;
}

void write_failure(sim::Run& run, const fs::path& folder, const std::string& why) {
  run.fail(folder, why);
  std::error_code error;
  if (fs::exists(folder / "report.html", error))
    (void)write_file(folder / "report.html", report::report_html(run.report(), folder));
}

}  // namespace volvox::cli
