// Sensors read the world for one module, and the reading becomes a percept of that module. Units are SI. Vectors
// are in the frame of the sensor's mount; the sensors pose and velocity use world axes. One Sensor object serves all
// modules of a model, from several threads at once, so it has no state of its own.
#pragma once

#include <memory>
#include <span>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/base/type.h"
#include "volvox/exchange/link_state.h"
#include "volvox/exchange/sight.h"
#include "volvox/world/world.h"

namespace volvox::exchange {
class Exchange;
class Neighborhood;
}  // namespace volvox::exchange

namespace volvox::mind {

using exchange::LinkState;
using exchange::Ray;
using exchange::RayHit;
using exchange::Signal;

// The percept of a dock ("front.dock").
struct DockState {
  bool enabled = false;
  bool engaged = false;   // connected to another dock, fully closed
  bool latching = false;  // another dock is being pulled close
  bool broken = false;
  std::string neighbor;  // the name of the dock at the other end, such as "back"; empty if free
};
VOLVOX_TYPE(DockState, enabled, engaged, latching, broken, neighbor)

// The jaws of a dock that has a latch ("front.latch").
struct LatchState {
  double opening = 1;   // 1: open, 0: closed
  bool closed = false;  // on a partner
  bool jammed = false;  // on a partner that stands askew: open them, and try again
  bool stuck = false;   // they should open, and the load on them is too high
  double slip = 0;      // m, that the partner has slid out; 0 where jaws hold by form
};
VOLVOX_TYPE(LatchState, opening, closed, jammed, stuck, slip)

// The load of a dock ("front.load"): N, N, N m and N m, see world::DockLoad.
struct DockLoad {
  double axial = 0, shear = 0, bending = 0, torsion = 0;
};
VOLVOX_TYPE(DockLoad, axial, shear, bending, torsion)

// The nearest object that an obstacle sensor sees.
struct Obstacle {
  bool seen = false;
  double distance = 0;  // m
  double bearing = 0;   // rad, positive to the left of the sensor's axis
  double width = 0;     // rad, the angle that it covers
  bool moves = false;   // false: part of the arena
  bool is_module = false;
};
VOLVOX_TYPE(Obstacle, seen, distance, bearing, width, moves, is_module)

struct Contact {
  bool touching = false;
  double force = 0;  // N, the sum over all contacts of the link
};
VOLVOX_TYPE(Contact, touching, force)

// How a link stands to the fluid around it (world/matter.h).
struct Immersion {
  double submerged = 0;  // the part of its volume below the level, 0 to 1
  bool wet = false;      // fluid touches it
};
VOLVOX_TYPE(Immersion, submerged, wet)

// The data that a sensor may read. The world is in its state at the beginning of the tick.
struct SenseContext {
  const world::World& world;
  world::PlacementIndex module = 0;                      // the placement that senses
  double dt = 0;                                         // s, the length of a tick
  std::span<const RayHit> hits;                          // of the rays of this sensor
  std::span<const double> contact_forces;                // N by link; empty unless a sensor needs_contacts()
  const exchange::Exchange* exchange = nullptr;          // null: no module has an interface to the network
  world::AgentIndex agent = 0;                           // the module's index among the modules with a mind
  const exchange::Neighborhood* neighborhood = nullptr;  // null unless a sensor has a neighbor_range()

  world::LinkIndex link(int index) const { return world.part(module).first_link + index; }
  world::JointIndex joint(int index) const { return world.part(module).first_joint + index; }
  world::DockIndex dock(int index) const { return world.part(module).first_dock + index; }
};

class Sensor {
 public:
  virtual ~Sensor() = default;
  // The type of the percept.
  virtual const TypeInfo& type() const = 0;
  // The sensor's rays. The rays of all modules are cast in one batch; read() finds the results in SenseContext::hits.
  virtual bool casts_rays() const { return false; }
  virtual void rays(const SenseContext&, std::vector<Ray>&) const {}
  virtual bool needs_contacts() const { return false; }
  virtual double neighbor_range() const { return 0; }  // m, within which it detects other modules
  // Whether it can also be read at every substep: only if it needs no rays, contacts or neighbours.
  bool on_board() const { return !casts_rays() && !needs_contacts() && neighbor_range() <= 0; }
  // Writes the reading. `reading` holds the previous value, of type type(). Called from several threads at once, for
  // different modules.
  virtual void read(const SenseContext& context, Value& reading) const = 0;
};

using SensorFactory = std::function<std::unique_ptr<Sensor>(const model::Sensor&, const Parameters&)>;
using SensorRegistry = Registry<SensorFactory>;

// accelerometer, gyroscope, pose, velocity, contact, neighbors, camera and the sensors of range_sensors.h. Sensors of
// joints and docks need no entry: every module has them.
SensorRegistry built_in_sensors();

std::unique_ptr<Sensor> make_joint_angle_sensor(int joint);
std::unique_ptr<Sensor> make_joint_velocity_sensor(int joint);
std::unique_ptr<Sensor> make_joint_torque_sensor(int joint);
std::unique_ptr<Sensor> make_dock_state_sensor(int dock);
std::unique_ptr<Sensor> make_dock_load_sensor(int dock);
std::unique_ptr<Sensor> make_latch_sensor(int dock);
std::unique_ptr<Sensor> make_link_sensor(int outlet);
std::unique_ptr<Sensor> make_signal_sensor(int outlet);

}  // namespace volvox::mind
