#include "volvox/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace volvox::detail {

void check_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "volvox: internal error at %s:%d: %s (%s)\nPlease report this with the command you ran.\n", file,
               line, message, condition);
  std::abort();
}

}  // namespace volvox::detail
