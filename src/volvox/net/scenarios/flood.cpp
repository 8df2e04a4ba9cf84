#include "volvox/net/scenarios/flood.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/random.h"
#include "volvox/net/power.h"

namespace volvox::net {
namespace {

constexpr std::string_view mode_names[] = {"exact", "culled", "wired"};
constexpr std::string_view layout_names[] = {"grid", "random"};
constexpr std::uint32_t most_nodes = 10'000'000;
constexpr std::uint32_t largest_payload = 65535;

template <class Enum, std::size_t N>
Result<Enum> parse(std::string_view text, const std::string_view (&names)[N], std::string_view what) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return Error(fmt::format("'{}' is not a {} of the flood", text, what),
               fmt::format("give one of: {}", fmt::join(names, ", ")));
}

double range_spacings(const FloodOptions& options) {
  if (options.range_spacings > 0) return options.range_spacings;
  return options.dimension == 2 ? 3.05 : 1.75;
}
std::uint32_t window(const FloodOptions& options) {
  if (options.window > 0) return options.window;
  return options.dimension == 2 ? 30 : 240;
}
double cull_spacings(const FloodOptions& options) {
  return options.cull_spacings > 0 ? options.cull_spacings : range_spacings(options) * std::sqrt(options.capture_ratio);
}

// The side of the square or cube that holds n nodes.
std::uint32_t side_of(const FloodOptions& options) {
  std::uint64_t side = 1;
  while ((options.dimension == 2 ? side * side : side * side * side) < options.nodes) ++side;
  return narrow<std::uint32_t>(side);
}

// Uniform, and numbered along rows of cells of a few spacings, because neighbours should be close in memory,
// as on a grid.
std::vector<Vec3> random_places(const FloodOptions& options) {
  RandomStream random(options.seed, 0, "flood:layout");
  const double extent = options.spacing * side_of(options);
  std::vector<Vec3> places;
  places.reserve(options.nodes);
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    const double x = extent * random.uniform(), y = extent * random.uniform();
    places.push_back({x, y, options.dimension == 2 ? 0 : extent * random.uniform()});
  }
  const double cell = 4 * options.spacing;
  const auto row = [&](const Vec3& p) { return std::pair(std::floor(p.z / cell), std::floor(p.y / cell)); };
  std::sort(places.begin(), places.end(), [&](const Vec3& a, const Vec3& b) {
    const auto row_a = row(a), row_b = row(b);
    return row_a != row_b ? row_a < row_b : a.x < b.x;
  });
  return places;
}

// The positions of the nodes. On a grid they are computed, otherwise stored.
class Places {
 public:
  explicit Places(const FloodOptions& options) : options_(options), side_(side_of(options)) {
    if (options.positions.empty() && options.layout == FloodLayout::random) random_ = random_places(options);
  }

  std::uint32_t count() const {
    return options_.positions.empty() ? options_.nodes : narrow<std::uint32_t>(options_.positions.size());
  }
  Vec3 operator[](std::uint32_t i) const {
    if (!options_.positions.empty()) return options_.positions[i];
    if (!random_.empty()) return random_[i];
    const double s = options_.spacing;
    if (options_.dimension == 2) return {s * (i % side_), s * (i / side_), 0};
    return {s * (i % side_), s * (i / side_ % side_), s * (i / side_ / side_)};
  }

 private:
  const FloodOptions& options_;
  std::uint32_t side_;
  std::vector<Vec3> random_;
};

// The node nearest to the centre of all nodes.
std::uint32_t middle(const FloodOptions& options, const Places& places) {
  if (options.source >= 0) return narrow<std::uint32_t>(options.source);
  Vec3 low = places[0], high = low;
  for (std::uint32_t i = 0; i < places.count(); ++i) {
    const Vec3 p = places[i];
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const Vec3 center = 0.5 * (low + high);
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < places.count(); ++i)
    if (length_squared(places[i] - center) < length_squared(places[best] - center)) best = i;
  return best;
}

RadioOptions radio_options(const FloodOptions& options) {
  RadioOptions radio;
  const double at_range =
      options.power_w * Friis(options.frequency_hz).gain({}, {range_spacings(options) * options.spacing, 0, 0});
  const double noise = at_range / options.capture_ratio;
  radio.power_w = options.power_w;
  radio.bit_rate = options.bit_rate;
  radio.bandwidth_hz = options.bit_rate;
  radio.noise_factor = std::max(1.0, noise / thermal_noise_w(options.bit_rate));
  radio.receive_threshold_w = at_range;
  radio.carrier_threshold_w = at_range + noise;
  radio.capture_ratio = options.capture_ratio;
  radio.window = window(options);
  radio.slot = options.slot;
  radio.queue_limit = 4;
  radio.largest_payload = std::max(radio.largest_payload, options.payload);
  return radio;
}

Result<void> add_radios(Network& network, const FloodOptions& options, const Places& places) {
  const double cull = options.mode == FloodMode::culled ? cull_spacings(options) * options.spacing : 0;
  const auto air = network.add_medium({.frequency_hz = options.frequency_hz, .cull_radius = cull});
  if (!air) return air.error();
  const RadioOptions radio = radio_options(options);
  network.reserve(places.count(), places.count());
  network.reserve_radios(*air, places.count());
  for (std::uint32_t i = 0; i < places.count(); ++i)
    if (const auto added = network.add_radio(network.add_node(), *air, radio, places[i]); !added) return added.error();
  return {};
}

Result<void> add_wires(Network& network, const FloodOptions& options) {
  const WireOptions options_of_wire{.bit_rate = options.bit_rate, .queue_limit = 4, .largest_payload = largest_payload};
  const std::uint32_t side = side_of(options);
  const std::size_t wires = std::size_t{options.nodes} * 2 * options.dimension;
  network.reserve(options.nodes, wires);
  network.reserve_wires(wires);
  // The wires of a node are added one after another, so that they are close in memory. A wire to a lower
  // neighbour is plugged at once, because the other end exists already.
  const int axes = options.dimension;
  const std::uint64_t steps[] = {1, side, std::uint64_t{side} * side};
  std::vector<InterfaceId> upward(std::size_t{options.nodes} * 3);  // to the next neighbour along an axis
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    const NodeId node = network.add_node();
    for (int axis = 0; axis < axes; ++axis) {
      const std::uint64_t place = i / steps[axis] % side;
      if (place > 0) {
        const auto wire = network.add_wire(node, options_of_wire);
        if (!wire) return wire.error();
        if (auto plugged = network.plug(upward[(i - steps[axis]) * 3 + axis], *wire); !plugged) return plugged;
      }
      if (place + 1 < side && i + steps[axis] < options.nodes) {
        const auto wire = network.add_wire(node, options_of_wire);
        if (!wire) return wire.error();
        upward[std::size_t{i} * 3 + axis] = *wire;
      }
    }
  }
  return {};
}

// Every node forwards the packet once, when it receives it for the first time.
class Flooder final : public Listener {
 public:
  Flooder(Network& network, std::size_t nodes, bool wired, const std::function<void(double part)>& progress)
      : first_(nodes, Time{-1}), progress_(progress) {
    if (!wired) return;
    // The wires of all nodes in one array: node i has begin_[i] .. begin_[i + 1].
    begin_.resize(nodes + 1);
    for (std::size_t k = 0; k < network.interfaces(); ++k) ++begin_[network.node_of(network.interface(k)).index + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    interfaces_.resize(network.interfaces());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t k = 0; k < network.interfaces(); ++k)
      interfaces_[next[network.node_of(network.interface(k)).index]++] = narrow<std::uint32_t>(k);
  }

  void received(Network& network, const Reception& r) override {
    if (first_[r.node.index].ns >= 0) return;
    first_[r.node.index] = r.arrived;
    if (++reached_ % 256 == 0 && progress_) progress_(real(reached_) / real(first_.size()));
    send(network, r.node.index, r.interface.index, r.payload);
  }
  void start(Network& network, std::uint32_t source, std::span<const std::byte> payload) {
    first_[source] = network.now();
    send(network, source, nothing, payload);
  }
  std::vector<double> latencies(std::uint32_t source) const {
    std::vector<double> all;
    all.reserve(first_.size() - std::count(first_.begin(), first_.end(), Time{-1}));
    for (std::uint32_t i = 0; i < first_.size(); ++i)
      if (i != source && first_[i].ns >= 0) all.push_back(first_[i].seconds());
    std::sort(all.begin(), all.end());
    return all;
  }
  const std::string& failure() const { return failure_; }

 private:
  // By the radio of the node, or by all its wires except the one that the packet came from.
  void send(Network& network, std::uint32_t node, std::uint32_t from, std::span<const std::byte> payload) {
    if (begin_.empty()) return send_on(network, node, payload);
    for (std::uint32_t k = begin_[node]; k < begin_[node + 1]; ++k)
      if (interfaces_[k] != from) send_on(network, interfaces_[k], payload);
  }
  void send_on(Network& network, std::uint32_t interface, std::span<const std::byte> payload) {
    if (const auto sent = network.send({interface, 0}, {.payload = payload}); !sent) failure_ = sent.error().text();
  }

  std::vector<Time> first_;
  std::size_t reached_ = 0;
  const std::function<void(double part)>& progress_;
  std::vector<std::uint32_t> begin_, interfaces_;
  std::string failure_;
};

double percentile(const std::vector<double>& sorted, double fraction) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(fraction * real(sorted.size()));
  return sorted[truncated<std::size_t>(std::max(1.0, rank)) - 1];
}

Result<void> check(const FloodOptions& options) {
  const std::size_t nodes = options.positions.empty() ? options.nodes : options.positions.size();
  if (nodes == 0 || nodes > most_nodes)
    return Error(fmt::format("a flood over {} nodes", nodes), fmt::format("give from 1 to {} nodes", most_nodes));
  if (options.source >= narrow<std::int64_t>(nodes))
    return Error(fmt::format("the source, node {}, is not among the {} nodes", options.source, nodes), "count from 0");
  const auto sound = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!(options.spacing > 0) || !sound(options.spacing) || !sound(options.range_spacings) ||
      !sound(options.cull_spacings))
    return Error("spacing, range and culling radius must be positive",
                 "give the spacing in m, the others in spacings (0: the default)");
  if (options.payload == 0 || options.payload > largest_payload)
    return Error(fmt::format("a packet of {} bytes", options.payload),
                 fmt::format("give from 1 to {} bytes", largest_payload));
  if (!(options.capture_ratio >= 1)) return Error("the capture ratio is below 1", "give a power ratio, such as 10");
  if (options.dimension != 2 && options.dimension != 3)
    return Error(fmt::format("a flood in {} dimensions", options.dimension), "give 2 (a plane) or 3 (space)");
  if (options.mode == FloodMode::wired && (options.layout == FloodLayout::random || !options.positions.empty()))
    return Error("a wired flood needs a grid", "use the layout grid, or a radio mode");
  if (options.longest.ns <= 0) return Error("the longest time is not positive", "give a time in s");
  return {};
}

void fill(FloodReport& report, const Network& network, const std::vector<double>& latencies) {
  const Counters& counters = network.counters();
  report.reached = latencies.size() + 1;
  report.transmissions = counters.transmissions;
  report.deliveries = counters.deliveries;
  report.collisions = counters.collisions;
  report.weak = counters.weak;
  report.transmit_aborts = counters.transmit_aborts;
  report.drops = counters.queue_drops;
  report.link_updates = counters.link_updates;
  report.events = counters.events;
  report.latency_p50_s = percentile(latencies, 0.5);
  report.latency_p90_s = percentile(latencies, 0.9);
  report.latency_p95_s = percentile(latencies, 0.95);
  report.latency_p99_s = percentile(latencies, 0.99);
  report.latency_max_s = latencies.empty() ? 0 : latencies.back();
}

}  // namespace

Result<FloodMode> parse_flood_mode(std::string_view text) { return parse<FloodMode>(text, mode_names, "mode"); }
Result<FloodLayout> parse_flood_layout(std::string_view text) {
  return parse<FloodLayout>(text, layout_names, "layout");
}
std::string_view name(FloodMode mode) { return mode_names[number_of(mode)]; }
std::string_view name(FloodLayout layout) { return layout_names[number_of(layout)]; }

Result<FloodReport> run_flood(const FloodOptions& options, FrameLog* log,
                              const std::function<void(double part)>& progress) {
  if (const auto checked = check(options); !checked) return checked.error();
  const double start = platform::process_cpu_seconds();
  Network network({.seed = options.seed});
  std::uint32_t source = 0;
  {
    const Places places(options);  // freed before the run: a million of them need 24 MB
    source = middle(options, places);
    const auto added =
        options.mode == FloodMode::wired ? add_wires(network, options) : add_radios(network, options, places);
    if (!added) return added.error();
  }
  FloodReport report;
  report.nodes = narrow<std::uint32_t>(network.nodes());
  report.mode = name(options.mode);
  report.layout = options.positions.empty() ? name(options.layout) : "given";
  report.seed = options.seed;
  report.dimension = options.dimension;
  report.source = source;
  report.payload = options.payload;
  report.bit_rate = options.bit_rate;
  report.slot_s = options.mode == FloodMode::wired ? 0 : options.slot.seconds();
  report.window = options.mode == FloodMode::wired ? 0 : window(options);
  report.range_m = options.mode == FloodMode::wired ? 0 : range_spacings(options) * options.spacing;
  report.cull_radius_m = options.mode == FloodMode::culled ? cull_spacings(options) * options.spacing : 0;
  Flooder flooder(network, network.nodes(), options.mode == FloodMode::wired, progress);
  network.set_listener(&flooder);
  network.set_log(log);
  report.setup_cpu_s = platform::process_cpu_seconds() - start;

  std::vector<std::byte> payload(options.payload);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = std::byte(i & 0xff);
  flooder.start(network, source, payload);
  const auto ended = network.run_all(options.longest);
  if (!ended) return ended.error();
  if (!flooder.failure().empty()) return Error(flooder.failure(), "change the options of the flood");
  report.sim_time_s = ended->seconds();
  report.cpu_s = platform::process_cpu_seconds() - start;
  fill(report, network, flooder.latencies(source));
  report.state_hash = network.hash();
  report.warnings = network.warnings();
  if (options.mode == FloodMode::culled && report.nodes > 1 && report.reached <= 1 &&
      report.deliveries + report.collisions + report.weak == 0)
    report.warnings.push_back(
        "no radio is within the culling radius of the source, so no radio could receive anything (give a larger "
        "--cull)");
  report.peak_mb = real(platform::peak_memory_bytes()) / 1e6;
  return report;
}

std::string FloodReport::json() const {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](auto value) { return value == 0 ? Json() : Json(value); };  // does not apply in this mode
  const auto rounded = [](double value, double unit) { return std::round(value * unit) / unit; };
  const auto ns = [&](double seconds) { return rounded(seconds, 1e9); };
  return to_json_text(Json{{"scenario", "flood"},
                           {"mode", mode},
                           {"layout", layout},
                           {"dimension", dimension},
                           {"nodes", nodes},
                           {"seed", seed},
                           {"source", source},
                           {"payload", payload},
                           {"bit_rate", bit_rate},
                           {"slot_s", or_null(slot_s)},
                           {"window", or_null(window)},
                           {"range_m", or_null(range_m)},
                           {"cull_radius_m", or_null(cull_radius_m)},
                           {"reached", reached},
                           {"transmissions", transmissions},
                           {"deliveries", deliveries},
                           {"collisions", collisions},
                           {"weak", weak},
                           {"transmit_aborts", transmit_aborts},
                           {"drops", drops},
                           {"sim_time_s", ns(sim_time_s)},
                           {"cpu_s", rounded(cpu_s, 1e6)},
                           {"setup_cpu_s", rounded(setup_cpu_s, 1e6)},
                           {"link_updates", link_updates},
                           {"events", events},
                           {"peak_mb", rounded(peak_mb, 10)},
                           {"latency_s",
                            {{"p50", ns(latency_p50_s)},
                             {"p90", ns(latency_p90_s)},
                             {"p95", ns(latency_p95_s)},
                             {"p99", ns(latency_p99_s)},
                             {"max", ns(latency_max_s)}}},
                           {"state_hash", hash_text(state_hash)},
                           {"warnings", warnings}});
}

}  // namespace volvox::net
