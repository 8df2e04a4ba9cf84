// Shared libraries that are loaded while the program runs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "volvox/base/result.h"

namespace volvox::platform {

class SharedLibrary {
 public:
  // Everything that it needs must be found at once: no surprise in the middle of a run.
  static Result<std::shared_ptr<SharedLibrary>> open(const std::filesystem::path& file);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  void* symbol(const char* name) const;  // null: it has none of that name

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace volvox::platform
