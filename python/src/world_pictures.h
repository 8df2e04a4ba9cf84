// Pictures of a world, as arrays.
#pragma once

#include <thread>

#include "volvox/cli/film.h"
#include "world_handle.h"

namespace volvox::python {

// Belongs to the thread that made it, as OpenGL wants it.
struct WorldHandle::Pictures {
  cli::Studio studio;
  std::string made_for;  // size and docks
  std::thread::id thread;
};

}  // namespace volvox::python
