// The sum that MCAP uses: CRC-32 of zlib and PNG.
// A pure function: any thread may call it.
#pragma once

#include <cstdint>
#include <string_view>

namespace volvox::record {

// The sum of the bytes; `before` is the sum of those before them, if there are any.
std::uint32_t crc_of(std::string_view bytes, std::uint32_t before = 0);

}  // namespace volvox::record
