#include "volvox/base/text.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "volvox/base/letters.h"
#include "volvox/base/platform/descriptors.h"
#include "volvox/base/platform/file_sync.h"

namespace volvox {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  std::size_t length = 0;  // 1 to 4 bytes; 0: it is not UTF-8 (RFC 3629)
  unsigned code = 0;
};

// At the beginning of the text, which is not empty.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? byte_value(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  if (first < 0xc2 || first > 0xf4) return {};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  unsigned code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = code < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {length, code};
}

// Control characters, also those above ASCII, and what turns the direction of the text that follows.
bool terminal_obeys(unsigned code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = first_character(text).length;
    out += length > 0 ? text.substr(0, length) : replacement;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      default:
        if (byte_value(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') out += replacement;
        else out += c;
    }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [length, code] = first_character(text);
    const bool shown = length > 0 && !terminal_obeys(code);
    if (shown) out += text.substr(0, length);
    else out += fmt::format("\\x{:02x}", byte_value(text[0]));
    text.remove_prefix(shown ? length : 1);
  }
  return out;
}

namespace {

bool is_device(const fs::path& file) {  // such as /dev/stdout
  std::error_code error;
  return fs::exists(file, error) && !fs::is_regular_file(file, error);
}

// The number of the process: two of them that write the same file must not write the same part.
fs::path part_of(const fs::path& file) { return fmt::format("{}.{}.part", file.string(), platform::process_number()); }

}  // namespace

Result<std::string> read_file(const fs::path& file, std::uintmax_t largest) {
  const std::string name = file.string();
  std::error_code error;
  if (!fs::exists(file, error)) return Diagnostic{name, 0, "there is no such file", "check the path and its spelling"};
  if (!fs::is_regular_file(file, error))
    return Diagnostic{name, 0, "this is not a file", "give the path of a file, not of a folder, pipe or device"};
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > largest)
    return Diagnostic{name, 0, fmt::format("the file has {} bytes, and at most {} are read", size, largest),
                      "see whether it is the file that you meant"};
  std::ifstream in(file, std::ios::binary);
  const bool opened = in.is_open();
  std::string bytes(error ? 0 : static_cast<std::size_t>(size) + 1, '\0');  // one more: its end is met at once
  // By read(), which notes an error of the file system; an iterator throws it. A file may have grown since.
  std::size_t count = 0;
  do {
    if (count == bytes.size()) bytes.resize(count + 65536);
    in.read(bytes.data() + count, static_cast<std::streamsize>(bytes.size() - count));
    count += static_cast<std::size_t>(in.gcount());
  } while (in);
  bytes.resize(count);
  if (!opened || in.bad()) return Diagnostic{name, 0, "the file cannot be read", "check its permissions"};
  return bytes;
}

bool can_write_file(const fs::path& file) {
  if (!file.has_filename()) return false;
  std::error_code error;
  if (fs::is_fifo(file, error)) return true;  // to open it would tell its reader that all was written
  if (is_device(file)) return !fs::is_directory(file, error) && std::ofstream(file, std::ios::app).good();
  const bool good = std::ofstream(part_of(file)).good();
  fs::remove(part_of(file), error);
  return good;
}

Result<void> write_file(const fs::path& file, std::string_view bytes) {
  std::error_code error;
  std::optional<platform::HeldPipe> pipe;
  if (fs::is_fifo(file, error) && !pipe.emplace(file).is_read())
    return Diagnostic{file.string(), 0, "nobody reads this pipe",
                      "begin to read it before, such as by cat, or give the name of a file"};
  const bool device = is_device(file);
  const fs::path part = device ? file : part_of(file);
  std::ofstream out(part, std::ios::binary);
  out << bytes;
  out.close();
  bool good = out.good();
  if (good && !device) {
    good = platform::sync_file(part);
    if (good) fs::rename(part, file, error);
    good = good && !error;
    if (good) platform::sync_folder_of(file);
  }
  if (good) return {};
  if (!device) fs::remove(part, error);
  return Diagnostic{file.string(), 0, "the file cannot be written",
                    "check that its folder exists, that you may write there, and that the disk is not full"};
}

}  // namespace volvox
