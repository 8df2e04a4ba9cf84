// The options of `volvox reproduce`.
#include <CLI/CLI.hpp>

#include "volvox/cli/commands.h"
#include "volvox/cli/numbers.h"

namespace volvox::cli {
namespace {

constexpr const char* reproduce_examples = R"(
Examples:
  volvox reproduce                             # all papers, 3 seeds
  volvox reproduce 004 --full                  # role-based control, 20 seeds
  volvox reproduce "figure 7" arenas/rangefinder --seeds 10 --out figure7
  volvox reproduce --figures 004/friction      # a figure in the paper's form; --store keeps it in results/
  volvox reproduce --list                      # the claims, and what each is measured by; nothing is run
  volvox reproduce --json --jobs 2

Claims are read from experiments/*/claims.json. The folder gets index.html, reproduction.md, claims.csv, pictures/ and runs/. A
command that was stopped goes on with the same --out. Status 1: a claim could not be measured.)";

}  // namespace

void add_reproduce(CLI::App& app, ReproduceArguments& arguments) {
  CLI::App* reproduce = app.add_subcommand(
      "reproduce", "run what the five papers claim with several seeds, and judge it: one page, one table");
  reproduce->footer(reproduce_examples);
  reproduce->add_option("what", arguments.what,
                        "papers (004), places (\"figure 6\", \"004/figure 6\") or experiments; default: all");
  auto* quick =
      reproduce->add_flag("--quick", arguments.quick, "3 seeds of each claim (the default): some minutes on two cores");
  reproduce->add_flag("--full", arguments.full, "20 seeds of each claim with chance in it")->excludes(quick);
  reproduce->add_option("--seeds", arguments.seeds, "as many instead")->type_name("N")->check(whole_number(1, 10'000));
  reproduce->add_option("--seed", arguments.seed, "the first seed; the others count up from it")
      ->check(whole_number(0, 1'000'000'000'000))
      ->capture_default_str()
      ->type_name("N");
  reproduce->add_option("--jobs", arguments.jobs, "runs at the same time (default: the hardware threads)")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  reproduce
      ->add_option(
          "--out", arguments.out,
          "folder for the results (default: runs/reproduce/001, ...); what was begun there continues: what is done is "
          "not run again")
      ->type_name("DIR");
  reproduce->add_flag("--list", arguments.list, "only list the claims, and the commands that measure them");
  auto* figures = reproduce->add_flag("--figures", arguments.figures,
                                      "draw the figures and tables of experiments/*/results instead: FIGURE is such as "
                                      "004/friction; --full draws them, too");
  reproduce->add_flag("--store", arguments.store, "with --figures: keep them in experiments/*/results")->needs(figures);
  reproduce->add_flag("--check", arguments.check,
                      "only check that experiments/*/results are up to date; status 1: not");
  reproduce->add_flag("--no-pictures", arguments.no_pictures, "draw none: faster");
  reproduce->add_flag("--json", arguments.json, "print one JSON object on standard output and nothing else there");
  reproduce->add_flag("--quiet", arguments.quiet, "no progress, no table");
}

}  // namespace volvox::cli
