#include "volvox/mind/message_types.h"

#include <map>
#include <mutex>

namespace volvox::mind {
namespace {

struct Known {
  std::mutex mutex;
  std::map<std::uint64_t, const TypeInfo*> types;
};

Known& known() {
  static Known all;
  return all;
}

}  // namespace

// The newest replaces the others: a plugin that was loaded again has new functions.
void remember_message_type(const TypeInfo& type) {
  const std::lock_guard lock(known().mutex);
  known().types[type.key] = &type;
}

MessageText text_of(const Payload& payload, bool with_content) {
  constexpr std::size_t longest = 4096;  // bytes; images and the like make long texts
  const std::lock_guard lock(known().mutex);
  const auto found = known().types.find(payload.type());
  if (found == known().types.end()) return {};
  if (!with_content || payload.bytes().size() > longest) return {found->second->name, ""};
  // A value is archived as its type and its content; the payload has both.
  SaveArchive saved;
  std::uint64_t key = payload.type();
  saved("type", key);
  std::vector<std::byte> bytes = saved.take();
  bytes.insert(bytes.end(), payload.bytes().begin(), payload.bytes().end());
  Value value = Value::of(*found->second);
  LoadArchive ar(bytes);
  value.archive(ar);
  return {found->second->name, ar.ok() && ar.remaining() == 0 ? value.describe() : ""};
}

}  // namespace volvox::mind
