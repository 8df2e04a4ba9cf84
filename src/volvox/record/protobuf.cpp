#include "volvox/record/protobuf.h"

#include "volvox/base/index.h"

namespace volvox::record::protobuf {

std::string descriptor_set(const std::vector<MessageType>& types) {
  Writer set;
  for (const MessageType& type : types) {  // one file for each type, after the types that it uses
    Writer message;
    message.text(1, type.name);
    Writer file;
    file.text(1, type.package + "/" + type.name + ".proto");
    file.text(2, type.package);
    for (const Field& field : type.fields) {
      Writer description;
      description.text(1, field.name);
      description.integer(3, field.number);
      description.integer(4, field.repeated ? 3 : 1);
      description.integer(5, number_of(field.type));
      if (!field.message_type.empty()) description.text(6, field.message_type);
      message.message(2, description);
    }
    if (!type.choice.empty()) {
      Writer choice;
      choice.text(1, type.choice);
      for (std::size_t i = 0; i < type.values.size(); ++i) {
        Writer value;
        value.text(1, type.values[i]);
        value.integer(2, i);
        choice.message(2, value);
      }
      message.message(4, choice);
    }
    std::vector<std::string> needed;
    for (const Field& field : type.fields)
      for (const MessageType& other : types)
        if (field.message_type == "." + other.full_name()) {
          std::string name = other.package + "/" + other.name + ".proto";
          bool known = false;
          for (const std::string& n : needed) known = known || n == name;
          if (!known) needed.push_back(std::move(name));
        }
    for (const std::string& name : needed) file.text(3, name);
    file.message(4, message);
    file.text(12, "proto3");
    set.message(1, file);
  }
  return set.bytes();
}

bool Reader::take_varint(std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const std::uint8_t byte = rest_.front();
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Reader::next() {
  if (rest_.empty() || !ok_) return false;
  std::uint64_t tag = 0;
  ok_ = take_varint(tag);
  field_ = static_cast<int>(tag >> 3);
  value_ = 0;
  text_ = {};
  const auto take = [&](std::uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return std::string_view{};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  };
  std::uint64_t size = 0;
  switch (tag & 7) {
    case 0: ok_ = ok_ && take_varint(value_); break;
    case 1:
    case 5: {
      const std::string_view raw = take((tag & 7) == 1 ? 8 : 4);
      if (ok_) std::memcpy(&value_, raw.data(), raw.size());
      break;
    }
    case 2:
      ok_ = ok_ && take_varint(size);
      text_ = take(size);
      break;
    default: ok_ = false;
  }
  return ok_;
}

}  // namespace volvox::record::protobuf
