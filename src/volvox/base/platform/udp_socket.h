// UDP datagrams to and from other programs.
// Owns its socket. For one thread. What arrives when is a matter of chance, so it enters a run as inputs, which are
// recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "volvox/base/result.h"

namespace volvox::platform {

// An IPv4 address and port.
struct UdpAddress {
  std::uint32_t host = 0;  // in host byte order
  std::uint16_t port = 0;
  static Result<UdpAddress> parse(const std::string& text);  // "127.0.0.1:5005"
  std::string text() const;
  friend bool operator==(const UdpAddress&, const UdpAddress&) = default;
};

class UdpSocket {
 public:
  static constexpr std::size_t largest = 8192;  // bytes of a datagram; longer ones are truncated

  // Port 0: any free port.
  static Result<std::unique_ptr<UdpSocket>> open(const UdpAddress& at);
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  UdpAddress address() const;
  // The next datagram, if one has arrived, and its sender; does not wait.
  struct Datagram {
    UdpAddress from;
    std::string bytes;
  };
  std::optional<Datagram> receive();
  // The datagram may be lost; there is no error report.
  void send(const UdpAddress& to, std::string_view bytes);

 private:
  UdpSocket() = default;
  int socket_ = -1;
};

}  // namespace volvox::platform
