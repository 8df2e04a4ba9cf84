// What writer and reader of MCAP share: the kinds of records, and their fields as bytes.
// Fields own their bytes; a FieldReader only looks at those that it was given, and so do the texts that it returns.
// Internal to record/.
// For one thread. The same fields give the same bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "volvox/base/index.h"
#include "volvox/record/mcap.h"

namespace volvox::record::mcap {

inline constexpr std::string_view magic{"\x89MCAP0\r\n", 8};
inline constexpr std::size_t record_head = 9;  // opcode and length

enum Opcode : std::uint8_t {
  header = 1,
  footer = 2,
  schema = 3,
  channel = 4,
  message = 5,
  chunk = 6,
  message_index = 7,
  chunk_index = 8,
  attachment = 9,
  attachment_index = 10,
  statistics = 11,
  metadata = 12,
  metadata_index = 13,
  summary_offset = 14,
  data_end = 15,
  // Our own (the format leaves 0x80 and above to applications, and other readers skip them): the sum of all bytes of
  // the file before this record. The sum at the end of a file is missing after a kill; these are there up to the last
  // chunk.
  sum_so_far = 0x80
};
inline constexpr std::uint64_t sum_record_size = 8 + 4;  // where the record is in the file, and the sum

// Little-endian fields, one after another.
class Fields {
 public:
  template <class T>
  Fields& number(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    bytes_.append(bytes, sizeof(T));
    return *this;
  }
  Fields& size(std::uint64_t bytes) { return number(bytes); }
  Fields& text(std::string_view value) {
    number(narrow<std::uint32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  Fields& map(const Metadata& values) {
    Fields entries;
    for (const auto& [key, value] : values) entries.text(key).text(value);
    return text(entries.bytes_);
  }
  Fields& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads fields. After one that does not fit, all further fields are empty and ok() is false.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof(T));
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string_view text() { return take(number<std::uint32_t>()); }
  std::string_view long_text() { return take(number<std::uint64_t>()); }
  Metadata map() {
    Metadata values;
    FieldReader entries(text());
    while (entries.ok() && !entries.rest_.empty()) {
      std::string key(entries.text());
      values[std::move(key)] = std::string(entries.text());
    }
    ok_ = ok_ && entries.ok();
    return values;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace volvox::record::mcap
