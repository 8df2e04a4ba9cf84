#include "volvox/base/platform/memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace volvox::platform {

void prefer_huge_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t huge_page = std::uintptr_t{2} << 20;
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin) + huge_page - 1) & ~(huge_page - 1);
  const std::uintptr_t to = (reinterpret_cast<std::uintptr_t>(begin) + bytes) & ~(huge_page - 1);
  // If the system refuses, the pages stay small.
  if (to > from) (void)madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
}

}  // namespace volvox::platform
