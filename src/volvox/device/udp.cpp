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
      for (std::string line; std::getline(lines, line); ++number) {
        auto input = number < most_lines ? parse_line(line) : std::nullopt;
        if (input) simulation.give(std::move(*input));
        else ++malformed_;
      }
    }
  }

  void after_tick(const sim::Simulation& simulation) override {
    if (!to_) return;
    const std::string text = telling_.lines(simulation);
    if (text.empty()) return;
    if (text.size() <= platform::UdpSocket::largest) socket_->send(*to_, text);
    else ++too_long_;
  }

  void shutdown() override { socket_.reset(); }

  void add_metrics(sim::Metrics& metrics) const override {
    if (replay_) return;
    metrics.set("udp_bad_lines", real(malformed_),
                fmt::format("lines that could not be parsed, or after the {}th of a datagram", most_lines));
    metrics.set("udp_dropped_reports", real(too_long_),
                fmt::format("reports of a tick that were over {} bytes and not sent", platform::UdpSocket::largest));
  }

 private:
  bool replay_;
  std::string at_, to_text_;
  Telling telling_;
  std::int64_t malformed_ = 0;  // lines
  std::int64_t too_long_ = 0;   // reports
  std::unique_ptr<platform::UdpSocket> socket_;
  std::optional<platform::UdpAddress> to_;
};

}  // namespace

std::unique_ptr<mind::Extension> make_udp(const sim::ExtensionSetup& setup) { return std::make_unique<Udp>(setup); }

}  // namespace volvox::device
