// The part of the protocol buffers wire format that recordings need: writes and reads fields, and makes schemas (a
// FileDescriptorSet) from a table, so that any MCAP reader can decode the messages. No dependency on protobuf.
// A Writer owns its bytes, a Reader only looks at bytes of others. Nothing is shared between threads; the same fields
// give the same bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volvox::record::protobuf {

// The numbers are those of descriptor.proto.
enum class Type {
  real = 1,
  single = 2,
  int64 = 3,
  int32 = 5,
  fixed64 = 6,
  fixed32 = 7,
  boolean = 8,
  text = 9,
  message = 11,
  bytes = 12,
  uint32 = 13,
  choice = 14
};

struct Field {
  std::string name;
  int number = 0;
  Type type = Type::real;
  bool repeated = false;
  std::string message_type = {};  // ".foxglove.Vector3"; or of a choice
};
struct MessageType {
  std::string package, name;
  std::vector<Field> fields;
  // A choice that it declares, and its values from 0 on; empty: none.
  std::string choice = {};
  std::vector<std::string> values = {};
  std::string full_name() const { return package + "." + name; }
};

// A FileDescriptorSet with all of the types.
std::string descriptor_set(const std::vector<MessageType>& types);

inline char low_byte(std::uint64_t value) { return static_cast<char>(value); }

class Writer {
 public:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += low_byte(value | 0x80);
    bytes_ += low_byte(value);
  }
  void integer(int field, std::uint64_t value) { tag(field, 0), varint(value); }
  void real(int field, double value) { tag(field, 1), fixed(value); }
  void fixed64(int field, std::uint64_t value) { tag(field, 1), fixed(value); }
  void fixed32(int field, std::uint32_t value) { tag(field, 5), fixed(value); }
  void text(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(int field, const Writer& inner) { text(field, inner.bytes_); }
  // A repeated field of fixed size, packed.
  template <class T>
  void packed(int field, std::span<const T> values) {
    text(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  template <class T>
  void packed(int field, const std::vector<T>& values) {
    packed(field, std::span<const T>(values));
  }
  std::string& bytes() { return bytes_; }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void tag(int field, int wire) { varint(field << 3 | wire); }
  template <class T>
  void fixed(T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
  }
  std::string bytes_;
};

// Iterates over the fields of a message: while (reader.next()) switch (reader.field()) ... Views into the bytes, which
// must outlive it.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  explicit Reader(std::span<const char> bytes) : rest_(bytes.data(), bytes.size()) {}
  bool next();  // false at the end, or if the bytes are malformed (then ok() is false)
  bool ok() const { return ok_; }
  int field() const { return field_; }
  std::uint64_t integer() const { return value_; }
  double real() const {
    double value;
    std::memcpy(&value, &value_, sizeof value);
    return value;
  }
  std::string_view text() const { return text_; }
  template <class T>
  std::vector<T> packed() const {
    std::vector<T> values(text_.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), text_.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  bool take_varint(std::uint64_t& value);
  std::string_view rest_, text_;
  int field_ = 0;
  std::uint64_t value_ = 0;
  bool ok_ = true;
};

}  // namespace volvox::record::protobuf
