#include "volvox/base/whole_file.h"

#include <fstream>

namespace volvox {
namespace fs = std::filesystem;

Result<void> write_whole(const fs::path& file, const std::string& text) {
  const auto bad = [&](const std::string& what) {
    return Diagnostic{file.string(), 0, what,
                      "see whether the disk is full, or give a folder that can be written, with --out DIR"};
  };
  const fs::path part = file.string() + ".part";
  std::error_code error;
  {
    std::ofstream out(part, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
      fs::remove(part, error);
      return bad("the results cannot be written");
    }
  }
  fs::rename(part, file, error);
  if (error) return bad("the results cannot be written: " + error.message());
  return {};
}

}  // namespace volvox
