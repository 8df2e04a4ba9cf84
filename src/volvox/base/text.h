// Text in files and on terminals.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "volvox/base/result.h"

namespace volvox {

// Escaped for XML, SVG and HTML, between tags and within quotes.
std::string xml_escaped(std::string_view text);

// Text from outside (a file, a client, a plugin) as it may be printed: control characters, which a terminal would obey,
// and bytes that are not UTF-8 become \x1b and the like. Line feeds and tabs stay.
std::string printable(std::string_view text);

// Writes the file completely or not at all: first under another name beside it, then renamed. Neither a reader nor a
// crash meets half of it. The error names the file.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace volvox
