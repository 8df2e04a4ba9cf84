#include "volvox/base/text.h"

#include <fstream>

namespace volvox {

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

Result<void> write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out)
    return Diagnostic{file.string(), 0, "the file cannot be written",
                      "check that its folder is there, that you may write, and that the disk is not full"};
  return {};
}

}  // namespace volvox
