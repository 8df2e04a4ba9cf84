#include <sstream>

#include "volvox/base/index.h"
#include "volvox/base/platform/udp_socket.h"
#include "volvox/device/devices.h"
#include "volvox/device/lines.h"
#include "volvox/sim/metrics.h"

namespace volvox::device {
namespace {

constexpr int most_datagrams = 1000, most_lines = 100;  // of one tick, and of a datagram

class Udp final : public mind::Extension {
 public:
  explicit Udp(const sim::ExtensionSetup& setup)
      : replay_(setup.replay),
        at_(setup.parameters.text("host", "127.0.0.1") + ":" +
            std::to_string(setup.parameters.integer("port", 0, 0, 65535))),
        to_text_(setup.parameters.text("to", "")),
        telling_(setup.parameters) {}

  Result<void> init() override {
    const auto at = platform::UdpAddress::parse(at_);
    if (!at.ok()) return at.error();
    if (!to_text_.empty()) {
      const auto to = platform::UdpAddress::parse(to_text_);
      if (!to.ok()) return to.error();
      to_ = *to;
    }
    if (replay_) return {};
    auto opened = platform::UdpSocket::open(*at);
    if (!opened.ok()) return opened.error();
    socket_ = std::move(*opened);
    return {};
  }

  void begin(const sim::Simulation& simulation) override { telling_.begin(simulation); }

  void before_tick(sim::Simulation& simulation) override {
    for (int count = 0; count < most_datagrams; ++count) {
      const auto datagram = socket_->receive();
      if (!datagram) break;
      if (to_text_.empty()) to_ = datagram->from;  // without a given address, reports go to the last sender
      std::istringstream lines(datagram->bytes);
      int number = 0;
      for (std::string line; number < most_lines && std::getline(lines, line); ++number)
        if (auto input = parse_line(line)) simulation.give(std::move(*input));
        else ++malformed_;
    }
  }

  void after_tick(const sim::Simulation& simulation) override {
    if (!to_) return;
    const std::string text = telling_.lines(simulation);
    if (!text.empty() && text.size() <= platform::UdpSocket::largest) socket_->send(*to_, text);
  }

  void shutdown() override { socket_.reset(); }

  void add_metrics(sim::Metrics& metrics) const override {
    if (!replay_) metrics.set("udp_bad_lines", real(malformed_), "lines that could not be parsed");
  }

 private:
  bool replay_;
  std::string at_, to_text_;
  Telling telling_;
  std::int64_t malformed_ = 0;  // lines
  std::unique_ptr<platform::UdpSocket> socket_;
  std::optional<platform::UdpAddress> to_;
};

}  // namespace

std::unique_ptr<mind::Extension> make_udp(const sim::ExtensionSetup& setup) { return std::make_unique<Udp>(setup); }

}  // namespace volvox::device
