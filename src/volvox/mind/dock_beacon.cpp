#include "volvox/mind/dock_beacon.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::mind {
namespace {

constexpr double least_opposition = 0.3;  // cosine of the largest angle at which two docks see each other

class Beacon final : public Sensor {
 public:
  Beacon(const model::Sensor& sensor, const Parameters& p)
      : link_(sensor.link),
        pose_(sensor.pose),
        max_range_(p.number("max_range", 0.3, 1e-3, 100)),
        narrowest_(volvox::cos(p.number("field_of_view", 3.0, 0, 2 * pi) / 2)) {}

  const TypeInfo& type() const override { return type_of<DockBeacon>(); }

  bool casts_rays() const override { return true; }

  // One ray towards each dock that could be seen, the nearest first.
  void rays(const SenseContext& c, std::vector<Ray>& out) const override {
    const Pose here = c.world.link_pose(c.link(link_)) * pose_;
    for (const Candidate& candidate : candidates(c)) {
      const Vec3 way = here.rotation * candidate.beacon.position;
      out.push_back(
          {here.position, candidate.distance > 0 ? way / candidate.distance : way, candidate.distance, c.module + 1});
    }
  }

  void read(const SenseContext& c, Value& reading) const override {
    DockBeacon& beacon = *reading.get<DockBeacon>();
    beacon = {};
    const std::vector<Candidate> seen = candidates(c);
    VOLVOX_ASSERT(seen.size() == c.hits.size());
    for (std::size_t i = 0; i < seen.size() && i < c.hits.size(); ++i) {
      if (c.hits[i].hit() && !is_of(c.world, c.hits[i].body, seen[i].owner)) continue;
      beacon = seen[i].beacon;
      return;
    }
  }

 private:
  struct Candidate {
    double distance = 0;  // m
    world::PlacementIndex owner = 0;
    DockBeacon beacon;
  };
  static bool is_of(const world::World& world, world::LinkIndex link, world::PlacementIndex module) {
    const world::LinkIndex first = world.part(module).first_link;
    return link >= first && link < first + world.module_model(module).links.size();
  }
  // The docks within the range that face this one, the nearest first.
  std::vector<Candidate> candidates(const SenseContext& c) const {
    const Pose here = c.world.link_pose(c.link(link_)) * pose_;
    std::vector<Candidate> found;
    for (const world::DockIndex dock : indices<world::DockIndex>(c.world.docks())) {
      const world::DockStatus& status = c.world.dock_status(dock);
      if (status.phase != world::DockPhase::free || !status.enabled || c.world.graph().owner(dock) == c.module)
        continue;
      const Pose there = here.inverse() * c.world.dock_pose(dock);
      const Vec3 facing = there.rotation * Vec3{1, 0, 0};
      const double distance = length(there.position);
      if (distance > max_range_ || there.position.x < narrowest_ * distance || facing.x > -least_opposition) continue;
      found.push_back({distance, c.world.graph().owner(dock), {true, there.position, facing}});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
    return found;
  }
  int link_;
  Pose pose_;
  double max_range_, narrowest_;
};

}  // namespace

std::unique_ptr<Sensor> make_dock_beacon(const model::Sensor& sensor, const Parameters& parameters) {
  return std::make_unique<Beacon>(sensor, parameters);
}

}  // namespace volvox::mind
