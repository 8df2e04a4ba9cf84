#include "volvox/base/text.h"

#include <fmt/format.h>

#include <fstream>

#include "volvox/base/platform/file_sync.h"

namespace volvox {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// The length of the character at the beginning of the text, of 1 to 4 bytes; 0: it is not UTF-8 (RFC 3629).
std::size_t character_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  const unsigned second = byte_at(text, 1);
  const bool too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool not_a_character = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return too_long || not_a_character ? 0 : length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
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
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') out += replacement;
        else out += c;
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

bool can_write_file(const fs::path& file) {
  std::error_code error;
  if (is_device(file)) return !fs::is_directory(file, error) && std::ofstream(file, std::ios::app).good();
  const bool good = std::ofstream(part_of(file)).good();
  fs::remove(part_of(file), error);
  return good;
}

Result<void> write_file(const fs::path& file, std::string_view bytes) {
  std::error_code error;
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
