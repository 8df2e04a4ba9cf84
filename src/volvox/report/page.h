// Self-contained web pages: no scripts, no other files, no network.
#pragma once

#include <string>

namespace volvox::report {

// `body` is HTML: html_table, svg(..., true) and escaped text.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace volvox::report
