// The options of `volvox bench ...`.
#include <CLI/CLI.hpp>

#include "volvox/cli/bench_lattice.h"
#include "volvox/cli/bench_particles.h"
#include "volvox/cli/bench_robots.h"
#include "volvox/cli/bench_view.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/evolve.h"
#include "volvox/cli/numbers.h"

namespace volvox::cli {
namespace {

constexpr const char* bench_engines_examples = R"(
Examples:
  volvox bench engines
  volvox bench engines --scenes S2 --n 100,1000,10000 --engines native
  volvox bench engines --scenes pile,heap --engines native,bullet,bullet@1/60 --repeats 3
  volvox bench engines --scenes all --threads 1,2 --json > engines.json

Each engine runs in a process of its own; ms a step is the median over the ticks (1/60 s) after the
scene has settled. Penetration is measured from the poses, not from the engine's own contacts.
docs/benchmarks.md defines the scenes and has the table as measured.)";

// --scenes, --n, --threads, --list and --json; `counted` is what --n counts.
template <class Arguments>
void add_scene_options(CLI::App& command, Arguments& arguments, const std::string& counted) {
  command.add_option("--scenes", arguments.scenes, "comma-separated, or 'all' (--list describes them)")
      ->capture_default_str()
      ->type_name("A,B");
  command
      .add_option("--n", arguments.n,
                  fmt::format("number of {}; several sizes are run one after the other (default: as the scene defines)",
                              counted))
      ->type_name("N[,M]");
  command.add_option("--threads", arguments.threads, "threads to use; several numbers are compared")
      ->capture_default_str()
      ->type_name("N[,M]");
  command.add_flag("--list", arguments.list, "describe the scenes and run nothing");
  command.add_flag("--json", arguments.json, "print one JSON object on standard output and nothing else there");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "of the random parts of a scene")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number());
}

}  // namespace

void add_bench_engines(CLI::App& bench, BenchEnginesArguments& arguments) {
  CLI::App* engines = bench.add_subcommand(
      "engines", "compare physics engines on the scenes S1 to S4, a pile, a heap, ...: time and quality side by side");
  engines->footer(bench_engines_examples);
  add_scene_options(*engines, arguments, "modules");
  engines
      ->add_option("--engines", arguments.engines,
                   "comma-separated, each optionally with its longest substep or its precision: "
                   "native@double,bullet@1/60 (default: all "
                   "engines with dynamics)")
      ->type_name("A,B");
  engines->add_option("--seconds", arguments.seconds, "simulated time (default: as the scene defines)")
      ->type_name("S")
      ->check(between(0.05, 3600));
  engines
      ->add_option("--repeats", arguments.repeats,
                   "number of measurements, with the engines in turn; the median counts")
      ->capture_default_str()
      ->type_name("N")
      ->check(between(1, 100));
  engines->add_option("--limit", arguments.limit, "wall time for one engine in one scene, in seconds")
      ->capture_default_str()
      ->type_name("S")
      ->check(between(0.01, 1e6));
  add_seed(*engines, arguments.seed);
}

void add_bench_lattice(CLI::App& bench, BenchLatticeArguments& arguments) {
  CLI::App* lattice = bench.add_subcommand("lattice", "catoms by the million: messages, moves and bytes a module");
  lattice->footer(
      "\nExamples:\n  volvox bench lattice\n  volvox bench lattice --n 1e6,1e7 --threads 1,2 --json\n\n"
      "Every measurement runs in a process of its own and checks its result.");
  add_scene_options(*lattice, arguments, "modules");
  add_seed(*lattice, arguments.seed);
}

void add_bench_particles(CLI::App& bench, BenchParticlesArguments& arguments) {
  CLI::App* particles = bench.add_subcommand("particles", "water, rubble and cloth: frames a second");
  particles->footer(
      "\nExamples:\n  volvox bench particles\n  volvox bench particles --scenes fluid --n 20000,100000 --threads 1,2 "
      "--json\n\nEvery measurement runs in a process of its own.");
  add_scene_options(*particles, arguments, "particles");
  particles->add_option("--device", arguments.device, "what computes: cpu, cuda, or auto (a GPU, if there is one)")
      ->capture_default_str()
      ->type_name("NAME");
  particles->add_option("--frames", arguments.frames, "ticks of 1/60 s (0: the first 5 s)")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
}

void add_bench_robots(CLI::App& bench, BenchRobotsArguments& arguments) {
  CLI::App* robots = bench.add_subcommand("robots", "lone robots by the thousand, on the processor and on a GPU");
  robots->footer(
      "\nExamples:\n  volvox bench robots --threads 1,2\n  volvox bench robots --device cuda --n 4096,1e6 --json\n\n"
      "The same state hash on every device: docs/decisions/0110.");
  add_scene_options(*robots, arguments, "robots");
  robots->add_option("--device", arguments.device, "cpu, or cuda; without a GPU the processor goes on")
      ->capture_default_str()
      ->type_name("NAME");
  robots->add_option("--ticks", arguments.ticks, "ticks of 1/60 s")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
}

void add_bench_evolve(CLI::App& bench, BenchEvolveArguments& a) {
  CLI::App* evolve = bench.add_subcommand(
      "evolve", "trials a second of a population in one process, against the same trials as processes of volvox run");
  evolve->footer("\nExamples:\n  volvox bench evolve\n  volvox bench evolve --trials 100 --threads 1,2,4 --json");
  evolve->add_option("--task", a.task, "whose genomes, made at random, are tried")
      ->capture_default_str()
      ->type_name("TASK");
  evolve->add_option("--trials", a.trials, "of one measurement")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 100'000));
  evolve->add_option("--threads", a.threads, "threads of the population, and processes at a time")
      ->capture_default_str()
      ->type_name("N[,M]");
  evolve->add_option("--repeats", a.repeats, "measurements of each, of which the median counts")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 100));
  evolve
      ->add_option("--device", a.device,
                   "of the population: cpu, or cuda: a GPU moves the worlds that it can (with --precision double)")
      ->capture_default_str()
      ->type_name("WHERE");
  evolve->add_option("--precision", a.precision, "mixed or double, of the engine")->type_name("mixed|double");
  evolve->add_option("--seed", a.seed, "of the genomes")->capture_default_str()->type_name("N")->check(whole_number());
  evolve->add_flag("--json", a.json, "print one JSON object on standard output and nothing else there");
}

void add_bench_view(CLI::App& bench, BenchViewArguments& arguments) {
  CLI::App* view = bench.add_subcommand(
      "view",
      "frames simulated and drawn together: the scenes of figure 1 of the ReMod3D paper, which ran at 60 a second");
  view->footer(
      "\nExamples:\n  volvox bench view\n  volvox bench view remod3d/snake swarmsimx/formation --frames 300 --json\n\n"
      "Each frame is a tick and a picture of it in memory; times of the clock are medians.");
  view->add_option("scenes", arguments.scenes, "experiments (default: figure 1)");
  view->add_option("--size", arguments.size, "of a picture")->capture_default_str()->type_name("WxH");
  view->add_option("--dt", arguments.dt, "length of a tick in seconds")->capture_default_str()->type_name("R");
  view->add_option("--frames", arguments.frames, "of each scene")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  view->add_option("--n", arguments.modules, "modules of figures 1b and 1c")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(3, 100'000));
  view->add_option("--threads", arguments.threads,
                   "threads that simulate, and as many that draw, at most 16 (default: one simulates, one for each "
                   "processor draws)")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  view->add_flag("--json", arguments.json, "print one JSON object on standard output and nothing else there");
}

}  // namespace volvox::cli
