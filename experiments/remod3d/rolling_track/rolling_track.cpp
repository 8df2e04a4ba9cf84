#include <algorithm>
#include <cmath>

#include "disturbance.h"
#include "experiments.h"
#include "remod3d/travel.h"
#include "settings.h"
#include "track.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

// Smooth hills: random heights from the seed every 0.25 m, flat where the track starts.
Result<model::Placement> uneven_ground(double roughness, std::uint64_t seed) {
  constexpr double spacing = 0.25, length = 20, width = 20;
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = truncated<std::uint32_t>(length / spacing) + 1;
  field->rows = truncated<std::uint32_t>(width / spacing) + 1;
  field->size_x = length;
  field->size_y = width;
  RandomStream random(seed, 0, "ground");
  for (std::uint32_t row = 0; row < field->rows; ++row) {
    for (std::uint32_t column = 0; column < field->columns; ++column) {
      const double height = random.uniform(0, roughness);
      const bool level = volvox::length(column * spacing - length / 2, row * spacing - width / 2) < 2.5 * spacing;
      field->heights.push_back(static_cast<float>(level ? 0 : height));
    }
  }
  model::WorldBuilder builder;
  builder.add_terrain(std::move(field), {}, {.friction = 0.7});
  auto built = builder.build();
  if (!built.ok()) return built.error();
  return built->placements.front();
}

// The true direction of a module's middle in the plane of the loop, which TrackModel estimates; rad.
double true_direction(const world::World& world, world::PlacementIndex module) {
  const world::LinkIndex middle = world.part(module).first_link + world.module_model(module).link_index("tail_core");
  const Vec3 up = world.link_pose(middle).rotation.conjugate() * Vec3{0, 0, 1};
  return volvox::atan2(up.x, up.y);
}

// The ReMod3D paper, figure 1(e): six SuperBots in a ring that rolls by its accelerometers.
class RollingTrack final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto world = Experiment::init(setup);
    if (!world.ok()) return world;
    if (setup.settings.at("ground") == "uneven") {
      auto ground = uneven_ground(number(setup.settings, "roughness"), setup.seed);
      if (!ground.ok()) return ground.error();
      world->placements.front() = std::move(*ground);
    }
    if (setup.settings.at("disturbed") == "true") disturb(*world, setup.seed);
    if (setup.settings.at("messages") == "false") cut_messages(*world);
    return world;
  }

  void begin(const sim::Simulation& simulation) override { start_ = world::centre_of_mass(simulation.world()); }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
      const mind::Agent& agent = simulation.minds().agent(i);
      const Vec3 axis = world.link_pose(world.part(agent.placement()).first_link).rotation * Vec3{0, 0, 1};
      tilt_ = std::max(tilt_, std::fabs(volvox::asin(clamp(axis.z, -1, 1))));
      const auto* belief = agent.find_model<robots::TrackModel>();
      if (belief == nullptr) continue;
      const double error = belief->direction - true_direction(world, agent.placement());
      const double wrapped = error - 2 * pi * std::round(error / (2 * pi));
      error_squares_ += wrapped * wrapped;
      ++errors_;
    }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const Vec3 moved = world::centre_of_mass(simulation.world()) - start_;
    const double distance = length(moved.x, moved.y), time = simulation.now().seconds();
    metrics.set("distance_m", distance, "horizontal distance of the centre of mass from its start");
    metrics.set("speed_m_s", sim::mean_of(distance, time), "distance_m over the run time");
    metrics.set("tilt_max_deg", degrees(tilt_), "largest tilt of the loop's plane from the vertical");
    metrics.set("toppled", tilt_ > toppled ? 1 : 0, "1: it tilted by more than 45 degrees");
    metrics.set("direction_error_deg", degrees(std::sqrt(sim::mean_of(error_squares_, real(errors_)))),
                "RMS error of the modules' estimates of the vertical");
    metrics.set("docks_broken", real(simulation.world().docks_broken()));
  }

  void archive_state(Archive& ar) override {
    ar("start", start_);
    ar("tilt", tilt_);
    ar("error squares", error_squares_);
    ar("errors", errors_);
  }

 private:
  Vec3 start_;
  double tilt_ = 0;           // rad, largest tilt of the loop's plane from the vertical
  double error_squares_ = 0;  // rad^2, sum over the modules' estimates of the vertical
  std::int64_t errors_ = 0;
};

}  // namespace

sim::ExperimentFactory rolling_track() { return make<RollingTrack>(); }

}  // namespace volvox::experiments::remod3d
