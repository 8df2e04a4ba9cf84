// Pictures of a world, as arrays.
#pragma once

#include "volvox/cli/film.h"
#include "world_handle.h"

namespace volvox::python {

struct WorldHandle::Pictures {
  cli::Studio studio;
  std::string made_for;  // size and docks
};

}  // namespace volvox::python
