#include "volvox/world/measures.h"

#include <algorithm>

#include "volvox/base/check.h"

namespace volvox::world {
namespace {

struct MovingLink {
  const model::Link& model;
  Vec3 centre;
  Quat axes;  // principal
  Twist velocity;
  PlacementIndex placement;

  Vec3 spin_momentum() const { return axes * multiply(model.moments, axes.conjugate() * velocity.angular); }
};

template <class Visit>
void each_moving_link(const World& world, Visit&& visit) {
  for (const PlacementIndex p : indices<PlacementIndex>(world.placements())) {
    const model::ModuleModel& module = world.module_model(p);
    if (module.fixed_in_place) continue;
    for (std::uint32_t i = 0; i < module.links.size(); ++i) {
      const LinkIndex link = world.part(p).first_link + i;
      VOLVOX_ASSERT(link < world.links() && world.placement_of_link(link) == p);
      const Pose pose = world.link_pose(link) * module.links[i].inertial;
      visit(MovingLink{module.links[i], pose.position, pose.rotation, world.link_velocity(link), p});
    }
  }
}

}  // namespace

Vec3 centre_of_mass(const World& world) {
  Vec3 sum;
  double mass = 0;
  each_moving_link(world, [&](const MovingLink& link) {
    sum += link.model.mass * link.centre;
    mass += link.model.mass;
  });
  return mass > 0 ? sum / mass : sum;
}

Vec3 centre_of_mass(const World& world, PlacementIndex placement) {
  VOLVOX_ASSERT(placement < world.placements());
  const model::ModuleModel& module = world.module_model(placement);
  Vec3 sum;
  double mass = 0;
  for (std::uint32_t i = 0; i < module.links.size(); ++i) {
    const model::Link& link = module.links[i];
    sum += link.mass * (world.link_pose(world.part(placement).first_link + i) * link.inertial.position);
    mass += link.mass;
  }
  return mass > 0 ? sum / mass : sum;
}

Vec3 momentum(const World& world) {
  Vec3 sum;
  each_moving_link(world, [&](const MovingLink& link) { sum += link.model.mass * link.velocity.linear; });
  return sum;
}

Vec3 angular_momentum(const World& world, const Vec3& about) {
  Vec3 sum;
  each_moving_link(world, [&](const MovingLink& link) {
    sum += cross(link.centre - about, link.model.mass * link.velocity.linear) + link.spin_momentum();
  });
  return sum;
}

double kinetic_energy(const World& world) {
  double sum = 0;
  each_moving_link(world, [&](const MovingLink& link) {
    sum += 0.5 *
           (link.model.mass * length_squared(link.velocity.linear) + dot(link.velocity.angular, link.spin_momentum()));
  });
  return sum;
}

double highest_link(const World& world) {
  double highest = -1e300;
  for (const PlacementIndex p : world.modules()) {
    const model::ModuleModel& module = world.module_model(p);
    for (std::uint32_t i = 0; i < module.links.size(); ++i)
      highest =
          std::max(highest, (world.link_pose(world.part(p).first_link + i) * module.links[i].inertial.position).z);
  }
  return highest;
}

}  // namespace volvox::world
