#include "volvox/model/mesh.h"

#include <fmt/format.h>

#include "volvox/base/file_ending.h"
#include "volvox/model/foreign_mesh.h"
#include "volvox/model/mesh_files.h"

namespace volvox::model {
namespace {

Result<MeshData> parse_mesh(const std::string& bytes, const std::string& kind, const std::string& name,
                            const std::string& submesh) {
  const bool ours = kind == "obj" || ((kind == "stl" || kind == "ply" || kind == "off") && submesh.empty());
  if (!ours) return read_foreign_mesh(bytes, kind, name, submesh);
  Result<FileMesh> read = kind == "obj"   ? parse_obj(bytes, name, submesh)
                          : kind == "stl" ? parse_stl(bytes, name)
                          : kind == "ply" ? parse_ply(bytes, name)
                                          : parse_off(bytes, name);
  if (!read.ok()) return read.error();
  if (const auto valid = valid_mesh(*read, name); !valid.ok()) return valid.error();
  if (kind != "obj") join_equal_vertices(*read);
  return MeshData(std::move(*read));
}

}  // namespace

Result<Mesh> mesh_of(const std::string& bytes, const std::filesystem::path& file, const Vec3& scale,
                     const std::string& submesh) {
  const std::string name = file.string(), ending = file_ending(file);
  Result<MeshData> read = parse_mesh(bytes, ending.empty() ? "" : ending.substr(1), name, submesh);
  if (!read.ok()) return read.error();
  if (read->triangles.empty()) {
    return Diagnostic{name, 0,
                      submesh.empty() ? "the mesh has no triangles" : fmt::format("the mesh has no part {}", submesh),
                      "check the content of the file in a mesh viewer"};
  }
  for (Vec3& v : read->vertices) {
    v = multiply(v, scale);
    if (!finite(v)) return Diagnostic{name, 0, "a vertex of the mesh is not finite", "give a smaller <scale>"};
  }
  return std::make_shared<const MeshData>(std::move(*read));
}

}  // namespace volvox::model
