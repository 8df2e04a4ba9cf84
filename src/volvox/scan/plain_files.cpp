// The reader of XYZ, and those of model/ for meshes with colours.
#include <fmt/format.h>

#include <utility>

#include "volvox/base/index.h"
#include "volvox/base/lines.h"
#include "volvox/model/mesh_files.h"
#include "volvox/scan/files.h"

namespace volvox::scan {
namespace {

Result<TriangleMesh> with_colors(Result<model::FileMesh> read) {
  if (!read.ok()) return read.error();
  TriangleMesh mesh;
  for (const auto& [r, g, b] : read->colors) mesh.colors.push_back({r, g, b});
  static_cast<model::MeshData&>(mesh) = std::move(*read);
  return mesh;
}

}  // namespace

Result<TriangleMesh> parse_ply(std::string_view bytes, const std::string& file) {
  return with_colors(model::parse_ply(bytes, file));
}
Result<TriangleMesh> parse_off(std::string_view bytes, const std::string& file) {
  return with_colors(model::parse_off(bytes, file));
}
Result<TriangleMesh> parse_stl(std::string_view bytes, const std::string& file) {
  return with_colors(model::parse_stl(bytes, file));
}

Result<CloudReading> parse_xyz(std::string_view bytes, const std::string& file) {
  CloudReading reading;
  Lines lines(bytes);
  std::string_view line;
  std::size_t lost = 0;
  bool colors = true;
  while (next_content(lines, line)) {
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
