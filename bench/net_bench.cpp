// Measures the network on this machine, one line per scenario, and ns-3 on the same scenario if it is
// installed: net_bench [--json] [--quick]
//
// CPU seconds of one core, including set-up. Each flood runs in its own process, so that the peak memory is
// measured for each flood.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/random.h"
#include "volvox/net/event_queue.h"
#include "volvox/net/scenarios/flood.h"

namespace volvox::net {
namespace {

struct Line {
  std::string name;
  double cpu_s = 0, target_s = 0;
  double peak_mb = 0, target_mb = 0;
  std::uint64_t link_updates = 0, reached = 0, nodes = 0;
};

// Runs a function in a child process and returns its text.
std::string in_own_process(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string text = work();
    const bool written = write(ends[1], text.data(), text.size()) == narrow<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

std::optional<Line> flood(std::string name, const FloodOptions& options, double target_s, double target_mb = 0) {
  const std::string text = in_own_process([&] {
    const auto report = run_flood(options);
    if (!report) return std::string();
    return fmt::format("{} {} {} {} {}", report->cpu_s, report->peak_mb, report->link_updates, report->reached,
                       report->nodes);
  });
  Line line{std::move(name), 0, target_s, 0, target_mb};
  unsigned long long updates = 0, reached = 0, nodes = 0;
  if (std::sscanf(text.c_str(), "%lf %lf %llu %llu %llu", &line.cpu_s, &line.peak_mb, &updates, &reached, &nodes) != 5)
    return std::nullopt;
  line.link_updates = updates, line.reached = reached, line.nodes = nodes;
  return line;
}

struct Callback {
  virtual ~Callback() = default;
  virtual Time fire(const Event& event) = 0;
};
struct Again final : Callback {
  RandomStream random{1, 0, "bench"};
  std::uint64_t state = 1, fired = 0;
  Time fire(const Event& event) override {
    ++fired;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return {event.time_ns + 1 + narrow<std::int64_t>(state >> 44)};
  }
};

// The hold model: every event has a callback, which schedules the next event.
double events_per_second(std::uint32_t pending, std::uint64_t total) {
  EventQueue queue;
  Again again;
  Callback& callback = again;
  std::vector<std::uint32_t> sequence(pending, 0);
  for (std::uint32_t i = 0; i < pending; ++i)
    queue.push(Event::make({narrow<std::int64_t>(again.random.below(1 << 20))}, Action::timer, i, sequence[i]++));
  const double start = platform::process_cpu_seconds();
  for (std::uint64_t k = 0; k < total; ++k) {
    const Event event = queue.pop();
    queue.push(Event::make(callback.fire(event), Action::timer, event.source(), sequence[event.source()]++));
  }
  return real(total) / (platform::process_cpu_seconds() - start);
}

// The same scenario as in ns-3's lr-wpan: 802.15.4 at 250 kb/s, about 28 neighbours, 0 dBm.
FloodOptions like_ns3(std::uint32_t nodes) {
  FloodOptions options;
  options.nodes = nodes;
  options.mode = FloodMode::culled;
  options.payload = 53 + 17;  // PHY and MAC headers
  options.spacing = 695;
  options.bit_rate = 250e3;
  options.slot = Time{320'000};
  options.window = 8;
  return options;
}

// Runs ns3_flood in the same folder, which is built only if ns-3 is installed.
std::optional<Line> ns3(const std::string& folder, std::uint32_t nodes) {
  const std::string command = folder + "/ns3_flood " + std::to_string(nodes) + " 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  Line line{fmt::format("ns-3 lr-wpan {}", nodes), 0, 0, 0, 0};
  unsigned long long reached = 0;
  const int fields = std::fscanf(pipe, "%lf %lf %llu", &line.cpu_s, &line.peak_mb, &reached);
  pclose(pipe);
  line.reached = reached, line.nodes = nodes;
  return fields == 3 ? std::optional(line) : std::nullopt;
}

void print(const Line& line) {
  const std::string target =
      line.target_s > 0 ? fmt::format("<= {} s {}", line.target_s, line.cpu_s <= line.target_s ? "yes" : "NO") : "";
  const std::string memory =
      line.target_mb > 0 ? fmt::format("<= {} MB {}", line.target_mb, line.peak_mb <= line.target_mb ? "yes" : "NO")
                         : "";
  const double rate = line.cpu_s > 0 ? real(line.link_updates) / line.cpu_s / 1e6 : 0;
  fmt::print("{:<24} {:>9.4f} s {:<18} {:>7.1f} MB {:<16} {:>7.0f} M link updates/s  reached {}/{}\n", line.name,
             line.cpu_s, target, line.peak_mb, memory, rate, line.reached, line.nodes);
}

int run(bool json, bool quick, const std::string& folder) {
  std::vector<Line> lines;
  const auto add = [&](std::optional<Line> line) {
    if (!line) return;
    lines.push_back(*line);
    if (!json) print(*line), std::fflush(stdout);
  };
  add(flood("wired 40,000", {.nodes = 40'000, .mode = FloodMode::wired}, 0.05));
  add(flood("culled 10,000", {.nodes = 10'000, .mode = FloodMode::culled}, 0.1));
  add(flood("culled 40,000", {.nodes = 40'000, .mode = FloodMode::culled}, 0.5));
  const FloodOptions in_space{.mode = FloodMode::culled, .layout = FloodLayout::random, .dimension = 3};
  const auto in_space_with = [&](std::uint32_t nodes) {
    FloodOptions options = in_space;
    options.nodes = nodes;
    return options;
  };
  add(flood("culled 40,000 random 3-D", in_space_with(40'000), 0.5));
  add(flood("exact 10,000", {.nodes = 10'000, .mode = FloodMode::exact}, 3));
  if (!quick) {
    add(flood("culled 1,000,000", {.nodes = 1'000'000, .mode = FloodMode::culled}, 15, 200));
    add(flood("culled 1,000,000 3-D", in_space_with(1'000'000), 15, 200));
    // The earlier default in space, for comparison: 28 neighbours, 30 slots.
    FloodOptions as_in_the_plane = in_space_with(1'000'000);
    as_in_the_plane.window = 30;
    as_in_the_plane.range_spacings = 1.88;
    add(flood("the same, 28 neighbours", as_in_the_plane, 15, 200));
  }
  const double kernel = events_per_second(10'000, 5'000'000);
  if (!json)
    fmt::print("{:<24} {:>9.1f} M events/s with callbacks (>= 5 {})\n", "event kernel, 10,000", kernel / 1e6,
               kernel >= 5e6 ? "yes" : "NO");

  double ratio = 0;
  if (const auto peer = ns3(folder, 2500)) {
    add(peer);
    if (const auto ours = flood("volvox, same scenario", like_ns3(2500), 0)) {
      add(ours);
      ratio = peer->cpu_s / ours->cpu_s;
      if (!json)
        fmt::print("{:<24} {:>9.0f} times less CPU than ns-3 (>= 100 {})\n", "2,500 nodes", ratio,
                   ratio >= 100 ? "yes" : "NO");
    }
  } else if (!json) {
    fmt::print("ns-3 skipped: not installed (apt-get install libns3-dev libgsl-dev, then build again)\n");
  }
  if (json) {
    fmt::print("{{\"kernel_events_per_s\":{:.0f},\"ns3_ratio_2500\":{:.1f},\"floods\":[", kernel, ratio);
    for (std::size_t i = 0; i < lines.size(); ++i)
      fmt::print("{}{{\"name\":\"{}\",\"cpu_s\":{:.6f},\"peak_mb\":{:.1f},\"reached\":{},\"link_updates\":{}}}",
                 i == 0 ? "" : ",", lines[i].name, lines[i].cpu_s, lines[i].peak_mb, lines[i].reached,
                 lines[i].link_updates);
    fmt::print("]}}\n");
  }
  return 0;
}

}  // namespace
}  // namespace volvox::net

int main(int count, char** arguments) {
  bool json = false, quick = false;
  for (int i = 1; i < count; ++i) {
    json = json || std::strcmp(arguments[i], "--json") == 0;
    quick = quick || std::strcmp(arguments[i], "--quick") == 0;
  }
  const std::string self = arguments[0];
  const auto slash = self.rfind('/');
  return volvox::net::run(json, quick, slash == std::string::npos ? "." : self.substr(0, slash));
}
