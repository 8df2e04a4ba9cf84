#include "volvox/view/mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "volvox/model/hull_faces.h"

namespace volvox::view {
namespace {

constexpr double crease_cosine = 0.819;  // of 35 degrees
constexpr std::uint32_t max_field_samples = 384;

// Triangles without normals (a "triangle soup": vertices need not be shared).
struct Soup {
  std::vector<Vec3> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

// Gives every corner of every triangle the area-weighted mean normal of the triangles around its vertex whose
// normals differ by less than the crease angle. Corners with equal results share one vertex.
class NormalSmoother {
 public:
  NormalSmoother(const Soup& soup, const Pose& pose, Rgba color) : soup_(soup), pose_(pose), color_(color) {}

  void add_to(Mesh& mesh) {
    weld();
    measure();
    std::vector<std::vector<std::uint32_t>> made(soup_.vertices.size());  // by welded vertex: vertices of the mesh
    for (const std::uint32_t t : indices(soup_.triangles)) {
      if (areas_[t] == 0) continue;
      for (const std::uint32_t corner : soup_.triangles[t]) {
        const std::uint32_t v = welded_[corner];
        const Vertex vertex{to_floats(pose_ * soup_.vertices[v]), to_floats(pose_.rotation * smooth_normal(v, t)),
                            color_};
        auto index = narrow<std::uint32_t>(mesh.vertices.size());
        for (const std::uint32_t known : made[v])
          if (alike(mesh.vertices[known], vertex)) index = known;
        if (index == mesh.vertices.size()) {
          mesh.vertices.push_back(vertex);
          made[v].push_back(index);
        }
        mesh.indices.push_back(index);
      }
    }
  }

 private:
  void weld() {
    std::map<std::array<double, 3>, std::uint32_t> first;
    welded_.resize(soup_.vertices.size());
    for (std::uint32_t i = 0; i < soup_.vertices.size(); ++i) {
      const Vec3& p = soup_.vertices[i];
      welded_[i] = first.emplace(std::array{p.x, p.y, p.z}, i).first->second;
    }
  }

  void measure() {
    around_.resize(soup_.vertices.size());
    for (const std::uint32_t t : indices(soup_.triangles)) {
      const auto& [a, b, c] = soup_.triangles[t];
      const Vec3 n = cross(soup_.vertices[b] - soup_.vertices[a], soup_.vertices[c] - soup_.vertices[a]);
      areas_.push_back(length(n));
      normals_.push_back(normalized(n));
      for (const std::uint32_t corner : {a, b, c}) around_[welded_[corner]].push_back(t);
    }
  }

  Vec3 smooth_normal(std::uint32_t vertex, std::uint32_t triangle) const {
    Vec3 sum;
    for (const std::uint32_t other : around_[vertex])
      if (dot(normals_[other], normals_[triangle]) >= crease_cosine) sum += normals_[other] * areas_[other];
    return length(sum) > 0 ? normalized(sum) : normals_[triangle];
  }

  static bool alike(const Vertex& a, const Vertex& b) {
    return dot(to_vec(a.normal), to_vec(b.normal)) > 0.9999 && a.color == b.color;
  }

  const Soup& soup_;
  const Pose& pose_;
  Rgba color_;
  std::vector<std::uint32_t> welded_;
  std::vector<double> areas_;
  std::vector<Vec3> normals_;
  std::vector<std::vector<std::uint32_t>> around_;
};

Soup box_soup(const Vec3& size) {
  Soup soup;
  for (int i = 0; i < 8; ++i)
    soup.vertices.push_back(multiply(size, {i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5}));
  soup.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return soup;
}

// A solid of revolution around z. The profile lists (radius, height) from the bottom pole to the top pole.
Soup lathe(const std::vector<std::array<double, 2>>& profile, std::uint32_t around) {
  Soup soup;
  const auto rows = narrow<std::uint32_t>(profile.size());
  for (const auto& [radius, height] : profile)
    for (std::uint32_t i = 0; i < around; ++i) {
      const double angle = 2 * pi * i / around;
      soup.vertices.push_back({radius * volvox::cos(angle), radius * volvox::sin(angle), height});
    }
  for (std::uint32_t row = 0; row + 1 < rows; ++row)
    for (std::uint32_t i = 0; i < around; ++i) {
      const std::uint32_t j = (i + 1) % around, low = row * around, high = low + around;
      if (profile[row][0] > 0) soup.triangles.push_back({low + i, low + j, high + j});
      if (profile[row + 1][0] > 0) soup.triangles.push_back({low + i, high + j, high + i});
    }
  return soup;
}

// Two half spheres, their centres `length` apart; a sphere if `length` is zero.
Soup capsule_soup(double radius, double length) {
  constexpr int quarter = 8;
  std::vector<std::array<double, 2>> profile;
  for (const double end : {-1.0, 1.0})
    for (int i = 0; i <= quarter; ++i) {
      const double angle = pi / 2 * (end < 0 ? i - quarter : i) / quarter;
      if (end > 0 && i == 0 && length == 0) continue;  // the two equators coincide
      const bool pole = i == (end < 0 ? 0 : quarter);
      profile.push_back({pole ? 0 : radius * volvox::cos(angle), end * length / 2 + radius * volvox::sin(angle)});
    }
  return lathe(profile, 32);
}

Soup field_soup(const model::HeightFieldData& field) {
  const auto samples = [](std::uint32_t count) { return std::min(count, max_field_samples); };
  const std::uint32_t columns = samples(field.columns), rows = samples(field.rows);
  const auto pick = [](std::uint32_t i, std::uint32_t count, std::uint32_t of) {
    return narrow<std::uint32_t>(std::uint64_t{i} * (of - 1) / (count - 1));
  };
  Soup soup;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::uint32_t r = pick(row, rows, field.rows), c = pick(column, columns, field.columns);
      soup.vertices.push_back({field.size_x * (real(c) / (field.columns - 1) - 0.5),
                               field.size_y * (real(r) / (field.rows - 1) - 0.5),
                               field.heights[std::size_t{r} * field.columns + c]});
    }
  for (std::uint32_t row = 0; row + 1 < rows; ++row)
    for (std::uint32_t column = 0; column + 1 < columns; ++column) {
      const std::uint32_t a = row * columns + column, b = a + 1, c = a + columns, d = c + 1;
      soup.triangles.push_back({a, b, d});  // the same diagonal as in physics
      soup.triangles.push_back({a, d, c});
    }
  return soup;
}

Soup hull_soup(const model::HullData& hull) {
  Soup soup{hull.points, {}};
  for (const model::HullFace& face : model::hull_faces(hull.points)) soup.triangles.push_back(face.corners);
  return soup;
}

struct ToSoup {
  Soup operator()(const model::Sphere& s) const { return capsule_soup(s.radius, 0); }
  Soup operator()(const model::Box& s) const { return box_soup(s.size); }
  Soup operator()(const model::Capsule& s) const { return capsule_soup(s.radius, s.length); }
  Soup operator()(const model::Cylinder& s) const {
    const double h = s.length / 2;
    return lathe({{0, -h}, {s.radius, -h}, {s.radius, h}, {0, h}}, 48);
  }
  Soup operator()(const model::Plane&) const { return {}; }
  Soup operator()(const model::Hull& s) const { return hull_soup(*s); }
  Soup operator()(const model::Mesh& s) const { return {s->vertices, s->triangles}; }
  Soup operator()(const model::HeightField& s) const { return field_soup(*s); }
};

// Vertex clustering on a grid of cubic cells, `cells` along the longest side of the mesh.
class Clustering {
  struct ColorSum {
    double r = 0, g = 0, b = 0, a = 0, weight = 0;
    void add(Rgba c, double w) { r += c.r * w, g += c.g * w, b += c.b * w, a += c.a * w, weight += w; }
    void add(const ColorSum& o) { r += o.r, g += o.g, b += o.b, a += o.a, weight += o.weight; }
    Rgba mean() const {
      const auto part = [&](double sum) { return to_byte(weight > 0 ? sum / weight : 0); };
      return {part(r), part(g), part(b), part(a)};
    }
  };

 public:
  Clustering(const Mesh& mesh, const model::Bounds& bounds, int cells) : mesh_(mesh), low_(bounds.low) {
    const Vec3 size = bounds.high - bounds.low;
    centre_ = (bounds.low + bounds.high) / 2;
    cell_ = std::max({size.x, size.y, size.z, 1e-9}) / cells;
    for (int k = 0; k < 3; ++k) counts_[k] = std::max(1, narrow<int>(std::lround(size[k] / cell_)));
    collect_vertices(size);
    collect_triangles();
  }

  std::size_t triangles() const { return colors_.size(); }

  Mesh result() const {
    // In a coarse mesh, triangles that face the same way get one colour and so share their vertices: a distant box
    // has 24 vertices.
    struct Group {
      Soup soup;
      ColorSum color;
    };
    const bool coarse = colors_.size() <= 24;
    std::map<std::size_t, Group> groups;
    std::size_t number = 0;
    for (const auto& [corners, color] : colors_) {
      Group& group = groups[coarse ? side_of(corners) : number++];
      const auto first = narrow<std::uint32_t>(group.soup.vertices.size());
      for (const std::uint32_t corner : corners) group.soup.vertices.push_back(points_[corner]);
      group.soup.triangles.push_back({first, first + 1, first + 2});
      group.color.add(color);
    }
    Mesh result;
    for (const auto& [key, group] : groups) NormalSmoother(group.soup, Pose{}, group.color.mean()).add_to(result);
    return result;
  }

 private:
  void collect_vertices(const Vec3& size) {
    // With a CellGrid the result was the same to the bit and took 1.6 times as long: it keeps all points by cell, and
    // here only one of each cell is wanted.
    std::unordered_map<std::int64_t, std::uint32_t> clusters;
    for (const Vertex& vertex : mesh_.vertices) {
      const Vec3 p = to_vec(vertex.position);
      std::int64_t key = 0;
      for (int k = 0; k < 3; ++k) {
        const int count = counts_[k];
        const double where = size[k] > 0 ? (p[k] - low_[k]) / size[k] * count : 0;
        key = key * 1024 + std::clamp(truncated(where), 0, count - 1);
      }
      const auto [found, is_new] = clusters.emplace(key, narrow<std::uint32_t>(points_.size()));
      if (is_new) points_.push_back(p);
      else if (distance_out(p) > distance_out(points_[found->second])) points_[found->second] = p;
      cluster_of_.push_back(found->second);
    }
    keep_size(size);
  }

  // Manhattan distance from the centre: with it, corners of boxes lie farther out than their edges.
  double distance_out(const Vec3& p) const {
    const Vec3 d = p - centre_;
    return std::fabs(d.x) + std::fabs(d.y) + std::fabs(d.z);
  }

  void keep_size(const Vec3& size) {
    model::Bounds now;
    for (const Vec3& p : points_) now.add(p);
    for (int k = 0; k < 3; ++k) {
      const double extent = now.high[k] - now.low[k];
      if (extent <= 0) continue;
      for (Vec3& p : points_) p[k] = low_[k] + (p[k] - now.low[k]) * size[k] / extent;
    }
  }

  // Which of the six sides of a box a triangle belongs to.
  std::size_t side_of(const std::array<std::uint32_t, 3>& c) const {
    const Vec3 n = cross(points_[c[1]] - points_[c[0]], points_[c[2]] - points_[c[0]]);
    const int axis = std::fabs(n.x) >= std::fabs(n.y) && std::fabs(n.x) >= std::fabs(n.z) ? 0
                     : std::fabs(n.y) >= std::fabs(n.z)                                   ? 1
                                                                                          : 2;
    return 2 * axis + (n[axis] < 0 ? 1 : 0);
  }

  void collect_triangles() {
    for (std::size_t i = 0; i < mesh_.indices.size(); i += 3) {
      std::array<std::uint32_t, 3> c{};
      Vec3 p[3];
      for (std::size_t k = 0; k < 3; ++k) {
        c[k] = cluster_of_[mesh_.indices[i + k]];
        p[k] = to_vec(mesh_.vertices[mesh_.indices[i + k]].position);
      }
      if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
      std::rotate(c.begin(), std::min_element(c.begin(), c.end()), c.end());  // equal triangles get equal keys
      colors_[c].add(mesh_.vertices[mesh_.indices[i]].color, length(cross(p[1] - p[0], p[2] - p[0])));
    }
  }

  const Mesh& mesh_;
  Vec3 low_, centre_;
  double cell_ = 1;
  std::array<int, 3> counts_{};
  std::vector<Vec3> points_;                                 // by cluster
  std::vector<std::uint32_t> cluster_of_;                    // by vertex
  std::map<std::array<std::uint32_t, 3>, ColorSum> colors_;  // by the clusters of a triangle
};

// Whether every edge belongs to two triangles with opposite directions and the volume is positive. Parts may overlap.
bool is_closed(const Mesh& mesh) {
  std::map<std::array<float, 3>, std::uint32_t> welded;
  std::vector<std::uint32_t> vertex_of;
  for (const Vertex& v : mesh.vertices)
    vertex_of.push_back(welded.emplace(v.position, narrow<std::uint32_t>(welded.size())).first->second);
  std::unordered_map<std::uint64_t, int> passed;  // by edge: +1 from the lower vertex to the higher, -1 back
  double volume = 0;
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint64_t a = vertex_of[mesh.indices[i + k]], b = vertex_of[mesh.indices[i + (k + 1) % 3]];
      passed[std::min(a, b) << 32 | std::max(a, b)] += a < b ? 1 : -1;
    }
    const auto corner = [&](std::size_t k) { return to_vec(mesh.vertices[mesh.indices[i + k]].position); };
    volume += dot(corner(0), cross(corner(1), corner(2)));
  }
  return volume > 0 && std::all_of(passed.begin(), passed.end(), [](const auto& edge) { return edge.second == 0; });
}

Rgba mean_color(const Mesh& mesh) {
  std::array<std::uint64_t, 4> sum{};
  for (const Vertex& v : mesh.vertices)
    sum[0] += v.color.r, sum[1] += v.color.g, sum[2] += v.color.b, sum[3] += v.color.a;
  const std::uint64_t n = std::max<std::uint64_t>(1, mesh.vertices.size());
  const auto part = [&](std::size_t k) { return narrow<std::uint8_t>(sum[k] / n); };
  return {part(0), part(1), part(2), part(3)};
}

}  // namespace

Rgba to_rgba(const model::Color& color) {
  const auto byte = [](double x) { return to_byte(255 * (x >= 0 ? std::min(x, 1.0) : 0)); };
  return {byte(color.r), byte(color.g), byte(color.b), byte(color.a)};
}

model::Bounds Mesh::bounds() const {
  model::Bounds bounds;
  for (const Vertex& v : vertices) bounds.add(to_vec(v.position));
  return bounds;
}

void append(Mesh& mesh, const model::Shape& shape, const Pose& pose, Rgba color) {
  NormalSmoother(std::visit(ToSoup{}, shape), pose, color).add_to(mesh);
}

Mesh simplified(const Mesh& mesh, std::size_t max_triangles) {
  if (mesh.triangles() <= max_triangles) return mesh;
  const model::Bounds bounds = mesh.bounds();
  for (const int cells : {64, 48, 36, 28, 22, 18, 14, 11, 9, 7, 6, 5, 4, 3, 2}) {
    const Clustering clustering(mesh, bounds, cells);
    if (clustering.triangles() <= max_triangles && clustering.triangles() >= 4) return clustering.result();
  }
  Mesh box;
  append(box, model::Box{bounds.high - bounds.low}, Pose{(bounds.low + bounds.high) / 2, {}}, mean_color(mesh));
  return box;
}

double DetailedMesh::radius() const {
  if (bounds.empty()) return 0;
  return length({std::max(std::fabs(bounds.low.x), std::fabs(bounds.high.x)),
                 std::max(std::fabs(bounds.low.y), std::fabs(bounds.high.y)),
                 std::max(std::fabs(bounds.low.z), std::fabs(bounds.high.z))});
}

DetailedMesh with_levels(Mesh mesh) {
  DetailedMesh detailed;
  detailed.bounds = mesh.bounds();
  detailed.translucent =
      std::any_of(mesh.vertices.begin(), mesh.vertices.end(), [](const Vertex& v) { return v.color.a < 255; });
  detailed.closed = is_closed(mesh);
  detailed.levels.push_back(std::move(mesh));
  for (const std::size_t triangles : {600, 120, 24, 12}) {
    if (detailed.full().triangles() * 3 < triangles * 5) continue;  // not worth it
    Mesh coarse = simplified(detailed.full(), triangles);
    if (coarse.triangles() * 5 <= detailed.levels.back().triangles() * 3) detailed.levels.push_back(std::move(coarse));
  }
  return detailed;
}

}  // namespace volvox::view
