#include "volvox/model/sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/hash.h"
#include "volvox/base/text.h"
#include "volvox/model/xml.h"

namespace volvox::model {
namespace fs = std::filesystem;

void note_source(Sources& sources, const fs::path& file, std::string_view bytes) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file, error), error);
  Hasher hasher;
  hasher.add(bytes.size());
  hasher.add(bytes.data(), bytes.size());
  sources[valid_utf8((error ? file : whole).string())] = hash_text(hasher.value());
}

void note_source(Sources& sources, const fs::path& file) {
  if (const auto bytes = read_file(file); bytes.ok()) note_source(sources, file, *bytes);
}

namespace {

// Removes the pairs of files that are alike in this respect, and tells of each.
template <class Alike, class Tell>
void match(Sources& then, Sources& now, const Alike& alike, const Tell& tell) {
  for (auto old = then.begin(); old != then.end();) {
    const auto found = std::find_if(now.begin(), now.end(), [&](const auto& file) { return alike(*old, file); });
    if (found == now.end()) {
      ++old;
      continue;
    }
    tell(*old, *found);
    now.erase(found);
    old = then.erase(old);
  }
}

}  // namespace

std::vector<std::string> changes(const Sources& before, const Sources& after) {
  Sources then = before, now = after;
  std::vector<std::string> found;
  using File = Sources::value_type;
  const auto name = [](const File& file) { return fs::path(file.first).filename(); };
  const auto folder_and_name = [&](const File& file) {
    return fs::path(file.first).parent_path().filename() / name(file);
  };
  const auto tell_both = [&](const File& a, const File& b) {
    if (a.second != b.second) found.push_back(fmt::format("{} has changed: now it is {}", a.first, b.first));
  };
  const auto silent = [](const File&, const File&) {};
  match(
      then, now, [](const File& a, const File& b) { return a == b; }, silent);
  match(
      then, now, [](const File& a, const File& b) { return a.first == b.first; },
      [&](const File& a, const File&) { found.push_back(a.first + " has changed"); });
  // The rest has moved. The content alone does not tell which is which: two files may have been swapped.
  for (const bool same : {true, false})
    match(
        then, now,
        [&](const File& a, const File& b) {
          return folder_and_name(a) == folder_and_name(b) && (!same || a.second == b.second);
        },
        tell_both);
  for (const bool same : {true, false})
    match(
        then, now, [&](const File& a, const File& b) { return name(a) == name(b) && (!same || a.second == b.second); },
        tell_both);
  for (const auto& [file, hash] : then) found.push_back(file + " is not read any more");
  for (const auto& [file, hash] : now) found.push_back(file + " was not read then");
  return found;
}

std::vector<std::string> changes_since(const Sources& then) {
  Sources there, now;
  for (const auto& file : then) {
    const std::size_t before = now.size();
    note_source(now, file.first);
    if (now.size() > before) there.insert(file);
  }
  return changes(there, now);
}

}  // namespace volvox::model
