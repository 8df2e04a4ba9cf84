// Memory as the machine likes it; never changes what a program computes.
#pragma once

#include <cstddef>

namespace volvox::platform {

// Large arrays that are read all over the place spend much of their time on address
// translation. This asks for large pages under [begin, begin + bytes), before it is first used;
// small ranges and systems without them are left alone.
void prefer_huge_pages(void* begin, std::size_t bytes);

// For a vector that was just reserved.
template <class Vector>
void prefer_huge_pages(Vector& reserved) {
  prefer_huge_pages(reserved.data(), reserved.capacity() * sizeof(*reserved.data()));
}

}  // namespace volvox::platform
