#include "volvox/scan/arena.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/base/random.h"

namespace volvox::scan {
namespace {

constexpr double lane = 0.7;  // between the walls and the objects on the floor, m
constexpr double gap = 0.06;  // between objects, m

double reach(const Footprint& thing) { return length(thing.half); }

// Places the pit and the boxes at random without overlap; empty if this failed.
std::vector<Footprint> draw_things(const ArenaOptions& options, RandomStream& random, double scale) {
  std::vector<Footprint> things;
  const int count = options.boxes + (options.pit ? 1 : 0);
  for (int i = 0; i < count; ++i) {
    Footprint thing;
    const bool pit = options.pit && i == 0;
    if (pit) {
      thing.half = Vec2{random.uniform(0.35, 0.45), random.uniform(0.2, 0.25)} * scale;
      thing.height = -random.uniform(0.2, 0.3);
    } else {
      thing.half = Vec2{random.uniform(0.12, 0.2), random.uniform(0.1, 0.18)} * scale;
      thing.height = random.uniform(0.15, 0.4);
    }
    bool placed = false;
    for (int attempt = 0; attempt < 200 && !placed; ++attempt) {
      thing.yaw = random.uniform(-pi, pi);
      const double free_x = options.length / 2 - lane - reach(thing), free_y = options.width / 2 - lane - reach(thing);
      if (free_x < 0 || free_y < 0) return {};
      thing.center = {random.uniform(-free_x, free_x), random.uniform(-free_y, free_y)};
      placed = std::all_of(things.begin(), things.end(), [&](const Footprint& other) {
        return volvox::scan::length(other.center - thing.center) > reach(other) + reach(thing) + gap;
      });
    }
    if (!placed) return {};
    things.push_back(thing);
  }
  return things;
}

// The circle about the foot of an object, in its own frame.
struct Standing {
  Vec2 center;
  double radius = 0;
};
Standing standing(const KnownObject& object) {
  const model::Bounds box = object.bounds();
  Standing result{{(box.low.x + box.high.x) / 2, (box.low.y + box.high.y) / 2}, 0};
  result.radius = volvox::length(box.high.x - box.low.x, box.high.y - box.low.y) / 2;
  return result;
}

Vec2 on_floor(const Pose& pose, const Vec2& p) {
  const Vec3 at = pose * Vec3{p.x, p.y, 0};
  return {at.x, at.y};
}

// Puts every object somewhere on the floor between the things, or fails.
Result<std::vector<PlacedObject>> place_objects(const ArenaOptions& options, const std::vector<Footprint>& things,
                                                std::span<const KnownObject> objects) {
  RandomStream random(options.seed, 0, "scan:objects");
  for (int attempt = 0; attempt < 300; ++attempt) {
    std::vector<PlacedObject> placed;
    std::vector<Standing> taken;
    for (const Footprint& thing : things) taken.push_back({thing.center, reach(thing)});
    for (std::size_t k = 0; k < objects.size(); ++k) {
      const Standing own = standing(objects[k]);
      const double free_x = options.length / 2 - lane - own.radius, free_y = options.width / 2 - lane - own.radius;
      for (int i = 0; i < 100 && placed.size() == k && free_x > 0 && free_y > 0; ++i) {
        const Vec2 at{random.uniform(-free_x, free_x), random.uniform(-free_y, free_y)};
        const Quat turn = Quat::axis_angle({0, 0, 1}, random.uniform(-pi, pi));
        if (!std::all_of(taken.begin(), taken.end(), [&](const Standing& other) {
              return length(other.center - at) > other.radius + own.radius + gap;
            }))
          continue;
        const Vec3 center = turn * Vec3{own.center.x, own.center.y, 0};
        placed.push_back({k, {Vec3{at.x, at.y, -objects[k].bounds().low.z} - center, turn}});
        taken.push_back({at, own.radius});
      }
    }
    if (placed.size() == objects.size()) return placed;
  }
  return Error(fmt::format("a room of {} by {} m has no place for {} objects beside its boxes", options.length,
                           options.width, objects.size()),
               "take a larger room, fewer objects or fewer boxes");
}

class Builder {
 public:
  // A horizontal polygon with holes at a height; its front is up.
  void floor(const std::vector<std::vector<Vec2>>& loops, double z) {
    const auto first = narrow<std::uint32_t>(mesh.vertices.size());
    for (const auto& loop : loops)
      for (const Vec2& p : loop) mesh.vertices.push_back({p.x, p.y, z});
    for (const auto& t : triangulate(loops)) mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
  // Vertical walls over a counter-clockwise loop; their fronts face out of the loop or into it.
  void walls(const std::vector<Vec2>& loop, double low, double high, bool outward) {
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const Vec2 a = loop[i], b = loop[(i + 1) % loop.size()];
      const auto n = narrow<std::uint32_t>(mesh.vertices.size());
      mesh.vertices.insert(mesh.vertices.end(), {{a.x, a.y, low}, {b.x, b.y, low}, {b.x, b.y, high}, {a.x, a.y, high}});
      if (outward) mesh.triangles.insert(mesh.triangles.end(), {{n, n + 1, n + 2}, {n, n + 2, n + 3}});
      else mesh.triangles.insert(mesh.triangles.end(), {{n, n + 2, n + 1}, {n, n + 3, n + 2}});
    }
  }
  void add(const TriangleMesh& other, const Pose& pose) {
    const auto first = narrow<std::uint32_t>(mesh.vertices.size());
    for (const Vec3& p : other.vertices) mesh.vertices.push_back(pose * p);
    for (const Triangle& t : other.triangles) mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
  TriangleMesh mesh;
};

}  // namespace

std::vector<Vec2> Footprint::corners() const {
  const double c = volvox::cos(yaw), s = volvox::sin(yaw);
  std::vector<Vec2> result;
  for (const Vec2 sign : {Vec2{-1, -1}, Vec2{1, -1}, Vec2{1, 1}, Vec2{-1, 1}}) {
    const double x = sign.x * half.x, y = sign.y * half.y;
    result.push_back({center.x + c * x - s * y, center.y + s * x + c * y});
  }
  return result;
}

Result<Arena> make_arena(const ArenaOptions& options, std::span<const KnownObject> objects) {
  Arena arena{options, {}, {}, {}};
  RandomStream random(options.seed, 0, "scan:arena");
  const bool wanted = options.pit || options.boxes > 0;
  for (double scale = 1; wanted && arena.things.empty(); scale *= 0.97) {
    if (scale < 0.3) {
      return Error(fmt::format("a room of {} by {} m has no place for {} boxes{} beside a lane of {} m along its walls",
                               options.length, options.width, options.boxes, options.pit ? " and a pit" : "", lane),
                   "take a larger room or fewer boxes");
    }
    arena.things = draw_things(options, random, scale);
  }
  const std::vector<Vec2> room = {{-options.length / 2, -options.width / 2},
                                  {options.length / 2, -options.width / 2},
                                  {options.length / 2, options.width / 2},
                                  {-options.length / 2, options.width / 2}};
  Builder builder;
  std::vector<std::vector<Vec2>> floor = {room};
  for (const Footprint& thing : arena.things) {
    std::vector<Vec2> hole = thing.corners();
    std::reverse(hole.begin(), hole.end());
    floor.push_back(std::move(hole));
  }
  auto placed = place_objects(options, arena.things, objects);
  if (!placed.ok()) return placed.error();
  arena.objects = std::move(*placed);
  for (const PlacedObject& one : arena.objects) {
    std::vector<Vec2> hole;
    for (const Vec2& p : objects[one.object].foot()) hole.push_back(on_floor(one.pose, p));
    std::reverse(hole.begin(), hole.end());
    floor.push_back(std::move(hole));
  }
  builder.floor(floor, 0);
  builder.walls(room, 0, options.height, false);
  for (const Footprint& thing : arena.things) {
    builder.walls(thing.corners(), std::min(0.0, thing.height), std::max(0.0, thing.height), thing.height > 0);
    builder.floor({thing.corners()}, thing.height);
  }
  for (const PlacedObject& one : arena.objects) builder.add(objects[one.object].surface(), one.pose);
  arena.mesh = welded(builder.mesh, 1e-6);
  return arena;
}

Cloud sample_cloud(const TriangleMesh& mesh, const SampleOptions& options) {
  std::vector<double> sums;  // cumulative areas, to choose triangles
  double sum = 0;
  for (const Triangle& triangle : mesh.triangles) sums.push_back(sum += length(area_normal(mesh, triangle)));
  RandomStream random(options.seed, 0, "scan:sample");
  Cloud cloud;
  for (std::size_t i = 0; i < options.points; ++i) {
    const auto chosen = std::upper_bound(sums.begin(), sums.end(), random.uniform(0, sum)) - sums.begin();
    const Triangle& t = mesh.triangles[std::min<std::size_t>(chosen, mesh.triangles.size() - 1)];
    double u = random.uniform(), v = random.uniform();
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const Vec3 a = corner(mesh, t, 0);
    const Vec3 noise{random.normal(), random.normal(), random.normal()};
    cloud.points.push_back(a + (corner(mesh, t, 1) - a) * u + (corner(mesh, t, 2) - a) * v + noise * options.noise);
  }
  const model::Bounds box = bounds(mesh);
  for (std::size_t i = 0; i < options.outliers; ++i) {
    cloud.points.push_back({random.uniform(box.low.x, box.high.x), random.uniform(box.low.y, box.high.y),
                            random.uniform(box.low.z, box.high.z)});
  }
  return cloud;
}

}  // namespace volvox::scan
