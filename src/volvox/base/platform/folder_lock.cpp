#include "volvox/base/platform/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "volvox/base/platform/clock.h"

namespace volvox::platform {
namespace {

// Not flock(2): its lock would be shared with every child that was forked meanwhile.
bool lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_SETLK, &whole) == 0) return true;
  return errno != EACCES && errno != EAGAIN;  // a file system without locks keeps nobody out
}

std::string holder(int descriptor) {
  char text[16] = {};
  const ssize_t size = pread(descriptor, text, sizeof text - 1, 0);
  const std::string number(text, size > 0 ? std::strspn(text, "0123456789") : 0);
  return number.empty() ? "another process" : "process " + number;
}

// The holder removes the file when it ends, perhaps after it was opened here.
bool is_still_there(int descriptor, const std::filesystem::path& file) {
  struct stat opened {
  }, named{};
  return fstat(descriptor, &opened) == 0 && stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder, double patience) {
  const std::filesystem::path file = folder / file_name;
  const double end = monotonic_seconds() + patience;
  while (true) {
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
      return Diagnostic{folder.string(), 0,
                        fmt::format("nothing can be written into this folder: {}", std::strerror(errno)),
                        "give a folder that can be written, with --out DIR"};
    if (lock(descriptor)) {
      if (is_still_there(descriptor, file)) {
        const std::string number = fmt::format("{}\n", getpid());
        const bool noted = ftruncate(descriptor, 0) == 0 && pwrite(descriptor, number.data(), number.size(), 0) > 0;
        (void)noted;  // on a full disk the process has no number, but the lock
        return FolderLock(file, descriptor);
      }
    } else if (monotonic_seconds() >= end) {
      const std::string who = holder(descriptor);
      close(descriptor);
      return Diagnostic{folder.string(), 0, fmt::format("{} is writing its results into this folder", who),
                        "wait until it has ended, or give another folder with --out DIR"};
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    close(descriptor);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  unlink(file_.c_str());
  close(descriptor_);
}

}  // namespace volvox::platform
