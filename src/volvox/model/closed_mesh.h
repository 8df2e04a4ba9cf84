// Whether a mesh is closed, so that it has an inside. Lengths in m. A pure function.
#pragma once

#include <optional>
#include <string>

#include "volvox/model/shape.h"

namespace volvox::model {

// What is wrong with it, naming the hole with the most edges; nothing: every edge has an even number of triangles.
std::optional<std::string> hole_in(const MeshData& mesh);

}  // namespace volvox::model
