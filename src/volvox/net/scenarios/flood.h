// Flooding, the network scenario of seed 001 without robots: one node sends a packet, and every node that
// receives it for the first time sends it once. SI units. The same options give the same bits on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/result.h"
#include "volvox/base/time.h"
#include "volvox/net/frame_log.h"
#include "volvox/net/network.h"

namespace volvox::net {

enum class FloodMode : std::uint8_t {
  exact,   // radio; every transmission affects every radio
  culled,  // radio; transmissions have no effect beyond a radius (changes the results: docs/network.md)
  wired,   // wires between neighbours of the grid
};
// random: uniform in the square or cube of the grid, numbered along rows, so that neighbours have similar
// numbers.
enum class FloodLayout : std::uint8_t { grid, random };

Result<FloodMode> parse_flood_mode(std::string_view text);
Result<FloodLayout> parse_flood_layout(std::string_view text);
std::string_view name(FloodMode mode);
std::string_view name(FloodLayout layout);

struct FloodOptions {
  std::uint32_t nodes = 400;
  FloodMode mode = FloodMode::exact;
  FloodLayout layout = FloodLayout::grid;
  int dimension = 2;              // 2: plane, 3: space
  std::vector<Vec3> positions{};  // replaces the layout; radio modes only
  std::int64_t source = -1;       // node; negative: the central node
  std::uint64_t seed = 1;
  std::uint32_t payload = 53;  // bytes, up to 65535
  double spacing = 1;          // m
  double power_w = 1e-3;
  double frequency_hz = 2.4e9;
  double bit_rate = 6e3;
  Time slot{4'000'000};
  // Slots of the backoff. 0: 30 in the plane, as in the paper, and 240 in space, where there are far more hidden
  // senders: with 30 a flood in space stops near its source.
  std::uint32_t window = 0;
  // The receive threshold is the power received at this range; the noise is that power divided by the capture
  // ratio; the carrier threshold is the sum of both. 0: 3.05 spacings in the plane (28 neighbours in range) and
  // 1.75 in space (26 on a grid, 22 at random positions).
  double range_spacings = 0;
  // Culled mode. 0: the distance at which a signal equals the noise, sqrt(capture ratio) times the range
  // (9.64 spacings in the plane, 5.53 in space).
  double cull_spacings = 0;
  double capture_ratio = 10;
  Time longest{std::int64_t{3600} * 1'000'000'000};
};

struct FloodReport {
  std::string mode, layout;
  int dimension = 0;
  std::uint32_t nodes = 0;
  std::uint64_t seed = 0;
  std::uint64_t reached = 0, transmissions = 0, deliveries = 0, collisions = 0, weak = 0, transmit_aborts = 0,
                drops = 0;
  double sim_time_s = 0;   // of the last event
  double cpu_s = 0;        // of this process: set-up and run
  double setup_cpu_s = 0;  // the part of it before the first event
  std::uint64_t link_updates = 0, events = 0;
  double peak_mb = 0;
  std::uint32_t source = 0;   // node
  std::uint32_t payload = 0;  // bytes
  double bit_rate = 0;
  double slot_s = 0;         // 0: wired
  std::uint32_t window = 0;  // slots; 0: wired
  double range_m = 0;        // 0: wired
  double cull_radius_m = 0;  // 0: exact
  // Time from sending at the source to the first reception, over the nodes that were reached.
  double latency_p50_s = 0, latency_p90_s = 0, latency_p95_s = 0, latency_p99_s = 0, latency_max_s = 0;
  std::uint64_t state_hash = 0;
  std::vector<std::string> warnings;

  std::string json() const;  // one object on one line
};

// If given, the log receives every event, which is slow; `progress` is told now and then which part of the nodes has
// been reached.
Result<FloodReport> run_flood(const FloodOptions& options, FrameLog* log = nullptr,
                              const std::function<void(double part)>& progress = {});

}  // namespace volvox::net
