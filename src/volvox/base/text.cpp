#include "volvox/base/text.h"

#include <fmt/format.h>

#include <fstream>

namespace volvox {
namespace fs = std::filesystem;

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      default: out += c;
    }
  return out;
}

namespace {

// The length of the UTF-8 character at the start of the text; 0: there is none, or a terminal would obey it (U+0080 to
// U+009F are control characters, too, and U+202A to U+202E and U+2066 to U+2069 turn the direction of what follows).
std::size_t shown_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return (first >= 0x20 && first != 0x7f) || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  unsigned code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = code < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool obeyed = code < 0xa0 || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return overlong || surrogate || code > 0x10ffff || obeyed ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = shown_character(text);
    if (length > 0) out += text.substr(0, length);
    else out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

Result<void> write_file(const fs::path& file, std::string_view bytes) {
  std::error_code error;
  const bool device = fs::exists(file, error) && !fs::is_regular_file(file, error);  // such as /dev/stdout
  const fs::path part = device ? file : fs::path(file.string() + ".part");
  std::ofstream out(part, std::ios::binary);
  out << bytes;
  out.close();
  bool good = out.good();
  if (good && !device) {
    fs::rename(part, file, error);
    good = !error;
  }
  if (good) return {};
  if (!device) fs::remove(part, error);
  return Diagnostic{file.string(), 0, "the file cannot be written",
                    "check that its folder exists, that you may write there, and that the disk is not full"};
}

}  // namespace volvox
