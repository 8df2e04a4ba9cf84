#include "volvox/base/platform/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "volvox/base/platform/clock.h"

namespace volvox::platform {

Result<FileLock> FileLock::take(const std::filesystem::path& file, double patience) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Diagnostic{file.string(), 0, "the file cannot be opened", "give a folder that can be read and written"};
  const double end = monotonic_seconds() + patience;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (monotonic_seconds() >= end) {
      close(descriptor);
      return Diagnostic{file.string(), 0, "another process is at work in this folder",
                        "wait until it has ended, or give another folder"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return FileLock(descriptor);
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace volvox::platform
