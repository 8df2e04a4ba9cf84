// What a viewer and a recording cost the loop: bench_loop [MODULES [PAIRS]].
// Processor time of the loop's own thread, in one run: blocks of ticks with and without, in pairs of
// changing order (ABBA), so that whatever else the machine and the scene do falls on both alike.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

#include "volvox/base/platform/clock.h"
#include "volvox/cli/cli.h"
#include "volvox/sim/run.h"
#include "volvox/view/web/viewed_run.h"

using namespace volvox;

namespace {

constexpr int ticks_a_block = 12;

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A WebSocket client that reads all that comes, as a browser would, on a thread of its own.
class Watcher {
 public:
  explicit Watcher(const std::string& address) {
    const std::uint16_t port = static_cast<std::uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str()));
    socket_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string hello = fmt::format("GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                                          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dm9sdm94IGlzIGEgY29sb255\r\n\r\n", port);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 || send(socket_, hello.data(), hello.size(), 0) < 0) std::perror("the viewer");
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
      got += static_cast<std::size_t>(more);
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
      if (extra > 0) size = std::accumulate(more, more + extra, std::uint64_t{0}, [](std::uint64_t sum, unsigned char c) { return sum << 8 | c; });
      content.resize(size);
      if (!read(content.data(), size)) return;
      if (content.starts_with("VXF1")) ++frames_;
    }
  }

  int socket_ = -1;
  std::atomic<long> frames_ = 0;
  std::thread reader_;
};

// Mean and half the width of its 95 % interval.
struct Estimate {
  double mean = 0, half = 0;
};
Estimate estimate(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size()), mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, 1.96 * std::sqrt(squares / (n - 1) / n)};
}

// ms of the loop's thread a tick: pairs of blocks, `with` and without.
struct Pairs {
  std::vector<double> with, without, difference;
};
Pairs measure(int pairs, const std::function<void(bool with)>& prepare, const std::function<void(bool with)>& tick) {
  Pairs found;
  const auto block = [&](bool with) {
    prepare(with);
    tick(with);  // what a change costs is not what we ask for
    const double begin = thread_cpu_seconds();
    for (int i = 0; i < ticks_a_block; ++i) tick(with);
    (with ? found.with : found.without).push_back(1e3 * (thread_cpu_seconds() - begin) / ticks_a_block);
  };
  for (int i = 0; i < pairs; ++i) {
    block(i % 2 == 0);
    block(i % 2 != 0);
    found.difference.push_back(found.with.back() - found.without.back());
  }
  return found;
}

void print(const char* what, const Pairs& pairs) {
  const Estimate without = estimate(pairs.without), more = estimate(pairs.difference);
  fmt::print("{}: {:.3f} ms a tick without, {:+.3f} +- {:.3f} ms with it: {:.3f} +- {:.3f} times as much\n", what, without.mean, more.mean, more.half, 1 + more.mean / without.mean, more.half / without.mean);
}

}  // namespace

int main(int argc, char** argv) {
  sim::RunOptions options;
  options.experiment = "remod3d/scatter";
  options.settings["modules"] = argc > 1 ? argv[1] : "1000";
  options.duration = 1e5;
  const int pairs = argc > 2 ? std::max(2, std::atoi(argv[2])) : 40;
  sim::Library library = cli::standard_library();
  Log log;
  auto run = sim::Run::prepare(options, library, log);
  if (!run.ok()) return fmt::print(stderr, "{}\n", run.error().text()), 2;
  view::ViewerOptions how;
  how.open_browser = false;
  auto viewer = view::Viewer::start(how);
  if (!viewer.ok()) return fmt::print(stderr, "{}\n", viewer.error().text()), 2;
  view::ViewedRun viewed(**viewer, std::move(*run), nullptr, [](sim::Run&) {});
  viewed.set_speed(0);
  sim::Simulation& simulation = viewed.run().simulation();
  for (int i = 0; i < 60; ++i) viewed.turn();  // until what fell lies
  fmt::print("{} modules, {} pairs of blocks of {} ticks; 95 % intervals\n", options.settings["modules"], pairs, ticks_a_block);

  std::unique_ptr<Watcher> watcher;
  long frames = 0, ticks = 0;
  const Pairs watched = measure(pairs, [&](bool with) {
    if (watcher) frames += watcher->frames();
    watcher = with ? std::make_unique<Watcher>((*viewer)->address()) : nullptr;
    while ((*viewer)->watched() != with) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (with) for (; watcher->frames() == 0; std::this_thread::sleep_for(std::chrono::milliseconds(1))) viewed.turn();
  }, [&](bool with) { viewed.turn(), ticks += with; });
  watcher.reset();
  print("a viewer that reads every frame", watched);
  fmt::print("  it read {} frames in {} ticks\n", frames, ticks);

  const std::filesystem::path file = std::filesystem::temp_directory_path() / fmt::format("bench_loop_{}.mcap", getpid());
  sim::TrafficWatch::prepare(simulation);
  auto recorder = sim::Recorder::create(file, {}, simulation);
  if (!recorder.ok()) return fmt::print(stderr, "{}\n", recorder.error().text()), 2;
  double recording = 0, hashing = 0, process = -platform::process_cpu_seconds(), thread = -thread_cpu_seconds();
  long recorded = 0;
  const Pairs kept = measure(pairs, [](bool) {}, [&](bool with) {
    viewed.turn();
    if (!with) return;
    const double begin = thread_cpu_seconds();
    (*recorder)->record(simulation);
    recording += thread_cpu_seconds() - begin;
    ++recorded;
  });
  process += platform::process_cpu_seconds(), thread += thread_cpu_seconds();
  for (int i = 0; i < 50; ++i) {
    viewed.turn();
    const double begin = thread_cpu_seconds();
    HashArchive hash;
    simulation.hash(hash);
    hashing += thread_cpu_seconds() - begin;
  }
  print("a recording", kept);
  fmt::print("  {:.3f} ms of it in the recorder (the hash alone: {:.3f} ms); threads that compress and write: {:.3f} ms a recorded tick\n", 1e3 * recording / static_cast<double>(recorded),
             1e3 * hashing / 50, 1e3 * (process - thread) / static_cast<double>(recorded));
  if (auto ended = (*recorder)->finish({}); !ended.ok()) fmt::print(stderr, "{}\n", ended.error().text());
  std::filesystem::remove(file);
}
