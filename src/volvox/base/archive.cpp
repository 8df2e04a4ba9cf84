#include "volvox/base/archive.h"

namespace volvox {

void HashArchive::flush() {
  section_.add(buffer_, sizeof buffer_ - room_);
  empty_buffer();
}

void HashArchive::pass(void* data, std::size_t size) {
  if (size == 0) return;
  flush();
  if (size < sizeof buffer_) raw(data, size);
  else section_.add(data, size);
}

void HashArchive::close_section() {
  flush();
  const std::uint64_t hash = section_.value();
  section_ = {};
  total_.add(hash);
  if (open_ && keep_ != Keep::total) sections_.push_back(static_cast<std::uint32_t>(hash));
}

void HashArchive::section(std::string_view owner, std::string_view part) {
  close_section();
  open_ = true;
  if (keep_ == Keep::names) names_.push_back({std::string(owner), std::string(part)});
}

std::uint64_t HashArchive::value() {
  close_section();
  open_ = false;
  return total_.value();
}

}  // namespace volvox
