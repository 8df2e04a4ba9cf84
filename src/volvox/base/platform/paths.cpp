#include "volvox/base/platform/paths.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace volvox::platform {

std::filesystem::path executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::filesystem::path library() {
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&executable), &info) == 0 || info.dli_fname == nullptr) return executable();
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  return error ? executable() : file;
}

namespace {

std::vector<std::filesystem::path> folders_of(const char* variable) {
  std::vector<std::filesystem::path> folders;
  const char* value = std::getenv(variable);
  std::string rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    if (const std::string folder = rest.substr(0, colon); !folder.empty()) folders.emplace_back(folder);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

}  // namespace

std::vector<std::filesystem::path> users_plugin_path() { return folders_of("VOLVOX_PLUGIN_PATH"); }

std::vector<std::filesystem::path> plugin_path() {
  std::vector<std::filesystem::path> path = users_plugin_path();
  path.push_back(library().parent_path() / "volvox" / "plugins");
  return path;
}

std::vector<std::filesystem::path> resource_path() {
  std::vector<std::filesystem::path> path;
  const auto add = [&](const std::filesystem::path& folder) {
    std::error_code error;
    if (!folder.empty() && std::filesystem::is_directory(folder / "robots", error))
      path.push_back(std::filesystem::weakly_canonical(folder, error));
  };
  // Folders of the user may have experiments/ without robots/.
  path = folders_of("VOLVOX_RESOURCE_PATH");
  // Volvox's own folders are found from the path of the library (installed: PREFIX/lib[/ARCH] beside
  // PREFIX/share/volvox; built: build/PRESET/lib or bin in the source tree), so they do not depend on the program.
  for (std::filesystem::path folder = library().parent_path(), last; folder != last;
       last = folder, folder = folder.parent_path()) {
    add(folder / "share" / "volvox");
    if (std::filesystem::exists(folder / "experiments" / "remod3d")) add(folder);
  }
  return path;
}

}  // namespace volvox::platform
