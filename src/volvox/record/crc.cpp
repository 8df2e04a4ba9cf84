#include "volvox/record/crc.h"

#include <array>
#include <cstring>

#include "volvox/base/letters.h"

namespace volvox::record {
namespace {

// tables[k][b]: what byte b adds to the sum when k zero bytes follow it. With eight tables eight bytes are taken at
// once, because every byte of a recording is summed twice, and one table would take as long as the compression.
constexpr std::size_t at_once = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, at_once>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? 0xEDB88320u ^ (sum >> 1) : sum >> 1;
    tables[0][i] = sum;
  }
  for (std::size_t k = 1; k < at_once; ++k)
    for (std::size_t i = 0; i < 256; ++i) tables[k][i] = tables[0][tables[k - 1][i] & 0xff] ^ (tables[k - 1][i] >> 8);
  return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc_of(std::string_view bytes, std::uint32_t before) {
  std::uint32_t sum = ~before;
  for (; bytes.size() >= at_once; bytes.remove_prefix(at_once)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), at_once);
    word ^= sum;
    sum = 0;
    for (std::size_t k = 0; k < at_once; ++k) sum ^= tables[at_once - 1 - k][(word >> (8 * k)) & 0xff];
  }
  for (const char c : bytes) sum = tables[0][(sum ^ byte_value(c)) & 0xff] ^ (sum >> 8);
  return ~sum;
}

}  // namespace volvox::record
