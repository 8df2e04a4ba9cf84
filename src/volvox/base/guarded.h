// Calls code that may come from a user: a hook, an engine or a propagation model of a plugin.
// In the thread that calls; nothing is kept. A failure of a tick is deterministic as far as the code is that was
// called.
#pragma once

#include <exception>
#include <string>
#include <type_traits>

#include "volvox/base/step_status.h"

namespace volvox {

// An exception becomes a status. `call` returns a StepStatus or nothing.
template <class Call>
StepStatus guarded(const std::string& who, Call&& call) {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (const std::exception& error) {
    return {.what = *error.what() != 0 ? error.what() : "an exception without a text", .who = who};
  } catch (...) {
    return {.what = "an exception of an unknown type", .who = who};
  }
}

}  // namespace volvox
