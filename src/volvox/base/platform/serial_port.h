// A serial port in raw mode. Its functions do not wait.
// Owns its file. For one thread. What arrives when is a matter of chance, so it enters a run as inputs, which are
// recorded.
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

  std::string receive(std::size_t most);     // the bytes that have arrived; also empty if the other end is closed
  std::size_t send(std::string_view bytes);  // returns the number of bytes that were accepted

 private:
  SerialPort() = default;
  int file_ = -1;
};

}  // namespace volvox::platform
