// A listener that records all calls, for tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "volvox/net/network.h"

namespace volvox::net {

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::vector<std::byte> zeros(std::size_t size) { return std::vector<std::byte>(size); }

struct Recorder : Listener {
  struct Heard {
    std::uint32_t interface = 0, from = 0;
    Time at;
    std::string text;
    std::uint16_t port = 0;
  };
  std::vector<Heard> heard;
  std::vector<SendReport> reports;
  std::vector<std::pair<Time, std::uint64_t>> timers;
  std::function<void(Network&, const Reception&)> on_receive;
  std::function<void(Network&, NodeId, std::uint64_t)> on_timer;

  void received(Network& network, const Reception& r) override {
    heard.push_back({r.interface.index, r.from.index, r.arrived, text_of(r.payload), r.port});
    if (on_receive) on_receive(network, r);
  }
  void send_finished(Network&, const SendReport& report) override { reports.push_back(report); }
  void timer(Network& network, NodeId node, std::uint64_t token) override {
    timers.push_back({network.now(), token});
    if (on_timer) on_timer(network, node, token);
  }
};

}  // namespace volvox::net
