// Text in files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "volvox/base/result.h"

namespace volvox {

// The text with U+FFFD for every byte that is not part of valid UTF-8: what other programs can read.
std::string valid_utf8(std::string_view text);

// Escaped for XML, SVG and HTML, between tags and within quotes. What XML cannot hold (control characters, bytes that
// are not UTF-8) becomes U+FFFD.
std::string xml_escaped(std::string_view text);

// Writes the file completely or not at all: first under another name beside it, synced to the disk, then renamed.
// Neither a reader nor a crash meets half of it, and what was there before stays until then. The error names the file.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes);
// Whether write_file can write there now; changes nothing. For what is written only after hours.
bool can_write_file(const std::filesystem::path& file);

}  // namespace volvox
