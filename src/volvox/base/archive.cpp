#include "volvox/base/archive.h"

#include <algorithm>

#include "volvox/base/index.h"

namespace volvox {

namespace {

// The exclusive or of both halves of a 128-bit product: every bit of both factors affects all result bits.
std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product ^ product >> 64);
}

// One word for a block of bytes. Four independent lanes, because one lane would wait for the latency of its
// multiplications. An incomplete stripe is padded with zeros; the caller adds the length.
std::uint64_t digest(const std::byte* bytes, std::size_t size) {
  constexpr std::uint64_t keys[] = {0x9E3779B97F4A7C15ull, 0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull,
                                    0xD6E8FEB86659FD93ull};
  constexpr std::size_t lanes = 4, stripe = 16 * lanes;
  std::uint64_t state[lanes] = {keys[1], keys[2], keys[3], keys[0]};
  const auto take = [&](const std::byte* from) {
    std::uint64_t words[2 * lanes];
    std::memcpy(words, from, stripe);
    for (std::size_t i = 0; i < lanes; ++i)
      state[i] = folded_product(words[2 * i] ^ state[i], words[2 * i + 1] ^ keys[i]);
  };
  for (; size >= stripe; bytes += stripe, size -= stripe) take(bytes);
  if (size > 0) {
    std::byte rest[stripe] = {};
    std::memcpy(rest, bytes, size);
    take(rest);
  }
  return folded_product(state[0] ^ keys[2], state[1] ^ keys[3]) ^
         folded_product(state[2] ^ keys[0], state[3] ^ keys[1]);
}

}  // namespace

// A section is hashed in blocks of the size of the buffer, independent of the sizes in which its bytes arrive.
void HashArchive::flush() {
  const std::size_t size = sizeof buffer_ - room_;
  if (size == 0) return;
  open_ = true;
  section_.add(digest(buffer_, size) + size);
  empty_buffer();
}

void HashArchive::pass(void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  while (size > 0) {
    if (room_ == sizeof buffer_ && size >= sizeof buffer_) {
      open_ = true;
      section_.add(digest(bytes, sizeof buffer_) + sizeof buffer_);
      bytes += sizeof buffer_, size -= sizeof buffer_;
      continue;
    }
    const std::size_t part = std::min(size, room_);
    std::memcpy(cursor_, bytes, part);
    cursor_ += part, room_ -= part;
    bytes += part, size -= part;
    if (room_ == 0) flush();
  }
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
  for (const std::uint64_t hash : hashes_) parts.push_back(low_word(hash));
  return parts;
}

}  // namespace volvox
