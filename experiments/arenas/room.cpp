#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "experiments.h"
#include "pit.h"
#include "scout_pair.h"
#include "volvox/base/cell_grid.h"
#include "volvox/rays/ray_caster.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/files.h"
#include "volvox/scan/free_place.h"
#include "volvox/scan/register.h"

namespace volvox::experiments::arenas {
namespace {

// A reading can be judged only where the scan has a point within `known`. It is good within `close`, which is the
// distance between the scan's points on far walls.
constexpr double known = 0.25, close = 0.05;  // m

// Walls are drawn only up to this height above the floor, so that one sees into the room from above. Rays and wheels
// collide with the whole mesh.
constexpr double cut = 1.2;  // m
constexpr model::Color floor_color{0.75, 0.70, 0.60, 1}, wall_color{0.66, 0.71, 0.76, 1};

scan::TriangleMesh below_the_cut(scan::TriangleMesh mesh, double floor) {
  std::erase_if(mesh.triangles, [&](const scan::Triangle& t) {
    return (scan::corner(mesh, t, 0).z + scan::corner(mesh, t, 1).z + scan::corner(mesh, t, 2).z) / 3 > floor + cut;
  });
  return mesh;
}

void draw_without_ceiling(model::WorldBuilder& builder, const scan::Built& built, double floor) {
  const int arena = builder.find("arena");
  if (arena < 0) return;  // the arena consists of boxes only
  auto drawn = std::make_shared<model::ModuleModel>(*builder.placement(arena).model);
  std::vector<model::Visual>& visuals = drawn->links.front().visuals;
  visuals.clear();
  for (const bool is_floor : {true, false}) {
    scan::TriangleMesh part = below_the_cut(built.remaining(), floor);
    std::erase_if(part.triangles, [&](const scan::Triangle& t) {
      const Vec3 a = scan::corner(part, t, 0), b = scan::corner(part, t, 1), c = scan::corner(part, t, 2);
      const bool level = std::fabs(normalized(cross(b - a, c - a)).z) > 0.9 && std::max({a.z, b.z, c.z}) < floor + 0.1;
      return level != is_floor;
    });
    if (part.triangles.empty()) continue;
    visuals.push_back({is_floor ? "floor" : "walls",
                       std::make_shared<const model::MeshData>(scan::welded(part, 1e-9)),
                       {},
                       is_floor ? floor_color : wall_color});
  }
  builder.placement(arena).model = drawn;
}

// Of eight cameras around the path, the one that sees most of the path.
std::string camera_at(const scan::TriangleMesh& mesh, const scan::FreePlace& place) {
  const rays::RayCaster caster(std::make_shared<const model::MeshData>(below_the_cut(mesh, place.at.z)));
  const Vec3 ahead{volvox::cos(place.heading), volvox::sin(place.heading), 0},
      middle = place.at + ahead * (place.way / 2);
  constexpr int sights = 9;
  Vec3 best;
  int most = -1;
  for (const double side : {-50.0, 50.0, -90.0, 90.0, -130.0, 130.0, 0.0, 180.0}) {
    const double angle = place.heading + radians(side);
    const Vec3 eye = middle + Vec3{volvox::cos(angle), volvox::sin(angle), 0.9} * (0.8 + 1.2 * place.way);
    int seen = 0;
    for (int i = 0; i < sights; ++i) {
      const Vec3 target = place.at + ahead * (place.way * i / (sights - 1)) + Vec3{0, 0, 0.12};
      const rays::Ray sight{eye, normalized(target - eye), length(target - eye), 0};
      rays::Hit hit;
      caster.cast({&sight, 1}, {&hit, 1});
      seen += !hit.hit();
    }
    if (seen > most) most = seen, best = eye;
  }
  return fmt::format("{:.3f},{:.3f},{:.3f}:{:.3f},{:.3f},{:.3f}", best.x, best.y, best.z, middle.x, middle.y, middle.z);
}

// Through the library, so that the scan is one of the files of the run.
Result<scan::CloudReading> read_cloud(const std::string& file, model::ModelLibrary& library) {
  const auto bytes = library.read(file);
  if (!bytes.ok()) return bytes.error();
  return scan::parse_cloud(*bytes, file);
}

// A real room, built from a laser scan. A pair of Scouts drives in it, and its own laser readings are compared with the
// scan.
class Room final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"scan", "", {}, {}, {}, "file with a point cloud of a room: .pcd, .ply, .xyz or .off", 0},
        {"second", "", {}, {}, {}, "second cloud of the same room, registered to the first to fill its shadows", 0},
        {"method", "gsrm", {}, {}, {"gsrm", "gg", "pf", "mixed"}, "how the cloud becomes an arena", 0},
        {"speed", "0.1", 0.01, 0.55, {}, "of the Scouts, in m/s", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment arenas/room");
    const std::string file = parameters.text("scan", ""), second = parameters.text("second", ""),
                      method = parameters.text("method", "gsrm");
    const double speed = parameters.number("speed", 0.1);
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    if (file.empty())
      return Error("arenas/room needs a scan of a room",
                   "give a file: --set scan=room.pcd (volvox scan simulate --cloud makes one)");
    auto reading = read_cloud(file, setup.library);
    if (!reading.ok()) return reading.error();
    scan_ = std::move(reading->cloud);
    if (!second.empty()) {
      const auto other = read_cloud(second, setup.library);
      if (!other.ok()) return other.error();
      const auto found = scan::register_clouds(scan_, other->cloud);
      if (!found.ok()) return found.error();
      if (const std::string doubt = found->doubt(); !doubt.empty())
        setup.warnings.push_back(
            {second, 0, doubt, "check the result by eye; scans with more overlap register more reliably"});
      scan_.colors.clear();
      for (const Vec3& p : other->cloud.points) scan_.points.push_back(found->pose * p);
    }
    auto parsed = scan::parse_method(method);
    if (!parsed.ok()) return parsed.error();
    auto built = scan::build(scan_, {.method = *parsed, .seed = setup.seed});
    if (!built.ok()) return built.error();
    mesh_ = built->mesh;
    boxes_ = built->boxes.size();
    cpu_ = built->cpu_s;
    const auto place = scan::free_place(built->mesh);
    if (!place.ok()) return place.error();
    grid_ = std::make_unique<CellGrid>(scan_.points, known);

    model::WorldBuilder builder("room");
    add_arena(builder, *built);
    draw_without_ceiling(builder, *built, place->at.z);
    camera_ = camera_at(built->mesh, *place);
    constexpr int rays = 360;
    model::Sensor sensor{laser,
                         "laser",
                         0,
                         {{0, 0, 0.06}, Quat::axis_angle({0, 0, 1}, pi)},
                         {{"rays", std::to_string(rays)},
                          {"field_of_view", std::to_string(2 * pi * (rays - 1) / rays)},
                          {"max_range", "20"}},
                         0};
    const auto added =
        add_scout_pair(builder, setup.library, {sensor},
                       Pose{place->at + Vec3{0, 0, scout_clearance}, Quat::axis_angle({0, 0, 1}, place->heading)},
                       {{"speed", std::to_string(speed)}, {"ramp", "0.5"}});
    if (!added.ok()) return added.error();
    model::RunSettings run;
    free_way_ = place->way;
    run.duration = Time::seconds(std::clamp(std::round(place->way / speed), 2.0, 60.0));
    builder.set_run(run);
    return builder.build();
  }

  std::string camera() const override { return camera_; }
  void observe(const sim::Simulation& simulation) override {
    const Vec3 at =
        simulation.world().link_pose(simulation.world().part(simulation.world().modules()[0]).first_link).position;
    if (!start_) start_ = at;
    way_ = std::max(way_, length(at - *start_));
    lowest_ = std::min(lowest_, at.z - start_->z);
    const auto& ranges = simulation.minds().agent(0).percept<std::vector<double>>(laser);
    const auto cast = simulation.minds().rays();
    for (std::size_t i = 0; i < ranges.size() && i < cast.size(); ++i) {
      ++rays_;
      if (ranges[i] >= cast[i].range) continue;
      ++returned_;
      double nearest = known * known;
      bool found = false;
      grid_->near(cast[i].origin + cast[i].direction * ranges[i], known, [&](std::uint32_t, double squared) {
        found = true;
        nearest = std::min(nearest, squared);
      });
      if (!found) continue;
      ++seen_;
      near_ += nearest < close * close;
      error_sum_ += std::sqrt(nearest);
    }
  }

  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    const auto part = [](std::int64_t some, std::int64_t all) { return sim::mean_of(real(some), real(all)); };
    metrics.set("triangles", real(mesh_.triangles.size()), "of the room's mesh");
    metrics.set("boxes", real(boxes_), "of a mixed model");
    metrics.set("cpu_s", cpu_, "processor time to build the room");
    metrics.set("free_way_m", free_way_, "length of free floor ahead of the first Scout's start");
    metrics.set("way_m", way_, "largest distance of the first Scout from its start");
    metrics.set("lowest_m", lowest_, "lowest height of the first Scout, relative to its start");
    metrics.set("returned", part(returned_, rays_), "fraction of the laser's rays that hit something");
    metrics.set("on_scan", part(seen_, returned_), "fraction of the hits within 25 cm of a point of the scan");
    metrics.set("near_scan", part(near_, seen_), "fraction of on_scan's hits within 5 cm of a point of the scan");
    metrics.set("scan_distance_mean_mm", sim::mean_of(error_sum_, real(seen_)) * 1e3,
                "mean distance of on_scan's hits to the nearest point of the scan");
  }

  Result<void> write(const std::filesystem::path& folder) const override {
    return scan::write_mesh(mesh_, folder / "arena.ply");
  }

  void archive_state(Archive& ar) override {
    ar("error sum", error_sum_);
    ar("rays", rays_);
    ar("returned", returned_);
    ar("seen", seen_);
    ar("near", near_);
    ar("start", start_);
    ar("way", way_);
    ar("lowest", lowest_);
  }

 private:
  std::string camera_ = "corner";
  scan::Cloud scan_;
  scan::TriangleMesh mesh_;         // built from it
  std::unique_ptr<CellGrid> grid_;  // of the scan
  std::size_t boxes_ = 0;
  double cpu_ = 0;        // s
  double free_way_ = 0;   // m
  double error_sum_ = 0;  // m, from where a ray hit to the nearest point of the scan
  std::int64_t rays_ = 0, returned_ = 0, seen_ = 0, near_ = 0;
  std::optional<Vec3> start_;
  double way_ = 0, lowest_ = 0;  // m, relative to the start
};

}  // namespace

sim::ExperimentFactory room() { return make<Room>(); }

}  // namespace volvox::experiments::arenas
