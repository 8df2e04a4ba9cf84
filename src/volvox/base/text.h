// Text in files and on terminals.
// Functions of texts are pure. Functions of files may be called from any thread, for different files.
#pragma once

#include <cstdint>
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

// Text from outside (a file, a client, a plugin) as it may be printed: control characters, which a terminal would obey,
// and bytes that are not UTF-8 become \x1b and the like. Line feeds and tabs stay.
std::string printable(std::string_view text);

// All bytes of a file. Only of a file: a pipe or a device might have no end. One of more bytes than `largest` is
// refused. The error names the file.
Result<std::string> read_file(const std::filesystem::path& file, std::uintmax_t largest = 1ull << 32);

// Writes the file completely or not at all: first under another name beside it, synced to the disk, then renamed.
// Readers never see a half-written file, even after a crash; the old file stays until the new one is complete. The
// error names the file.
Result<void> write_file(const std::filesystem::path& file, std::string_view bytes);
// Whether write_file can write there now; changes nothing. For files that are written at the end of a long run.
bool can_write_file(const std::filesystem::path& file);

}  // namespace volvox
