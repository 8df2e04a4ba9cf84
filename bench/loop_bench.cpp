// The cost of a viewer and of a recording for the simulation loop: bench_loop [MODULES [TICKS]].
// Measures processor time of the loop's own thread. Two equal runs advance tick by tick in alternating order; one of
// them is watched or recorded, so the difference of equal ticks is the cost. Reports medians, because other programs on
// the machine disturb single ticks.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/cli/cli.h"
#include "volvox/record/recorder.h"
#include "volvox/sim/run.h"
#include "volvox/view/web/viewed_run.h"

using namespace volvox;

namespace {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return real(now.tv_sec) + 1e-9 * real(now.tv_nsec);
}

// A WebSocket client that reads every frame, like a browser, on its own thread.
class Watcher {
 public:
  explicit Watcher(const std::string& address) {
    const auto port = narrow<std::uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str()));
    socket_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string hello = fmt::format(
        "GET /socket{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dm9sdm94IGlzIGEgY29sb255\r\n\r\n",
        address.substr(address.rfind('/') + 1), port);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 ||
        send(socket_, hello.data(), hello.size(), 0) < 0)
      std::perror("the viewer");
    reader_ = std::thread([this] { read_all(); });
  }
  ~Watcher() {
    shutdown(socket_, SHUT_RDWR);
    reader_.join();
    close(socket_);
  }
  long frames() const { return frames_; }

 private:
  bool read(char* to, std::size_t size) {
    for (std::size_t got = 0; got < size;) {
      const ssize_t more = recv(socket_, to + got, size - got, 0);
      if (more <= 0) return false;
      got += more;
    }
    return true;
  }
  void read_all() {
    std::string head, content;
    for (char c; !head.ends_with("\r\n\r\n"); head += c)
      if (!read(&c, 1)) return;
    for (unsigned char start[2]; read(reinterpret_cast<char*>(start), 2);) {
      std::uint64_t size = start[1] & 127u;
      unsigned char more[8];
      const std::size_t extra = size == 126 ? 2 : size == 127 ? 8 : 0;
      if (!read(reinterpret_cast<char*>(more), extra)) return;
      if (extra > 0)
        size = std::accumulate(more, more + extra, std::uint64_t{0},
                               [](std::uint64_t sum, unsigned char c) { return sum << 8 | c; });
      content.resize(size);
      if (!read(content.data(), size)) return;
      if (content.starts_with("VXF1")) ++frames_;
    }
  }

  int socket_ = -1;
  std::atomic<long> frames_ = 0;
  std::thread reader_;
};

struct Estimate {
  double median = 0, low = 0, high = 0;  // low, high: 95 % confidence interval of the median, by ranks
};
Estimate estimate(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = real(values.size()), half = 0.98 * std::sqrt(n);
  const auto at = [&](double rank) { return values[truncated<std::size_t>(std::clamp(rank, 0.0, n - 1))]; };
  return {at(n / 2), at(n / 2 - half), at(n / 2 + half)};
}

// Processor time of the loop's thread per tick, in ms.
struct Comparison {
  std::vector<double> without, difference;
};
Comparison compare(int ticks, const std::function<void()>& with, const std::function<void()>& without) {
  const auto taken = [](const std::function<void()>& tick) {
    const double begin = thread_cpu_seconds();
    tick();
    return 1e3 * (thread_cpu_seconds() - begin);
  };
  Comparison found;
  for (int i = 0; i < ticks; ++i) {
    double a = 0, b = 0;
    if (i % 2 == 0) a = taken(with), b = taken(without);
    else b = taken(without), a = taken(with);
    found.without.push_back(b);
    found.difference.push_back(a - b);
  }
  return found;
}

void print(const char* what, const Comparison& found) {
  const Estimate without = estimate(found.without), more = estimate(found.difference);
  const double mean = std::accumulate(found.difference.begin(), found.difference.end(), 0.0) /
                      std::accumulate(found.without.begin(), found.without.end(), 0.0);
  fmt::print(
      "{}: {:.3f} ms per tick without it; with it {:+.3f} ms (95 %: {:+.3f} to {:+.3f}), a factor of {:.3f} (95 %: "
      "{:.3f} to {:.3f}; from the sums {:.3f})\n",
      what, without.median, more.median, more.low, more.high, 1 + more.median / without.median,
      1 + more.low / without.median, 1 + more.high / without.median, 1 + mean);
}

struct Twin {
  std::unique_ptr<view::Viewer> viewer;
  std::unique_ptr<view::ViewedRun> viewed;
  sim::Simulation& simulation() { return viewed->run().simulation(); }
};

Result<Twin> make_twin(const std::string& modules, sim::Library& library, Log& log) {
  sim::RunOptions options;
  options.experiment = "remod3d/scatter";
  options.settings["modules"] = modules;
  options.duration = 1e5;
  auto run = sim::Run::prepare(options, library, log);
  if (!run.ok()) return run.error();
  view::ViewerOptions how;
  how.open_browser = false;
  auto viewer = view::Viewer::start(how);
  if (!viewer.ok()) return viewer.error();
  Twin twin;
  twin.viewer = std::move(*viewer);
  twin.viewed = std::make_unique<view::ViewedRun>(*twin.viewer, std::move(*run), nullptr, [](sim::Run&) {});
  twin.viewed->set_speed(0);
  return twin;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string modules = argc > 1 ? argv[1] : "1000";
  const int ticks = argc > 2 ? std::max(2, std::atoi(argv[2])) : 600;
  sim::Library library = cli::standard_library();
  Log log;
  auto first = make_twin(modules, library, log), second = make_twin(modules, library, log);
  for (const auto* twin : {&first, &second})
    if (!twin->ok()) return fmt::print(stderr, "{}\n", twin->error().text()), 2;
  Twin &one = *first, &other = *second;
  for (int i = 0; i < 60; ++i) one.viewed->turn(), other.viewed->turn();  // until the modules have settled
  fmt::print("{} modules, {} ticks\n", modules, ticks);
  const auto turn = [](Twin& twin) { return [&twin] { twin.viewed->turn(); }; };

  {
    Watcher watcher(one.viewer->address());
    while (watcher.frames() == 0)
      one.viewed->turn(), other.viewed->turn(), std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const long before = watcher.frames();
    print("a viewer that reads every frame", compare(ticks, turn(one), turn(other)));
    fmt::print("  it read {} frames in {} ticks\n", watcher.frames() - before, ticks);
  }
  while (one.viewer->watched()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  print("no difference, as a check of the method", compare(ticks, turn(one), turn(other)));

  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("bench_loop_{}.mcap", getpid());
  record::TrafficWatch::prepare(one.simulation()), record::TrafficWatch::prepare(other.simulation());
  auto recorder = record::Recorder::create(file, {}, one.simulation());
  if (!recorder.ok()) return fmt::print(stderr, "{}\n", recorder.error().text()), 2;
  std::vector<double> recording, hashing;
  const double process = platform::process_cpu_seconds(), thread = thread_cpu_seconds();
  const auto record = [&] {
    one.viewed->turn();
    const double begin = thread_cpu_seconds();
    (*recorder)->record(one.simulation());
    recording.push_back(1e3 * (thread_cpu_seconds() - begin));
  };
  print("a recording", compare(ticks, record, turn(other)));
  const double elsewhere = platform::process_cpu_seconds() - process - (thread_cpu_seconds() - thread);
  for (int i = 0; i < ticks / 10 + 1; ++i) {
    one.viewed->turn();
    const double begin = thread_cpu_seconds();
    one.simulation().hash();
    hashing.push_back(1e3 * (thread_cpu_seconds() - begin));
  }
  const Estimate in_recorder = estimate(recording), in_hash = estimate(hashing);
  fmt::print(
      "  {:.3f} ms in the recorder (95 %: {:.3f} to {:.3f}), {:.3f} ms in the hash alone; threads that compress and "
      "write: {:.3f} ms per tick\n",
      in_recorder.median, in_recorder.low, in_recorder.high, in_hash.median, 1e3 * elsewhere / ticks);
  if (auto ended = (*recorder)->finish({}); !ended.ok()) fmt::print(stderr, "{}\n", ended.error().text());
  std::filesystem::remove(file);
}
