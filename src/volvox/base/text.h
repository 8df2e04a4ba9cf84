// Text in files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "volvox/base/result.h"

namespace volvox {

// Escaped for XML, SVG and HTML, between tags and within quotes.
std::string xml_escaped(std::string_view text);

// Writes the file completely or not at all: first under another name beside it, then renamed. Neither a reader nor a
// crash meets half of it. The error names the file.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace volvox
