#include "volvox/base/platform/paths.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace volvox::platform {

std::filesystem::path executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

namespace {

// The file that this code is in: the shared library, or a program that it was linked into.
std::filesystem::path this_library() {
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&executable), &info) == 0 || info.dli_fname == nullptr) return executable();
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  return error ? executable() : file;
}

}  // namespace

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
  // Volvox's own: above the library (installed: PREFIX/lib[/ARCH] beside PREFIX/share/volvox;
  // built: build/PRESET/lib or bin in the source tree), whatever program uses it.
  for (std::filesystem::path folder = this_library().parent_path(), last; folder != last;
       last = folder, folder = folder.parent_path()) {
    add(folder / "share" / "volvox");
    if (std::filesystem::exists(folder / "experiments" / "remod3d")) add(folder);
  }
  return path;
}

}  // namespace volvox::platform
