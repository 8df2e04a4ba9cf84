// An exclusive lock between processes.
#pragma once

#include <filesystem>
#include <utility>

#include "volvox/base/result.h"

namespace volvox::platform {

// Held during the lifetime of the object; the system releases it when the process ends for any reason.
class FileLock {
 public:
  // The file must exist. Waits at most `patience` seconds for another process to release the lock.
  static Result<FileLock> take(const std::filesystem::path& file, double patience);
  ~FileLock();
  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace volvox::platform
