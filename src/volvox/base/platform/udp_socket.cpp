#include "volvox/base/platform/udp_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace volvox::platform {
namespace {

sockaddr_in to_system(const UdpAddress& address) {
  sockaddr_in system{};
  system.sin_family = AF_INET;
  system.sin_addr.s_addr = htonl(address.host);
  system.sin_port = htons(address.port);
  return system;
}

UdpAddress from_system(const sockaddr_in& system) { return {ntohl(system.sin_addr.s_addr), ntohs(system.sin_port)}; }

}  // namespace

Result<UdpAddress> UdpAddress::parse(const std::string& text) {
  const auto bad = [&] {
    return Error(fmt::format("'{}' is not an address and a port", text), "write it as 127.0.0.1:5005");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return bad();
  in_addr host{};
  if (inet_pton(AF_INET, text.substr(0, colon).c_str(), &host) != 1) return bad();
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return bad();
  return UdpAddress{ntohl(host.s_addr), port};
}

std::string UdpAddress::text() const {
  return fmt::format("{}.{}.{}.{}:{}", host >> 24, host >> 16 & 255, host >> 8 & 255, host & 255, port);
}

Result<std::unique_ptr<UdpSocket>> UdpSocket::open(const UdpAddress& at) {
  std::unique_ptr<UdpSocket> made(new UdpSocket);
  made->socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const sockaddr_in system = to_system(at);
  if (made->socket_ < 0 || bind(made->socket_, reinterpret_cast<const sockaddr*>(&system), sizeof system) != 0)
    return Error(fmt::format("the address {} cannot be used: {}", at.text(), std::strerror(errno)),
                 "choose another port");
  return made;
}

UdpSocket::~UdpSocket() {
  if (socket_ >= 0) close(socket_);
}

UdpAddress UdpSocket::address() const {
  sockaddr_in system{};
  socklen_t size = sizeof system;
  getsockname(socket_, reinterpret_cast<sockaddr*>(&system), &size);
  return from_system(system);
}

std::optional<UdpSocket::Datagram> UdpSocket::receive() {
  char bytes[largest];
  sockaddr_in system{};
  socklen_t size = sizeof system;
  const ssize_t count = recvfrom(socket_, bytes, sizeof bytes, 0, reinterpret_cast<sockaddr*>(&system), &size);
  if (count < 0) return std::nullopt;
  return Datagram{from_system(system), std::string(bytes, count)};
}

void UdpSocket::send(const UdpAddress& to, std::string_view bytes) {
  const sockaddr_in system = to_system(to);
  sendto(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&system), sizeof system);
}

}  // namespace volvox::platform
