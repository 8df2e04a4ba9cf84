#include "volvox/base/type.h"

#include <fmt/format.h>

#include <cmath>

#include "volvox/base/letters.h"
#include "volvox/base/text.h"

namespace volvox {
namespace detail {

void describe_number(std::string& out, double value) {
  // JSON has no infinities and no NaN; they are usually written as null.
  if (std::isfinite(value)) fmt::format_to(std::back_inserter(out), "{}", value);
  else out += "null";
}

void describe_text(std::string& out, std::string_view value) {
  out += '"';
  for (const char c : valid_utf8(value)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte_value(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte_value(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace detail

void Value::archive(Archive& ar) {
  std::uint64_t key = empty() ? 0 : type_->key;
  const std::uint64_t own = key;
  ar("type", key);
  if (key != own) {
    ar.fail(fmt::format("the snapshot contains another type than '{}' here", empty() ? "nothing" : type_->name));
    return;
  }
  if (!empty()) type_->archive(ar, data());
}

Payload Payload::of(const Value& value) {
  Payload payload;
  if (value.empty()) return payload;
  payload.type_ = value.type()->key;
  SaveArchive ar;
  value.type()->archive(ar, const_cast<void*>(value.data()));
  payload.bytes_ = ar.take();
  return payload;
}

}  // namespace volvox
