// Self-contained web pages: no scripts, no other files, no network.
// No state; any thread may call it. The same body gives the same bytes.
#pragma once

#include <filesystem>
#include <string>

namespace volvox::report {

// `body` is HTML: html_table, svg(..., true) and escaped text.
std::string html_page(const std::string& title, const std::string& body);

// The picture (PNG, JPEG, SVG) within the page itself. Reads the file; empty if it cannot be read.
std::string html_picture(const std::filesystem::path& file, const std::string& caption);

}  // namespace volvox::report
