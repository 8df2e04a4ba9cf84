// One process at a time.
#pragma once

#include <filesystem>
#include <utility>

#include "volvox/base/result.h"

namespace volvox::platform {

// Held while it lives; the system lets go of it when the process ends, however that is.
class FileLock {
 public:
  // The file must be there. Waits that many seconds at most for another process to let go.
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
