// Reads meshes and images from files: for models, and for the cells of lattices (lattice/).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "volvox/base/result.h"
#include "volvox/model/shape.h"

namespace volvox::model {

// All triangles of a mesh file (OBJ, STL, DAE, PLY, ...), in m after scaling. With `submesh`, only
// the part of that name.
Result<Mesh> read_mesh(const std::filesystem::path& file, const Vec3& scale, const std::string& submesh = {});

// A grayscale image as heights: black is 0, white `size.z`. The top of the image is +y.
Result<HeightField> read_height_field(const std::filesystem::path& file, const Vec3& size);
Result<HeightField> parse_height_field(std::string_view bytes, const std::string& file, const Vec3& size);

}  // namespace volvox::model
