#include "volvox/mind/dock_beacon.h"

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

  void read(const SenseContext& c, Value& reading) const override {
    DockBeacon& beacon = *reading.get<DockBeacon>();
    beacon = {};
    const Pose here = c.world.link_pose(c.link(link_)) * pose_;
    double nearest = max_range_;
    for (const world::DockIndex dock : indices<world::DockIndex>(c.world.docks())) {
      const world::DockStatus& status = c.world.dock_status(dock);
      if (status.phase != world::DockPhase::free || !status.enabled || c.world.graph().owner(dock) == c.module)
        continue;
      const Pose there = here.inverse() * c.world.dock_pose(dock);
      const Vec3 facing = there.rotation * Vec3{1, 0, 0};
      const double distance = length(there.position);
      if (distance > nearest || there.position.x < narrowest_ * distance || facing.x > -least_opposition) continue;
      nearest = distance;
      beacon = {true, there.position, facing};
    }
  }

 private:
  int link_;
  Pose pose_;
  double max_range_, narrowest_;
};

}  // namespace

std::unique_ptr<Sensor> make_dock_beacon(const model::Sensor& sensor, const Parameters& parameters) {
  return std::make_unique<Beacon>(sensor, parameters);
}

}  // namespace volvox::mind
