#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "settings.h"
#include "travel.h"
#include "volvox/base/index.h"
#include "volvox/model/hull_faces.h"
#include "volvox/world/matter.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

constexpr double tank_length = 3;   // m, in fluid/world.sdf
constexpr double curtain_at = 0.6;  // m, x of the curtain in cloth/world.sdf
constexpr double swim_after = 2;    // s: the wave has risen, and the water moves with it
constexpr double aside = 0.05;      // m: a grain that went farther was pushed aside

Vec3 wide(const particles::Point& p) { return {p.x, p.y, p.z}; }

world::PlacementIndex placement_named(const world::World& world, const std::string& name) {
  for (world::PlacementIndex p = 0; p < world.placements(); ++p)
    if (world.name(p) == name) return p;
  VOLVOX_CHECK(false, "the world of this experiment has changed");
}

// Of the convex hull around a straight module, m^3: water does not enter gaps that are narrower than a particle.
double volume_of(const model::ModuleModel& module) {
  std::vector<Vec3> points;
  for (const model::Link& link : module.links)
    for (const model::Collider& collider : link.geometry->colliders) {
      const Pose pose = link.pose * collider.pose;
      if (const auto* hull = std::get_if<model::Hull>(&collider.shape)) {
        for (const Vec3& p : (*hull)->points) points.push_back(pose * p);
        continue;
      }
      const model::Bounds box = model::bounds(collider.shape, {});
      for (int k = 0; k < 8; ++k)
        points.push_back(pose * Vec3{k & 1 ? box.high.x : box.low.x, k & 2 ? box.high.y : box.low.y,
                                     k & 4 ? box.high.z : box.low.z});
    }
  double volume = 0;
  for (const model::HullFace& face : model::hull_faces(points))
    volume += dot(points[face.corners[0]], cross(points[face.corners[1]], points[face.corners[2]])) / 6;
  return volume;
}

// What experiments with water, rubble and cloth measure, beside how far their robots move. SI units.
class WithParticles : public Travel {
 public:
  void begin(const sim::Simulation& simulation) override {
    Travel::begin(simulation);
    matter(simulation);
  }

  void observe(const sim::Simulation& simulation) override {
    Travel::observe(simulation);
    constexpr std::int64_t every = 6;  // ticks: it takes as long as a substep
    if (simulation.tick() % every != 0) return;
    error_sum_ += matter(simulation).particles().density_error();
    ++errors_;
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    Travel::shutdown(simulation, metrics);
    const world::Matter& m = matter(simulation);
    metrics.set("fluid_particles", real(m.particles().fluid_positions().size()),
                "number of particles of fluid at the end");
    metrics.set("solid_particles", real(m.particles().solid_positions().size()),
                "number of grains and points of cloth");
    metrics.set("drained", real(m.particles().drained()), "particles that left the world");
    if (m.description().fluid)
      metrics.set("density_error_mean", sim::mean_of(error_sum_, real(errors_)),
                  "how much denser than at rest the fluid was, as a part, mean over particles and time");
  }

  void archive_state(Archive& ar) override {
    Travel::archive_state(ar);
    ar("density errors", error_sum_), ar("samples", errors_);
  }

 protected:
  static const world::Matter& matter(const sim::Simulation& simulation) {
    VOLVOX_CHECK(simulation.world().matter() != nullptr, "this experiment needs particles in its world.sdf");
    return *simulation.world().matter();
  }

 private:
  double error_sum_ = 0;  // of densities
  std::int64_t errors_ = 0;
};

// Figure 7: a dam of 40,000 particles breaks over modules. When its front reaches the far wall, and how high it
// splashes.
class FluidDam final : public WithParticles {
 public:
  void observe(const sim::Simulation& simulation) override {
    WithParticles::observe(simulation);
    float front = -1e30f, top = 0;
    for (const particles::Point& p : matter(simulation).particles().fluid_positions())
      front = std::max(front, p.x), top = std::max(top, p.z);
    if (arrived_at_ < 0 && front > tank_length - 0.05) arrived_at_ = simulation.now().seconds();
    splash_ = std::max<double>(splash_, top);
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    WithParticles::shutdown(simulation, metrics);
    metrics.set("front_arrives_s", sim::measured_time(arrived_at_),
                "when the first particle reached the far wall; -: never");
    metrics.set("splash_m", splash_, "height of the highest particle");
  }

  void archive_state(Archive& ar) override {
    WithParticles::archive_state(ar);
    ar("arrived", arrived_at_), ar("splash", splash_);
  }

 private:
  double arrived_at_ = -1;  // s; -1: not yet
  double splash_ = 0;       // m, the highest particle
};

// A snake crawls through rubble: what it pushes aside.
class Rubble final : public WithParticles {
 public:
  void begin(const sim::Simulation& simulation) override {
    WithParticles::begin(simulation);
    const particles::ParticleWorld& world = matter(simulation).particles();
    start_.resize(world.solid_positions().size());
    for (std::size_t i = 0; i < start_.size(); ++i) start_[world.solid_ids()[i]] = wide(world.solid_positions()[i]);
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    WithParticles::shutdown(simulation, metrics);
    const particles::ParticleWorld& world = matter(simulation).particles();
    int pushed = 0;
    double lowest = 1e300;
    for (std::size_t i = 0; i < world.solid_positions().size(); ++i) {
      const Vec3 at = wide(world.solid_positions()[i]), way = at - start_[world.solid_ids()[i]];
      pushed += length(way.x, way.y) > aside;
      lowest = std::min(lowest, at.z - world.solid_velocities()[i].w);
    }
    metrics.set("grains_pushed", pushed, "number of grains that moved by more than 5 cm sideways");
    metrics.set("below_ground_m", std::max(0.0, -lowest), "how deep the lowest grain is in the ground");
  }

  void archive_state(Archive& ar) override {
    WithParticles::archive_state(ar);
    ar("start", start_);
  }

 private:
  std::vector<Vec3> start_;  // by id
};

// A Wheelbot pushes through a curtain, and a net catches a SuperBot.
class ClothScene final : public WithParticles {
 public:
  // From the side: the curtain hides the Wheelbot neither before nor behind it.
  std::string camera() const override { return "0,-3.9,1.9:0.85,0.55,0.42"; }
  void observe(const sim::Simulation& simulation) override {
    WithParticles::observe(simulation);
    const world::World& world = simulation.world();
    const world::PlacementIndex rover = placement_named(world, "rover");
    double rear = 1e300;
    for (std::uint32_t l = 0; l < world.module_model(rover).links.size(); ++l)
      rear = std::min(rear, world.link_pose(world.part(rover).first_link + l).position.x);
    if (passed_at_ < 0 && rear > curtain_at + 0.2) passed_at_ = simulation.now().seconds();
    lowest_ = std::min(lowest_, world::centre_of_mass(world, placement_named(world, "caught")).z);
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    WithParticles::shutdown(simulation, metrics);
    const world::World& world = simulation.world();
    const double height = world::centre_of_mass(world, placement_named(world, "caught")).z;
    metrics.set("passed", passed_at_ >= 0, "1: the Wheelbot has pushed through the curtain");
    metrics.set("passed_at_s", sim::measured_time(passed_at_), "when it had; -: never");
    metrics.set("caught", height > 0.2, "1: the net holds the SuperBot at the end");
    metrics.set("caught_height_m", height, "its height at the end");
    metrics.set("caught_lowest_m", sim::measured_if(lowest_ < 1e299, lowest_), "its lowest height");
    metrics.set("torn", real(matter(simulation).particles().torn()), "threads that tore");
  }

  void archive_state(Archive& ar) override {
    WithParticles::archive_state(ar);
    ar("passed", passed_at_), ar("lowest", lowest_);
  }

 private:
  double passed_at_ = -1;  // s, when all of the Wheelbot is behind the curtain; -1: not yet
  double lowest_ = 1e300;  // m, of the caught module's centre
};

// A snake of SuperBots in a tank: whether it floats, and how fast it swims. Its modules get the mean density that the
// parameter `density` says; 0: their own.
class Swim final : public WithParticles {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto world = Experiment::init(setup);
    if (!world.ok()) return world;
    const double density = number(setup.settings, "density");
    if (density == 0) return world;
    std::shared_ptr<const model::ModuleModel> before, after;
    for (model::Placement& placement : world->placements) {
      if (!placement.is_module()) continue;
      if (placement.model != before) {
        auto changed = std::make_shared<model::ModuleModel>(*placement.model);
        const double ratio = density * volume_of(*changed) / changed->mass();
        for (model::Link& link : changed->links) link.mass *= ratio, link.moments *= ratio;
        before = placement.model, after = changed;
      }
      placement.model = after;
    }
    return world;
  }

  void begin(const sim::Simulation& simulation) override {
    WithParticles::begin(simulation);
    begun_ = centre_of_modules(simulation.world());
  }

  void observe(const sim::Simulation& simulation) override {
    WithParticles::observe(simulation);
    const world::World& world = simulation.world();
    const double time = simulation.now().seconds();
    if (time <= swim_after) {
      begun_ = centre_of_modules(world);
      return;
    }
    double volume = 0, below = 0;
    for (const world::PlacementIndex module : world.modules())
      for (std::uint32_t l = 0; l < world.module_model(module).links.size(); ++l) {
        const world::LinkIndex link = world.part(module).first_link + l;
        thrust_ += matter(simulation).impulse(link).force;
        if (simulation.tick() % 10 != 0) continue;
        for (const particles::ShapeIndex shape : matter(simulation).shapes_of(link)) {
          const double own = particles::volume(matter(simulation).particles().shape(shape));
          volume += own, below += own * matter(simulation).immersion(link).submerged;
        }
      }
    if (volume > 0) submerged_ += below / volume, ++samples_;
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    WithParticles::shutdown(simulation, metrics);
    const world::World& world = simulation.world();
    const double time = simulation.now().seconds() - swim_after;
    const Vec3 way = centre_of_modules(world) - begun_;
    double volume = 0, mass = 0;
    for (const world::PlacementIndex module : world.modules())
      volume += volume_of(world.module_model(module)), mass += world.module_model(module).mass();
    metrics.set("swim_speed_m_s", sim::measured_if(time > 0, way.x / std::max(time, 1e-9)),
                "mean speed along x, where it heads, after the first 2 s");
    metrics.set("lift_over_weight", sim::measured_if(time > 0, thrust_.z / std::max(time, 1e-9) / (mass * 9.81)),
                "mean force of the water upwards, over the weight");
    metrics.set("thrust_N", sim::measured_if(time > 0, thrust_.x / std::max(time, 1e-9)),
                "mean force of the water along x");
    metrics.set("submerged", sim::mean_of(submerged_, real(samples_)),
                "part of the snake's volume below the level, mean");
    metrics.set("module_density_kg_m3", mass / volume, "mass over volume of a module");
  }

  void archive_state(Archive& ar) override {
    WithParticles::archive_state(ar);
    ar("begun", begun_), ar("thrust", thrust_), ar("submerged", submerged_), ar("samples", samples_);
  }

 private:
  Vec3 begun_;            // centre of mass when the wave has its full height
  Vec3 thrust_;           // N s, from the water since then, without weight
  double submerged_ = 0;  // mean over the links, by volume, summed over the last second
  std::int64_t samples_ = 0;
};

}  // namespace

sim::ExperimentFactory fluid() { return make<FluidDam>(); }
sim::ExperimentFactory debris() { return make<Rubble>(); }
sim::ExperimentFactory cloth() { return make<ClothScene>(); }
sim::ExperimentFactory swim() { return make<Swim>(); }

}  // namespace volvox::experiments::remod3d
