// The options of `volvox evolve`.
#include <CLI/CLI.hpp>

#include "volvox/cli/evolve.h"
#include "volvox/cli/numbers.h"
#include "volvox/cli/ranks.h"

namespace volvox::cli {
namespace {

constexpr const char* examples = R"(
Examples:
  volvox evolve evolution/gait                      a body of eight SuperBots learns to walk
  volvox evolve evolution/pit --seed 7 --out pit    Scouts learn to cross a pit
  volvox evolve evolution/pit --seed 7 --out pit --resume --generations 80
  mpirun -n 8 volvox evolve evolution/gait --out walk, srun -n 8 volvox evolve evolution/gait --out walk
  volvox new task my_task, then: volvox evolve my_task/task.json
  volvox run pit/best.json --view, volvox picture pit/best.json --at 8 --strobe 4 -o best.png

A task is a JSON file: an experiment, what is fit, and which bodies and minds there are (docs/evolve.md).
The folder (runs/evolve_NAME/001, ... or --out DIR) gets index.html, best.json and gallery/*.json, genomes that run,
view and picture take, generations.csv, and evolution.json, from which --resume goes on after a kill.
The same task and seed give the same winners and hash, whatever --threads, --jobs, ranks and interruptions
there were.
Exit status: 0 done; 1 stopped, or no genome was fit; 2 bad input.)";

}  // namespace

void add_evolve(CLI::App& app, EvolveArguments& a) {
  CLI::App* evolve = app.add_subcommand("evolve", "breed bodies and minds for a task");
  evolve->footer(examples);
  evolve->add_option("task", a.task, "a task such as evolution/gait, or the path of a task.json")->required();
  evolve->add_option("--generations", a.generations, "how many (default: as the task says)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000));
  evolve->add_option("--population", a.population, "genomes of a generation (default: as the task says)")
      ->type_name("N")
      ->check(whole_number(2, 1'000'000));
  evolve->add_option("--seed", a.seed, "of everything random in the evolution; trial k of a genome has the seed k")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number());
  evolve->add_option("--threads", a.threads, "threads of a process (default: all of the machine, divided by the jobs)")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  evolve
      ->add_option("--jobs", a.jobs,
                   "processes: a trial that crashes one costs its own genome only (default: 1, all in one process)")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1024));
  evolve->add_option("--ranks", a.ranks, ranks_help)->capture_default_str()->type_name("HOW");
  evolve->add_option("--engine", a.engine, "physics engine (default: as the task or the experiment says)")
      ->type_name("NAME");
  evolve->add_option("--set", a.set, "change a parameter of the experiment, in all trials; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  evolve
      ->add_option("--device", a.device,
                   "cpu, cuda: a GPU moves the worlds that it can, with the same results; auto: where there is one and "
                   "256 trials for each thread run at once")
      ->capture_default_str()
      ->type_name("WHERE");
  evolve->add_option("--precision", a.precision, "mixed or double, of the engine; GPUs move worlds in double")
      ->type_name("mixed|double");
  evolve->add_option("--gallery", a.gallery, "of how many of the best there are a genome and a picture at the end")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, 100));
  evolve->add_flag("--no-film", a.no_film, "no film of the best at the end");
  evolve->add_flag("--view", a.show, "show the page live in a browser while it runs, behind a token");
  evolve->add_flag("--resume", a.resume, "go on with the evolution in the folder of --out");
  evolve
      ->add_option("--out", a.out,
                   "folder for the results (default: runs/evolve_NAME/001, ...); one with an evolution is refused "
                   "without --resume")
      ->type_name("DIR");
  evolve->add_flag("--json", a.json, "print one JSON object on standard output and nothing else there");
  evolve->add_flag("--quiet", a.quiet, "no progress, no table; warnings are still printed");
}

}  // namespace volvox::cli
