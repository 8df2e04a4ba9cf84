// Readers of OFF, STL and XYZ, formats with almost no header.
#include <fmt/format.h>

#include <cstring>

#include "volvox/base/index.h"
#include "volvox/scan/files.h"
#include "volvox/scan/text.h"

namespace volvox::scan {
namespace {

// The next line that is not empty and not a comment.
bool next_line(Lines& lines, std::string_view& line) {
  while (lines.next(line)) {
    line = line.substr(0, line.find('#'));
    if (!Words(line).at_end()) return true;
  }
  return false;
}

bool next_point(Words& words, Vec3& point) {
  for (int i = 0; i < 3; ++i) {
    const auto value = words.number<double>();
    if (!value) return false;
    point[i] = *value;
  }
  return true;
}

}  // namespace

Result<TriangleMesh> parse_off(std::string_view bytes, const std::string& file) {
  const std::string fix =
      "give an OFF file: 'OFF', the numbers of vertices, faces and edges, x y z for each vertex, n i j k ... for each "
      "face";
  Lines lines(bytes);
  std::string_view line;
  const auto bad = [&](std::string what) { return Diagnostic{file, lines.number(), std::move(what), fix}; };
  if (!next_line(lines, line)) return bad("the file is empty");
  Words words(line);
  const std::string_view magic = words.next();
  if (magic != "OFF" && magic != "COFF") return bad("the file does not begin with 'OFF'");
  if (words.at_end()) {
    if (!next_line(lines, line)) return bad("the numbers of vertices and faces are missing");
    words = Words(line);
  }
  const auto vertices = words.number<std::uint64_t>(), faces = words.number<std::uint64_t>();
  if (!vertices || !faces) return bad("the numbers of vertices and faces are missing");
  TriangleMesh mesh;
  for (std::uint64_t i = 0; i < *vertices; ++i) {
    if (!next_line(lines, line)) return bad(fmt::format("the file is cut off: {} of {} vertices", i, *vertices));
    Vec3 point;
    words = Words(line);
    if (!next_point(words, point)) return bad(fmt::format("vertex {} is not three numbers", i + 1));
    mesh.vertices.push_back(point);
  }
  for (std::uint64_t i = 0; i < *faces; ++i) {
    if (!next_line(lines, line)) return bad(fmt::format("the file is cut off: {} of {} faces", i, *faces));
    words = Words(line);
    const auto corners = words.number<std::uint32_t>();
    Triangle triangle{};
    for (std::uint32_t k = 0; corners && k < *corners; ++k) {
      const auto vertex = words.number<std::uint32_t>();
      if (!vertex || *vertex >= mesh.vertices.size())
        return bad(fmt::format("face {} refers to a vertex that does not exist", i + 1));
      if (k == 0) triangle[0] = *vertex;
      triangle[1] = triangle[2];
      triangle[2] = *vertex;
      if (k >= 2) mesh.triangles.push_back(triangle);
    }
    if (!corners || *corners < 3) return bad(fmt::format("face {} has fewer than three corners", i + 1));
  }
  return mesh;
}

Result<TriangleMesh> parse_stl(std::string_view bytes, const std::string& file) {
  TriangleMesh mesh;
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

Result<CloudReading> parse_xyz(std::string_view bytes, const std::string& file) {
  CloudReading reading;
  Lines lines(bytes);
  std::string_view line;
  std::size_t lost = 0;
  bool colors = true;
  while (next_line(lines, line)) {
    Words words(line);
    Vec3 point;
    if (!next_point(words, point)) {
      // A table may begin with the names of its columns.
      if (reading.cloud.points.empty() && lost == 0 && line.find_first_of("0123456789") == std::string_view::npos)
        continue;
      return Diagnostic{file, lines.number(), "the line does not begin with three numbers",
                        "give x y z in metres on each line; '#' begins a comment"};
    }
    const auto r = words.number<double>(), g = words.number<double>(), b = words.number<double>();
    if (!finite(point) || length_squared(point) > 1e16) {
      ++lost;
      continue;
    }
    reading.cloud.points.push_back(point);
    colors =
        colors && r && g && b && *r >= 0 && *g >= 0 && *b >= 0 && *r <= 255 && *g <= 255 && *b <= 255 && words.at_end();
    if (colors)
      reading.cloud.colors.push_back(
          {truncated<std::uint8_t>(*r), truncated<std::uint8_t>(*g), truncated<std::uint8_t>(*b)});
  }
  if (!colors) reading.cloud.colors.clear();
  if (lost > 0) reading.repairs.push_back(fmt::format("{} points were not finite and were left out", lost));
  return reading;
}

}  // namespace volvox::scan
