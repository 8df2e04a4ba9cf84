#include "volvox/model/elongate.h"

#include "volvox/model/mass.h"

namespace volvox::model {

void elongate(ModuleModel& model, std::size_t number, double extension, double mass, double radius) {
  Dock& dock = model.docks[number];
  const Pose foot = dock.pose;
  const Pose middle = foot * Pose{{extension / 2, 0, 0}, Quat::axis_angle({0, 1, 0}, pi / 2)};
  dock.extension = extension;
  dock.pose = foot * Pose{{extension, 0, 0}, {}};
  const Shape bar = Cylinder{radius, extension};
  Link& link = model.links[dock.link];
  auto geometry = std::make_shared<Geometry>(*link.geometry);
  geometry->colliders.push_back({dock.name + "_bar", bar, middle, {}});
  link.geometry = std::move(geometry);
  link.visuals.push_back({dock.name + "_bar", bar, middle, {0.35, 0.35, 0.38, 1}});
  if (!model.fixed_in_place) set_mass_properties(link, sum(mass_properties(link), placed(solid(bar, mass), middle)));
}

}  // namespace volvox::model
