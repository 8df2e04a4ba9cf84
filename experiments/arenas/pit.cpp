#include "pit.h"

#include "volvox/base/index.h"
#include "volvox/scan/arena.h"

namespace volvox::experiments::arenas {
namespace {

constexpr double room_x = 2, room_y = 0.8, pit_y = Pit::half_length,
                 wall = 0.3;  // m: half lengths, and the walls' height

class Sheets {
 public:
  // A flat convex polygon, counter-clockwise seen from the room.
  void add(const std::vector<Vec3>& corners) {
    const auto first = narrow<std::uint32_t>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
    for (std::uint32_t i = 2; i < corners.size(); ++i) mesh.triangles.push_back({first, first + i - 1, first + i});
  }
  scan::TriangleMesh mesh;
};

}  // namespace

scan::TriangleMesh simple_arena(const Pit& pit) {
  const double w = pit.width, d = -pit.depth;
  Sheets s;
  // The floor on the four sides of the pit.
  s.add({{-room_x, -room_y, 0}, {0, -room_y, 0}, {0, -pit_y, 0}, {0, pit_y, 0}, {0, room_y, 0}, {-room_x, room_y, 0}});
  s.add({{room_x, room_y, 0}, {w, room_y, 0}, {w, pit_y, 0}, {w, -pit_y, 0}, {w, -room_y, 0}, {room_x, -room_y, 0}});
  s.add({{0, -room_y, 0}, {w, -room_y, 0}, {w, -pit_y, 0}, {0, -pit_y, 0}});
  s.add({{0, pit_y, 0}, {w, pit_y, 0}, {w, room_y, 0}, {0, room_y, 0}});
  // The pit.
  s.add({{0, -pit_y, d}, {w, -pit_y, d}, {w, pit_y, d}, {0, pit_y, d}});
  s.add({{0, -pit_y, d}, {0, pit_y, d}, {0, pit_y, 0}, {0, -pit_y, 0}});
  s.add({{w, pit_y, d}, {w, -pit_y, d}, {w, -pit_y, 0}, {w, pit_y, 0}});
  s.add({{w, -pit_y, d}, {0, -pit_y, d}, {0, -pit_y, 0}, {w, -pit_y, 0}});
  s.add({{0, pit_y, d}, {w, pit_y, d}, {w, pit_y, 0}, {0, pit_y, 0}});
  // The walls.
  s.add({{-room_x, -room_y, wall}, {-room_x, room_y, wall}, {-room_x, room_y, 0}, {-room_x, -room_y, 0}});
  s.add({{room_x, room_y, wall}, {room_x, -room_y, wall}, {room_x, -room_y, 0}, {room_x, room_y, 0}});
  s.add({{room_x, -room_y, wall},
         {-room_x, -room_y, wall},
         {-room_x, -room_y, 0},
         {0, -room_y, 0},
         {w, -room_y, 0},
         {room_x, -room_y, 0}});
  s.add({{-room_x, room_y, wall},
         {room_x, room_y, wall},
         {room_x, room_y, 0},
         {w, room_y, 0},
         {0, room_y, 0},
         {-room_x, room_y, 0}});
  return scan::welded(s.mesh, 1e-6);
}

scan::TriangleMesh subdivided(const scan::TriangleMesh& mesh, int detail) {
  if (detail <= 1) return mesh;
  scan::TriangleMesh fine;
  for (const scan::Triangle& triangle : mesh.triangles) {
    const Vec3 a = scan::corner(mesh, triangle, 0), ab = scan::corner(mesh, triangle, 1) - a,
               ac = scan::corner(mesh, triangle, 2) - a;
    const auto first = narrow<std::uint32_t>(fine.vertices.size());
    // Rows of vertices from the corner a towards the side b-c.
    for (int row = 0; row <= detail; ++row)
      for (int i = 0; i <= row; ++i)
        fine.vertices.push_back(a + ab * (real(row - i) / detail) + ac * (real(i) / detail));
    const auto vertex = [&](int row, int i) { return first + row * (row + 1) / 2 + i; };
    for (int row = 0; row < detail; ++row)
      for (int i = 0; i <= row; ++i) {
        fine.triangles.push_back({vertex(row, i), vertex(row + 1, i), vertex(row + 1, i + 1)});
        if (i < row) fine.triangles.push_back({vertex(row, i), vertex(row + 1, i + 1), vertex(row, i + 1)});
      }
  }
  return scan::welded(fine, 1e-7);
}

std::vector<model::ParameterDesc> arena_parameters() {
  return {{"arena",
           "simple",
           {},
           {},
           {"simple", "gsrm", "gg", "pf", "mixed"},
           "made by hand (simple), or built from a noisy cloud",
           0},
          {"detail", "1", 1, 200, {}, "of the simple arena: each triangle is cut into detail x detail", 0}};
}

Result<scan::Built> rebuilt(const scan::TriangleMesh& truth, const std::string& method, std::size_t triangles,
                            double noise, std::uint64_t seed) {
  auto parsed = scan::parse_method(method);
  if (!parsed.ok()) return parsed.error();
  scan::BuildOptions options;
  options.method = *parsed;
  options.seed = seed;
  if (options.method != scan::Method::plane_fitting)
    options.triangles = triangles > 0 ? triangles : options.method == scan::Method::gsrm ? 4'175 : 13'860;
  return scan::build(scan::sample_cloud(truth, {.seed = seed, .noise = noise}), options);
}

Result<scan::Built> arena_named(const std::string& name, int detail, const Pit& pit, std::uint64_t seed) {
  if (name != "simple") return rebuilt(simple_arena(pit), name, 0, 0.007, seed);
  scan::Built built;
  built.mesh = subdivided(simple_arena(pit), detail);
  return built;
}

void add_arena(model::WorldBuilder& builder, const scan::Built& arena) {
  const model::Material material{0.8, 0};
  const model::Color color{0.78, 0.76, 0.72, 1};
  const scan::TriangleMesh& mesh = arena.boxes.empty() ? arena.mesh : arena.rest;
  if (!mesh.triangles.empty())
    builder.add_obstacle(std::make_shared<const model::MeshData>(mesh), {}, 0, material, color, "arena");
  for (std::size_t i = 0; i < arena.boxes.size(); ++i)
    builder.add_obstacle(model::Box{arena.boxes[i].size}, arena.boxes[i].pose, 0, material, color,
                         "box_" + std::to_string(i));
}

}  // namespace volvox::experiments::arenas
