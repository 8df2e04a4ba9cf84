#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/base/platform/serial_port.h"
#include "volvox/device/devices.h"
#include "volvox/device/lines.h"
#include "volvox/sim/metrics.h"

namespace volvox::device {
namespace {

constexpr std::size_t most_bytes = 65'536;  // of one tick
constexpr std::size_t longest_line = 1024;
constexpr std::size_t most_waiting = 16'384;  // bytes in the output queue

// Splits a stream of bytes into lines: a line may arrive in pieces, and there may be noise between two lines.
class LineReader {
 public:
  // Takes the next whole line from the front of `bytes`; none: all bytes are used.
  std::optional<std::string> next(std::string_view& bytes) {
    while (!bytes.empty()) {
      const char c = bytes.front();
      bytes.remove_prefix(1);
      if (c == '\n') {
        const bool whole = good_ && !line_.empty();
        std::string line = std::exchange(line_, {});
        if (!std::exchange(good_, true)) ++bad_;
        if (whole) return line;
      } else if (c != '\r' && good_) {
        good_ = line_.size() < longest_line && (c == '\t' || (c >= ' ' && c <= '~'));
        line_ += c;
      }
    }
    return std::nullopt;
  }
  std::int64_t bad() const { return bad_; }

 private:
  std::string line_;
  bool good_ = true;      // so far neither too long nor with bytes that are not text
  std::int64_t bad_ = 0;  // lines
};

class Serial final : public mind::Extension {
 public:
  explicit Serial(const sim::ExtensionSetup& setup)
      : replay_(setup.replay),
        device_(setup.parameters.text("device", "")),
        baud_(setup.parameters.integer("baud", 115'200, 50, 4'000'000)),
        telling_(setup.parameters) {}

  Result<void> init() override {
    if (device_.empty()) return Error("no device is given", "add device=\"/dev/ttyUSB0\"");
    if (replay_) return {};
    auto opened = platform::SerialPort::open(device_, narrow<int>(baud_));
    if (!opened.ok()) return opened.error();
    port_ = std::move(*opened);
    return {};
  }

  void begin(const sim::Simulation& simulation) override { telling_.begin(simulation); }

  void before_tick(sim::Simulation& simulation) override {
    const std::string received = port_->receive(most_bytes);
    std::string_view bytes = received;
    while (const auto line = reader_.next(bytes))
      if (auto input = parse_line(*line)) simulation.give(std::move(*input));
      else ++malformed_;
  }

  // A line that is slower than the run, or has no reader, gets fewer reports, but each is complete.
  void after_tick(const sim::Simulation& simulation) override {
    const std::string text = telling_.lines(simulation);
    if (waiting_.size() + text.size() <= most_waiting) waiting_ += text;
    else ++dropped_;
    waiting_.erase(0, port_->send(waiting_));
  }

  void shutdown() override { port_.reset(); }

  void add_metrics(sim::Metrics& metrics) const override {
    if (replay_) return;
    metrics.set("serial_bad_lines", real(malformed_ + reader_.bad()), "lines that could not be parsed");
    metrics.set("serial_dropped", real(dropped_), "reports for which the line was too slow");
  }

 private:
  bool replay_;
  std::string device_;
  std::int64_t baud_;
  Telling telling_;
  LineReader reader_;
  std::string waiting_;
  std::int64_t malformed_ = 0, dropped_ = 0;  // lines, reports
  std::unique_ptr<platform::SerialPort> port_;
};

}  // namespace

std::unique_ptr<mind::Extension> make_serial(const sim::ExtensionSetup& setup) {
  return std::make_unique<Serial>(setup);
}

}  // namespace volvox::device
