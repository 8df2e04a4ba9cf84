#include "volvox/base/platform/file_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace volvox::platform {
namespace {

bool sync(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool good = fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;  // EINVAL: it has no disk
  close(descriptor);
  return good;
}

}  // namespace

bool sync_file(const std::filesystem::path& file) { return sync(file, O_RDONLY); }

void sync_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  (void)sync(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

int process_number() { return getpid(); }

}  // namespace volvox::platform
