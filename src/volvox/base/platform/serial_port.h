// A serial line: bytes both ways, as they are, never waited for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "volvox/base/result.h"

namespace volvox::platform {

class SerialPort {
 public:
  // /dev/ttyUSB0, or one end of a pseudo terminal; 8 bits, no parity, one stop bit, no flow control.
  static Result<std::unique_ptr<SerialPort>> open(const std::filesystem::path& device, int baud);
  ~SerialPort();
  SerialPort(const SerialPort&) = delete;
  SerialPort& operator=(const SerialPort&) = delete;

  std::string receive(std::size_t most);     // what has come; empty also where the other end is gone
  std::size_t send(std::string_view bytes);  // how many of them the line has taken

 private:
  SerialPort() = default;
  int file_ = -1;
};

}  // namespace volvox::platform
