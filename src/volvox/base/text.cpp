#include "volvox/base/text.h"

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
