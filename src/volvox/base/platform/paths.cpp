#include "volvox/base/platform/paths.h"

#include <cstdlib>
#include <string>

namespace volvox::platform {

std::filesystem::path executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::vector<std::filesystem::path> resource_path() {
  std::vector<std::filesystem::path> path;
  const auto add = [&](const std::filesystem::path& folder) {
    std::error_code error;
    if (!folder.empty() && std::filesystem::is_directory(folder / "robots", error))
      path.push_back(std::filesystem::weakly_canonical(folder, error));
  };
  if (const char* variable = std::getenv("VOLVOX_RESOURCE_PATH")) {
    std::string rest = variable;
    while (!rest.empty()) {
      const auto colon = rest.find(':');
      // What the user names is kept even if it has no robots/: it may have experiments/ only.
      if (const std::string folder = rest.substr(0, colon); !folder.empty()) path.emplace_back(folder);
      rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
  }
  const std::filesystem::path bin = executable().parent_path();
  add(bin / ".." / "share" / "volvox");  // installed
  add(bin / ".." / ".." / "..");         // build/PRESET/bin in the source tree
#ifdef VOLVOX_DATA_DIR
  add(VOLVOX_DATA_DIR);  // a program of the user's, linked with an installed Volvox
#endif
  return path;
}

}  // namespace volvox::platform
