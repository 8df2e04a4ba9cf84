#include <algorithm>

#include "experiments.h"
#include "remod3d/travel.h"
#include "settings.h"
#include "volvox/base/index.h"
#include "volvox/world/matter.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

constexpr double far_side = 0.5;  // m, x of the crest

const model::HeightFieldData& hills(const model::WorldModel& world) {
  for (const model::Placement& placement : world.placements)
    for (const model::Link& link : placement.model->links)
      for (const model::Collider& collider : link.geometry->colliders)
        if (const auto* field = std::get_if<model::HeightField>(&collider.shape)) return **field;
  VOLVOX_CHECK(false, "terrain/world.sdf has no height field");
}

// Boxes, balls, rods and tins of 2 to 6 cm.
model::Shape random_shape(RandomStream& random) {
  const double size = random.uniform(0.01, 0.03);
  switch (random.below(4)) {
    case 0: return model::Box{{2 * size, 2 * size * random.uniform(0.5, 1), 2 * size * random.uniform(0.5, 1)}};
    case 1: return model::Sphere{size};
    case 2: return model::Capsule{0.6 * size, 2 * size};
    default: return model::Cylinder{size, 1.5 * size};
  }
}

bool meet(const model::Bounds& a, const model::Bounds& b) {
  return a.low.x < b.high.x && b.low.x < a.high.x && a.low.y < b.high.y && b.low.y < a.high.y && a.low.z < b.high.z &&
         b.low.z < a.high.z;
}

// Puts a shape above the others that it would reach into: it falls onto them.
void lift_clear(Pose& pose, const model::Shape& shape, std::vector<model::Bounds>& others) {
  model::Bounds own = model::bounds(shape, pose);
  const auto blocks = [&](const model::Bounds& other) { return meet(own, other); };
  for (;;) {
    const auto other = std::find_if(others.begin(), others.end(), blocks);
    if (other == others.end()) break;
    pose.position.z += other->high.z - own.low.z + 1e-3;
    own = model::bounds(shape, pose);
  }
  others.push_back(own);
}

// Over the hollow that world.sdf fills with water.
bool in_pool(const Vec3& at) { return std::fabs(at.x - 0.79) < 0.37 && std::fabs(at.y + 0.17) < 0.36; }

int wet_links(const world::World& world) {
  int wet = 0;
  for (const world::PlacementIndex module : world.modules())
    for (std::uint32_t i = 0; i < world.module_model(module).links.size(); ++i)
      wet += world.matter()->immersion(world.part(module).first_link + i).wet;
  return wet;
}

double volume_bound(const model::Shape& shape) {
  const model::Bounds box = model::bounds(shape, {});
  const Vec3 size = box.high - box.low;
  return size.x * size.y * size.z;
}

// The ReMod3D paper, figure 1(g) and section IV.E: a snake crosses hills made from a grayscale image, with loose
// obstacles of all shapes, which it climbs over and pushes away.
class Terrain final : public Travel {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto world = Experiment::init(setup);
    if (!world.ok()) return world;
    if (setup.settings.at("pool") == "false") world->matter.reset();
    const int count = truncated(number(setup.settings, "obstacles"));
    const model::HeightFieldData& field = hills(*world);
    model::WorldBuilder strewn("obstacles");
    RandomStream random(setup.seed, 0, "obstacles");
    std::vector<model::Bounds> placed;
    for (int i = 0; i < count; ++i) {
      // Keep clear of the snake's start, and of the water.
      Vec3 at;
      do at = {random.uniform(-1.4, 1.4), random.uniform(-1.4, 1.4), 0};
      while ((at.x < -0.5 && std::fabs(at.y) < 0.15) || (world->matter != nullptr && in_pool(at)));
      at.z = field.height_at(at.x, at.y) + 0.06;
      const model::Shape shape = random_shape(random);
      const double shade = random.uniform(0.35, 0.8);
      const Quat attitude = normalized(Quat{random.normal(), random.normal(), random.normal(), random.normal()});
      Pose pose{at, attitude};
      lift_clear(pose, shape, placed);
      strewn.add_obstacle(shape, pose, 600 * 0.6 * volume_bound(shape), {}, {shade, 0.6 * shade, 0.25 * shade, 1},
                          "obstacle" + std::to_string(i));
    }
    auto obstacles = strewn.build();
    if (!obstacles.ok()) return obstacles.error();
    for (model::Placement& placement : obstacles->placements) world->placements.push_back(std::move(placement));
    return world;
  }

  void begin(const sim::Simulation& simulation) override {
    Travel::begin(simulation);
    const world::World& world = simulation.world();
    for (world::PlacementIndex p = 0; p < world.placements(); ++p)
      if (world.name(p).starts_with("obstacle")) obstacles_.push_back(world::centre_of_mass(world, p));
  }

  void observe(const sim::Simulation& simulation) override {
    Travel::observe(simulation);
    const world::World& world = simulation.world();
    const model::HeightFieldData& field = hills(world.model());
    double rear = 1e300;
    for (const world::PlacementIndex module : world.modules()) {
      rear = std::min(rear, world::centre_of_mass(world, module).x);
      for (std::uint32_t i = 0; i < world.module_model(module).links.size(); ++i) {
        const Vec3 at = world.link_pose(world.part(module).first_link + i).position;
        if (std::max(std::fabs(at.x), std::fabs(at.y)) < 1.5)
          below_ = std::max(below_, field.height_at(at.x, at.y) - at.z);
      }
    }
    if (world.matter() != nullptr && simulation.tick() % 30 == 0) wet_ = std::max(wet_, wet_links(world));
    if (crossed_at_ < 0 && rear > far_side) crossed_at_ = simulation.now().seconds();
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    Travel::shutdown(simulation, metrics);
    const world::World& world = simulation.world();
    int moved = 0;
    std::size_t next = 0;
    for (world::PlacementIndex p = 0; p < world.placements(); ++p) {
      if (!world.name(p).starts_with("obstacle") || next >= obstacles_.size()) continue;
      const Vec3 way = world::centre_of_mass(world, p) - obstacles_[next++];
      moved += length(way.x, way.y) > 0.1;
    }
    metrics.set("crossed", crossed_at_ >= 0, "1: the whole snake has passed the crest");
    metrics.set("crossed_at_s", sim::measured_time(crossed_at_), "when it had passed the crest; -: never");
    metrics.set("obstacles", real(obstacles_.size()), "number of loose bodies");
    metrics.set("obstacles_moved", moved, "number of obstacles that moved by more than 10 cm");
    if (const world::Matter* pool = world.matter()) {
      metrics.set("water_particles", real(pool->particles().fluid_positions().size()),
                  "particles of water that are left");
      metrics.set("wet_links_max", wet_, "most links of the snake that were wet at one time");
    }
    metrics.set("below_ground_m", below_, "largest depth of any link's origin below the surface; 0: none");
  }

  void archive_state(Archive& ar) override {
    Travel::archive_state(ar);
    ar("crossed", crossed_at_);
    ar("below", below_);
    ar("wet", wet_);
    ar("obstacles", obstacles_);
  }

 private:
  double crossed_at_ = -1;       // s, when the whole snake had passed the crest; -1: not yet
  double below_ = 0;             // m, largest depth of any link's origin below the surface
  int wet_ = 0;                  // most links of the snake that were wet at one time
  std::vector<Vec3> obstacles_;  // their positions at the start, in the order of placements
};

}  // namespace

sim::ExperimentFactory terrain() { return make<Terrain>(); }

}  // namespace volvox::experiments::remod3d
