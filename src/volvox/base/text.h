// Text in files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "volvox/base/result.h"

namespace volvox {

// As XML, SVG and HTML have it, between tags and within quotes.
std::string xml_escaped(std::string_view text);

// Replaces what the file held. The error names the file.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace volvox
