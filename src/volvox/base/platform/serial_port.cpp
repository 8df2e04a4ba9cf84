#include "volvox/base/platform/serial_port.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace volvox::platform {
namespace {

constexpr std::array<std::pair<int, speed_t>, 16> speeds = {{{1200, B1200},
                                                             {2400, B2400},
                                                             {4800, B4800},
                                                             {9600, B9600},
                                                             {19'200, B19200},
                                                             {38'400, B38400},
                                                             {57'600, B57600},
                                                             {115'200, B115200},
                                                             {230'400, B230400},
                                                             {460'800, B460800},
                                                             {500'000, B500000},
                                                             {921'600, B921600},
                                                             {1'000'000, B1000000},
                                                             {2'000'000, B2000000},
                                                             {3'000'000, B3000000},
                                                             {4'000'000, B4000000}}};

}  // namespace

Result<std::unique_ptr<SerialPort>> SerialPort::open(const std::filesystem::path& device, int baud) {
  const auto bad = [&](const std::string& what, const std::string& fix) {
    return Diagnostic{device.string(), 0, what, fix};
  };
  speed_t speed = B0;
  for (const auto& [number, code] : speeds)
    if (number == baud) speed = code;
  if (speed == B0)
    return bad(fmt::format("{} baud is not a standard speed of serial lines", baud),
               "choose 9600, 115200, 921600 or another standard speed");
  std::unique_ptr<SerialPort> port(new SerialPort);
  port->file_ = ::open(device.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (port->file_ < 0)
    return bad(std::string("the serial line cannot be opened: ") + std::strerror(errno),
               "see the devices in /dev/serial/by-id, and check that you may use them");
  termios settings{};
  if (tcgetattr(port->file_, &settings) != 0)
    return bad("this is not a serial line", "give a device such as /dev/ttyUSB0");
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~tcflag_t{CSTOPB | CRTSCTS};
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 0;
  cfsetispeed(&settings, speed);
  cfsetospeed(&settings, speed);
  if (tcsetattr(port->file_, TCSANOW, &settings) != 0)
    return bad(fmt::format("the serial line does not support {} baud: {}", baud, std::strerror(errno)),
               "choose another speed");
  return port;
}

SerialPort::~SerialPort() {
  if (file_ >= 0) close(file_);
}

std::string SerialPort::receive(std::size_t most) {
  std::string bytes(most, 0);
  std::size_t got = 0;
  while (got < most) {
    const ssize_t count = read(file_, bytes.data() + got, most - got);
    if (count <= 0) break;
    got += count;
  }
  bytes.resize(got);
  return bytes;
}

std::size_t SerialPort::send(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const ssize_t count = write(file_, bytes.data(), bytes.size());
  return count > 0 ? count : 0;
}

}  // namespace volvox::platform
