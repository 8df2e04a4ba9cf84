// Reads and writes clouds and meshes. Metres. Files may be invalid: every reader returns a value or an error with
// file, line (or byte) and fix; it does not throw, does not hang and needs at most a small multiple of the file
// size as memory.
// Readers are pure functions of bytes: any thread, the same result on every machine.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/build.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/mesh.h"

namespace volvox::scan {

// A cloud, and the repairs that were made: "12 of 100 points were not finite and were left out".
struct CloudReading {
  Cloud cloud;
  std::vector<std::string> repairs;
};

// From the bytes of a file; the name `file` is only used in messages.
Result<CloudReading> parse_pcd(std::string_view bytes, const std::string& file);  // ascii, binary, binary_compressed
Result<CloudReading> parse_xyz(std::string_view bytes, const std::string& file);  // x y z [r g b] on each line
Result<TriangleMesh> parse_ply(std::string_view bytes,
                               const std::string& file);  // ascii, binary; with or without faces
Result<TriangleMesh> parse_off(std::string_view bytes, const std::string& file);  // with or without faces
Result<TriangleMesh> parse_stl(std::string_view bytes, const std::string& file);  // ascii, binary

// By file extension: .pcd, .xyz, .txt, .csv, .ply or .off. Fails for a cloud without points.
Result<CloudReading> parse_cloud(std::string_view bytes, const std::filesystem::path& file);
Result<CloudReading> read_cloud(const std::filesystem::path& file);
// .ply, .off or .stl. Fails for a mesh without area.
Result<TriangleMesh> read_mesh(const std::filesystem::path& file);

std::string ply_of(const TriangleMesh& mesh);  // binary
std::string off_of(const TriangleMesh& mesh);
std::string stl_of(const model::MeshData& mesh);  // binary

// By file extension: .ply, .off, .stl, or .sdf: a world with the arena as a static model, and its mesh in an STL file
// of the same name in the same folder.
Result<void> write_mesh(const TriangleMesh& mesh, const std::filesystem::path& file);
// A world with a static arena of boxes and a mesh file (empty: no mesh); `inside`: further elements of the world.
std::string sdf_world(std::string name, const std::string& mesh_file, const std::vector<BoxPart>& boxes = {},
                      const std::string& inside = {});
// The recognized objects of an arena as fixed models of a world that is written into a folder: names of their files
// relative to it.
std::string sdf_objects(const Built& built, std::span<const KnownObject> library, const std::filesystem::path& folder);
// Like write_mesh, but a world has recognized objects as their own models and a mixed model's boxes as box shapes, and
// its STL file contains the rest.
Result<void> write_arena(const Built& built, const std::filesystem::path& file,
                         std::span<const KnownObject> library = {});
// .ply, .xyz, or .pcd (binary).
Result<void> write_cloud(const Cloud& cloud, const std::filesystem::path& file);

// Check extension and folder of an output file before the long computation of its content.
Result<void> check_mesh_name(const std::filesystem::path& file);
Result<void> check_cloud_name(const std::filesystem::path& file);
Result<void> check_folder_of(const std::filesystem::path& file);

}  // namespace volvox::scan
