#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "volvox/base/platform/udp_socket.h"
#include "volvox/device/devices.h"
#include "volvox/device/targets.h"

namespace volvox::device {
namespace {

constexpr int most_datagrams = 1000, most_lines = 100;  // of one tick, and of a datagram
constexpr std::size_t longest_word = 256;

// "joint rover neck 0.5" and its like; none: it makes no sense.
std::optional<sim::Input> parse_line(const std::string& line) {
  std::istringstream words(line);
  sim::Input input;
  words >> input.kind >> input.module;
  if (!words || input.module.size() > longest_word) return std::nullopt;
  if (input.kind == "pose") {
    std::getline(words, input.text);
    return input.text.size() <= 2 * longest_word ? std::optional(input) : std::nullopt;
  }
  words >> input.name;
  if (!words || input.name.size() > longest_word) return std::nullopt;
  if (input.kind == "parameter") {
    words >> input.text;
    if (input.module == "*") input.module.clear();
  } else if (input.kind == "push") {
    words >> input.force.x >> input.force.y >> input.force.z;
  } else if (input.kind == "percept" || input.kind == "joint" || input.kind == "dock") {
    words >> input.value;
  } else {
    return std::nullopt;
  }
  std::string rest;
  if (!words || (words >> rest)) return std::nullopt;
  return input;
}

class Udp final : public sim::Extension {
 public:
  explicit Udp(const sim::ExtensionSetup& setup)
      : replay_(setup.replay), at_(setup.parameters.text("host", "127.0.0.1") + ":" + std::to_string(setup.parameters.integer("port", 0, 0, 65535))),
        to_text_(setup.parameters.text("to", "")), send_text_(setup.parameters.text("send", "")), every_(setup.parameters.integer("every", 1, 1, 1'000'000)) {}

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

  void begin(const sim::Simulation& simulation) override {
    std::istringstream words(send_text_);
    for (std::string word; words >> word;) {
      auto source = Source::find(word, simulation);
      if (!source.ok()) throw std::runtime_error(source.error().text());
      sources_.push_back(std::move(*source));
    }
  }

  void before_tick(sim::Simulation& simulation) override {
    for (int count = 0; count < most_datagrams; ++count) {
      const auto datagram = socket_->receive();
      if (!datagram) break;
      if (to_text_.empty()) to_ = datagram->from;  // who speaks to us hears of us
      std::istringstream lines(datagram->bytes);
      int number = 0;
      for (std::string line; number < most_lines && std::getline(lines, line); ++number)
        if (auto input = parse_line(line)) simulation.give(std::move(*input));
        else ++senseless_;
    }
  }

  void after_tick(const sim::Simulation& simulation) override {
    if (!to_ || sources_.empty() || simulation.tick() % every_ != 0) return;
    std::string text = fmt::format("time {}\n", simulation.now().seconds());
    for (const Source& source : sources_) text += source.text + " " + source.value(simulation).describe() + "\n";
    if (text.size() <= platform::UdpSocket::largest) socket_->send(*to_, text);
  }

  void shutdown() override { socket_.reset(); }

 private:
  bool replay_;
  std::string at_, to_text_, send_text_;
  std::int64_t every_;
  std::int64_t senseless_ = 0;  // lines
  std::unique_ptr<platform::UdpSocket> socket_;
  std::optional<platform::UdpAddress> to_;
  std::vector<Source> sources_;
};

}  // namespace

std::unique_ptr<mind::Extension> make_udp(const sim::ExtensionSetup& setup) { return std::make_unique<Udp>(setup); }

}  // namespace volvox::device
