// Saves, loads or hashes an object from one list of its fields.
// A type declares its fields by VOLVOX_TYPE (type.h) or by a member `template <class Archive> void archive(Archive&)`.
// Bytes are in the byte order of the machine. One thread may use an Archive at a time.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "volvox/base/hash.h"
#include "volvox/base/id.h"
#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/base/time.h"

namespace volvox {

class Archive {
 public:
  virtual ~Archive() = default;

  // Reads `size` bytes from `data` when saving or hashing, writes them to `data` when loading.
  // A state has a hundred thousand small fields and is hashed in every recorded tick, so an archive with a
  // buffer accepts them without a virtual call.
  void raw(void* data, std::size_t size) {
    if (size - 1 < room_) {  // false for size 0
      std::memcpy(cursor_, data, size);
      cursor_ += size;
      room_ -= size;
    } else {
      pass(data, size);
    }
  }
  bool loading() const { return loading_; }
  virtual bool hashing() const { return false; }
  // While loading: the number of bytes not yet read, an upper bound for every size in the snapshot.
  virtual std::size_t remaining() const { return 0; }
  // Begins a section: the following fields are this part of the state of that owner ("s3", "percepts").
  // A HashArchive has one hash per section, so that a comparison of two runs shows where they differ.
  virtual void section(std::string_view /*owner*/, std::string_view /*part*/) {}

  // The first error, such as a truncated snapshot or one of another type; empty if there was none.
  const std::string& failure() const { return failure_; }
  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }
  bool ok() const { return failure_.empty(); }

  template <class T>
  void operator()(std::string_view field, T& value);
  // For fields of const objects, which can be hashed or saved, but not loaded.
  template <class T>
  void operator()(std::string_view field, const T& value) {
    VOLVOX_CHECK(!loading(), "loading into a constant");
    (*this)(field, const_cast<T&>(value));
  }

 protected:
  virtual void pass(void* data, std::size_t size) = 0;  // for bytes that do not fit into the buffer

  bool loading_ = false;
  std::byte* cursor_ = nullptr;
  std::size_t room_ = 0;

 private:
  std::string failure_;
};

class SaveArchive final : public Archive {
 public:
  std::vector<std::byte> take() { return std::move(bytes_); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void pass(void* data, std::size_t size) override {
    if (size == 0) return;
    const std::size_t end = bytes_.size();
    bytes_.resize(end + size);
    std::memcpy(bytes_.data() + end, data, size);
  }

  std::vector<std::byte> bytes_;
};

class LoadArchive final : public Archive {
 public:
  explicit LoadArchive(std::span<const std::byte> bytes) : bytes_(bytes) { loading_ = true; }
  std::size_t remaining() const override { return bytes_.size(); }

 private:
  void pass(void* data, std::size_t size) override {
    if (size == 0) return;
    if (size > bytes_.size()) {
      fail("the snapshot ends too early");
      std::memset(data, 0, size);
      bytes_ = {};
      return;
    }
    std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

// The hash of a state is the hash of the hashes of its sections.
class HashArchive final : public Archive {
 public:
  enum class Names { forget, keep };  // of the sections
  explicit HashArchive(Names names = Names::forget) : keep_names_(names == Names::keep) { empty_buffer(); }
  HashArchive(const HashArchive&) = delete;
  HashArchive& operator=(const HashArchive&) = delete;

  bool hashing() const override { return true; }
  void section(std::string_view owner, std::string_view part) override;
  // Appends the sections of another archive, so that parts of a state can be hashed in parallel.
  void append(HashArchive& other);
  std::uint64_t value();  // closes the last section

  std::vector<std::uint32_t> sections();  // the low 32 bits of the hash of each section
  struct Name {
    std::string owner, part;
  };
  const std::vector<Name>& names() const { return names_; }
  Names names_kept() const { return keep_names_ ? Names::keep : Names::forget; }

 private:
  void pass(void* data, std::size_t size) override;
  void empty_buffer() {
    cursor_ = buffer_;
    room_ = sizeof buffer_;
  }
  void flush();
  void close_section();

  bool keep_names_;
  bool open_ = false;  // a section has begun, or bytes arrived without one
  Hasher section_;
  std::vector<std::uint64_t> hashes_;  // of the sections
  std::vector<Name> names_;
  std::byte buffer_[2048];
};

namespace detail {

// Types that are saved as their bytes: without padding and pointers.
template <class T>
inline constexpr bool is_plain = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_enum_v<T> ||
                                 std::is_same_v<T, Vec3> || std::is_same_v<T, Quat> || std::is_same_v<T, Pose> ||
                                 std::is_same_v<T, Twist> || std::is_same_v<T, Wrench> || std::is_same_v<T, Time>;
template <class Tag>
inline constexpr bool is_plain<Index<Tag>> = true;

template <class T>
struct is_id : std::false_type {};
template <class Tag>
struct is_id<Id<Tag>> : std::true_type {};
template <class T>
struct is_vector : std::false_type {};
template <class T, class A>
struct is_vector<std::vector<T, A>> : std::true_type {};
template <class T>
struct is_array : std::false_type {};
template <class T, std::size_t N>
struct is_array<std::array<T, N>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class K, class V>
struct is_map<std::map<K, V>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_pair : std::false_type {};
template <class A, class B>
struct is_pair<std::pair<A, B>> : std::true_type {};

template <class T>
concept HasArchive = requires(T& t, Archive& ar) {
  t.archive(ar);
};
// Declared by VOLVOX_TYPE and found by argument-dependent lookup.
template <class T>
concept HasFields = requires(T& t, Archive& ar) {
  volvox_visit_fields(ar, t);
};

// Saves or loads a size; a size larger than the rest of the snapshot is an error.
inline std::size_t archive_size(Archive& ar, std::size_t size) {
  std::uint64_t n = size;
  ar.raw(&n, sizeof n);
  if (ar.loading() && n > ar.remaining()) {
    ar.fail("the snapshot announces more elements than it contains");
    n = 0;
  }
  return n;
}

template <class T>
inline constexpr bool always_false = false;

template <class T>
void archive_value(Archive& ar, T& value) {
  if constexpr (is_plain<T>) {
    ar.raw(&value, sizeof value);
  } else if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t bit = value;  // a damaged snapshot may contain other values than 0 and 1
    ar.raw(&bit, 1);
    if (ar.loading()) value = bit != 0;
  } else if constexpr (is_id<T>::value) {
    ar.raw(&value.index, sizeof value.index);
    ar.raw(&value.generation, sizeof value.generation);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value.resize(archive_size(ar, value.size()));
    ar.raw(value.data(), value.size());
  } else if constexpr (is_vector<T>::value) {
    using Element = typename T::value_type;
    if constexpr (std::is_same_v<Element, bool>) {
      const std::size_t n = archive_size(ar, value.size());
      if (ar.loading()) value.resize(n);
      for (std::size_t i = 0; i < n; ++i) {
        std::uint8_t bit = value[i];
        ar.raw(&bit, 1);
        value[i] = bit != 0;
      }
    } else {
      const std::size_t n = archive_size(ar, value.size());
      if (ar.loading()) value.resize(n);
      if constexpr (is_plain<Element> || std::is_same_v<Element, std::byte>) {
        if (n > 0) {
          if (ar.loading() && n > ar.remaining() / sizeof(Element)) {
            ar.fail("the snapshot ends too early");
            value.clear();
          } else {
            ar.raw(value.data(), n * sizeof(Element));
          }
        }
      } else {
        for (Element& element : value) archive_value(ar, element);
      }
    }
  } else if constexpr (is_array<T>::value) {
    for (auto& element : value) archive_value(ar, element);
  } else if constexpr (is_pair<T>::value) {
    archive_value(ar, value.first);
    archive_value(ar, value.second);
  } else if constexpr (is_optional<T>::value) {
    std::uint8_t present = value.has_value();
    ar.raw(&present, 1);
    if (ar.loading()) {
      if (present != 0) value.emplace();
      else value.reset();
    }
    if (value) archive_value(ar, *value);
  } else if constexpr (is_map<T>::value) {
    const std::size_t n = archive_size(ar, value.size());
    if (ar.loading()) {
      value.clear();
      for (std::size_t i = 0; i < n && ar.ok(); ++i) {
        std::pair<typename T::key_type, typename T::mapped_type> entry;
        archive_value(ar, entry);
        value.insert(std::move(entry));
      }
    } else {
      for (auto& [key, mapped] : value) {
        archive_value(ar, const_cast<typename T::key_type&>(key));
        archive_value(ar, mapped);
      }
    }
  } else if constexpr (HasArchive<T>) {
    value.archive(ar);
  } else if constexpr (HasFields<T>) {
    volvox_visit_fields(ar, value);
  } else {
    static_assert(always_false<T>, "declare this type's fields with VOLVOX_TYPE(Type, field, ...)");
  }
}

}  // namespace detail

template <class T>
void Archive::operator()(std::string_view, T& value) {
  detail::archive_value(*this, value);
}

}  // namespace volvox
