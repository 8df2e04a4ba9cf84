// Hints to the memory management of the system. They do not change results.
// The memory stays its owner's. Any thread may call these.
#pragma once

#include <cstddef>

namespace volvox::platform {

// Random access to large arrays causes many TLB misses. This requests huge pages for [begin, begin + bytes); call it
// before the first use. Does nothing for small ranges and on systems without huge pages.
void prefer_huge_pages(void* begin, std::size_t bytes);

// For a vector after reserve().
template <class Vector>
void prefer_huge_pages(Vector& reserved) {
  prefer_huge_pages(reserved.data(), reserved.capacity() * sizeof(*reserved.data()));
}

}  // namespace volvox::platform
