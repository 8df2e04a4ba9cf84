// Asks for memory before it is needed. It changes nothing, so that any thread may do it, and results do not depend on
// it.
#pragma once

#include <cstddef>
#include <vector>

namespace volvox::mind {

// What a module has lies scattered over memory: while one is at work, the first lines of what a later one needs are
// asked for.
inline void ask_for(const void* what, std::size_t bytes) {
  const auto* first = static_cast<const char*>(what);
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(first + at, 1);
}
template <class T>
void ask_for(const std::vector<T>& values) {
  ask_for(values.data(), values.size() * sizeof(T));
}

}  // namespace volvox::mind
