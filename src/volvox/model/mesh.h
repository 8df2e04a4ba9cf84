// Reads meshes and images from the bytes of files: for models, and for the cells of lattices (lattice/).
// What is read is immutable and shared by all that use it.
// Any thread. The same bytes give the same mesh, but for formats that Assimp reads (foreign_mesh.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "volvox/base/result.h"
#include "volvox/model/shape.h"

namespace volvox::model {

// All triangles of a mesh file (OBJ, STL, DAE, PLY, ...), in m after scaling. With `submesh`, only
// the part of that name.
Result<Mesh> mesh_of(const std::string& bytes, const std::filesystem::path& file, const Vec3& scale,
                     const std::string& submesh = {});

// A grayscale image as heights: black is 0, white `size.z`. The top of the image is +y.
Result<HeightField> parse_height_field(std::string_view bytes, const std::string& file, const Vec3& size);

}  // namespace volvox::model
