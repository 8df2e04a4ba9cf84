#include <fmt/format.h>

#include "volvox/base/hash.h"
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/terminal.h"
#include "volvox/net/pcapng.h"
#include "volvox/net/scenarios/flood.h"
#include "volvox/report/table.h"

namespace volvox::cli {

namespace {

void say_it_does_nothing(std::string_view option, net::FloodMode mode) {
  std::fputs(fmt::format("volvox: warning: {} does nothing in the mode {}\n", option, net::name(mode)).c_str(), stderr);
}

Result<net::FloodOptions> options_of(const NetArguments& arguments) {
  net::FloodOptions options;
  options.nodes = arguments.nodes;
  options.seed = arguments.seed;
  const auto mode = net::parse_flood_mode(arguments.mode);
  if (!mode.ok()) return mode.error();
  options.mode = *mode;
  const auto layout = net::parse_flood_layout(arguments.layout);
  if (!layout.ok()) return layout.error();
  options.layout = *layout;
  options.dimension = arguments.dimension;
  options.spacing = arguments.spacing;
  options.range_spacings = arguments.range.value_or(0);
  options.cull_spacings = arguments.cull.value_or(0);
  options.window = arguments.window.value_or(0);
  options.bit_rate = arguments.rate;
  options.payload = arguments.payload;
  if (arguments.slot) options.slot = Time::seconds(*arguments.slot);
  if (arguments.source) options.source = *arguments.source;
  return options;
}

void warn_of_useless(const NetArguments& arguments, net::FloodMode mode) {
  if (arguments.cull && mode != net::FloodMode::culled) say_it_does_nothing("--cull", mode);
  if (mode != net::FloodMode::wired) return;
  if (arguments.range) say_it_does_nothing("--range", mode);
  if (arguments.window) say_it_does_nothing("--window", mode);
  if (arguments.slot) say_it_does_nothing("--slot", mode);
}

void print(const net::FloodReport& r, const net::FrameLog& log, const std::string& pcap) {
  const auto count = [](std::uint64_t n) { return std::to_string(n); };
  std::vector<std::vector<std::string>> rows = {
      {"flood", fmt::format("{}, {} in {} dimensions", r.mode, r.layout, r.dimension)},
      {"range, culled at", r.range_m == 0
                               ? "no radio"
                               : fmt::format("{} m, {}", number(r.range_m),
                                             r.cull_radius_m == 0 ? "nowhere" : number(r.cull_radius_m) + " m")},
      {"backoff", r.window == 0 ? "none" : fmt::format("{} slots of {} s", r.window, number(r.slot_s))},
      {"packet", fmt::format("{} bytes at {} bit/s from node {}", r.payload, number(r.bit_rate), r.source)},
      {"nodes reached", count(r.reached) + " of " + count(r.nodes)},
      {"transmissions", count(r.transmissions)},
      {"deliveries", count(r.deliveries)},
      {"lost to collisions", count(r.collisions)},
      {"receiver transmitting", count(r.transmit_aborts)},
      {"too weak", count(r.weak)},
      {"dropped in queues", count(r.drops)},
      {"simulated", number(r.sim_time_s) + " s"},
      {"latency 50/95/100 %", fmt::format("{} / {} / {} s (of the nodes reached)", number(r.latency_p50_s),
                                          number(r.latency_p95_s), number(r.latency_max_s))},
      {"processor time", number(r.cpu_s) + " s"},
      {"events", count(r.events)},
      {"link updates", count(r.link_updates)},
      {"memory", number(r.peak_mb) + " MB"},
      {"seed", count(r.seed)},
      {"state hash", hash_text(r.state_hash)}};
  fmt::print("{}", report::text_table(rows));
  if (log.left_out() > 0) fmt::print("  note: the capture ends early: {} events did not fit\n", log.left_out());
  for (const std::string& warning : r.warnings) fmt::print("  note: {}\n", warning);
  if (!pcap.empty()) fmt::print("  frames in {}\n", pcap);
}

}  // namespace

int net_flood_command(const NetArguments& arguments) {
  const auto options = options_of(arguments);
  if (!options.ok()) return complain(options.error());
  warn_of_useless(arguments, options->mode);
  // Checked before the flood, which may take long.
  if (!arguments.pcap.empty() && !can_write_file(arguments.pcap))
    return complain(
        Diagnostic{arguments.pcap, 0, "the capture cannot be written", "give --pcap a path that can be written"});
  net::FrameLog log;
  const auto flood = [&] {
    Progress progress("nodes reached", arguments.json);
    return net::run_flood(*options, arguments.pcap.empty() ? nullptr : &log, progress.teller());
  }();
  if (!flood.ok()) return complain(flood.error());
  if (!arguments.pcap.empty())
    if (const auto written = net::write_pcapng(log, arguments.pcap); !written.ok()) return complain(written.error());
  if (arguments.json) fmt::print("{}\n", flood->json());
  else print(*flood, log, arguments.pcap);
  return done;
}

}  // namespace volvox::cli
