// Types that are passed between parts of Volvox (percepts, actions, messages, models) are declared once:
//
//   struct Obstacle { double distance = 0; double bearing = 0; };
//   VOLVOX_TYPE(Obstacle, distance, bearing)
//
// at namespace scope, after the struct. With that they can be hashed, saved, restored, shown as JSON and
// disturbed by noise. Numbers, strings, vectors, arrays, optionals, maps, Vec3, Quat and Pose need no
// declaration.
// What is made of a declaration is constant and may be used by any thread. Fields are visited in the order in which
// they are listed, so that hashes and bytes are the same everywhere.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "volvox/base/archive.h"

// Applies macro(x) to each argument (C++20's __VA_OPT__ makes the recursion possible).
#define VOLVOX_EXPAND(...) VOLVOX_EXPAND3(VOLVOX_EXPAND3(VOLVOX_EXPAND3(VOLVOX_EXPAND3(__VA_ARGS__))))
#define VOLVOX_EXPAND3(...) VOLVOX_EXPAND2(VOLVOX_EXPAND2(VOLVOX_EXPAND2(VOLVOX_EXPAND2(__VA_ARGS__))))
#define VOLVOX_EXPAND2(...) VOLVOX_EXPAND1(VOLVOX_EXPAND1(VOLVOX_EXPAND1(VOLVOX_EXPAND1(__VA_ARGS__))))
#define VOLVOX_EXPAND1(...) __VA_ARGS__
#define VOLVOX_PARENS ()
#define VOLVOX_FOR_EACH(macro, ...) __VA_OPT__(VOLVOX_EXPAND(VOLVOX_FOR_EACH_STEP(macro, __VA_ARGS__)))
#define VOLVOX_FOR_EACH_STEP(macro, first, ...) \
  macro(first) __VA_OPT__(VOLVOX_FOR_EACH_AGAIN VOLVOX_PARENS(macro, __VA_ARGS__))
#define VOLVOX_FOR_EACH_AGAIN() VOLVOX_FOR_EACH_STEP

#define VOLVOX_VISIT_FIELD(field) volvox_visit(#field, volvox_value.field);
#define VOLVOX_TYPE(Type, ...)                                                                            \
  [[maybe_unused]] inline const char* volvox_type_name(const Type*) { return #Type; }                     \
  template <class Visitor>                                                                                \
  void volvox_visit_fields([[maybe_unused]] Visitor& volvox_visit, [[maybe_unused]] Type& volvox_value) { \
    VOLVOX_FOR_EACH(VOLVOX_VISIT_FIELD __VA_OPT__(, ) __VA_ARGS__)                                        \
  }

// In a class derived from Behavior, Noise and others with archive_state: lists the members that are part of a
// snapshot. Without arguments: the class has no state.
#define VOLVOX_VISIT_MEMBER(member) volvox_archive(#member, this->member);
#define VOLVOX_STATE(...)                                                           \
  bool lists_state() const override { return true; }                                \
  void archive_state([[maybe_unused]] ::volvox::Archive& volvox_archive) override { \
    VOLVOX_FOR_EACH(VOLVOX_VISIT_MEMBER __VA_OPT__(, ) __VA_ARGS__)                 \
  }

namespace volvox {

template <class T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  else if constexpr (std::is_integral_v<T>)
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
  else if constexpr (std::is_enum_v<T>) return "enum" + std::to_string(8 * sizeof(T));
  else if constexpr (std::is_same_v<T, float>) return "float";
  else if constexpr (std::is_same_v<T, double>) return "double";
  else if constexpr (std::is_same_v<T, std::string>) return "string";
  else if constexpr (std::is_same_v<T, Vec3>) return "Vec3";
  else if constexpr (std::is_same_v<T, Quat>) return "Quat";
  else if constexpr (std::is_same_v<T, Pose>) return "Pose";
  else if constexpr (std::is_same_v<T, Twist>) return "Twist";
  else if constexpr (std::is_same_v<T, Wrench>) return "Wrench";
  else if constexpr (std::is_same_v<T, Time>) return "Time";
  else if constexpr (detail::is_vector<T>::value) return "list<" + type_name<typename T::value_type>() + ">";
  else if constexpr (detail::is_array<T>::value)
    return "array<" + type_name<typename T::value_type>() + "," + std::to_string(std::tuple_size_v<T>) + ">";
  else if constexpr (detail::is_optional<T>::value) return "optional<" + type_name<typename T::value_type>() + ">";
  else if constexpr (detail::is_pair<T>::value)
    return "pair<" + type_name<typename T::first_type>() + "," + type_name<typename T::second_type>() + ">";
  else if constexpr (detail::is_map<T>::value)
    return "map<" + type_name<typename T::key_type>() + "," + type_name<typename T::mapped_type>() + ">";
  else return volvox_type_name(static_cast<const T*>(nullptr));
}

namespace detail {

// The fields of a type as text: types with the same name and different fields are different types.
template <class T>
std::string layout();

struct LayoutVisitor {
  std::string& out;
  template <class T>
  void operator()(std::string_view field, T&) {
    out += field;
    out += ':';
    out += layout<T>();
    out += ';';
  }
};

template <class T>
std::string layout() {
  if constexpr (HasFields<T>) {
    std::string out = type_name<T>() + "{";
    LayoutVisitor visitor{out};
    T sample{};
    volvox_visit_fields(visitor, sample);
    return out + "}";
  } else if constexpr (is_vector<T>::value) {
    return "list<" + layout<typename T::value_type>() + ">";
  } else if constexpr (is_optional<T>::value) {
    return "optional<" + layout<typename T::value_type>() + ">";
  } else if constexpr (is_array<T>::value) {
    return "array<" + layout<typename T::value_type>() + "," + std::to_string(std::tuple_size_v<T>) + ">";
  } else if constexpr (is_pair<T>::value) {
    return "pair<" + layout<typename T::first_type>() + "," + layout<typename T::second_type>() + ">";
  } else if constexpr (is_map<T>::value) {
    return "map<" + layout<typename T::key_type>() + "," + layout<typename T::mapped_type>() + ">";
  } else {
    return type_name<T>();
  }
}

void describe_number(std::string& out, double value);
void describe_text(std::string& out, std::string_view value);

// Writes a value as JSON.
struct Describer {
  std::string& out;
  bool first = true;

  template <class T>
  void operator()(std::string_view field, T& value) {
    if (!first) out += ", ";
    first = false;
    describe_text(out, field);
    out += ": ";
    write(value);
  }

  template <class T>
  void write(T& value) {
    if constexpr (std::is_same_v<T, bool>) out += value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>) out += std::to_string(value);
    else if constexpr (std::is_enum_v<T>) out += std::to_string(static_cast<long long>(value));
    else if constexpr (std::is_floating_point_v<T>) describe_number(out, value);
    else if constexpr (std::is_same_v<T, std::string>) describe_text(out, value);
    else if constexpr (std::is_same_v<T, Vec3>) list(value.x, value.y, value.z);
    else if constexpr (std::is_same_v<T, Quat>) list(value.w, value.x, value.y, value.z);
    else if constexpr (std::is_same_v<T, Pose>) object("position", value.position, "rotation", value.rotation);
    else if constexpr (std::is_same_v<T, Twist>) object("linear", value.linear, "angular", value.angular);
    else if constexpr (std::is_same_v<T, Wrench>) object("force", value.force, "torque", value.torque);
    else if constexpr (std::is_same_v<T, Time>) describe_number(out, value.seconds());
    else if constexpr (is_vector<T>::value || is_array<T>::value) {
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ", ";
        if constexpr (std::is_same_v<T, std::vector<bool>>) out += value[i] ? "true" : "false";
        else write(value[i]);
      }
      out += ']';
    } else if constexpr (is_optional<T>::value) {
      if (value) write(*value);
      else out += "null";
    } else if constexpr (is_pair<T>::value) {
      list(value.first, value.second);
    } else if constexpr (is_map<T>::value) {
      out += '[';
      bool first_entry = true;
      for (auto& [key, mapped] : value) {
        if (!first_entry) out += ", ";
        first_entry = false;
        list(const_cast<typename T::key_type&>(key), mapped);
      }
      out += ']';
    } else {
      out += '{';
      Describer fields{out};
      volvox_visit_fields(fields, value);
      out += '}';
    }
  }

  template <class First, class... Rest>
  void list(First& head, Rest&... rest) {
    out += '[';
    write(head);
    ((out += ", ", write(rest)), ...);
    out += ']';
  }
  template <class A, class B>
  void object(std::string_view name_a, A& a, std::string_view name_b, B& b) {
    out += '{';
    Describer fields{out};
    fields(name_a, a);
    fields(name_b, b);
    out += '}';
  }
};

// Calls visit(double&) for every floating-point number in a value, in the order of its fields.
template <class Visit>
struct NumberVisitor {
  Visit& visit;

  template <class T>
  void operator()(std::string_view, T& value) {
    each(value);
  }

  template <class T>
  void each(T& value) {
    if constexpr (std::is_same_v<T, double>) visit(value);
    else if constexpr (std::is_same_v<T, float>) {
      double wide = value;
      visit(wide);
      value = static_cast<float>(wide);
    } else if constexpr (std::is_same_v<T, Vec3>) {
      visit(value.x);
      visit(value.y);
      visit(value.z);
    } else if constexpr (std::is_same_v<T, Pose>)
      each(value.position);  // a quaternion with noise would not be a rotation
    else if constexpr (std::is_same_v<T, Twist>) {
      each(value.linear);
      each(value.angular);
    } else if constexpr (std::is_same_v<T, Wrench>) {
      each(value.force);
      each(value.torque);
    } else if constexpr (is_vector<T>::value || is_array<T>::value) {
      if constexpr (!std::is_same_v<T, std::vector<bool>>)
        for (auto& element : value) each(element);
    } else if constexpr (is_optional<T>::value) {
      if (value) each(*value);
    } else if constexpr (is_pair<T>::value) {
      each(value.first);
      each(value.second);
    } else if constexpr (is_map<T>::value) {
      for (auto& [key, mapped] : value) each(mapped);
    } else if constexpr (HasFields<T>) volvox_visit_fields(*this, value);
  }
};

template <class T>
T& as(void* value) {
  return *static_cast<T*>(value);
}
template <class T>
const T& as(const void* value) {
  return *static_cast<const T*>(value);
}

class NumberFunction {
 public:
  virtual ~NumberFunction() = default;
  virtual void operator()(double& number) = 0;
};

}  // namespace detail

// The value as JSON, for logs, viewers and recordings.
template <class T>
std::string describe(const T& value) {
  std::string out;
  detail::Describer{out}.write(const_cast<T&>(value));
  return out;
}

// Operations on a value whose type is known only at run time.
struct TypeInfo {
  std::string name;
  std::uint64_t key;  // hash of the name, the fields and their types
  std::size_t size, alignment;
  void (*construct)(void* to);
  void (*copy)(void* to, const void* from);
  void (*move)(void* to, void* from);
  void (*assign)(void* to, const void* from);
  void (*destroy)(void* value);
  void (*archive)(Archive& ar, void* value);
  void (*describe)(std::string& out, void* value);
  void (*numbers)(void* value, detail::NumberFunction& visit);
};

template <class T>
const TypeInfo& type_of() {
  static const TypeInfo info{type_name<T>(),
                             hash_of(detail::layout<T>()),
                             sizeof(T),
                             alignof(T),
                             [](void* to) { new (to) T(); },
                             [](void* to, const void* from) { new (to) T(detail::as<T>(from)); },
                             [](void* to, void* from) { new (to) T(std::move(detail::as<T>(from))); },
                             [](void* to, const void* from) { detail::as<T>(to) = detail::as<T>(from); },
                             [](void* value) { detail::as<T>(value).~T(); },
                             [](Archive& ar, void* value) { detail::archive_value(ar, detail::as<T>(value)); },
                             [](std::string& out, void* value) { detail::Describer{out}.write(detail::as<T>(value)); },
                             [](void* value, detail::NumberFunction& visit) {
                               detail::NumberVisitor<detail::NumberFunction>{visit}.each(detail::as<T>(value));
                             }};
  return info;
}

// A value of any declared type. Owns its content; small values are stored in place, so that a tick does not allocate.
class Value {
 public:
  Value() = default;
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Value>) explicit Value(T&& value) {
    emplace<std::remove_cvref_t<T>>() = std::forward<T>(value);
  }
  Value(const Value& other) { copy_from(other); }
  Value(Value&& other) noexcept { move_from(other); }
  Value& operator=(const Value& other) {
    if (this == &other) return *this;
    if (type_ != nullptr && type_ == other.type_) {
      type_->assign(data(), other.data());
    } else {
      reset();
      copy_from(other);
    }
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      reset();
      move_from(other);
    }
    return *this;
  }
  ~Value() { reset(); }

  // A default value of the type.
  static Value of(const TypeInfo& type) {
    Value value;
    value.allocate(type);
    type.construct(value.data());
    return value;
  }

  bool empty() const { return type_ == nullptr; }
  const TypeInfo* type() const { return type_; }

  // The content, or null if it is of another type.
  template <class T>
  const T* get() const {
    return holds<T>() ? &detail::as<T>(data()) : nullptr;
  }
  template <class T>
  T* get() {
    return holds<T>() ? &detail::as<T>(data()) : nullptr;
  }
  template <class T>
  T& emplace() {
    if (!holds<T>()) {
      reset();
      allocate(type_of<T>());
      new (data()) T();
    }
    return detail::as<T>(data());
  }

  // Calls visit(double&) for every floating-point number in the content.
  template <class Visit>
  void each_number(Visit&& visit) {
    if (empty()) return;
    struct Wrapper final : detail::NumberFunction {
      explicit Wrapper(Visit& v) : inner(v) {}
      void operator()(double& number) override { inner(number); }
      Visit& inner;
    } wrapper(visit);
    type_->numbers(data(), wrapper);
  }

  std::string describe() const {
    std::string out;
    if (!empty()) type_->describe(out, const_cast<void*>(data()));
    return out;
  }

  // Archives the content. Loading needs a value that already has the saved type.
  void archive(Archive& ar);

 private:
  friend class Payload;
  static constexpr std::size_t inside = 40;  // with the type, three quarters of a cache line

  template <class T>
  bool holds() const {
    if (type_ == nullptr) return false;
    // A plugin has its own copy of the TypeInfo: then name and fields decide.
    return type_ == &type_of<T>() || (type_->key == type_of<T>().key && type_->size == sizeof(T));
  }
  bool is_inside() const { return type_->size <= inside && type_->alignment <= alignof(double); }
  void* data() { return is_inside() ? buffer_ : heap_; }
  const void* data() const { return is_inside() ? buffer_ : heap_; }
  void allocate(const TypeInfo& type) {
    type_ = &type;
    if (!is_inside()) heap_ = ::operator new (type.size, std::align_val_t{type.alignment});
  }
  void copy_from(const Value& other) {
    if (other.empty()) return;
    allocate(*other.type_);
    type_->copy(data(), other.data());
  }
  void move_from(Value& other) {
    if (other.empty()) return;
    type_ = other.type_;
    if (is_inside()) {
      type_->move(buffer_, other.buffer_);
      other.reset();
    } else {
      heap_ = other.heap_;
      other.type_ = nullptr;
    }
  }
  void reset() {
    if (empty()) return;
    type_->destroy(data());
    if (!is_inside()) ::operator delete (heap_, std::align_val_t{type_->alignment});
    type_ = nullptr;
  }

  const TypeInfo* type_ = nullptr;
  union {
    alignas(double) std::byte buffer_[inside];
    void* heap_;
  };
};

// A value as bytes: the content of a message, whose receiver may or may not know the type.
class Payload {
 public:
  Payload() = default;
  template <class T>
  requires(!std::is_same_v<T, Value>) static Payload of(const T& value) {
    Payload payload;
    payload.type_ = type_key<T>();
    SaveArchive ar;
    ar("", value);
    payload.bytes_ = ar.take();
    return payload;
  }

  static Payload of(const Value& value);  // empty if the value is empty
  // From type() and bytes() of another payload, after transport over a network.
  static Payload of(std::uint64_t type, std::vector<std::byte> bytes) {
    Payload payload;
    payload.type_ = type;
    payload.bytes_ = std::move(bytes);
    return payload;
  }
  std::uint64_t type() const { return type_; }
  bool empty() const { return type_ == 0; }

  // The value, if the payload has this type and is complete.
  template <class T>
  std::optional<T> as() const {
    if (type_ != type_key<T>()) return std::nullopt;
    LoadArchive ar(bytes_);
    T value{};
    ar("", value);
    if (!ar.ok() || ar.remaining() > 0) return std::nullopt;
    return value;
  }

  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  void archive(Archive& ar) {
    ar("type", type_);
    ar("bytes", bytes_);
  }

 private:
  template <class T>
  static std::uint64_t type_key() {
    return type_of<T>().key;
  }
  std::uint64_t type_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace volvox
