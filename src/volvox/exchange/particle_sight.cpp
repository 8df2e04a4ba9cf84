#include "volvox/exchange/particle_sight.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/world/matter.h"

namespace volvox::exchange {
namespace {

// Of the distance between neighbours on a grid: half its diagonal, and a little more.
constexpr double closed = 0.75;

struct Balls {
  std::vector<Vec3> centres;
  std::vector<double> radii;
  std::vector<std::uint32_t> numbers;  // of the particles
  std::size_t fluids = 0;              // the first of them
  double largest = 0;
  Vec3 low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  CellGrid grid;

  void add(const particles::Point& p, double radius, std::uint32_t number) {
    centres.push_back({p.x, p.y, p.z});
    radii.push_back(radius);
    numbers.push_back(number);
    largest = std::max(largest, radius);
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], centres.back()[k] - radius);
      high[k] = std::max(high[k], centres.back()[k] + radius);
    }
  }
};

Balls balls_of(const world::Matter& matter) {
  Balls balls;
  const model::Matter& d = matter.description();
  const particles::ParticleWorld& world = matter.particles();
  const auto fluid = world.fluid_positions(), solids = world.solid_positions();
  for (std::size_t i = 0; i < fluid.size(); ++i) balls.add(fluid[i], closed * d.fluid->spacing, world.fluid_ids()[i]);
  balls.fluids = fluid.size();
  for (std::size_t i = 0; i < solids.size(); ++i) {
    const std::uint32_t id = world.solid_ids()[i], kind = matter.kind_of_solid(id);
    double radius = world.solid_velocities()[i].w;
    if (kind >= d.debris.size()) {
      const model::Cloth& cloth = d.cloths[kind - d.debris.size()];
      const auto apart = [](double length, std::uint32_t points) { return points > 1 ? length / (points - 1) : 0; };
      if (cloth.rows > 1)
        radius = closed * std::max(apart(cloth.width, cloth.columns), apart(cloth.height, cloth.rows));
    }
    balls.add(solids[i], radius, matter.fluids() + id);
  }
  if (!balls.centres.empty()) balls.grid.fill(balls.centres, 3 * balls.largest);
  return balls;
}

// Where a ray is within the box around all balls: from and to, in m.
std::pair<double, double> part_within(const Ray& ray, const Vec3& low, const Vec3& high, double most) {
  double from = 0, to = most;
  for (int k = 0; k < 3; ++k) {
    if (ray.direction[k] == 0) {
      if (ray.origin[k] < low[k] || ray.origin[k] > high[k]) return {1, 0};
      continue;
    }
    const double a = (low[k] - ray.origin[k]) / ray.direction[k], b = (high[k] - ray.origin[k]) / ray.direction[k];
    from = std::max(from, std::min(a, b)), to = std::min(to, std::max(a, b));
  }
  return {from, to};
}

void cast_one(const Balls& balls, std::uint32_t links, const Ray& ray, RayHit& hit) {
  const double most = hit.hit() ? hit.distance : ray.range;
  const auto [from, to] = part_within(ray, balls.low, balls.high, most);
  if (!(from <= to)) return;
  const bool sees_through =
      balls.fluids > 0 && balls.grid.any_near(ray.origin, balls.radii[0] / closed,
                                              [&](std::uint32_t i, double) { return i < balls.fluids; });
  double nearest = most;
  std::uint32_t found = ~0u;
  const auto meet = [&](std::uint32_t i) {
    if (sees_through && i < balls.fluids) return;
    const Vec3 way = balls.centres[i] - ray.origin;
    const double along = dot(way, ray.direction), r2 = balls.radii[i] * balls.radii[i];
    const double aside = length_squared(way) - along * along;
    if (along <= 0 || aside >= r2 || length_squared(way) <= r2) return;  // behind, beside, or around the origin
    const double distance = along - std::sqrt(r2 - aside);
    // Of two at the same distance the lower number, whatever the order of memory.
    if (distance < nearest || (distance == nearest && found != ~0u && balls.numbers[i] < balls.numbers[found]))
      nearest = distance, found = i;
  };
  const double step = balls.grid.cell_size();
  const Vec3 reach = Vec3{1, 1, 1} * balls.largest;
  for (double begin = from; begin <= to && begin - balls.largest <= nearest; begin += step) {
    const Vec3 a = ray.origin + ray.direction * begin, b = ray.origin + ray.direction * std::min(begin + step, to);
    const Vec3 low{std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
    const Vec3 high{std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
    balls.grid.within(cell_of(low - reach, step), cell_of(high + reach, step), meet);
  }
  if (found == ~0u) return;
  const Vec3 at = ray.origin + ray.direction * nearest;
  hit = {nearest, links + balls.numbers[found], 0, normalized(at - balls.centres[found])};
}

}  // namespace

void cast_at_particles(const world::World& world, std::span<const Ray> rays, std::span<RayHit> hits,
                       ThreadPool* threads) {
  VOLVOX_ASSERT(rays.size() == hits.size());
  if (world.matter() == nullptr || rays.empty()) return;
  const Balls balls = balls_of(*world.matter());
  if (balls.centres.empty()) return;
  const auto links = narrow<std::uint32_t>(world.links());
  parallel_for(threads, rays.size(), 64, [&](std::size_t i) { cast_one(balls, links, rays[i], hits[i]); });
}

model::Color color_of_particle(const world::World& world, const RayHit& hit) {
  const world::Matter& matter = *world.matter();
  const model::Matter& d = matter.description();
  const std::uint32_t number = hit.body - narrow<std::uint32_t>(world.links());
  if (number < matter.fluids()) return d.fluid->color;
  const std::uint32_t kind = matter.kind_of_solid(number - matter.fluids());
  return kind < d.debris.size() ? d.debris[kind].color : d.cloths[kind - d.debris.size()].color;
}

}  // namespace volvox::exchange
