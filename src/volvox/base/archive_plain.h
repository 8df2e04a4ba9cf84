// Archives many objects of the same type with fields of fixed size. The bytes are the same as for one field after
// another, but are passed in blocks of kilobytes: a state has a hundred thousand fields, and one call for each would
// take longer than hashing them.
// Fields as in archive.h, and as deterministic. Nothing is kept between calls: each thread may archive things of its
// own.
#pragma once

#include "volvox/base/archive.h"

namespace volvox {
namespace detail {

// Accepts fields like an archive that saves or hashes. If `put` is false, it only counts bytes.
template <bool put>
class PlainFields {
 public:
  PlainFields(std::byte* to, bool hashing) : to_(to), hashing_(hashing) {}
  bool hashing() const { return hashing_; }
  bool loading() const { return false; }
  std::size_t size() const { return size_; }

  template <class T>
  void operator()(std::string_view, T& value) {
    if constexpr (is_plain<T>) {
      take(&value, sizeof value);
    } else if constexpr (std::is_same_v<T, bool>) {
      const std::uint8_t bit = value;
      take(&bit, 1);
    } else if constexpr (is_id<T>::value) {
      take(&value.index, sizeof value.index);
      take(&value.generation, sizeof value.generation);
    } else if constexpr (is_array<T>::value) {
      for (auto& element : value) (*this)("", element);
    } else if constexpr (requires { value.archive(*this); }) {
      value.archive(*this);
    } else {
      volvox_visit_fields(*this, value);
    }
  }

 private:
  void take(const void* from, std::size_t size) {
    if constexpr (put) std::memcpy(to_ + size_, from, size);
    size_ += size;
  }
  std::byte* to_;
  std::size_t size_ = 0;
  bool hashing_;
};

}  // namespace detail

// Calls fields(archive, thing) for every element of a range. All elements must have the same fields of fixed size.
template <class Things, class Fields>
void archive_plain(Archive& ar, Things&& things, const Fields& fields) {
  if (ar.loading()) {
    for (auto&& thing : things) fields(ar, thing);
    return;
  }
  constexpr std::size_t room = 4096;
  std::byte buffer[room];
  std::size_t used = 0, size = 0;
  for (auto&& thing : things) {
    if (size == 0) {
      detail::PlainFields<false> count(nullptr, ar.hashing());
      fields(count, thing);
      size = count.size();
      VOLVOX_CHECK(size <= room, "the elements are too large for the buffer");
    }
    if (room - used < size) {
      ar.raw(buffer, used);
      used = 0;
    }
    detail::PlainFields<true> gather(buffer + used, ar.hashing());
    fields(gather, thing);
    used += gather.size();
  }
  if (used > 0) ar.raw(buffer, used);
}

}  // namespace volvox
