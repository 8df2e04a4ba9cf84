// Web pages that need nothing but themselves: no scripts, no files beside them, nothing of a network.
#pragma once

#include <string>

namespace volvox::report {

// `body` is HTML: html_table, svg(..., true) and escaped text.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace volvox::report
