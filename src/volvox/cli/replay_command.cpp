#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "volvox/base/json_text.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/output_file.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/terminal.h"
#include "volvox/record/replay.h"
#include "volvox/view/web/page.h"

namespace volvox::cli {
namespace {

void warn_about(const record::Recording& recording, Log& log) {
  if (const std::string warning = recording.warning(); !warning.empty()) log.warning(warning);
}

// `has_own_state`: the experiment is a class, whose state is no part of the state hash.
int verify(record::Recording& recording, const ReplayArguments& arguments, sim::Library& library, bool has_own_state,
           Log& log) {
  Log silent;  // the log of the agents was shown when the run was recorded
  const platform::StopOnSignal stop;
  Result<record::Verification> verified = [&] {
    Progress bar("verifying", arguments.quiet || arguments.json);
    return record::verify(
        recording, library, silent, arguments.threads, [&](const sim::Progress& progress) { bar.show(progress); },
        &stop.requested(), arguments.accept_changes);
  }();
  if (!verified.ok()) return complain(verified.error());
  const record::Verification& v = *verified;
  for (const std::string& change : v.changed) log.warning(change + " since the run was recorded");
  const bool complete = recording.complete() && v.of == recording.last_tick() - recording.first_tick();
  if (arguments.json) {
    nlohmann::ordered_json json = {{"same", v.same}, {"ticks", v.ticks}, {"of_ticks", v.of}, {"complete", complete}};
    if (!v.same)
      json.update({{"tick", v.tick},
                   {"time_s", v.time},
                   {"module", v.module},
                   {"field", v.field},
                   {"detail", v.detail},
                   {"parts", v.parts}});
    fmt::print("{}\n", to_json_text(json, 2));
  } else if (!v.same) {
    fmt::print("the first difference is at tick {} ({:.3f} s), {}{}{}{}\n", v.tick, v.time,
               v.module.empty() ? "" : fmt::format("module '{}', ", printable(v.module)), printable(v.field),
               v.detail.empty() ? "" : ": " + printable(v.detail),
               v.parts > 1 ? fmt::format("\n  {} parts of the state differ in that tick", v.parts) : "");
  } else if (!arguments.quiet) {
    fmt::print("{} run again{}, and every state hash is the same, as is all that was recorded\n",
               v.ticks == v.of ? v.of == 1 ? "1 tick was" : fmt::format("{} ticks were", v.of)
                               : fmt::format("{} of {} ticks were", v.ticks, v.of),
               v.stopped ? " before it was stopped" : "");
    if (has_own_state) fmt::print("  (what the experiment's class keeps or simulates itself is not compared)\n");
  }
  if (v.stopped) log.warning("stopped on request; the rest was not compared");
  else if (v.same && !complete)
    log.warning(fmt::format("the run is not verified as a whole: its recording has {} of {} ticks", v.ticks, v.of));
  return v.same && !v.stopped && complete ? done : run_failed;
}

}  // namespace

int replay_command(const ReplayArguments& arguments, sim::Library& library, Log& log) {
  auto recording = record::Recording::open(arguments.folder);
  if (!recording.ok()) return complain(recording.error());
  warn_about(**recording, log);
  if (arguments.verify) {
    const auto options = record::options_of(**recording);
    if (!options.ok()) return complain(options.error());
    limit_isolated_memory(options->isolate_megabytes, library);
    load_users_plugins(options->isolate, library, log);
    const auto located = sim::locate_experiment(options->experiment, library);
    const bool unseen =
        located.ok() && located->registered && !sim::make_experiment(*located, library)->state_is_hashed();
    return verify(**recording, arguments, library, unseen, log);
  }
  return view_recording(**recording, arguments);
}

namespace {

int export_page(record::Recording& recording, const ExportArguments& arguments, Log& log) {
  if (auto may = may_be_written(arguments.page, ".html", "<title>Volvox</title>", "--page"); !may.ok())
    return complain(may.error());
  const auto page = view::page_of(recording, {.every = arguments.every});
  if (!page.ok()) return complain(page.error());
  if (auto written = write_file(arguments.page, page->html); !written.ok()) return complain(written.error());
  if (page->every > 1)
    log.info(fmt::format("{}: shows {} of {} ticks, one in {} and the last{}", arguments.page, page->shown_ticks,
                         page->ticks, page->every, arguments.every > 0 ? "" : "; --every 1 takes all, if they fit"));
  fmt::print("{}\n", arguments.page);
  return done;
}

}  // namespace

int export_command(const ExportArguments& arguments, Log& log) {
  auto recording = record::Recording::open(arguments.folder);
  if (!recording.ok()) return complain(recording.error());
  warn_about(**recording, log);
  if (!arguments.page.empty()) return export_page(**recording, arguments, log);
  const std::filesystem::path folder =
      arguments.out ? std::filesystem::path(*arguments.out) : (*recording)->file().parent_path() / "csv";
  auto written = record::export_csv(**recording, folder);
  if (!written.ok()) return complain(written.error());
  for (const std::string& name : *written) fmt::print("{}\n", (folder / name).string());
  return done;
}

}  // namespace volvox::cli
