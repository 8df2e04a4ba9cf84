// JSON as text. The only way to write it here: nlohmann's own dump() throws at a byte that is not UTF-8, and names,
// file names and datagrams may hold any byte.
// The text is a copy; the same JSON gives the same bytes. Any thread, for JSON that nobody changes meanwhile.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace volvox {

// `indent`: spaces for each level; -1: on one line. Bytes that are not UTF-8 become U+FFFD.
template <class Json>
std::string to_json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace volvox
