#include "volvox/scan/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "volvox/base/file_ending.h"
#include "volvox/base/index.h"
#include "volvox/base/letters.h"
#include "volvox/base/text.h"

namespace volvox::scan {
namespace {

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

void append_floats(std::string& bytes, const Vec3& v) {
  for (int i = 0; i < 3; ++i) append(bytes, to_float(v[i]));
}

CloudReading cloud_of(TriangleMesh mesh) {
  CloudReading reading;
  const std::size_t all = mesh.vertices.size();
  for (std::size_t i = 0; i < all; ++i) {
    if (!finite(mesh.vertices[i]) || length_squared(mesh.vertices[i]) > 1e16) continue;
    reading.cloud.points.push_back(mesh.vertices[i]);
    if (!mesh.colors.empty()) reading.cloud.colors.push_back(mesh.colors[i]);
  }
  if (const std::size_t lost = all - reading.cloud.points.size(); lost > 0)
    reading.repairs.push_back(fmt::format("{} of {} points were not finite and were left out", lost, all));
  return reading;
}

// A cloud as a mesh of vertices without triangles.
TriangleMesh mesh_of(const Cloud& cloud) {
  TriangleMesh mesh;
  mesh.vertices = cloud.points;
  mesh.colors = cloud.colors;
  return mesh;
}

std::string pcd_of(const Cloud& cloud) {
  const bool colors = !cloud.colors.empty();
  std::string bytes = fmt::format(
      "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z{}\nSIZE 4 4 4{}\nTYPE F F F{}\nCOUNT 1 1 "
      "1{}\nWIDTH {}\nHEIGHT 1\n"
      "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS {}\nDATA binary\n",
      colors ? " rgb" : "", colors ? " 4" : "", colors ? " U" : "", colors ? " 1" : "", cloud.points.size(),
      cloud.points.size());
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    append_floats(bytes, cloud.points[i]);
    if (colors) append<std::uint32_t>(bytes, cloud.colors[i].r << 16 | cloud.colors[i].g << 8 | cloud.colors[i].b);
  }
  return bytes;
}

std::string not_the_ending(const std::string& kind, const char* of) {
  if (kind.empty()) return fmt::format("the name has no ending that says which kind of {} it is", of);
  return fmt::format("'{}' is not the ending of a {}", kind, of);
}

}  // namespace

std::string sdf_world(std::string name, const std::string& mesh_file, const std::vector<BoxPart>& boxes,
                      const std::string& inside) {
  for (char& c : name)
    if (!is_letter_or_digit(c) && c != '_' && c != '-') c = '_';
  std::string parts;
  const auto add = [&](const std::string& part, const std::string& pose, const std::string& geometry) {
    parts += fmt::format(R"(      <collision name="{0}">{1}
        <geometry>{2}</geometry>
        <surface><friction><ode><mu>0.7</mu></ode></friction></surface>
      </collision>
      <visual name="{0}">{1}
        <geometry>{2}</geometry>
        <material><diffuse>0.72 0.74 0.78 1</diffuse></material>
      </visual>
)",
                         part, pose, geometry);
  };
  if (!mesh_file.empty()) add("surface", "", fmt::format("<mesh><uri>{}</uri></mesh>", xml_escaped(mesh_file)));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Vec3 &at = boxes[i].pose.position, turn = roll_pitch_yaw(boxes[i].pose.rotation), &size = boxes[i].size;
    add(fmt::format("box_{}", i),
        fmt::format("\n        <pose>{:.6f} {:.6f} {:.6f} {:.6f} {:.6f} {:.6f}</pose>", at.x, at.y, at.z, turn.x,
                    turn.y, turn.z),
        fmt::format("<box><size>{:.6f} {:.6f} {:.6f}</size></box>", size.x, size.y, size.z));
  }
  return fmt::format(R"(<?xml version="1.0"?>
<!-- An arena that volvox scan built. -->
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="{0}">
  <gravity>0 0 -9.81</gravity>
  <model name="arena">
    <static>true</static>
    <link name="arena">
{1}    </link>
  </model>
{2}</world>
</sdf>
)",
                     name, parts, inside);
}

Result<void> check_folder_of(const std::filesystem::path& file) {
  std::error_code failure;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, failure))
    return Diagnostic{file.string(), 0, fmt::format("there is no folder '{}'", folder.string()),
                      "make it, or give another name"};
  if (std::filesystem::is_directory(file, failure))
    return Diagnostic{file.string(), 0, "this is a folder", "give the name of a file"};
  return {};
}

Result<void> check_mesh_name(const std::filesystem::path& file) {
  const std::string kind = file_ending(file);
  if (kind != ".ply" && kind != ".off" && kind != ".stl" && kind != ".sdf")
    return Diagnostic{file.string(), 0, not_the_ending(kind, "mesh or world"),
                      "give a name that ends in .ply, .off, .stl or .sdf"};
  return check_folder_of(file);
}

Result<void> check_cloud_name(const std::filesystem::path& file) {
  const std::string kind = file_ending(file);
  if (kind != ".ply" && kind != ".pcd" && kind != ".xyz")
    return Diagnostic{file.string(), 0, not_the_ending(kind, "cloud"), "give a name that ends in .ply, .pcd or .xyz"};
  return check_folder_of(file);
}

namespace {

bool is_table(const std::string& kind) { return kind == ".xyz" || kind == ".txt" || kind == ".csv" || kind == ".asc"; }

Result<void> check_cloud_kind(const std::filesystem::path& file) {
  const std::string kind = file_ending(file);
  if (is_table(kind) || kind == ".pcd" || kind == ".ply" || kind == ".off") return {};
  return Diagnostic{file.string(), 0, not_the_ending(kind, "cloud"), "give a .pcd, .ply, .xyz or .off file"};
}

}  // namespace

Result<CloudReading> parse_cloud(std::string_view bytes, const std::filesystem::path& file) {
  if (auto checked = check_cloud_kind(file); !checked.ok()) return checked.error();
  const std::string kind = file_ending(file), name = file.string();
  Result<CloudReading> reading = [&]() -> Result<CloudReading> {
    if (kind == ".pcd") return parse_pcd(bytes, name);
    if (is_table(kind)) return parse_xyz(bytes, name);
    auto mesh = kind == ".ply" ? parse_ply(bytes, name) : parse_off(bytes, name);
    if (!mesh.ok()) return mesh.error();
    return cloud_of(std::move(*mesh));
  }();
  if (reading.ok() && reading->cloud.points.empty())
    return Diagnostic{name, 0,
                      "the cloud has no points" + (reading->repairs.empty() ? "" : ": " + reading->repairs.front()),
                      "give a cloud with points"};
  return reading;
}

Result<CloudReading> read_cloud(const std::filesystem::path& file) {
  // Before it is read: the file may be large.
  if (auto checked = check_cloud_kind(file); !checked.ok()) return checked.error();
  const auto bytes = read_file(file);
  if (!bytes.ok()) return bytes.error();
  return parse_cloud(*bytes, file);
}

Result<TriangleMesh> read_mesh(const std::filesystem::path& file) {
  const std::string kind = file_ending(file), name = file.string();
  if (kind != ".ply" && kind != ".off" && kind != ".stl")
    return Diagnostic{name, 0, not_the_ending(kind, "mesh"), "give a .ply, .off or .stl file"};
  const auto bytes = read_file(file);
  if (!bytes.ok()) return bytes.error();
  auto mesh = kind == ".ply"   ? parse_ply(*bytes, name)
              : kind == ".off" ? parse_off(*bytes, name)
                               : parse_stl(*bytes, name);
  if (!mesh.ok()) return mesh;
  if (mesh->triangles.empty())
    return Diagnostic{name, 0, "the mesh has no triangles", "give a mesh with faces, or build one: volvox scan build"};
  for (const Triangle& triangle : mesh->triangles) {
    for (const std::uint32_t vertex : triangle) {
      if (vertex >= mesh->vertices.size())
        return Diagnostic{name, 0, "a triangle refers to a vertex that does not exist", "write the mesh again"};
      if (!finite(mesh->vertices[vertex]) || length_squared(mesh->vertices[vertex]) > 1e16)
        return Diagnostic{name, 0, fmt::format("vertex {} is not finite", vertex), "write the mesh again"};
    }
  }
  if (kind == ".stl") mesh = welded(*mesh, 1e-6);  // STL has no vertex numbers
  if (!(area(*mesh) > 0))
    return Diagnostic{name, 0, "the mesh has no area: all its triangles are flat", "give a mesh with a surface"};
  return mesh;
}

std::string ply_of(const TriangleMesh& mesh) {
  const bool colors = mesh.colors.size() == mesh.vertices.size() && !mesh.colors.empty();
  std::string bytes = fmt::format(
      "ply\nformat binary_little_endian 1.0\ncomment written by volvox scan; metres\nelement vertex {}\nproperty float "
      "x\nproperty float y\nproperty float z\n{}",
      mesh.vertices.size(), colors ? "property uchar red\nproperty uchar green\nproperty uchar blue\n" : "");
  if (!mesh.triangles.empty())
    bytes += fmt::format("element face {}\nproperty list uchar int vertex_indices\n", mesh.triangles.size());
  bytes += "end_header\n";
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    append_floats(bytes, mesh.vertices[i]);
    if (colors) {
      for (const std::uint8_t channel : {mesh.colors[i].r, mesh.colors[i].g, mesh.colors[i].b}) append(bytes, channel);
    }
  }
  for (const Triangle& triangle : mesh.triangles) {
    append(bytes, std::uint8_t{3});
    for (const std::uint32_t vertex : triangle) append<std::int32_t>(bytes, vertex);
  }
  return bytes;
}

std::string off_of(const TriangleMesh& mesh) {
  std::string text = fmt::format("OFF\n{} {} 0\n", mesh.vertices.size(), mesh.triangles.size());
  for (const Vec3& v : mesh.vertices) text += fmt::format("{} {} {}\n", to_float(v.x), to_float(v.y), to_float(v.z));
  for (const Triangle& t : mesh.triangles) text += fmt::format("3 {} {} {}\n", t[0], t[1], t[2]);
  return text;
}

std::string stl_of(const model::MeshData& mesh) {
  std::string bytes = "binary STL, written by volvox scan; metres";
  bytes.resize(80, ' ');
  append(bytes, narrow<std::uint32_t>(mesh.triangles.size()));
  for (const Triangle& triangle : mesh.triangles) {
    append_floats(bytes, normalized(area_normal(mesh, triangle)));
    for (int i = 0; i < 3; ++i) append_floats(bytes, corner(mesh, triangle, i));
    append(bytes, std::uint16_t{0});
  }
  return bytes;
}

Result<void> write_mesh(const TriangleMesh& mesh, const std::filesystem::path& file) {
  if (auto good = check_mesh_name(file); !good.ok()) return good;
  const std::string kind = file_ending(file);
  if (kind == ".ply") return write_file(file, ply_of(mesh));
  if (kind == ".off") return write_file(file, off_of(mesh));
  if (kind == ".stl") return write_file(file, stl_of(mesh));
  std::filesystem::path beside = file;
  beside.replace_extension(".stl");
  if (auto written = write_file(beside, stl_of(mesh)); !written.ok()) return written;
  return write_file(file, sdf_world(file.stem().string(), beside.filename().string()));
}

std::string sdf_objects(const Built& built, std::span<const KnownObject> library, const std::filesystem::path& folder) {
  std::string parts;
  std::vector<int> numbers(library.size());
  for (const FoundObject& found : built.objects) {
    const KnownObject& object = library[found.object];
    const Vec3 &at = found.pose.position, turn = roll_pitch_yaw(found.pose.rotation);
    std::error_code failure;
    const auto model = std::filesystem::absolute(object.model()->file, failure);
    auto named =
        std::filesystem::proximate(model, std::filesystem::absolute(folder.empty() ? "." : folder, failure), failure);
    if (failure || named.empty()) named = model.empty() ? std::filesystem::path(object.model()->file) : model;
    parts += fmt::format(
        "  <include>\n    <uri>{}</uri>\n    <name>{}_{}</name>\n    <static>true</static>\n    <pose>{:.6f} {:.6f} "
        "{:.6f} {:.6f} {:.6f} {:.6f}</pose>\n  </include>\n",
        xml_escaped(named.string()), xml_escaped(object.name()), numbers[found.object]++, at.x, at.y, at.z, turn.x,
        turn.y, turn.z);
  }
  return parts;
}

Result<void> write_arena(const Built& built, const std::filesystem::path& file, std::span<const KnownObject> library) {
  if (file_ending(file) != ".sdf" || &built.remaining() == &built.mesh) return write_mesh(built.mesh, file);
  std::filesystem::path beside = file;
  beside.replace_extension(".stl");
  const bool has_rest = !built.rest.triangles.empty();
  if (has_rest)
    if (auto written = write_file(beside, stl_of(built.rest)); !written.ok()) return written;
  return write_file(file, sdf_world(file.stem().string(), has_rest ? beside.filename().string() : "", built.boxes,
                                    sdf_objects(built, library, file.parent_path())));
}

Result<void> write_cloud(const Cloud& cloud, const std::filesystem::path& file) {
  if (auto good = check_cloud_name(file); !good.ok()) return good;
  const std::string kind = file_ending(file);
  if (kind == ".ply") return write_file(file, ply_of(mesh_of(cloud)));
  if (kind == ".pcd") return write_file(file, pcd_of(cloud));
  std::string text;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    const Vec3& p = cloud.points[i];
    fmt::format_to(std::back_inserter(text), "{:.6f} {:.6f} {:.6f}", p.x, p.y, p.z);
    if (!cloud.colors.empty())
      fmt::format_to(std::back_inserter(text), " {} {} {}", cloud.colors[i].r, cloud.colors[i].g, cloud.colors[i].b);
    text += '\n';
  }
  return write_file(file, text);
}

}  // namespace volvox::scan
