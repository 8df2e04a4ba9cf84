#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <unordered_map>

#include "volvox/base/index.h"
#include "volvox/base/lines.h"
#include "volvox/model/mesh_files.h"
#include "volvox/model/triangulate.h"

namespace volvox::model {
namespace {

constexpr const char* obj_fix = "give an OBJ file with lines 'v x y z' and 'f i j k', vertices numbered from 1";

// The bits of a position; 0 and -0 are the same place.
struct PositionKey {
  std::uint64_t x, y, z;
  explicit PositionKey(const Vec3& v) : x(bits(v.x)), y(bits(v.y)), z(bits(v.z)) {}
  friend bool operator==(const PositionKey&, const PositionKey&) = default;
  static std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value); }
};
struct PositionHash {
  std::size_t operator()(const PositionKey& key) const {
    std::uint64_t hash = key.x;
    for (const std::uint64_t part : {key.y, key.z}) hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull + part;
    hash = (hash ^ hash >> 32) * 0x94D049BB133111EBull;
    return hash ^ hash >> 29;
  }
};

// Numbers positions in the order of their first use.
class JoinedVertices {
 public:
  explicit JoinedVertices(std::vector<Vec3>& vertices) : vertices_(vertices) {}
  std::uint32_t number_of(const Vec3& position) {
    const auto [entry, is_new] = numbers_.try_emplace(PositionKey(position), narrow<std::uint32_t>(vertices_.size()));
    if (is_new) vertices_.push_back(position);
    return entry->second;
  }

 private:
  std::vector<Vec3>& vertices_;
  std::unordered_map<PositionKey, std::uint32_t, PositionHash> numbers_;
};

class ObjReader {
 public:
  ObjReader(std::string_view bytes, const std::string& file, std::string_view part)
      : lines_(bytes), file_(file), part_(part) {}

  Result<FileMesh> read() {
    std::string_view line;
    while (next_line(line)) {
      Words words(line.substr(0, line.find('#')));
      const std::string_view key = words.next();
      std::string mistake;
      if (key == "v") mistake = read_vertex(words);
      else if (key == "f") mistake = read_face(words);
      else if (key == "o") object_ = words.next();
      else if (key == "g") group_ = words.next();
      // Everything else (normals, materials and their files, lines, points, curves) is not for collisions.
      if (!mistake.empty()) return Diagnostic{file_, lines_.number(), std::move(mistake), obj_fix};
    }
    return std::move(mesh_);
  }

 private:
  // A line that ends in a backslash goes on in the next.
  bool next_line(std::string_view& line) {
    if (!lines_.next(line)) return false;
    if (!line.ends_with('\\')) return true;
    joined_.clear();
    bool more = true;
    while (more && line.ends_with('\\')) {
      joined_ += line.substr(0, line.size() - 1);
      more = lines_.next(line);
    }
    if (more) joined_ += line;
    line = joined_;
    return true;
  }

  std::string read_vertex(Words& words) {
    Vec3 point;
    if (!next_point(words, point)) return "a vertex is not three numbers";
    const auto fourth = words.number<double>();
    if (fourth && words.at_end()) point = point / *fourth;  // homogeneous; six numbers: with a colour
    // As floats, in which such files are written and meshes were always read.
    for (int i = 0; i < 3; ++i) point[i] = std::abs(point[i]) < 1e38 ? to_float(point[i]) : NAN;
    if (!finite(point)) return "a vertex is not finite";
    positions_.push_back(point);
    return {};
  }

  std::string read_face(Words& words) {
    polygon_.clear();
    for (std::string_view corner = words.next(); !corner.empty(); corner = words.next()) {
      std::int64_t number = 0;  // from 1, or negative: from the last
      const auto [end, error] = std::from_chars(corner.data(), corner.data() + corner.size(), number);
      if (error != std::errc{} || (end != corner.data() + corner.size() && *end != '/'))
        return fmt::format("a face has the corner '{}'", corner.substr(0, 40));
      const auto count = std::ssize(positions_);
      const std::int64_t index = number > 0 ? number - 1 : count + number;
      if (number == 0 || number < -count || index >= count)
        return fmt::format("a face refers to vertex {}, but there are {} so far", number, count);
      polygon_.push_back(narrow<std::uint32_t>(index));
    }
    if (polygon_.size() < 3) return {};  // points and lines have no area
    if (!part_.empty() && part_ != object_ && part_ != group_) return {};
    for (std::uint32_t& corner : polygon_) corner = joined_vertices_.number_of(positions_[corner]);
    return triangulator_.add(mesh_.vertices, polygon_, mesh_.triangles) ? "" : Triangulator::too_much;
  }

  Lines lines_;
  const std::string& file_;
  std::string_view part_;
  std::string object_, group_;
  std::string joined_;
  std::vector<Vec3> positions_;
  std::vector<std::uint32_t> polygon_;
  FileMesh mesh_;
  JoinedVertices joined_vertices_{mesh_.vertices};
  Triangulator triangulator_;
};

}  // namespace

Result<FileMesh> parse_obj(std::string_view bytes, const std::string& file, std::string_view part) {
  return ObjReader(bytes, file, part).read();
}

void join_equal_vertices(MeshData& mesh) {
  std::vector<Vec3> joined;
  JoinedVertices numbers(joined);
  for (auto& triangle : mesh.triangles)
    for (std::uint32_t& corner : triangle) corner = numbers.number_of(mesh.vertices[corner]);
  mesh.vertices = std::move(joined);
}

Result<void> valid_mesh(const MeshData& mesh, const std::string& file) {
  for (const Vec3& v : mesh.vertices)
    if (!finite(v)) return Diagnostic{file, 0, "a vertex of the mesh is not finite", "export it again"};
  for (const auto& triangle : mesh.triangles)
    for (const std::uint32_t index : triangle)
      if (index >= mesh.vertices.size())
        return Diagnostic{file, 0, "a triangle refers to a vertex that does not exist", "export it again"};
  return {};
}

}  // namespace volvox::model
