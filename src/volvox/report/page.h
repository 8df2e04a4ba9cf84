// Self-contained web pages: no scripts, no other files, no network.
// No state; any thread may call it. The same body gives the same bytes.
#pragma once

#include <string>

namespace volvox::report {

// `body` is HTML: html_table, svg(..., true) and escaped text.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace volvox::report
