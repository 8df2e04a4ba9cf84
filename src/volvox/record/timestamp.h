// google.protobuf.Timestamp in a recording, with numbers of fixed width, so that a template can be filled in place: the
// format allows a varint that is longer than necessary. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "volvox/base/time.h"
#include "volvox/record/protobuf.h"

namespace volvox::record {

inline void put_padded_varint(char* at, std::uint64_t value) {
  for (int i = 0; i < 4; ++i, value >>= 7) at[i] = protobuf::low_byte((value & 0x7f) | 0x80);
  at[4] = protobuf::low_byte(value & 0x7f);
}

inline constexpr std::size_t timestamp_size = 12;  // two tags, two varints of five bytes
inline void put_timestamp(char* at, Time time) {
  at[0] = 1 << 3;
  put_padded_varint(at + 1, time.ns / 1'000'000'000);
  at[6] = 2 << 3;
  put_padded_varint(at + 7, time.ns % 1'000'000'000);
}

inline protobuf::Writer timestamp(Time time) {
  protobuf::Writer writer;
  writer.bytes().assign(timestamp_size, '\0');
  put_timestamp(writer.bytes().data(), time);
  return writer;
}

}  // namespace volvox::record
