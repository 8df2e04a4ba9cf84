#include "fuzz.h"
#include "volvox/base/lines.h"
#include "volvox/device/lines.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  volvox::Lines lines(fuzz::text_of(data, size));
  for (std::string_view line; lines.next(line);) {
    const auto input = volvox::device::parse_line(std::string(line));
    if (!input) continue;
    // What was accepted can be recorded and read again.
    fuzz::require(volvox::sim::input_of(volvox::sim::record_of(*input)).ok());
  }
  return 0;
}
