// Keeps a folder of results for one process: two that write into the same folder would mix their files.
// For one thread.
#pragma once

#include <filesystem>
#include <utility>

#include "volvox/base/result.h"

namespace volvox::platform {

// Held during the lifetime of the object. A file in the folder, which is removed at the end, holds the number of the
// process and is locked; the system releases the lock when the process ends for any reason. The lock is the process's
// own, so that children which outlive it do not hold it, and one part of a process does not keep another out.
class FolderLock {
 public:
  static constexpr const char* file_name = ".volvox.lock";

  // The folder must exist. Waits at most `patience` seconds; then the error names the process that holds it.
  static Result<FolderLock> take(const std::filesystem::path& folder, double patience = 0);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept : file_(std::move(other.file_)), descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

 private:
  FolderLock(std::filesystem::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  std::filesystem::path file_;
  int descriptor_;
};

}  // namespace volvox::platform
