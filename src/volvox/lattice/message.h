// Typed messages as bytes. A type declared by VOLVOX_TYPE whose fields have fixed sizes is packed without gaps; one
// with texts or lists may grow up to T::largest bytes (`static constexpr std::size_t largest`; without it, 1024).
// Pure functions of values and bytes, in the byte order of the machine: any thread.
#pragma once

#include <cstring>
#include <span>

#include "volvox/base/archive.h"
#include "volvox/lattice/post.h"

namespace volvox::lattice {

template <class T>
concept FixedMessage = std::is_trivially_copyable_v<T>;

template <class T>
constexpr std::size_t most_bytes_of() {
  std::size_t most = 1024;
  if constexpr (FixedMessage<T>) most = sizeof(T);
  else if constexpr (requires { T::largest; }) {
    static_assert(T::largest <= largest_message);
    most = T::largest;
  }
  return most;
}

namespace detail {

// Moves every field of a value to bytes, or from them.
template <bool out>
class FieldBytes {
 public:
  explicit FieldBytes(std::span<std::byte> bytes) requires(out) : at_(bytes.data()), left_(bytes.size()) {}
  explicit FieldBytes(std::span<const std::byte> bytes) requires(!out) : at_(bytes.data()), left_(bytes.size()) {}

  std::size_t left() const { return left_; }
  bool ok() const { return ok_; }

  template <class T>
  void operator()(std::string_view, T& value) {
    if constexpr (volvox::detail::is_plain<T>) {
      pass(&value, sizeof value);
    } else if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t bit = value;
      pass(&bit, 1);
      if constexpr (!out) value = bit != 0;
    } else if constexpr (volvox::detail::is_array<T>::value) {
      for (auto& element : value) (*this)("", element);
    } else {
      static_assert(
          requires { volvox_visit_fields(*this, value); },
          "the fields of a message are numbers, arrays and types declared by VOLVOX_TYPE; or give it a "
          "std::vector or std::string, and it is packed as an archive");
      volvox_visit_fields(*this, value);
    }
  }

 private:
  using At = std::conditional_t<out, std::byte*, const std::byte*>;
  void pass(void* field, std::size_t size) {
    if (size > left_) {
      ok_ = false;
      return;
    }
    if constexpr (out) std::memcpy(at_, field, size);
    else std::memcpy(field, at_, size);
    at_ += size;
    left_ -= size;
  }
  At at_;
  std::size_t left_;
  bool ok_ = true;
};

}  // namespace detail

// use(content) with the bytes of a message.
template <class T, class Use>
void with_bytes(const T& message, const Use& use) {
  if constexpr (FixedMessage<T>) {
    static_assert(sizeof(T) <= largest_message);
    std::byte buffer[sizeof(T)];
    detail::FieldBytes<true> fields(std::span<std::byte>{buffer});
    volvox_visit_fields(fields, const_cast<T&>(message));
    use(std::span<const std::byte>(buffer, sizeof buffer - fields.left()));
  } else {
    SaveArchive ar;
    ar("", message);
    use(std::span<const std::byte>(ar.bytes()));
  }
}

// False: these bytes are no such message.
template <class T>
bool read_message(std::span<const std::byte> bytes, T& message) {
  if constexpr (FixedMessage<T>) {
    detail::FieldBytes<false> fields(bytes);
    volvox_visit_fields(fields, message);
    return fields.ok() && fields.left() == 0;
  } else {
    LoadArchive ar(bytes);
    ar("", message);
    return ar.ok() && ar.remaining() == 0;
  }
}

}  // namespace volvox::lattice
