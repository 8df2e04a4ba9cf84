#include "volvox/base/platform/shared_library.h"

#include <dlfcn.h>

namespace volvox::platform {

Result<std::shared_ptr<SharedLibrary>> SharedLibrary::open(const std::filesystem::path& file) {
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
    return std::shared_ptr<SharedLibrary>(new SharedLibrary(handle));
  const char* why = dlerror();
  return Diagnostic{file.string(), 0,
                    std::string("the shared library cannot be loaded: ") + (why != nullptr ? why : "unknown reason"),
                    "build it with this version of Volvox, and link all libraries that it needs"};
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace volvox::platform
