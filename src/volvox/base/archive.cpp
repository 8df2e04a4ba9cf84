#include "volvox/base/archive.h"

namespace volvox {

void HashArchive::flush() {
  const std::size_t size = sizeof buffer_ - room_;
  if (size == 0) return;
  open_ = true;
  section_.add(buffer_, size);
  empty_buffer();
}

void HashArchive::pass(void* data, std::size_t size) {
  if (size == 0) return;
  flush();
  if (size < sizeof buffer_) return raw(data, size);
  open_ = true;
  section_.add(data, size);
}

void HashArchive::close_section() {
  flush();
  if (!open_) return;
  open_ = false;
  hashes_.push_back(section_.value());
  section_ = {};
}

void HashArchive::section(std::string_view owner, std::string_view part) {
  close_section();
  open_ = true;
  if (keep_names_) names_.push_back({std::string(owner), std::string(part)});
}

void HashArchive::append(HashArchive& other) {
  close_section();
  other.close_section();
  hashes_.insert(hashes_.end(), other.hashes_.begin(), other.hashes_.end());
  names_.insert(names_.end(), other.names_.begin(), other.names_.end());
}

std::uint64_t HashArchive::value() {
  close_section();
  Hasher total;
  for (const std::uint64_t hash : hashes_) total.add(hash);
  return total.value();
}

std::vector<std::uint32_t> HashArchive::sections() {
  close_section();
  std::vector<std::uint32_t> parts;
  parts.reserve(hashes_.size());
  for (const std::uint64_t hash : hashes_) parts.push_back(static_cast<std::uint32_t>(hash));
  return parts;
}

}  // namespace volvox
