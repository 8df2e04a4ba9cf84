// Self-contained web pages: no scripts, no other files, no network.
// No state; any thread may call it. The same body gives the same bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace volvox::report {

// `body` is HTML: html_table, svg(..., true) and escaped text.
std::string html_page(const std::string& title, const std::string& body);

// The pictures (PNG, JPEG, SVG) in a folder, by name, as many as fit into `bytes` together.
std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder, std::uintmax_t bytes = 20 << 20);
// A figure that holds the whole file; "" if it cannot be read.
std::string html_picture(const std::filesystem::path& file, const std::string& caption);
// Likewise a film (MP4).
std::string html_film(const std::filesystem::path& file, const std::string& caption);

}  // namespace volvox::report
