#include "volvox/cli/arguments.h"
#include "volvox/cli/numbers.h"
#include "volvox/cli/ranks.h"

namespace volvox::cli {
namespace {

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

// The options of a run, shared by all commands that make one.
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
                  "numbers of the engine: mixed (native only, its default: floats where they are enough, for robots "
                  "that touch nothing but what stands still; the others are computed in double), or double")
      ->type_name("mixed|double");
  command
      .add_option_function<std::string>(
          "--device", [](const std::string& device) { setenv("VOLVOX_DEVICE", device.c_str(), 1); },
          "what moves water, rubble and cloth: cpu, cuda (an NVIDIA GPU; without one the processor goes on), or auto "
          "(a GPU, if there is one and the particles are many); the result does not depend on it")
      ->type_name("auto|cpu|cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  command.add_option("--seed", run.seed, "of everything random: the same seed gives the same bits")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number());
  command
      .add_option("--threads", run.threads,
                  "threads to use; the result does not depend on it (pictures and videos are drawn by as many, too, at "
                  "most 16; "
                  "without this option by one for each processor)")
      ->default_str("1")
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
  run->add_option("--out", a.run.out,
                  "folder for the results (default: runs/NAME/001, ...); those of an earlier run in it are removed, "
                  "other files stay")
      ->type_name("DIR");
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
      ->add_option(
          "--out", a.sweep.run.out,
          "folder for the results (default: runs/sweep_NAME/001, ...); a sweep that was begun there continues: what is "
          "done is not run again")
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

void add_list(CLI::App& app, Arguments& a) {
  CLI::App* list = app.add_subcommand(
      "list",
      "list experiments, robots, engines, behaviors, sensors, actuators, noise, renderers, extensions, plugins");
  list->add_option("what", a.list_what, "one of these; default: all");
  list->add_flag("--json", a.list_json, "print JSON");
  list->add_flag("--names", a.list_names, "print the names only, one per line");
}

void add_info(CLI::App& app, Arguments& a) {
  CLI::App* info = app.add_subcommand("info", "tell more about an experiment, a robot, an engine, a plugin, ...");
  info->add_option("thing", a.info_thing,
                   "its name, 'engines' for all engines, or a file: a world, a robot, a program in Meld")
      ->required();
  info->add_flag("--names", a.info_names, "print only the names of an experiment's parameters");
}

void add_bench(CLI::App& app, Arguments& a) {
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
  add_bench_robots(*bench, a.bench_robots);
  add_bench_evolve(*bench, a.bench_evolve);
  add_bench_view(*bench, a.bench_view);
}

void add_new(CLI::App& app, Arguments& a) {
  CLI::App* make = app.add_subcommand("new", "begin a behavior, a robot, an experiment or a task of your own");
  make->footer("\nExamples:\n  volvox new behavior my_walk\n  volvox new robot my_module --in projects/my_module");
  make->add_option("kind", a.new_kind,
                   "behavior, robot, experiment, task (of volvox evolve) or codemodule (a program of catoms)")
      ->required();
  make->add_option("name", a.new_name, "small letters, digits and '_'")->required();
  make->add_option("--in", a.new_folder, "folder to make (default: NAME)")->type_name("DIR");
}

void add_crosscheck(CLI::App& app, Arguments& a) {
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
      ->add_option(
          "--out", a.crosscheck.out,
          "folder for the plots, histories and findings (default: runs/crosscheck_NAME/001, ...); earlier ones in it "
          "are overwritten")
      ->type_name("DIR");
  crosscheck->add_flag("--json", a.crosscheck.json, "print JSON");
}

void add_replay(CLI::App& app, Arguments& a) {
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
}

void add_view(CLI::App& app, Arguments& a) {
  CLI::App* view = app.add_subcommand("view", "show a single robot in a browser: move its joints, try its docks");
  view->footer("\nExamples:\n  volvox view superbot\n  volvox view my_robot.sdf");
  view->add_option("robot", a.view_robot,
                   "a robot (volvox list robots), an SDF or URDF file, or a genome of volvox evolve (.json)")
      ->required();
  add_viewer(*view, a.viewer);
}

void add_export(CLI::App& app, Arguments& a) {
  CLI::App* export_ =
      app.add_subcommand("export", "write a recording as tables or as a page, or a robot or world for MuJoCo");
  export_->footer(
      "\nExamples:\n  volvox export results --csv\n  volvox export results --csv --out tables\n"
      "  volvox export results --page run.html\n  volvox export superbot --mjcf superbot.xml\n  volvox export "
      "remod3d/snake --set modules=5 --mjcf snake.xml"
      "\n\nMJCF: links become bodies, motors actuators, engaged docks welds, free docks sites; what it cannot say is "
      "named.");
  export_
      ->add_option("folder", a.export_.folder,
                   "a folder that volvox run --record wrote, or its recording.mcap; with --mjcf a robot, an experiment "
                   "or a world file")
      ->required();
  export_->add_flag("--csv", a.export_.csv,
                    "links, joints, docks, messages, log, inputs, metrics and state hashes as CSV files");
  export_
      ->add_option("--page", a.export_.page,
                   "the file to write: the viewer with the recording inside, which any browser shows without a server")
      ->type_name("FILE.html");
  export_->add_option("--every", a.export_.every, "with --page, show every N-th tick (default: as many as fit)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  export_->add_option("--mjcf", a.mjcf, "the file to write: the world at its start, for MuJoCo 3 or later")
      ->type_name("FILE");
  export_->add_option("--set", a.mjcf_set, "KEY=VALUE: with --mjcf, change a parameter; may be repeated")
      ->allow_extra_args(false);
  export_
      ->add_option("--out", a.export_.out,
                   "folder for the tables (default: csv beside the recording); earlier ones in it are overwritten")
      ->type_name("DIR");
}

void add_docs(CLI::App& app, Arguments& a) {
  CLI::App* docs = app.add_subcommand("docs", "open the site with tutorials and references, and print its path");
  docs->footer(
      "\nExamples:\n  volvox docs\n  volvox docs formats\n  volvox docs reference/sdf#dock\n  volvox docs "
      "--no-browser\n\n"
      "Errors name the page that explains them. docs/build in the source tree makes the site.");
  docs->add_option("page", a.page_of_docs, "a page of docs/, or reference/NAME, and #PLACE; default: the front page");
  docs->add_flag("--no-browser", a.viewer.no_browser, "print the path only");
}

void add_completion(CLI::App& app, Arguments& a) {
  CLI::App* completion =
      app.add_subcommand("completion", "print completions for a shell: source <(volvox completion bash)");
  completion->footer(
      "\nExamples:\n  source <(volvox completion bash)\n  source <(volvox completion zsh)     (after compinit)\n"
      "  volvox completion fish | source");
  completion->add_option("shell", a.shell, "bash, zsh or fish")->default_val("bash");
}

void add_help(CLI::App& app, Arguments& a) {
  CLI::App* help = app.add_subcommand("help", "explain a command: volvox help run is volvox run --help");
  help->add_option("command", a.help_of, "and its subcommand, if any");
  help->add_flag("--man", a.man, "print all of it as a man page");
}

void add_others(CLI::App& app, Arguments& a) {
  add_list(app, a);
  add_info(app, a);
  add_bench(app, a);
  add_new(app, a);
  add_crosscheck(app, a);
  add_net(app, a.net);
  add_replay(app, a);
  add_view(app, a);
  add_export(app, a);
  add_docs(app, a);
  add_completion(app, a);
  add_help(app, a);
  app.add_subcommand("version", "print the version");
}

}  // namespace

void add_commands(CLI::App& app, Arguments& a) {
  add_run(app, a);
  add_sweep(app, a);
  add_evolve(app, a.evolve);
  add_viewer(*app.get_subcommand("evolve"), a.evolve.viewer);
  add_reproduce(app, a.reproduce);
  add_picture(app, a);
  add_scan(app, a.scan);
  add_others(app, a);
}

}  // namespace volvox::cli
