#include <fmt/format.h>

#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"
#include "volvox/net/pcapng.h"
#include "volvox/net/scenarios/flood.h"

namespace volvox::cli {

int net_flood_command(const NetArguments& arguments) {
  net::FloodOptions options;
  options.nodes = arguments.nodes;
  options.seed = arguments.seed;
  const auto mode = net::parse_flood_mode(arguments.mode);
  if (!mode.ok()) return complain(mode.error());
  options.mode = *mode;
  const auto layout = net::parse_flood_layout(arguments.layout);
  if (!layout.ok()) return complain(layout.error());
  options.layout = *layout;
  options.dimension = arguments.dimension;
  options.spacing = arguments.spacing;
  options.range_spacings = arguments.range;
  options.cull_spacings = arguments.cull;

  net::FrameLog log;
  const auto flood = net::run_flood(options, arguments.pcap.empty() ? nullptr : &log);
  if (!flood.ok()) return complain(flood.error());
  if (!arguments.pcap.empty())
    if (const auto written = net::write_pcapng(log, arguments.pcap); !written.ok()) return complain(written.error());
  if (arguments.json) {
    fmt::print("{}\n", flood->json());
    return done;
  }
  const net::FloodReport& r = *flood;
  const auto count = [](std::uint64_t n) { return std::to_string(n); };
  std::vector<std::vector<std::string>> rows = {{"flood", fmt::format("{}, {} in {} dimensions", r.mode, r.layout, r.dimension)},
                                                {"range, culled at", r.range_m == 0 ? "no radio" : fmt::format("{} m, {}", number(r.range_m), r.cull_radius_m == 0 ? "nowhere" : number(r.cull_radius_m) + " m")},
                                                {"nodes reached", count(r.reached) + " of " + count(r.nodes)},
                                                {"transmissions", count(r.transmissions)},
                                                {"deliveries", count(r.deliveries)},
                                                {"lost to collisions", count(r.collisions)},
                                                {"too weak", count(r.weak)},
                                                {"dropped in queues", count(r.drops)},
                                                {"simulated", number(r.sim_time_s) + " s"},
                                                {"latency 50/95/100 %", fmt::format("{} / {} / {} s", number(r.latency_p50_s), number(r.latency_p95_s), number(r.latency_max_s))},
                                                {"processor time", number(r.cpu_s) + " s"},
                                                {"events", count(r.events)},
                                                {"link updates", count(r.link_updates)},
                                                {"memory", number(r.peak_mb) + " MB"}};
  fmt::print("{}", table(rows));
  for (const std::string& warning : r.warnings) fmt::print("  note: {}\n", warning);
  if (!arguments.pcap.empty()) fmt::print("  frames in {}\n", arguments.pcap);
  return done;
}

}  // namespace volvox::cli
