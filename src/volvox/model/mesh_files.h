// Reads triangle meshes from the bytes of files: one reader for each format, for robots (mesh.h) and for scans. The
// bytes may be anything: a reader returns a mesh, or an error with line (or byte) and fix; it does not throw, opens no
// other file, and needs time and memory in proportion to the size. The name `file` is only used in messages.
// Pure functions: any thread, the same mesh on every machine. Lengths as in the file, without scaling.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/model/shape.h"

namespace volvox::model {

// A mesh as it stands in a file: its vertices need not be finite, and except for OBJ and OFF its triangles may refer to
// vertices that do not exist (valid_mesh). Without triangles it is a cloud.
struct FileMesh : MeshData {
  std::vector<std::array<std::uint8_t, 3>> colors;  // red, green, blue of each vertex, or none
};

Result<FileMesh> parse_ply(std::string_view bytes, const std::string& file);  // ascii, binary; with or without faces
Result<FileMesh> parse_off(std::string_view bytes, const std::string& file);  // with or without faces
Result<FileMesh> parse_stl(std::string_view bytes, const std::string& file);  // ascii, binary
// The vertices that faces use, in the order of their first use, equal ones joined; coordinates are rounded to float.
// With `part`, only the faces of the object or group of that name.
Result<FileMesh> parse_obj(std::string_view bytes, const std::string& file, std::string_view part = {});

// Joins equal vertices, and drops those without a triangle. Keeps the order of their first use.
void join_equal_vertices(MeshData& mesh);

// Every vertex is finite, every triangle refers to vertices that exist.
Result<void> valid_mesh(const MeshData& mesh, const std::string& file);

}  // namespace volvox::model
