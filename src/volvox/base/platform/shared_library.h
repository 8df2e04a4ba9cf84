// Shared libraries that are loaded at run time.
// The library stays loaded as long as the object, which must outlive all that its symbols point to.
// Any thread may look up symbols.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "volvox/base/result.h"

namespace volvox::platform {

class SharedLibrary {
 public:
  // Resolves all symbols at once, so that a missing one is an error here and not during a run.
  static Result<std::shared_ptr<SharedLibrary>> open(const std::filesystem::path& file);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  void* symbol(const char* name) const;  // null: not found

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace volvox::platform
