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
#include "volvox/cli/bench_lattice.h"
#include "volvox/cli/bench_particles.h"
#include "volvox/cli/bench_view.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/docs_command.h"
#include "volvox/cli/evolve.h"
#include "volvox/cli/mjcf_command.h"
#include "volvox/cli/numbers.h"
#include "volvox/cli/parser.h"
#include "volvox/cli/ranks.h"
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

constexpr const char* run_examples = R"(
Examples:
  volvox run remod3d/snake
  volvox run remod3d/snake --set modules=50 --duration 20 --seed 7
  volvox run my_world.sdf --engine bullet --dt 1/120 --out results
  volvox run remod3d/scatter --json --quiet | jq .metrics
  volvox run remod3d/snake --view
  volvox run remod3d/snake --real-time --dt 1/1000
  volvox run remod3d/snake --record --out results, then: volvox replay results
  volvox run remod3d/snake --duration 5 --save half.snap
  volvox run remod3d/snake --duration 10 --restore half.snap
  volvox run remod3d/snake --video snake.mp4 --camera left
  volvox run program.meld --lattice cubic --cells 100x100x100

A run writes a folder (runs/NAME/001, ... or --out DIR) with summary.json and metrics.csv.
Exit status: 0 done; 1 the run failed; 2 bad input.)";

constexpr const char* sweep_examples = R"(
Examples:
  volvox sweep remod3d/snake --vary amplitude=0.1:0.5:5 --seeds 10
  volvox sweep remod3d/scatter --seeds 20
  volvox sweep remod3d/snake --vary modules=4,8,16 --vary engine=native,bullet --seeds 5 --jobs 2 --duration 5
  volvox sweep remod3d/breakage --vary dt=1/60,1/120,1/240 --seeds 3 --out breakage

The folder gets runs/NNN_KEY=VALUE_seed=N/ with the results of each run, sweep.csv with a row a run,
by_KEY.svg and plots/METRIC_by_KEY.svg with means and 95 % confidence bands.
If it is stopped or killed, the same command with --out DIR goes on: what has finished is not repeated. After a
change of the world or of a file that it reads, the folder is refused: give another one, or remove it to run anew.
Exit status: 0 all runs done; 1 one failed, or it was stopped; 2 bad input.)";

LogLevel log_level(bool quiet) {
  if (const char* level = std::getenv("VOLVOX_LOG_LEVEL")) {
    const std::string wanted = level;
    for (const LogLevel l : {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error})
      if (wanted == name(l)) return l;
  }
  return quiet ? LogLevel::warning : LogLevel::info;
}

struct Arguments {
  RunArguments run;
  PictureArguments picture;
  SweepArguments sweep;
  ReproduceArguments reproduce;
  BenchArguments bench;
  BenchEnginesArguments bench_engines;
  BenchLatticeArguments bench_lattice;
  BenchParticlesArguments bench_particles;
  BenchEvolveArguments bench_evolve;
  BenchViewArguments bench_view;
  EvolveArguments evolve;
  CrosscheckArguments crosscheck;
  NetArguments net;
  ScanArguments scan;
  ReplayArguments replay;
  ExportArguments export_;
  ViewerArguments viewer;
  std::string view_robot, mjcf;
  std::vector<std::string> mjcf_set;
  std::string list_what, info_thing, new_kind, new_name, new_folder, shell;
  std::vector<std::string> help_of;
  bool list_json = false, list_names = false, info_names = false, man = false;
};

// The options of a run, shared by all commands that make one.
void add_viewer(CLI::App& command, ViewerArguments& viewer) {
  command.add_option("--host", viewer.host, "address of the viewer; by default only this machine can connect")
      ->capture_default_str()
      ->type_name("ADDRESS");
  command.add_option("--port", viewer.port, "port of the viewer; 0: any free port")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, 65535));
  command.add_flag("--no-browser", viewer.no_browser, "print the address only");
  command.add_flag(
      "--no-token", viewer.no_token,
      "no token in the address: everybody who can connect may look and act, other users of this machine, too");
}

void add_run_options(CLI::App& command, RunArguments& run) {
  command
      .add_option(
          "experiment", run.experiment,
          "an experiment (volvox list experiments), an SDF or URDF file, a genome of volvox evolve (.json), or a "
          "program in Meld (.meld)")
      ->required();
  command
      .add_option(
          "--engine", run.engine,
          "physics engine (volvox list engines); default: the world's own, or " + std::string(physics::default_engine))
      ->type_name("NAME");
  command.add_option("--duration", run.duration, "seconds to simulate (default: as the experiment defines)")
      ->type_name("S")
      ->check(between(0, 1e9));
  command
      .add_option("--dt", run.dt,
                  "length of a tick in seconds, such as 1/60 or 0.01 (default: as the experiment defines)")
      ->type_name("R");
  command.add_option("--substep", run.substep, "longest physics step in seconds, such as 1/480 (default 1/240)")
      ->type_name("S");
  command
      .add_option("--precision", run.precision,
                  "numbers of the engine: double, or mixed (native only: floats where they are enough, for robots "
                  "that touch nothing but the ground; the others are computed in double)")
      ->type_name("mixed|double");
  command.add_option("--seed", run.seed, "of everything random: the same seed gives the same bits")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number());
  command.add_option("--threads", run.threads, "threads to use; the result does not depend on it")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1024));
  command.add_option("--set", run.set, "change a parameter (volvox info EXPERIMENT lists them); may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);  // otherwise it would take the experiment after it as a value
  command
      .add_option_function<std::string>(
          "--lattice", [&run](const std::string& kind) { run.set.push_back("lattice=" + kind); },
          "lattice of a program in Meld, or of another world of catoms: square, hex, cubic, bcc or fcc")
      ->type_name("KIND");
  command
      .add_option_function<std::string>(
          "--cells", [&run](const std::string& cells) { run.set.push_back("cells=" + cells); },
          "its catoms: a box such as 30x20 or 10x10x10, or a file: a list (.csv), an image or a closed mesh")
      ->type_name("AxBxC|FILE");
  command
      .add_option("--plugin", run.plugins,
                  "also load this plugin: a file, or a name to search for on VOLVOX_PLUGIN_PATH; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_restore(CLI::App& command, RunArguments& run) {
  CLI::Option* restore = command.add_option("--restore", run.restore, "continue from this snapshot of another run");
  restore->type_name("FILE");
  command
      .add_flag(
          "--accept-changes", run.accept_changes,
          "with --restore, also take a snapshot of a run with other --set or of files that were changed since, if "
          "its modules are the same; summary.json names what differs")
      ->needs(restore);
}

void add_view_options(CLI::App& command, ViewArguments& view) {
  command
      .add_option("--camera", view.camera,
                  "position of the camera (default: as the experiment defines, mostly corner): corner, front, back, "
                  "left, right, "
                  "top; a point X,Y,Z or two, X,Y,Z:X,Y,Z (from, at); or MODULE.SENSOR, the view of a camera")
      ->type_name("WHERE");
  command.add_option("--size", view.size, "of the picture in pixels")->capture_default_str()->type_name("WxH");
  command
      .add_option("--docks", view.docks,
                  "how docks are marked: none, state (male blue, female white, engaged green, latching amber, broken "
                  "red, disabled dark) or load (links blue to red by the load of their docks, gray: no load)")
      ->capture_default_str()
      ->type_name("HOW");
  command
      .add_option(
          "--color-by", view.color_by,
          "catoms and particles get the colours of this value of theirs, from violet (the least) to yellow; grey "
          "has none")
      ->type_name("VALUE");
  command
      .add_option("--cut", view.cut,
                  "cut their ensemble open: what is beyond a plane across x, y or z is taken away, such as x=12.5 (m) "
                  "or x=50%")
      ->type_name("AXIS=WHERE");
  command.add_flag("--rays", view.rays, "show the rays of range sensors and cameras");
  command.add_flag(
      "--messages", view.messages,
      "show messages on wires, and rings around transmitting antennas; antennas that transmitted in the last 0.1 s get "
      "paler rings");
  command
      .add_option("--renderer", view.renderer,
                  "render engine (volvox list renderers); picture,other@2.5: another engine from 2.5 s on")
      ->capture_default_str()
      ->type_name("NAME");
}

void add_run(CLI::App& app, Arguments& a) {
  CLI::App* run = app.add_subcommand("run", "run an experiment or a world file");
  run->footer(run_examples);
  add_run_options(*run, a.run);
  add_restore(*run, a.run);
  CLI::Option* save = run->add_option("--save", a.run.save, "write a snapshot of the last tick to this file");
  save->type_name("FILE");
  run->add_option("--save-every", a.run.save_every,
                  "with --save, also write it every S simulated seconds, each time in place of the one before")
      ->type_name("S")
      ->check(between(1e-9, 1e9))
      ->needs(save);
  run->add_flag("--real-time", a.run.real_time, "run in real time, or FACTOR times as fast: --real-time=0.5")
      ->type_name("[=FACTOR]");
  run->add_flag("--isolate", a.run.isolate,
                "run behaviors and sensors of plugins in separate processes: a plugin that crashes, takes longer than "
                "S seconds (1) for a call or more than MB of memory (4096), is disabled, and the run continues")
      ->type_name("[=S[,MB]]");
  CLI::Option* view =
      run->add_flag("--view", a.run.show, "show it in a browser: pause, step, pick modules, drive parameters");
  run->add_flag("--paused", a.run.paused, "in the viewer: begin when somebody presses play")->needs(view);
  add_viewer(*run, a.run.viewer);
  run->add_flag("--record", a.run.record, "write recording.mcap, for volvox replay and Foxglove");
  run->add_option("--pcap", a.run.pcap,
                  "write the frames on wires, buses and radios to this file, as pcapng for Wireshark")
      ->type_name("FILE");
  run->add_option("--video", a.run.video,
                  "film the run, 30 frames a second of simulated time: .mp4, .mkv, .mov or .webm")
      ->type_name("FILE");
  add_view_options(*run, a.run.view);
  run->add_option("--out", a.run.out, "folder for the results")->type_name("DIR");
  run->add_flag("--json", a.run.json, "print one JSON object on standard output and nothing else there");
  run->add_flag("--quiet", a.run.quiet, "no progress, no table; warnings are still printed");
}

void add_sweep(CLI::App& app, Arguments& a) {
  CLI::App* sweep = app.add_subcommand(
      "sweep", "run an experiment over values of its parameters and over seeds, each run in its own process");
  sweep->footer(sweep_examples);
  add_run_options(*sweep, a.sweep.run);
  sweep->get_option("--seed")->description("of the first run of each setting; the following runs count up from it");
  sweep
      ->add_option("--vary", a.sweep.vary,
                   "KEY=A:B:N, N values from A to B, or KEY=a,b,c; may be repeated, and all are combined; without it, "
                   "only the seeds differ. KEY is a parameter, or engine, dt, substep, precision, duration")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false);
  sweep->add_option("--seeds", a.sweep.seeds, "runs of each setting, each with its own seed")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  sweep->add_option("--jobs", a.sweep.jobs, "runs at the same time (default: as many as the hardware threads allow)")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  sweep->add_option("--ranks", a.sweep.ranks, ranks_help)->capture_default_str()->type_name("HOW");
  sweep
      ->add_option("--out", a.sweep.run.out,
                   "folder for the results (default: runs/sweep_NAME/001, ...); a sweep that was begun there continues")
      ->type_name("DIR");
  sweep->add_flag("--json", a.sweep.run.json, "print one JSON object on standard output and nothing else there");
  sweep->add_flag("--quiet", a.sweep.run.quiet, "no progress, no table");
}

void add_picture(CLI::App& app, Arguments& a) {
  CLI::App* picture = app.add_subcommand("picture", "draw a run at a time, without a display");
  picture->footer(
      "\nExamples:\n  volvox picture remod3d/snake --at 3 -o snake.png\n  volvox picture remod3d/snake --at 10 "
      "--strobe 5 --camera left -o gait.png\n"
      "  volvox picture my_robot.sdf -o robot.png --size 800x600 --camera 0.3,-0.3,0.2\n  volvox picture remod3d/snake "
      "--at 5 --docks load -o loads.png");
  add_run_options(*picture, a.picture.run);
  add_restore(*picture, a.picture.run);
  picture->add_option("--at", a.picture.at, "the time in seconds")
      ->capture_default_str()
      ->type_name("T")
      ->check(between(0, 1e9));
  picture->add_option("-o,--output", a.picture.file, "the file to write: .png or .jpg")->required()->type_name("FILE");
  picture
      ->add_option("--strobe", a.picture.strobe,
                   "number of instants in one picture, from the start to T; older ones are paler")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1000));
  add_view_options(*picture, a.picture.run.view);
  picture->add_flag("--quiet", a.picture.run.quiet, "print nothing but warnings");
}

void add_others(CLI::App& app, Arguments& a) {
  CLI::App* list = app.add_subcommand(
      "list",
      "list experiments, robots, engines, behaviors, sensors, actuators, noise, renderers, extensions, plugins");
  list->add_option("what", a.list_what, "one of these; default: all");
  list->add_flag("--json", a.list_json, "print JSON");
  list->add_flag("--names", a.list_names, "print the names only, one per line");

  CLI::App* info = app.add_subcommand("info", "tell more about an experiment, a robot, an engine, a plugin, ...");
  info->add_option("thing", a.info_thing,
                   "its name, 'engines' for all engines, or a file: a world, a robot, a program in Meld")
      ->required();
  info->add_flag("--names", a.info_names, "print only the names of an experiment's parameters");

  CLI::App* bench = app.add_subcommand("bench", "measure steps per second, and where the time goes");
  bench->footer(
      "\nExamples:\n  volvox bench\n  volvox bench engines --scenes S1,pile --engines native,bullet\n  volvox bench "
      "remod3d/scatter --modules 500 --engines bullet,none --seconds 5 --json\n  volvox bench remod3d/swarm --dt 1/10 "
      "--engines native");
  bench->add_option("scenes", a.bench.scenes, "experiments or files (default: remod3d/scatter remod3d/snake)");
  bench->add_option("--engines", a.bench.engines, "comma-separated (default: the default engine, and none)")
      ->type_name("A,B");
  bench->add_option("--modules", a.bench.modules, "number of modules, in scenes where it can be chosen (default 1000)")
      ->type_name("N")
      ->check(whole_number(1, 10'000'000));
  bench->add_option("--seconds", a.bench.seconds, "wall time for each measurement, at least 10 ticks")
      ->capture_default_str()
      ->type_name("S")
      ->check(between(0.01, 3600));
  bench->add_option("--dt", a.bench.dt, "length of a tick in seconds, such as 1/60 (default: as the scene defines)")
      ->type_name("R");
  bench->add_option("--threads", a.bench.threads, "threads to use")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1024));
  bench->add_flag("--json", a.bench.json, "print JSON");

  add_bench_engines(*bench, a.bench_engines);
  add_bench_lattice(*bench, a.bench_lattice);
  add_bench_particles(*bench, a.bench_particles);
  add_bench_evolve(*bench, a.bench_evolve);
  add_bench_view(*bench, a.bench_view);

  CLI::App* make = app.add_subcommand("new", "begin a behavior, a robot, an experiment or a task of your own");
  make->footer("\nExamples:\n  volvox new behavior my_walk\n  volvox new robot my_module --in projects/my_module");
  make->add_option("kind", a.new_kind,
                   "behavior, robot, experiment, task (of volvox evolve) or codemodule (a program of catoms)")
      ->required();
  make->add_option("name", a.new_name, "small letters, digits and '_'")->required();
  make->add_option("--in", a.new_folder, "folder to make (default: NAME)")->type_name("DIR");

  CLI::App* crosscheck = app.add_subcommand("crosscheck", "run an experiment on all engines and compare the results");
  crosscheck->footer(
      "\nExamples:\n  volvox crosscheck remod3d/snake --duration 5\n  volvox crosscheck remod3d/scatter --set "
      "robot=atron --engines native,bullet --csv histories.csv"
      "\n\nDifferences too small to matter are none, whatever part of a figure they are: up to 0.01 mm, 1e-5 m, 1e-5 "
      "m/s, 0.01 degrees, 1e-4 rad,"
      "\n1e-3 N, 1e-3 Nm, and 1e-6 of anything else. It takes at least two different engines.");
  crosscheck->add_option("experiment", a.crosscheck.experiment, "an experiment or a world file")->required();
  crosscheck->add_option("--engines", a.crosscheck.engines,
                         "comma-separated, the reference first (default: all engines with dynamics)");
  crosscheck->add_option("--duration", a.crosscheck.duration, "seconds to simulate")->check(between(0, 1e9));
  crosscheck->add_option("--seed", a.crosscheck.seed, "of everything random")
      ->capture_default_str()
      ->check(whole_number());
  crosscheck->add_option("--set", a.crosscheck.set, "KEY=VALUE: change a parameter; may be repeated")
      ->allow_extra_args(false);
  crosscheck
      ->add_option("--tolerance", a.crosscheck.tolerance,
                   "relative difference of a metric above which engines disagree")
      ->capture_default_str()
      ->check(between(0, 1));
  crosscheck->add_option("--csv", a.crosscheck.csv, "also write the time histories of all engines to this file");
  crosscheck
      ->add_option("--out", a.crosscheck.out,
                   "folder for the plots, histories and findings (default: runs/crosscheck_NAME/001, ...)")
      ->type_name("DIR");
  crosscheck->add_flag("--json", a.crosscheck.json, "print JSON");

  add_net(app, a.net);

  CLI::App* replay = app.add_subcommand("replay", "view a recorded run, or check that it can be reproduced");
  replay->footer(
      "\nExamples:\n  volvox run remod3d/snake --record --out results\n  volvox replay results\n  volvox replay "
      "results --verify\n\nExit status: 0 the same; 1 something differs; 2 bad input.");
  replay->add_option("folder", a.replay.folder, "a folder that volvox run --record wrote, or its recording.mcap")
      ->required();
  add_viewer(*replay, a.replay.viewer);
  replay->add_flag("--verify", a.replay.verify,
                   "run the experiment again and name the first tick, module and field that differ");
  replay->add_flag("--accept-changes", a.replay.accept_changes,
                   "with --verify, compare it although files of the run were changed since it was recorded");
  replay->add_option("--threads", a.replay.threads, "threads to use")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1024));
  replay->add_flag("--json", a.replay.json, "print the result of --verify as one JSON object");
  replay->add_flag("--quiet", a.replay.quiet, "no progress");

  CLI::App* view = app.add_subcommand("view", "show a single robot in a browser: move its joints, try its docks");
  view->footer("\nExamples:\n  volvox view superbot\n  volvox view my_robot.sdf");
  view->add_option("robot", a.view_robot,
                   "a robot (volvox list robots), an SDF or URDF file, or a genome of volvox evolve (.json)")
      ->required();
  add_viewer(*view, a.viewer);

  CLI::App* export_ = app.add_subcommand("export", "write a recording as tables, or a robot or world for MuJoCo");
  export_->footer(
      "\nExamples:\n  volvox export results --csv\n  volvox export results --csv --out tables\n  volvox export "
      "superbot "
      "--mjcf superbot.xml\n  volvox export remod3d/snake --set modules=5 --mjcf snake.xml"
      "\n\nMJCF: links become bodies, motors actuators, engaged docks welds, free docks sites; what it cannot say is "
      "named.");
  export_
      ->add_option("folder", a.export_.folder,
                   "a folder that volvox run --record wrote, or its recording.mcap; with --mjcf a robot, an experiment "
                   "or a world file")
      ->required();
  export_->add_flag("--csv", a.export_.csv,
                    "links, joints, docks, messages, log, inputs, metrics and state hashes as CSV files");
  export_->add_option("--mjcf", a.mjcf, "the file to write: the world at its start, for MuJoCo 3 or later")
      ->type_name("FILE");
  export_->add_option("--set", a.mjcf_set, "KEY=VALUE: with --mjcf, change a parameter; may be repeated")
      ->allow_extra_args(false);
  export_->add_option("--out", a.export_.out, "folder for the tables (default: csv beside the recording)")
      ->type_name("DIR");

  CLI::App* docs = app.add_subcommand("docs", "open the site with tutorials and references, and print its path");
  docs->footer("\nExamples:\n  volvox docs\n  volvox docs --no-browser\n\ndocs/build in the source tree makes it.");
  docs->add_flag("--no-browser", a.viewer.no_browser, "print the path only");

  CLI::App* completion =
      app.add_subcommand("completion", "print completions for a shell: source <(volvox completion bash)");
  completion->footer(
      "\nExamples:\n  source <(volvox completion bash)\n  source <(volvox completion zsh)     (after compinit)\n"
      "  volvox completion fish | source");
  completion->add_option("shell", a.shell, "bash, zsh or fish")->default_val("bash");

  CLI::App* help = app.add_subcommand("help", "explain a command: volvox help run is volvox run --help");
  help->add_option("command", a.help_of, "and its subcommand, if any");
  help->add_flag("--man", a.man, "print all of it as a man page");
  app.add_subcommand("version", "print the version");
}

int parse_and_run(int argc, char** argv, sim::Library& library) {
  CLI::App app("Volvox: a simulator of modular, self-reconfigurable robots");
  app.get_formatter()->column_width(30);
  Arguments a;
  add_run(app, a);
  add_sweep(app, a);
  add_evolve(app, a.evolve);
  add_viewer(*app.get_subcommand("evolve"), a.evolve.viewer);
  add_reproduce(app, a.reproduce);
  add_picture(app, a);
  add_scan(app, a.scan);
  add_others(app, a);
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
  Log log(print_log, log_level(a.run.quiet || a.picture.run.quiet || a.scan.quiet || a.sweep.run.quiet ||
                               a.reproduce.quiet || a.evolve.quiet));

  // A replay loads plugins itself, because its recording says whether they are isolated.
  if (!app.got_subcommand("replay")) load_users_plugins(seconds_of_isolation(a.run), library, log);
  if (app.got_subcommand("run")) return run_command(a.run, library, log);
  if (app.got_subcommand("sweep")) return sweep_command(a.sweep, library, log);
  if (app.got_subcommand("evolve")) return evolve_command(a.evolve, library, log);
  if (app.got_subcommand("reproduce")) return reproduce_command(a.reproduce, library, log);
  if (app.got_subcommand("picture")) return picture_command(a.picture, library, log);
  if (app.got_subcommand("list"))
    return list_command(a.list_what,
                        a.list_names  ? ListAs::names
                        : a.list_json ? ListAs::json
                                      : ListAs::table,
                        library);
  if (app.got_subcommand("info"))
    return a.info_names ? parameter_names_command(a.info_thing, library) : info_command(a.info_thing, library);
  if (app.got_subcommand("bench")) {
    const CLI::App* bench = app.get_subcommand("bench");
    if (bench->got_subcommand("lattice")) return bench_lattice_command(a.bench_lattice, log);
    if (bench->got_subcommand("particles")) return bench_particles_command(a.bench_particles, log);
    if (bench->got_subcommand("evolve")) return bench_evolve_command(a.bench_evolve, library, log);
    if (bench->got_subcommand("view")) return bench_view_command(a.bench_view, library, log);
    const bool engines = bench->got_subcommand("engines");
    return engines ? bench_engines_command(a.bench_engines, library, log) : bench_command(a.bench, library, log);
  }
  if (app.got_subcommand("new")) return new_command(a.new_kind, a.new_name, a.new_folder, library);
  if (app.got_subcommand("crosscheck")) return crosscheck_command(a.crosscheck, library, log);
  if (app.got_subcommand("scan")) {
    a.scan.subcommand = app.get_subcommand("scan")->get_subcommands().front()->get_name();
    return scan_command(a.scan, library, log);
  }
  if (app.got_subcommand("net")) return net_flood_command(a.net);
  if (app.got_subcommand("replay")) return replay_command(a.replay, library, log);
  if (app.got_subcommand("view") && a.view_robot.ends_with(".json")) {  // a genome: its organism in its world
    a.run.experiment = a.view_robot, a.run.viewer = a.viewer, a.run.show = true;
    return run_command(a.run, library, log);
  }
  if (app.got_subcommand("view")) return view_robot_command(a.view_robot, a.viewer, library);
  if (app.got_subcommand("export")) {
    if (a.mjcf.empty() == !a.export_.csv)
      return complain(Error(a.mjcf.empty() ? "nothing is to be written" : "--csv and --mjcf cannot be written at once",
                            "give --csv for the tables of a recording, or --mjcf FILE for a robot or world"));
    if (a.mjcf.empty() && !a.mjcf_set.empty())
      return complain(Error("a recording has no parameters to set", "leave --set out"));
    return a.mjcf.empty() ? export_command(a.export_, log)
                          : export_mjcf_command(a.export_.folder, a.mjcf, a.mjcf_set, library, log);
  }
  if (app.got_subcommand("docs")) return docs_command(a.viewer.no_browser);
  if (app.got_subcommand("completion")) return completion_command(a.shell);
  std::fputs(welcome, stdout);
  return done;
}

}  // namespace

int main(int argc, char** argv, sim::Library& library) {
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
