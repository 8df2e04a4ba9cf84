// Readers of OFF and STL, formats with almost no header.
#include <fmt/format.h>

#include <cstring>

#include "volvox/base/index.h"
#include "volvox/base/lines.h"
#include "volvox/model/mesh_files.h"
#include "volvox/model/triangulate.h"

namespace volvox::model {
Result<FileMesh> parse_off(std::string_view bytes, const std::string& file) {
  const std::string fix =
      "give an OFF file: 'OFF', the numbers of vertices, faces and edges, x y z for each vertex, n i j k ... for each "
      "face";
  Lines lines(bytes);
  std::string_view line;
  const auto bad = [&](std::string what) { return Diagnostic{file, lines.number(), std::move(what), fix}; };
  if (!next_content(lines, line)) return bad("the file is empty");
  Words words(line);
  const std::string_view magic = words.next();
  if (magic != "OFF" && magic != "COFF") return bad("the file does not begin with 'OFF'");
  if (words.at_end()) {
    if (!next_content(lines, line)) return bad("the numbers of vertices and faces are missing");
    words = Words(line);
  }
  const auto vertices = words.number<std::uint64_t>(), faces = words.number<std::uint64_t>();
  if (!vertices || !faces) return bad("the numbers of vertices and faces are missing");
  FileMesh mesh;
  for (std::uint64_t i = 0; i < *vertices; ++i) {
    if (!next_content(lines, line)) return bad(fmt::format("the file is cut off: {} of {} vertices", i, *vertices));
    Vec3 point;
    words = Words(line);
    if (!next_point(words, point)) return bad(fmt::format("vertex {} is not three numbers", i + 1));
    mesh.vertices.push_back(point);
  }
  Triangulator triangulator;
  std::vector<std::uint32_t> polygon;
  for (std::uint64_t i = 0; i < *faces; ++i) {
    if (!next_content(lines, line)) return bad(fmt::format("the file is cut off: {} of {} faces", i, *faces));
    words = Words(line);
    const auto corners = words.number<std::uint32_t>();
    polygon.clear();
    for (std::uint32_t k = 0; corners && k < *corners; ++k) {
      const auto vertex = words.number<std::uint32_t>();
      if (!vertex || *vertex >= mesh.vertices.size())
        return bad(fmt::format("face {} refers to a vertex that does not exist", i + 1));
      polygon.push_back(*vertex);
    }
    if (!corners || *corners < 3) return bad(fmt::format("face {} has fewer than three corners", i + 1));
    if (!triangulator.add(mesh.vertices, polygon, mesh.triangles)) return bad(Triangulator::too_much);
  }
  return mesh;
}

Result<FileMesh> parse_stl(std::string_view bytes, const std::string& file) {
  FileMesh mesh;
  const auto add = [&](const Vec3& vertex) {
    if (mesh.vertices.size() % 3 == 0) {
      const auto first = narrow<std::uint32_t>(mesh.vertices.size());
      mesh.triangles.push_back({first, first + 1, first + 2});
    }
    mesh.vertices.push_back(vertex);
  };
  std::uint32_t count = 0;
  if (bytes.size() >= 84) std::memcpy(&count, bytes.data() + 80, 4);
  // Some binary files also begin with 'solid'; the file size distinguishes them.
  if (bytes.size() >= 84 && bytes.size() == 84 + std::uint64_t{count} * 50) {
    for (std::uint32_t i = 0; i < count; ++i) {
      float corners[9];
      std::memcpy(corners, bytes.data() + 84 + std::size_t{i} * 50 + 12, 36);
      for (int k = 0; k < 9; k += 3) add({corners[k], corners[k + 1], corners[k + 2]});
    }
    return mesh;
  }
  if (!bytes.starts_with("solid")) {
    return Diagnostic{
        file, 0,
        fmt::format("{} triangles make {} bytes, the file has {}", count, 84 + std::uint64_t{count} * 50, bytes.size()),
        "copy or write the STL file again: it is cut off, or not an STL file"};
  }
  Lines lines(bytes);
  std::string_view line;
  while (lines.next(line)) {
    Words words(line);
    if (words.next() != "vertex") continue;
    Vec3 point;
    if (!next_point(words, point))
      return Diagnostic{file, lines.number(), "a vertex is not three numbers", "write the STL file again"};
    add(point);
  }
  if (mesh.vertices.size() % 3 != 0)
    return Diagnostic{file, lines.number(), "the last triangle is cut off", "copy or write the STL file again"};
  return mesh;
}

}  // namespace volvox::model
