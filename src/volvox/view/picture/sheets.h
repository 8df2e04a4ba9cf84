// Cloth as triangles: the points of a cloud's sheets with smooth normals, in m, relative to the camera's target.
#pragma once

#include "volvox/view/picture/instances.h"

namespace volvox::view::picture {

// All sheets of a frame in one mesh. Where threads have torn, or a point is gone, there is a hole.
Mesh sheets_of(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view);

}  // namespace volvox::view::picture
