#include "volvox/sim/matter_cloud.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::sim {
namespace {

using particles::Point;

std::uint8_t byte_of(double part) { return narrow<std::uint8_t>(std::lround(255 * clamp(part, 0, 1))); }

std::array<std::uint8_t, 3> bytes_of(const model::Color& color, double light) {
  return {byte_of(color.r * light), byte_of(color.g * light), byte_of(color.b * light)};
}

// Grains and points of one material differ a little, so that one tells them apart; by number, so that it stays.
double shade_of(std::uint32_t number) {
  const std::uint32_t mixed = number * 2654435761u;
  return 0.82 + 0.36 * (mixed >> 16) / 65535.0;
}

// Fast water is white.
std::array<std::uint8_t, 3> water_color(const model::Color& color, const Point& velocity) {
  const double speed = length(Vec3{velocity.x, velocity.y, velocity.z});
  const double foam = 0.75 * clamp((speed - 0.5) / 2.5, 0, 1);
  return {byte_of(color.r + (1 - color.r) * foam), byte_of(color.g + (1 - color.g) * foam),
          byte_of(color.b + (1 - color.b) * foam)};
}

}  // namespace

MatterCloud::MatterCloud(const world::Matter& matter) : matter_(matter) {
  const model::Matter& d = matter.description();
  if (d.fluid) largest_ = d.fluid->spacing;
  for (const model::Debris& debris : d.debris) largest_ = std::max(largest_, 2 * debris.largest());
  for (const Point& v : matter.particles().solid_velocities()) largest_ = std::max<double>(largest_, 2 * v.w);
}

CloudLook MatterCloud::cloud_look() const {
  CloudLook look{.noun = "particle", .shape = CloudLook::Shape::stone, .size = {largest_, largest_, largest_}};
  look.values = {"speed, m/s"};
  const model::Matter& d = matter_.description();
  if (d.fluid) {
    look.drops = matter_.fluids();
    look.drop_size = d.fluid->spacing;
    look.fluid_color = bytes_of(d.fluid->color, 1);
  }
  for (std::uint32_t solid = 0; solid < matter_.solids(); ++solid) {
    const std::uint32_t kind = matter_.kind_of_solid(solid);
    if (kind < d.debris.size()) continue;
    const model::Cloth& cloth = d.cloths[kind - d.debris.size()];
    const std::uint32_t points = cloth.columns * cloth.rows;
    if (cloth.columns > 1 && cloth.rows > 1)  // one row is a rope
      look.sheets.push_back({matter_.fluids() + solid, cloth.columns, cloth.rows, cloth.width / (cloth.columns - 1),
                             cloth.height / (cloth.rows - 1)});
    solid += points - 1;
  }
  return look;
}

void MatterCloud::cloud_items(std::vector<CloudItem>& items) const {
  const model::Matter& d = matter_.description();
  const particles::ParticleWorld& world = matter_.particles();
  items.assign(std::size_t{matter_.fluids()} + matter_.solids(), {});
  const auto size_of = [&](double diameter) { return std::max<std::uint8_t>(2, byte_of(diameter / largest_)); };
  const auto put = [&](std::size_t item, const Point& p, std::uint8_t shown, const std::array<std::uint8_t, 3>& color) {
    if (item < items.size()) items[item] = {{p.x, p.y, p.z}, color, shown};
  };
  if (d.fluid) {
    const std::uint8_t size = size_of(d.fluid->spacing);
    for (std::size_t i = 0; i < world.fluid_positions().size(); ++i)
      put(world.fluid_ids()[i], world.fluid_positions()[i], size,
          water_color(d.fluid->color, world.fluid_velocities()[i]));
  }
  for (std::size_t i = 0; i < world.solid_positions().size(); ++i) {
    const std::uint32_t id = world.solid_ids()[i], kind = matter_.kind_of_solid(id);
    const bool grain = kind < d.debris.size();
    const model::Color& color = grain ? d.debris[kind].color : d.cloths[kind - d.debris.size()].color;
    put(std::size_t{matter_.fluids()} + id, world.solid_positions()[i], size_of(2.0 * world.solid_velocities()[i].w),
        bytes_of(color, grain ? shade_of(id) : 1));
  }
}

std::vector<std::string> MatterCloud::cloud_state(std::uint32_t item) const {
  const model::Matter& d = matter_.description();
  const particles::ParticleWorld& world = matter_.particles();
  const auto describe = [](const char* what, const Point& p, const Point& v) {
    return std::vector<std::string>{what, fmt::format("at {:.3f} {:.3f} {:.3f} m", p.x, p.y, p.z),
                                    fmt::format("velocity {:.3f} {:.3f} {:.3f} m/s", v.x, v.y, v.z)};
  };
  if (item < matter_.fluids()) {
    const auto ids = world.fluid_ids();
    const auto found = std::find(ids.begin(), ids.end(), item);
    if (found == ids.end()) return {};
    const std::size_t i = found - ids.begin();
    return describe("fluid", world.fluid_positions()[i], world.fluid_velocities()[i]);
  }
  const std::uint32_t solid = item - matter_.fluids();
  const auto ids = world.solid_ids();
  const auto found = std::find(ids.begin(), ids.end(), solid);
  if (found == ids.end()) return {};
  const std::size_t i = found - ids.begin();
  return describe(matter_.kind_of_solid(solid) < d.debris.size() ? "debris" : "cloth", world.solid_positions()[i],
                  world.solid_velocities()[i]);
}

void MatterCloud::cloud_values(std::size_t, std::vector<float>& out) const {
  const particles::ParticleWorld& world = matter_.particles();
  out.assign(std::size_t{matter_.fluids()} + matter_.solids(), NAN);
  const auto speed = [](const Point& v) { return to_float(length(Vec3{v.x, v.y, v.z})); };
  for (std::size_t i = 0; i < world.fluid_ids().size(); ++i)
    if (const std::uint32_t id = world.fluid_ids()[i]; id < matter_.fluids())
      out[id] = speed(world.fluid_velocities()[i]);
  for (std::size_t i = 0; i < world.solid_ids().size(); ++i)
    if (const std::uint32_t id = world.solid_ids()[i]; id < matter_.solids())
      out[matter_.fluids() + id] = speed(world.solid_velocities()[i]);
}

}  // namespace volvox::sim
