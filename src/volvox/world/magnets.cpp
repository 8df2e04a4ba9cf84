#include "volvox/world/magnets.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/world/world.h"

namespace volvox::world {
namespace {

constexpr double mu0_over_4pi = 1e-7;  // N / A^2

}  // namespace

PolePair pole_pair(double p, double q, double distance, double size, double range) {
  if (distance > range) return {};
  const double k = mu0_over_4pi * p * q;
  const double softened = std::sqrt(distance * distance + size * size);
  const double cut = std::sqrt(range * range + size * size);
  return {k * distance / (softened * softened * softened), k * (1 / softened - 1 / cut)};
}

std::unique_ptr<Magnets> Magnets::create(const World& world) {
  auto magnets = std::make_unique<Magnets>();
  for (const PlacementIndex p : indices<PlacementIndex>(world.placements())) {
    magnets->first_.push_back(narrow<std::uint32_t>(magnets->magnets_.size()));
    for (const model::Magnet& magnet : world.module_model(p).magnets) {
      magnets->magnets_.push_back({&magnet, world.part(p).first_link + narrow<std::uint32_t>(magnet.link)});
      magnets->reach_ = std::max(magnets->reach_, magnet.range);
    }
  }
  if (magnets->magnets_.empty()) return nullptr;
  magnets->poles_.resize(magnets->magnets_.size());
  return magnets;
}

void Magnets::gather(const World& world, std::vector<Pole>& poles, CellGrid& grid) const {
  poles.clear();
  std::vector<Vec3> points;
  for (std::uint32_t m = 0; m < magnets_.size(); ++m) {
    if (poles_[m] == 0) continue;
    const Magnet& magnet = magnets_[m];
    poles.push_back({m, poles_[m] * magnet.model->strength, world.link_pose(magnet.link) * magnet.model->position});
    points.push_back(poles.back().position);
  }
  grid.fill(points, reach_);
}

template <class Visit>
void Magnets::each_pair(const std::vector<Pole>& poles, const CellGrid& grid, const Visit& visit) const {
  grid.near_pairs(reach_, [&](std::uint32_t i, std::uint32_t j, double squared) {
    const Magnet &a = magnets_[poles[i].magnet], &b = magnets_[poles[j].magnet];
    if (a.link == b.link) return;
    const double distance = std::sqrt(squared);
    const double size = std::sqrt((a.model->size * a.model->size + b.model->size * b.model->size) / 2);
    const double range = std::min(a.model->range, b.model->range);
    visit(poles[i], poles[j], pole_pair(poles[i].strength, poles[j].strength, distance, size, range), distance);
  });
}

void Magnets::pull(World& world) {
  if (!world.engine_info().moves) return;
  gather(world, on_, grid_);
  if (on_.size() < 2) return;
  const auto push = [&](const Pole& at, const Vec3& force) {
    const LinkIndex link = magnets_[at.magnet].link;
    if (world.module_model(world.placement_of_link(link)).fixed_in_place) return;
    const Vec3 centre = world.link_pose(link) * world.link_model(link).inertial.position;
    world.push(link, {force, cross(at.position - centre, force)});
  };
  each_pair(on_, grid_, [&](const Pole& a, const Pole& b, const PolePair& pair, double distance) {
    // Two poles in one place push each other nowhere: the force goes to zero with the distance.
    if (distance == 0 || pair.push == 0) return;
    const Vec3 force = (a.position - b.position) * (pair.push / distance);
    VOLVOX_ASSERT(finite(force));
    push(a, force);
    push(b, -force);
  });
}

double Magnets::energy(const World& world) const {
  std::vector<Pole> poles;
  CellGrid grid;
  gather(world, poles, grid);
  double sum = 0;
  each_pair(poles, grid, [&](const Pole&, const Pole&, const PolePair& pair, double) { sum += pair.energy; });
  return sum;
}

void Magnets::archive(Archive& ar) {
  ar.section("", "magnets");
  const std::size_t count = poles_.size();
  ar("poles", poles_);
  if (!ar.loading()) return;
  if (poles_.size() != count ||
      !std::all_of(poles_.begin(), poles_.end(), [](double p) { return p >= -1 && p <= 1; })) {
    poles_.assign(count, 0);
    ar.fail("its magnets are not those of this world");
  }
}

std::size_t Magnets::memory_bytes() const {
  return sizeof *this + magnets_.capacity() * sizeof(Magnet) + poles_.capacity() * sizeof(double) +
         first_.capacity() * sizeof(std::uint32_t) + on_.capacity() * sizeof(Pole) + grid_.memory_bytes();
}

}  // namespace volvox::world
