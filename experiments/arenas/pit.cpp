#include "pit.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/locate.h"
#include "volvox/scan/simulate.h"

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

// Around with the walls on the right, where the upright laser looks, then around the pit and around again with them on
// the left: a laser sees the walls of a pit from its other side only. 15 cm beside the pit and from the walls.
std::vector<scan::Vec2> route(const Pit& pit) {
  const double x = room_x - 0.35, y = room_y - 0.15, before = -0.4, behind = pit.width + 0.4;
  return {{-x, -y},    {x, -y},      {x, y},   {-x, y}, {-x, -y}, {before, -y}, {before, y},
          {behind, y}, {behind, -y}, {-x, -y}, {-x, y}, {x, y},   {x, -y}};
}

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

Result<Scanned> scanned(const scan::TriangleMesh& truth, const Pit& pit, Scanner scanner, double noise,
                        std::uint64_t seed) {
  if (scanner == Scanner::points) {
    scan::Cloud cloud = scan::sample_cloud(truth, {.seed = seed, .noise = noise});
    return Scanned{cloud, cloud, 0, 0, 0};
  }
  // The SICK LMS 200, whose 7 mm the paper quotes, sweeps 180 degrees by half degrees 37.5 times a second. Walls of
  // 0.3 m are below the usual height of the horizontal laser.
  scan::DriveOptions options{
      .seed = seed, .sweeps_a_second = 37.5, .forward_every = 2, .noise = noise, .forward_height = 0.15};
  const scan::Drive drive = scan::drive(truth, route(pit), options);
  const auto located = scan::locate(drive.log);
  if (!located.ok()) return located.error();
  const auto cloud = scan::cloud_of(located->log);
  if (!cloud.ok()) return cloud.error();
  // Where several passes saw a wall, their points scatter by the errors of the path, too.
  constexpr double path_noise = 0.004;
  Scanned result{scan::raw_points(located->log), scan::histogram_filter(*cloud, {}), 0, 0,
                 std::sqrt(noise * noise + path_noise * path_noise)};
  for (std::size_t i = 0; i < located->log.side.size(); ++i) {
    const scan::Pose2 &is = located->log.side[i].pose, &should = drive.side_truth[i];
    result.path_error = std::max(result.path_error, length(is.position - should.position));
    result.heading_error = std::max(result.heading_error, std::fabs(scan::wrapped(is.heading - should.heading)));
  }
  return result;
}

Result<scan::Built> built_by(const std::string& method, const Scanned& scan, const Detail& detail, std::uint64_t seed) {
  auto parsed = scan::parse_method(method);
  if (!parsed.ok()) return parsed.error();
  scan::BuildOptions options;
  options.method = *parsed;
  options.seed = seed;
  options.sharpen = !detail.plain, options.by_wins = detail.plain;
  options.noise = scan.noise;
  const bool grid = options.method == scan::Method::growing_grid, net = options.method == scan::Method::gsrm;
  // The paper's settings: 2200 nodes, which gave it 4175 triangles, and 2 million signals, which gave 13,860.
  if (detail.triangles > 0 && options.method != scan::Method::plane_fitting) options.triangles = detail.triangles;
  else if (grid) options.steps = detail.steps > 0 ? detail.steps : 2'000'000;
  else if (net) options.nodes = detail.steps > 0 ? detail.steps : 2'200;
  else if (options.method == scan::Method::mixed) options.triangles = 13'860;
  return scan::build(scan.cloud, options);
}

model::ParameterDesc scanner_parameter() {
  return {"scanner",
          "points",
          {},
          {},
          {"drive", "points"},
          "what a built arena is built from: a simulated drive with two lasers, or points of the true surface",
          0};
}

std::vector<model::ParameterDesc> arena_parameters() {
  return {{"arena",
           "simple",
           {},
           {},
           {"simple", "gsrm", "gg", "pf", "mixed"},
           "made by hand (simple), or built from a scan",
           0},
          scanner_parameter(),
          {"detail", "1", 1, 200, {}, "of the simple arena: each triangle is cut into detail x detail", 0}};
}

ArenaChoice arena_choice(const Parameters& parameters) {
  ArenaChoice choice;
  choice.arena = parameters.text("arena", "simple");
  choice.scanner = parameters.text("scanner", "points") == "drive" ? Scanner::drive : Scanner::points;
  choice.detail = narrow<int>(parameters.integer("detail", 1));
  return choice;
}

Result<scan::Built> arena_of(const ArenaChoice& choice, const Pit& pit, std::uint64_t seed) {
  if (choice.arena == "simple") {
    scan::Built built;
    built.mesh = subdivided(simple_arena(pit), choice.detail);
    return built;
  }
  const auto scan = scanned(simple_arena(pit), pit, choice.scanner, 0.007, seed);
  if (!scan.ok()) return scan.error();
  return built_by(choice.arena, *scan, {}, seed);
}

void add_arena(model::WorldBuilder& builder, const scan::Built& arena) {
  const model::Material material{0.8, 0};
  const model::Color color{0.78, 0.76, 0.72, 1};
  const scan::TriangleMesh& mesh = arena.remaining();
  if (!mesh.triangles.empty())
    builder.add_obstacle(std::make_shared<const model::MeshData>(mesh), {}, 0, material, color, "arena");
  for (std::size_t i = 0; i < arena.boxes.size(); ++i)
    builder.add_obstacle(model::Box{arena.boxes[i].size}, arena.boxes[i].pose, 0, material, color,
                         "box_" + std::to_string(i));
}

}  // namespace volvox::experiments::arenas
