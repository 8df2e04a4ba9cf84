#include <CLI/CLI.hpp>

#include "volvox/cli/commands.h"
#include "volvox/cli/numbers.h"

namespace volvox::cli {
namespace {

void add_common(CLI::App& command, ScanArguments& a, bool seed) {
  if (seed)
    command.add_option("--seed", a.seed, "of everything random: the same seed gives the same bits")
        ->capture_default_str()
        ->type_name("N")
        ->check(between(0, 1.8e19));
  command.add_flag("--json", a.json, "print one JSON object on standard output and nothing else there");
  command.add_flag("--quiet", a.quiet, "no progress, no table");
}

void add_objects(CLI::App& command, ScanArguments& a, const std::string& what) {
  command
      .add_option(
          "--objects", a.objects,
          what +
              ": folders of SDF models, or single ones, with commas between (arenas/objects: crate, plug, post, "
              "ramp and slab)")
      ->delimiter(',')
      ->type_name("LIBRARY");
}

void add_build_options(CLI::App& command, ScanArguments& a, bool input = true) {
  if (input)
    command.add_option("input", a.input, "a cloud (.pcd, .ply, .xyz, .off), or a scan log (.log, CARMEN)")
        ->required()
        ->type_name("CLOUD");
  command
      .add_option("--method", a.method,
                  "gsrm (a two-manifold net that grows), gg (a grid that grows), pf (planes and their borders) or "
                  "mixed (planes, boxes, and a net elsewhere)")
      ->capture_default_str()
      ->type_name("NAME");
  command
      .add_option("--triangles", a.triangles,
                  "about so many (gsrm, gg; mixed, if all were a net); default 4175 (gg: 13860)")
      ->type_name("N")
      ->check(whole_number(2, 5'000'000));
  command.add_option("--nodes", a.nodes, "or so many nodes (gsrm, mixed)")
      ->type_name("N")
      ->check(whole_number(4, 5'000'000));
  command.add_option("--steps", a.steps, "or so many signals of growth (gg)")
      ->type_name("N")
      ->check(whole_number(1, 500'000'000));
  command.add_option("--noise", a.noise, "of the points in metres; otherwise estimated")
      ->type_name("M")
      ->check(between(0, 10));
  add_objects(command, a, "known things to recognize and put in as they are");
  command.add_flag("--no-filter", a.no_filter, "keep points that stand alone");
  command.add_flag("--raw", a.raw, "leave nodes where they learned to be (gsrm, gg), and the path of a log as it is");
}

void add_simulate(CLI::App& scan, ScanArguments& a) {
  CLI::App* simulate = scan.add_subcommand(
      "simulate", "draw an arena by chance, and scan it: a robot with two lasers drives through it");
  simulate->footer(
      "\nExamples:\n  volvox scan simulate --seed 7 -o drive.log --truth truth.ply --path path.csv\n"
      "  volvox scan simulate --cloud cloud.pcd --truth truth.ply --points 98000 --outliers 2000   (points all over "
      "the surface, no drive)\n"
      "  volvox scan simulate --seed 7 --scan-seed 2 --cloud again.pcd   (another scan of the arena of seed 7)");
  simulate->add_option("-o,--output", a.output, "the scan log to write (CARMEN): .log or .carmen")->type_name("LOG");
  simulate->add_option("--truth", a.truth, "write the arena as it is: .ply, .off, .stl or .sdf")->type_name("MESH");
  simulate->add_option("--path", a.path, "write where the robot really was: time,x,y,theta")->type_name("CSV");
  simulate->add_option("--cloud", a.cloud, "write points drawn evenly over the arena: .pcd, .ply or .xyz")
      ->type_name("CLOUD");
  simulate->add_option("--points", a.points, "of that cloud")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 100'000'000));
  simulate->add_option("--outliers", a.outliers, "of that cloud, anywhere in the room")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, 100'000'000));
  simulate->add_option("--noise", a.noise, "deviation of ranges and points, in metres (default 0.007)")
      ->type_name("M")
      ->check(between(0, 1));
  simulate->add_option("--shake", a.shake, "deviation of the robot's roll, in rad")
      ->capture_default_str()
      ->type_name("RAD")
      ->check(between(0, 0.2));
  simulate->add_option("--drift", a.drift, "error of the odometry, as a part of the way")
      ->capture_default_str()
      ->type_name("PART")
      ->check(between(0, 0.5));
  simulate->add_option("--length", a.length, "of the room, in metres")
      ->capture_default_str()
      ->type_name("M")
      ->check(between(0.5, 100));
  simulate->add_option("--width", a.width, "of the room, in metres")
      ->capture_default_str()
      ->type_name("M")
      ->check(between(0.5, 100));
  simulate->add_option("--height", a.height, "of its walls, in metres")
      ->capture_default_str()
      ->type_name("M")
      ->check(between(0.1, 10));
  simulate->add_option("--boxes", a.boxes, "on its floor")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, 1000));
  simulate->add_flag("--no-pit", a.no_pit, "a floor without a pit");
  add_objects(*simulate, a, "known things to put on the floor, one of each");
  simulate
      ->add_option("--scan-seed", a.scan_seed,
                   "of the scan alone, for another one of the same arena (default: the seed)")
      ->type_name("N")
      ->check(between(0, 1.8e19));
  add_common(*simulate, a, true);
}

void add_locate(CLI::App& scan, ScanArguments& a) {
  CLI::App* locate = scan.add_subcommand("locate", "find the robot's path, from its horizontal laser and its odometry");
  locate->footer(
      "\nExamples:\n  volvox scan locate drive.log -o located.log\n  volvox scan locate drive.log -o located.log "
      "--truth path.csv");
  locate->add_option("input", a.input, "a scan log (CARMEN)")->required()->type_name("LOG");
  locate->add_option("-o,--output", a.output, "the log with the poses corrected: .log or .carmen")
      ->required()
      ->type_name("LOG");
  locate->add_option("--truth", a.truth, "to compare with: the true path (simulate --path), or a log with known poses")
      ->type_name("CSV|LOG");
  add_common(*locate, a, false);
}

void add_clean(CLI::App& scan, ScanArguments& a) {
  CLI::App* clean =
      scan.add_subcommand("clean", "a cloud without shaking, noise and outliers, from a scan log or a cloud");
  clean->footer(
      "\nExamples:\n  volvox scan clean located.log -o cloud.ply\n  volvox scan clean raw.pcd -o cloud.pcd --cell 0.05 "
      "--least 5");
  clean->add_option("input", a.input, "a scan log (CARMEN; located first if it is not) or a cloud")
      ->required()
      ->type_name("LOG|CLOUD");
  clean->add_option("-o,--output", a.output, "the cloud to write: .ply, .pcd or .xyz")->required()->type_name("CLOUD");
  clean->add_option("--cell", a.cell, "of the histogram, in metres; otherwise by the cloud's density")
      ->type_name("M")
      ->check(between(1e-6, 100));
  clean
      ->add_option("--least", a.least,
                   "points that a cell and its neighbours must hold; otherwise by the cloud's density")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  clean->add_flag("--raw", a.raw, "leave the path of the log as it is");
  add_common(*clean, a, false);
}

void add_build(CLI::App& scan, ScanArguments& a) {
  CLI::App* build = scan.add_subcommand("build", "a mesh from a cloud or a scan log");
  build->footer(
      "\nExamples:\n  volvox scan build cloud.pcd -o arena.ply\n  volvox scan build cloud.pcd --method pf -o arena.sdf "
      "    (a world, with arena.stl beside it)\n  volvox scan build cloud.pcd --objects arenas/objects -o arena.sdf   "
      "(crates, plugs and the like as they are)\n"
      "  volvox scan build drive.log --method gg --triangles 576 -o coarse.off");
  add_build_options(*build, a);
  build->add_option("-o,--output", a.output, "the mesh to write: .ply, .off, .stl, or .sdf for a world")
      ->required()
      ->type_name("MESH");
  add_common(*build, a, true);
}

void add_refine(CLI::App& scan, ScanArguments& a) {
  CLI::App* refine = scan.add_subcommand("refine", "a built arena takes in new scans");
  refine->footer(
      "\nExamples:\n  volvox scan refine arena.ply scan2.pcd -o better.ply\n  volvox scan refine arena.ply scan2.pcd "
      "--method mixed -o better.sdf   (a mesh does not say how it was built: give the method again)\n  volvox scan "
      "refine arena.ply drive.log --placed --method pf -o better.sdf   (the scans are in the arena's frame)");
  refine->add_option("mesh", a.input, "the arena: .ply, .off or .stl")->required()->type_name("MESH");
  refine->add_option("scans", a.scans, "clouds or scan logs; each is laid on the arena first")
      ->required()
      ->type_name("CLOUD");
  refine->add_option("-o,--output", a.output, "the mesh to write: .ply, .off, .stl, or .sdf for a world")
      ->required()
      ->type_name("MESH");
  refine->add_flag("--placed", a.placed, "the scans are in the arena's frame already");
  add_build_options(*refine, a, false);
  add_common(*refine, a, true);
}

void add_evaluate(CLI::App& scan, ScanArguments& a) {
  CLI::App* evaluate = scan.add_subcommand("evaluate", "measure a mesh against the true one");
  evaluate->footer(
      "\nExamples:\n  volvox scan evaluate arena.ply --truth truth.ply\n  volvox scan evaluate arena.ply --truth "
      "truth.ply --json | jq .f_2cm");
  evaluate->add_option("mesh", a.input, "what was built: .ply, .off or .stl")->required()->type_name("MESH");
  evaluate->add_option("--truth", a.truth, "what is really there")->required()->type_name("MESH");
  evaluate->add_option("--density", a.density, "points to measure at, a square metre")
      ->capture_default_str()
      ->type_name("N")
      ->check(between(1, 1e7));
  add_common(*evaluate, a, false);
}

void add_register(CLI::App& scan, ScanArguments& a) {
  CLI::App* registered = scan.add_subcommand("register", "lay one scan of a room on another");
  registered->footer("\nExamples:\n  volvox scan register scan1.pcd scan2.pcd -o room.pcd");
  registered->add_option("first", a.input, "stays where it is")->required()->type_name("CLOUD");
  registered->add_option("second", a.second, "is turned and shifted")->required()->type_name("CLOUD");
  registered->add_option("-o,--output", a.output, "both in one cloud: .ply, .pcd or .xyz")->type_name("CLOUD");
  add_common(*registered, a, false);
}

void add_run(CLI::App& scan, ScanArguments& a) {
  CLI::App* run = scan.add_subcommand("run", "a cloud to an arena to a run, with a robot on its floor");
  run->footer(
      "\nExamples:\n  volvox scan run room.pcd --method pf --duration 20\n  volvox scan run drive.log --method gsrm "
      "--robot superbot --behavior alternate --json --quiet");
  add_build_options(*run, a);
  run->add_option("--robot", a.robot, "that is put where most of the floor is free (volvox list robots)")
      ->capture_default_str()
      ->type_name("NAME");
  run->add_option("--behavior", a.behavior, "of the robot (volvox list behaviors)")
      ->capture_default_str()
      ->type_name("NAME");
  run->add_option("--engine", a.run.engine, "physics engine (volvox list engines)")->type_name("NAME");
  run->add_option("--duration", a.run.duration, "seconds to simulate (default 10)")
      ->type_name("S")
      ->check(between(0, 1e9));
  run->add_option("--threads", a.run.threads, "threads to use; the result does not depend on it")
      ->default_str("1")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  run->add_option(
         "--out", a.run.out,
         "folder for the arena and the results (default: runs/scan/001, ...); those of an earlier run in it are "
         "removed")
      ->type_name("DIR");
  add_common(*run, a, true);
}

}  // namespace

void add_scan(CLI::App& app, ScanArguments& a) {
  CLI::App* scan = app.add_subcommand(
      "scan", "arenas from laser scans: simulate, locate, clean, build, refine, evaluate, register, run");
  scan->require_subcommand(1);
  scan->footer(
      "\nExamples:\n  volvox scan simulate --seed 7 -o drive.log --truth truth.ply\n  volvox scan build drive.log "
      "--method pf -o arena.sdf\n"
      "  volvox scan evaluate arena.stl --truth truth.ply\n  volvox scan run room.pcd --method gsrm --robot wheelbot "
      "--duration 20");
  add_simulate(*scan, a);
  add_locate(*scan, a);
  add_clean(*scan, a);
  add_build(*scan, a);
  add_refine(*scan, a);
  add_evaluate(*scan, a);
  add_register(*scan, a);
  add_run(*scan, a);
}

}  // namespace volvox::cli
