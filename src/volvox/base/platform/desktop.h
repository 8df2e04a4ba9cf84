// What a person's desktop does for this program.
// The browser is a process of its own, which outlives this one. Any thread may call it.
#pragma once

#include <string>

namespace volvox::platform {

// Opens the address in the person's browser if there is a desktop, without a shell and without waiting. Returns whether
// a browser was started.
bool open_in_browser(const std::string& address);

}  // namespace volvox::platform
