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

// A library of Volvox's own that is there only where the build found what it needs (CUDA, MPI).
struct OptionalLibrary {
  std::shared_ptr<SharedLibrary> library;  // null: there is none
  std::filesystem::path file;
  std::string looked;  // where it was looked for, for messages
};
// The file that the environment variable names or, if it names none, volvox/NAME beside the library of Volvox. An
// error: it is there and cannot be loaded.
Result<OptionalLibrary> open_optional_library(const char* variable, const char* name);

}  // namespace volvox::platform
