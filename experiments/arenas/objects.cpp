#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "experiments.h"
#include "pit.h"
#include "scout_pair.h"
#include "volvox/base/index.h"
#include "volvox/rays/ray_caster.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/files.h"
#include "volvox/scan/locate.h"
#include "volvox/scan/simulate.h"

namespace volvox::experiments::arenas {
namespace {

constexpr double near_enough = 0.05;  // m: an object found farther away is another one
constexpr double approach = 0.3;      // m, from the dock of the Scout to the socket
constexpr double half_lane = 0.12;    // m, that the Scouts need on each side
constexpr double scout_front = 0.06;  // m, from its frame to its dock
constexpr double socket_out = 0.15;   // m, of the plug, along its x
constexpr const char* plug_name = "plug";

// Where the Scout begins, in front of a plug that stands at a pose: it looks at the socket.
Pose in_front_of(const Pose& plug, double distance) {
  return plug * Pose{{socket_out + distance + scout_front, 0, scout_clearance}, Quat::axis_angle({0, 0, 1}, pi)};
}

// Whether the floor in front of the plug is free for a pair of Scouts.
bool free_way(const scan::TriangleMesh& mesh, const Pose& plug) {
  const rays::RayCaster caster(std::make_shared<const model::MeshData>(mesh));
  for (double x = 0.02; x < approach + 0.4; x += 0.02)
    for (double y = -half_lane; y <= half_lane; y += 0.02) {
      const rays::Ray down{plug * Vec3{socket_out + x, y, 1}, {0, 0, -1}, 2, 0};
      rays::Hit hit;
      caster.cast({&down, 1}, {&hit, 1});
      if (!hit.hit() || std::fabs(hit.distance - 1) > 0.005) return false;
    }
  return true;
}

// Seed 002, section 1: known objects are recognized in the scan of an arena, located, and put into its model as what
// they are. A pair of Scouts that stands in front of the true power plug then docks with the one in the model.
class Objects final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        scanner_parameter(),
        {"method", "pf", {}, {}, {"gsrm", "gg", "pf", "mixed"}, "how the rest becomes an arena", 0},
        {"boxes", "2", 0, 4, {}, "unknown boxes on the floor", 0, true},
        {"known", "true", {}, {}, {"true", "false"}, "false: nothing that is known stands in the arena", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment arenas/objects");
    const bool drive = parameters.text("scanner", "points") == "drive",
               known = parameters.text("known", "true") == "true";
    const std::string method = parameters.text("method", "pf");
    const int boxes = narrow<int>(parameters.integer("boxes", 2));
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto parsed = scan::parse_method(method);
    if (!parsed.ok()) return parsed.error();
    auto library = scan::read_objects({"arenas/objects"}, setup.library);
    if (!library.ok()) return library.error();
    library_ = std::move(*library);

    auto arena = arena_with_a_way(setup.seed, boxes, known);
    if (!arena.ok()) return arena.error();
    const auto scan = scan_of(*arena, drive, setup.seed);
    if (!scan.ok()) return scan.error();
    auto built =
        scan::build(*scan, {.method = *parsed, .seed = setup.seed, .noise = drive ? 0.008 : 0, .objects = library_});
    if (!built.ok()) return built.error();
    compare(*arena, *built);
    triangles_ = built->remaining().triangles.size();

    model::WorldBuilder builder("objects");
    add_arena(builder, *built);
    for (const scan::FoundObject& found : built->objects) {
      const scan::KnownObject& object = library_[found.object];
      builder.add(object.model(), found.pose, object.name() + "_" + std::to_string(builder_number_[object.name()]++));
    }
    Pose start{{-arena->options.length / 2 + 0.3, -arena->options.width / 2 + 0.3, scout_clearance}, {}};
    for (const scan::PlacedObject& one : arena->objects)
      if (library_[one.object].name() == plug_name) start = in_front_of(one.pose, approach);
    if (auto added =
            add_scout_pair(builder, setup.library, {}, start, {{"speed", known ? "0.15" : "0"}, {"ramp", "0.2"}}, {});
        !added.ok())
      return added.error();
    const Vec3 at = start.position;
    camera_ = fmt::format("{:.3f},{:.3f},1.9:{:.3f},{:.3f},0", at.x * 0.5, at.y * 0.5 - 3.2, at.x * 0.4, at.y * 0.4);
    model::RunSettings run;
    run.duration = Time::seconds(5);
    builder.set_run(run);
    return builder.build();
  }

  std::string camera() const override { return camera_; }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const world::World& world = simulation.world();
    // The Scouts hold together by two docks, with the plug by two more.
    std::size_t engaged = 0;
    for (std::size_t dock = 0; dock < world.docks(); ++dock)
      engaged += world.dock_status(world::DockIndex(dock)).phase == world::DockPhase::engaged;
    metrics.set("known", real(there_), "objects of the library that stand in the arena");
    metrics.set("found", real(found_), "of these, recognized within 5 cm");
    metrics.set("found_share", sim::mean_of(real(found_), real(there_)), "of the objects that stand there");
    metrics.set("wrongly_found", real(wrong_), "objects that are not there");
    metrics.set("position_error_max_mm", sim::measured_if(found_ > 0, far_ * 1e3), "largest, of the objects found");
    metrics.set("turn_error_max_deg", sim::measured_if(found_ > 0, degrees(turned_)), "likewise, about the vertical");
    metrics.set("triangles", real(triangles_), "of what no object replaces");
    metrics.set("docked", engaged == 4 ? 1 : 0, "whether the Scouts docked with the plug of the model");
  }

 private:
  // The first arena of the seed in whose model nothing stands in front of the plug.
  Result<scan::Arena> arena_with_a_way(std::uint64_t seed, int boxes, bool known) const {
    constexpr int most = 200;
    for (int i = 0;; ++i) {
      auto arena = scan::make_arena(
          {.seed = seed + 1'000'003u * narrow<std::uint64_t>(i), .length = 5, .width = 4, .boxes = boxes},
          known ? library_ : std::vector<scan::KnownObject>{});
      if (!arena.ok() || !known || i == most) return arena;
      for (const scan::PlacedObject& one : arena->objects)
        if (library_[one.object].name() == plug_name && free_way(arena->mesh, one.pose)) return arena;
    }
  }

  static Result<scan::Cloud> scan_of(const scan::Arena& arena, bool drive, std::uint64_t seed) {
    if (!drive)
      return scan::sample_cloud(arena.mesh,
                                {.seed = seed, .points = truncated<std::size_t>(3000 * scan::area(arena.mesh))});
    const scan::Drive driven = scan::drive(arena, {.seed = seed, .sweeps_a_second = 37.5, .forward_every = 4});
    const auto located = scan::locate(driven.log);
    if (!located.ok()) return located.error();
    auto cloud = scan::cloud_of(located->log);
    if (!cloud.ok()) return cloud.error();
    return scan::histogram_filter(*cloud, {});
  }

  void compare(const scan::Arena& arena, const scan::Built& built) {
    there_ = arena.objects.size();
    std::vector<bool> taken(built.objects.size());
    for (const scan::PlacedObject& one : arena.objects)
      for (std::size_t i = 0; i < taken.size(); ++i) {
        const scan::FoundObject& found = built.objects[i];
        const scan::PoseError error = scan::pose_error(library_[one.object], found.pose, one.pose);
        if (taken[i] || found.object != one.object || error.distance > near_enough) continue;
        taken[i] = true;
        ++found_;
        far_ = std::max(far_, error.distance), turned_ = std::max(turned_, error.turn);
        break;
      }
    wrong_ = narrow<std::size_t>(std::count(taken.begin(), taken.end(), false));
  }

  std::vector<scan::KnownObject> library_;
  std::map<std::string, int> builder_number_;
  std::string camera_ = "corner";
  std::size_t there_ = 0, found_ = 0, wrong_ = 0, triangles_ = 0;
  double far_ = 0, turned_ = 0;  // m, rad
};

}  // namespace

sim::ExperimentFactory objects() { return make<Objects>(); }

}  // namespace volvox::experiments::arenas
