// The options of `volvox net`.
#include <CLI/CLI.hpp>

#include "volvox/cli/commands.h"
#include "volvox/cli/numbers.h"

namespace volvox::cli {

void add_net(CLI::App& app, NetArguments& arguments) {
  CLI::App* net = app.add_subcommand("net", "run a network scenario without robots");
  net->require_subcommand(1);
  CLI::App* flood =
      net->add_subcommand("flood", "one node sends a packet; every node that receives it forwards it once");
  flood->footer(
      "\nExamples:\n  volvox net flood --nodes 400\n  volvox net flood --nodes 10000 --mode culled --json\n  volvox "
      "net flood --nodes 1000000 --mode culled --layout random --dimension 3\n  volvox net flood --nodes 100 --pcap "
      "flood.pcapng    (opens in Wireshark)");
  flood->add_option("--nodes", arguments.nodes, "number of nodes")
      ->capture_default_str()
      ->check(whole_number(1, 10'000'000));
  flood
      ->add_option("--mode", arguments.mode,
                   "exact (every radio receives from every other), culled (only from near ones), wired")
      ->capture_default_str();
  flood->add_option("--layout", arguments.layout, "grid, or random (uniform, one node per spacing squared or cubed)")
      ->capture_default_str();
  flood->add_option("--dimension", arguments.dimension, "2 (a plane) or 3 (space)")
      ->capture_default_str()
      ->check(whole_number(2, 3));
  flood->add_option("--spacing", arguments.spacing, "between neighbours of the grid, m")
      ->capture_default_str()
      ->check(between(1e-9, 1e9));
  flood
      ->add_option(
          "--range", arguments.range,
          "of a radio, in spacings (default: 3.05 in a plane, 28 neighbours; 1.75 in space, 26 neighbours on the grid, "
          "22 at random positions)")
      ->check(between(1e-9, 1e9));
  flood
      ->add_option(
          "--cull", arguments.cull,
          "culled mode: no signal beyond this distance, in spacings (default: where a signal is weaker than the "
          "noise, 3.16 ranges)")
      ->check(between(1e-9, 1e9));
  flood
      ->add_option("--window", arguments.window,
                   "of the random backoff, in slots (default: 30 in a plane; 240 in space, where with 30 a "
                   "flood would end near its source)")
      ->check(whole_number(1, 1'000'000));
  flood->add_option("--slot", arguments.slot, "of the random backoff, s (default: 0.004)")->check(between(1e-9, 3600));
  flood->add_option("--rate", arguments.rate, "of radios or wires, bit/s")
      ->capture_default_str()
      ->check(between(1e-3, 1e15));
  flood->add_option("--payload", arguments.payload, "bytes of the packet")
      ->capture_default_str()
      ->check(whole_number(1, 65535));
  flood->add_option("--source", arguments.source, "the node that sends first, from 0 (default: the central node)")
      ->check(whole_number());
  flood->add_option("--seed", arguments.seed, "of the random backoffs and positions")
      ->capture_default_str()
      ->check(whole_number());
  flood->add_option("--pcap", arguments.pcap,
                    "write all frames to this file, as pcapng (frames on wires have no dissector in Wireshark: it "
                    "shows their bytes)");
  flood->add_flag("--json", arguments.json, "print JSON");
}

}  // namespace volvox::cli
