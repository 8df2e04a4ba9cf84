#include "volvox/cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "behaviors.h"
#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/base/isa.h"
#include "volvox/base/platform/descriptors.h"
#include "volvox/cli/arguments.h"
#include "volvox/cli/docs_command.h"
#include "volvox/cli/mjcf_command.h"
#include "volvox/cli/parser.h"
#include "volvox/cli/terminal.h"
#include "volvox/cli/version.h"
#include "volvox/device/devices.h"
#include "volvox/evolve/organism.h"
#include "volvox/plugin/plugins.h"
#include "volvox/view/web/web_engine.h"

namespace volvox::cli {

sim::Library standard_library() {
  sim::Library library;
  robots::register_behaviors(library.minds.behaviors);
  experiments::register_experiments(library.experiments);
  library.experiment_files[".json"] = evolve::organism_file;
  library.experiment_files["cells.sdf"] = experiments::dprsim::cell_world_file;
  device::register_extensions(library.extensions);
  auto plugins = std::make_shared<plugin::Plugins>();
  view::add_web_engine(plugins->renderers());
  library.plugins = std::move(plugins);
  return library;
}

namespace {

constexpr const char* welcome = R"(Volvox simulates modular, self-reconfigurable robots.

Try first:
  volvox run remod3d/snake                      a snake of ten SuperBots crawls
  volvox run remod3d/snake --set modules=30     a longer one
  volvox run remod3d/snake --view               watch it in a browser, and act on it
  volvox picture remod3d/snake --at 3 -o a.png  a picture of it
  volvox list                                   what there is: experiments, robots, engines ...
  volvox info superbot                          one of them, in detail
  volvox evolve evolution/gait                  eight SuperBots learn to walk
  volvox new behavior my_walk                   begin a behavior of your own

Every command explains itself with --help.
)";

LogLevel log_level(bool quiet) {
  if (const char* level = std::getenv("VOLVOX_LOG_LEVEL")) {
    const std::string wanted = level;
    for (const LogLevel l : {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error})
      if (wanted == name(l)) return l;
  }
  return quiet ? LogLevel::warning : LogLevel::info;
}

int run_bench(const CLI::App& bench, const Arguments& a, sim::Library& library, Log& log) {
  if (bench.got_subcommand("lattice")) return bench_lattice_command(a.bench_lattice, log);
  if (bench.got_subcommand("particles")) return bench_particles_command(a.bench_particles, library, log);
  if (bench.got_subcommand("robots")) return bench_robots_command(a.bench_robots, log);
  if (bench.got_subcommand("evolve")) return bench_evolve_command(a.bench_evolve, library, log);
  if (bench.got_subcommand("view")) return bench_view_command(a.bench_view, library, log);
  if (bench.got_subcommand("engines")) return bench_engines_command(a.bench_engines, library, log);
  return bench_command(a.bench, library, log);
}

int run_export(const Arguments& a, sim::Library& library, Log& log) {
  const int wanted = (a.export_.csv ? 1 : 0) + (a.export_.page.empty() ? 0 : 1) + (a.mjcf.empty() ? 0 : 1);
  if (wanted != 1)
    return complain(
        Error(wanted == 0 ? "nothing is to be written" : "only one of --csv, --page and --mjcf can be written",
              "give --csv for the tables of a recording, --page FILE.html for a page that shows it, or "
              "--mjcf FILE for a robot or world"));
  if (a.export_.page.empty() && a.export_.every > 0)
    return complain(Error("--every belongs to --page", "leave it out"));
  if (a.mjcf.empty() && !a.mjcf_set.empty())
    return complain(Error("a recording has no parameters to set", "leave --set out"));
  return a.mjcf.empty() ? export_command(a.export_, log)
                        : export_mjcf_command(a.export_.folder, a.mjcf, a.mjcf_set, library, log);
}

int run_view(Arguments& a, sim::Library& library, Log& log) {
  if (!a.view_robot.ends_with(".json")) return view_robot_command(a.view_robot, a.viewer, library);
  // A genome: its organism in its world.
  a.run.experiment = a.view_robot, a.run.viewer = a.viewer, a.run.show = true;
  return run_command(a.run, library, log);
}

// The command that was given, and parsed into the arguments.
int run_given(const CLI::App& app, Arguments& a, sim::Library& library) {
  Log log(print_log, log_level(a.run.quiet || a.picture.run.quiet || a.scan.quiet || a.sweep.run.quiet ||
                               a.reproduce.quiet || a.evolve.quiet));
  // A replay loads plugins itself, because its recording says whether they are isolated.
  if (!app.got_subcommand("replay")) load_users_plugins(seconds_of_isolation(a.run), library, log);
  if (app.got_subcommand("run")) return run_command(a.run, library, log);
  if (app.got_subcommand("sweep")) return sweep_command(a.sweep, library, log);
  if (app.got_subcommand("evolve")) return evolve_command(a.evolve, library, log);
  if (app.got_subcommand("reproduce")) return reproduce_command(a.reproduce, library, log);
  if (app.got_subcommand("picture")) return picture_command(a.picture, library, log);
  if (app.got_subcommand("list")) {
    const ListAs how = a.list_names ? ListAs::names : a.list_json ? ListAs::json : ListAs::table;
    return list_command(a.list_what, how, library);
  }
  if (app.got_subcommand("info"))
    return a.info_names ? parameter_names_command(a.info_thing, library) : info_command(a.info_thing, library);
  if (app.got_subcommand("bench")) return run_bench(*app.get_subcommand("bench"), a, library, log);
  if (app.got_subcommand("new")) return new_command(a.new_kind, a.new_name, a.new_folder, library);
  if (app.got_subcommand("crosscheck")) return crosscheck_command(a.crosscheck, library, log);
  if (app.got_subcommand("scan")) {
    a.scan.subcommand = app.get_subcommand("scan")->get_subcommands().front()->get_name();
    return scan_command(a.scan, library, log);
  }
  if (app.got_subcommand("net")) return net_flood_command(a.net);
  if (app.got_subcommand("replay")) return replay_command(a.replay, library, log);
  if (app.got_subcommand("view")) return run_view(a, library, log);
  if (app.got_subcommand("export")) return run_export(a, library, log);
  if (app.got_subcommand("docs")) return docs_command(a.page_of_docs, a.viewer.no_browser);
  if (app.got_subcommand("completion")) return completion_command(a.shell);
  std::fputs(welcome, stdout);
  return done;
}

int parse_and_run(int argc, char** argv, sim::Library& library) {
  CLI::App app("Volvox: a simulator of modular, self-reconfigurable robots");
  app.get_formatter()->column_width(30);
  Arguments a;
  add_commands(app, a);
  const std::string version_line = fmt::format("volvox {}", version);
  app.set_version_flag("--version", version_line);
  for (CLI::App* command : app.get_subcommands({})) command->set_version_flag("--version", version_line);
  refuse_values_of_flags(app);
  if (!chosen_isa().ok()) return complain(chosen_isa().error());
  if (argc <= 1) {
    std::fputs(welcome, stdout);
    return done;
  }
  if (std::string_view(argv[1]) == "complete") return complete_command(app, {argv + 2, argv + argc}, library);
  // `help X` is `X --help`, before parsing: the parser would take X for the command.
  std::vector<const char*> words(argv, argv + argc);
  const auto man = std::find(words.begin(), words.end(), std::string_view("--man"));
  if (std::string_view(argv[1]) == "help" && man != words.end()) {
    words.erase(man);
    const std::vector<std::string> command(words.begin() + 2, words.end());
    if (!command.empty() && find_subcommand(app, command.front()) == nullptr)
      return complain(Error(fmt::format("volvox has no command '{}'", command.front()), "see: volvox --help"));
    return std::fputs(man_page(app, command).c_str(), stdout), done;
  }
  if (std::string_view(argv[1]) == "help" && (argc == 2 || *argv[2] != '-')) {
    words.erase(words.begin() + 1);
    if (argc == 2 || find_subcommand(app, argv[2]) != nullptr) words.push_back("--help");
  }
  try {
    app.parse(narrow<int>(words.size()), words.data());
    if (app.got_subcommand("version")) return fmt::print("{}\n", version_line), done;
    if (app.got_subcommand("help")) return std::fputs(welcome, stdout), done;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(explain(error, app, words[1]));
  }
  return run_given(app, a, library);
}

}  // namespace

int main(int argc, char** argv, sim::Library& library) {
  platform::keep_standard_streams();
  // Users' experiments run here, too: any exception of theirs ends the run with a message.
  try {
    const int status = parse_and_run(argc, argv, library);
    // Writing the rest of the buffer may fail, because the disk is full.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fputs("volvox: the output could not be written\n  fix: see whether the disk is full\n", stderr);
    return status == done ? run_failed : status;
  } catch (const std::bad_alloc&) {
    std::fputs("volvox: the memory of this machine is not enough for this run\n  fix: use fewer modules\n", stderr);
  } catch (const std::exception& error) {
    print_error(fmt::format("the run failed: {}", error.what()));
  } catch (...) {
    print_error("the run failed: an exception of an unknown type");
  }
  return run_failed;
}

}  // namespace volvox::cli
