// Clouds and meshes from files and into files. What is read comes from outside: every reader
// answers with a value or with file, line (or byte) and what to do; it neither throws, nor hangs,
// nor asks for more memory than a small multiple of the file's size.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/build.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/mesh.h"

namespace volvox::scan {

// A cloud, and what was mended in it: "12 of 100 points were not finite and were left out".
struct CloudReading {
  Cloud cloud;
  std::vector<std::string> repairs;
};

// By the bytes of a file; `file` is only named in messages.
Result<CloudReading> parse_pcd(std::string_view bytes, const std::string& file);  // ascii, binary, binary_compressed
Result<CloudReading> parse_xyz(std::string_view bytes, const std::string& file);  // x y z [r g b] a line
Result<TriangleMesh> parse_ply(std::string_view bytes,
                               const std::string& file);  // ascii, binary; with or without faces
Result<TriangleMesh> parse_off(std::string_view bytes, const std::string& file);  // with or without faces
Result<TriangleMesh> parse_stl(std::string_view bytes, const std::string& file);  // ascii, binary

// By the ending of the name: .pcd, .xyz, .txt, .csv, .ply or .off. At least one point.
Result<CloudReading> read_cloud(const std::filesystem::path& file);
// .ply, .off or .stl, with triangles that have an area.
Result<TriangleMesh> read_mesh(const std::filesystem::path& file);

std::string ply_of(const TriangleMesh& mesh);  // binary
std::string off_of(const TriangleMesh& mesh);
std::string stl_of(const model::MeshData& mesh);  // binary

// .ply, .off or .stl; or .sdf: a world with the arena as a static model, and the mesh beside it as
// an STL file of the same name.
Result<void> write_mesh(const TriangleMesh& mesh, const std::filesystem::path& file);
// A world with a static arena: boxes, and a mesh file ("": none); `inside` are more elements of the world.
std::string sdf_world(std::string name, const std::string& mesh_file, const std::vector<BoxPart>& boxes = {},
                      const std::string& inside = {});
// As write_mesh; the world of a mixed model has its boxes as boxes, and the mesh beside it is the rest.
Result<void> write_arena(const Built& built, const std::filesystem::path& file);
// .ply, .xyz, or .pcd (binary).
Result<void> write_cloud(const Cloud& cloud, const std::filesystem::path& file);

// Whether such a file could be written, before the work that it is to hold: by its ending and
// its folder.
Result<void> check_mesh_name(const std::filesystem::path& file);
Result<void> check_cloud_name(const std::filesystem::path& file);
Result<void> check_folder_of(const std::filesystem::path& file);

Result<std::string> read_bytes(const std::filesystem::path& file);

}  // namespace volvox::scan
