// The description of a module: its links, joints, docks, sensors and mind, as read from SDF or URDF. It is read
// once, immutable, and shared by all instances. SI units; each pose names its frame.
// Any thread may read it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/model/shape.h"

namespace volvox::model {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Link {
  std::string name;
  Pose pose;                                 // in the module's frame, with all joints at zero
  double mass = 1;                           // kg
  Pose inertial;                             // centre of mass and principal axes, in the link's frame
  Vec3 moments{1, 1, 1};                     // principal moments of inertia, kg m^2
  std::shared_ptr<const Geometry> geometry;  // never null
  std::vector<Visual> visuals;
  bool gravity = true;
};

enum class JointType { revolute, prismatic, fixed, ball };

// PD control with limits of velocity and torque: torque = clamp(kd (v - qdot), +-effort), where
// v is the commanded velocity or, in position control, clamp(kp / kd (q* - q), +-velocity).
struct Motor {
  double kp = 0;
  double kd = 0;
};

// Faces of the two links of a joint that lie flush on each other and rub by what presses them (docs/decisions/0073): of
// a hinge mu max(r preload, r |load along the axis|, |moment across it|), of a slider mu max(preload, |load across the
// axis|): the faces lie on both sides, so that a load presses one and relieves the other until that lifts off.
struct Flush {
  double friction = 0.2;  // mu, coefficient
  double radius = 0;      // m: r, the mean of the faces' ring; of a hinge only
  double preload = 0;     // N, with which the faces of both sides together are pressed without any load
};

struct Joint {
  std::string name;
  JointType type = JointType::revolute;
  int parent = 0, child = 0;  // indices of links; the parent -1 is the world
  Pose parent_frame;          // in the parent link's frame (the module's, if the parent is the world); z is the axis
  Pose child_frame;           // in the child link's frame; both frames coincide at position zero
  double lower = -unlimited, upper = unlimited;  // rad or m
  double effort = unlimited;                     // N m or N, of the motor
  double velocity = unlimited;                   // rad/s or m/s, of the motor
  double damping = 0;                            // viscous friction, N m s/rad or N s/m
  double friction = 0;                           // Coulomb friction, N m or N
  std::optional<Flush> flush;                    // Coulomb friction besides, that grows with the load
  std::optional<Motor> motor;                    // none: a passive joint
};

enum class Gender { male, female, both };

// The largest load of a dock before it breaks, by axis of its frame: x points out of the module.
struct DockStrength {
  double axial = unlimited;    // N along x, pulling apart (pushing together never breaks a dock)
  double shear = unlimited;    // N perpendicular to x
  double bending = unlimited;  // N m about axes perpendicular to x
  double torsion = unlimited;  // N m about x
};

// Jaws that a motor closes around the dock's partner, or teeth that it turns behind an edge (docs/decisions/0072 has
// the law).
struct Latch {
  double travel = 0.004;  // m, between open and closed
  double speed = 0.02;    // m/s
  double force = 50;      // N, with which it presses, and the most that its motor overcomes
  double friction = 0.3;  // coefficient, of the jaws on what they hold
  // Whether teeth stand behind an edge, so that nothing slides out; if not, friction alone holds along x.
  bool form = true;
  double depth = 0.003;             // m, that the partner slides before it is out; friction only
  double jam_distance = 0.002;      // m, across x: a partner farther aside when it is captured jams the jaws
  double jam_angle = radians(3.0);  // rad, the same of the angle
};

struct Dock {
  std::string name;
  int link = 0;
  Pose pose;  // in the link's frame; x points out of the module, z defines turn 0
  Gender gender = Gender::both;
  std::string kind = "dock";       // only docks of the same kind fit each other
  int symmetry = 4;                // engages at every 360/symmetry degrees; 0: at any angle
  double capture_distance = 0.01;  // m
  double capture_angle = radians(10);
  double latch_time = 0.25;  // s, from capture to engaged
  double pull_speed = 0.2;   // m/s, maximum while it latches
  DockStrength strength;
  double load_time = 1.0 / 30;  // s, over which loads are averaged before they are compared with the strength
  double extension = 0;         // m, length of the bar of an elongated dock; already part of pose
  bool enabled = true;          // at the start
  std::optional<Latch> latch;   // none: what holds is there at once, and holds until the strength
};

// A noise model by name, with its parameters: <volvox:noise type="gaussian" deviation="0.01"/>.
struct NoiseSpec {
  std::string type;
  std::map<std::string, std::string> parameters;
  int line = 0;
};
using NoiseChainSpec = std::vector<NoiseSpec>;  // applied in order

struct Sensor {
  std::string name;
  std::string type;  // a name of the sensor registry: "accelerometer", "range", ...
  int link = 0;
  Pose pose;  // in the link's frame; the sensor looks along x
  std::map<std::string, std::string> parameters;
  int line = 0;
};

// An actuator other than the motors of joints and the latches of docks.
struct Actuator {
  std::string name;
  std::string type;  // a name of the actuator registry: "thruster", ...
  int link = 0;
  Pose pose;  // in the link's frame
  std::map<std::string, std::string> parameters;
  int line = 0;
};

// One pole of a magnet (or an electrode) that the module can switch: a feature of a catom. docs/magnets.md has the law
// of its force.
struct Magnet {
  std::string name;  // also of the action that switches it
  int link = 0;
  Vec3 position;        // m, in the link's frame
  double strength = 0;  // A m, of the pole when it is fully on
  double size = 0.001;  // m: closer than that, the force no longer grows
  double range = 0;     // m: poles farther apart do not feel each other
  int line = 0;
};

struct Mind {
  std::string behavior;  // a name of the behaviour registry; empty: none
  std::map<std::string, std::string> parameters;
  std::string file;  // where it was declared
  int line = 0;
  // More behaviours of the same module, which run after the first; their own `further` is empty. In a robot's model
  // they are its base functions: a module keeps them when its world gives it another behaviour (with_base_functions).
  std::vector<Mind> further{};
  bool replaces_base = false;  // of a world's mind: without the base functions of the robot
};

// The interfaces to the discrete-event network (docs/network.md explains the numbers).
// A dock without a wire uses the ideal network.
enum class WireTiming { live, delayed };

struct Wire {
  int dock = 0;
  double bit_rate = 1e6;  // bit/s; infinity: frames take no time
  double delay = 0;       // s
  WireTiming timing = WireTiming::live;
  std::uint32_t capacity = 0;                           // bytes per tick; delayed timing only
  std::uint32_t queue = 1024;                           // frames
  std::uint32_t largest_payload = 65535, overhead = 0;  // bytes
  int line = 0;
};

// How a radio sends bits: on a carrier; or TS-OOK, as pulses of about 100 fs with long gaps, so that many nano-radios
// send at once and only pulses collide.
enum class Modulation { carrier, ts_ook };

struct Radio {
  std::string name;
  int link = 0;
  Pose pose;  // of the antenna, in the link's frame
  std::string channel = "air";
  double power = 1e-3;                                // W
  double gain = 1;                                    // of the antenna, linear
  double bit_rate = 250e3;                            // bit/s
  double bandwidth = 2e6;                             // Hz, of the thermal noise
  double noise_factor = 1;                            // linear
  double receive_threshold = 3.16e-12;                // W
  double carrier_threshold = 3.16e-12;                // W; infinity: never busy
  double capture_ratio = 10;                          // linear
  std::uint32_t window = 30, largest_window = 0;      // slots
  double slot = 320e-6;                               // s
  std::uint32_t queue = 64;                           // frames
  std::uint32_t largest_payload = 127, overhead = 0;  // bytes
  bool acknowledge = false;
  double turnaround = 192e-6, timeout = 2e-3;  // s, of acknowledgements
  std::uint32_t retries = 3;
  Modulation modulation = Modulation::carrier;
  double pulse = 100e-15;       // s, of ts_ook
  std::uint32_t spread = 1000;  // a bit takes so many pulses
  std::uint32_t repairs = 0;    // bits of a frame that its code corrects
  int line = 0;
};

enum class BusKind { can, serial };
enum class BusScope {
  organism,  // the bus runs through engaged docks and is joined and split with them
  world,     // one bus for all modules that name it, docked or not
};
enum class BusStuffing { none, exact, worst };

struct Bus {
  std::string name;
  BusKind kind = BusKind::can;
  BusScope scope = BusScope::organism;
  double bit_rate = 125e3;
  BusStuffing stuffing = BusStuffing::none;
  std::uint32_t queue = 1024, largest_payload = 4095;
  bool master = false;  // of a serial bus; if there are several, the first module is the master
  int line = 0;
};

// A library to load, or an extension to create: <plugin filename="libmine.so" name="mine">.
struct PluginSpec {
  std::string filename;                           // empty: the extension is already registered
  std::string name;                               // of the extension to create, if one of this name exists
  std::map<std::string, std::string> parameters;  // of the extension: child elements by name
  std::string file;                               // where it was declared
  int line = 0;
};

struct ModuleModel {
  std::string name;
  std::string file;
  std::vector<PluginSpec> plugins;
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<Dock> docks;
  std::vector<Sensor> sensors;
  std::vector<Actuator> actuators;
  std::vector<Magnet> magnets;
  std::vector<Wire> wires;  // at most one per dock, in the order of docks
  std::vector<Radio> radios;
  std::vector<Bus> buses;
  // Noise by percept ("yaw.angle", "imu"), by action ("yaw", "front"), and by the dock, radio or bus that
  // sends a message ("front", or "*" for all docks).
  std::map<std::string, NoiseChainSpec> percept_noise, action_noise, message_noise;
  std::optional<Mind> mind;     // with a mind it is a module, without one an obstacle or a base
  bool fixed_in_place = false;  // SDF's <static>
  bool driven = false;          // kinematic body, moved by inputs ("pose"): it pushes others and is not pushed
  bool self_collide = true;     // links that no joint connects collide with each other (SDF's default is false)
  Pose default_pose;            // the <pose> of the file's <model>; a placement replaces it

  int link_index(const std::string& name) const;  // all three: -1 if there is none
  int joint_index(const std::string& name) const;
  int dock_index(const std::string& name) const;
  const Wire* wire_of(int dock) const;  // null: none
  // The ports of messages: docks, then radios, then buses.
  std::vector<std::string> outlet_names() const;
  double mass() const;
};

// The friction (N m or N) of the flush faces of a joint that has them, under a load: the force (N) and moment (N m) on
// the child in the joint's frame, whose z is the axis.
double flush_friction(const Joint& joint, const Vec3& force, const Vec3& moment);

// Poses of all links in the module's frame, for given joint positions (one per joint; ball and
// fixed joints ignore theirs). Joints must form a forest, as they do in SDF and URDF models of
// robots; a joint that closes a loop inside the module is ignored.
std::vector<Pose> forward_kinematics(const ModuleModel& model, const std::vector<double>& positions);

// The box around all colliders, for given poses of the links.
Bounds bounds(const ModuleModel& model, const std::vector<Pose>& links);

// The mind that a world gives to a module of this model, and after it the model's base functions, unless it says that
// it replaces them.
Mind with_base_functions(Mind own, const ModuleModel& model);

// Whether two docks can engage: same kind, same symmetry, and not both male or both female.
bool fit(const Dock& a, const Dock& b);

// The pose of dock b's frame in dock a's frame when they are engaged and b is rotated by `turn` steps of
// its symmetry: the origins coincide, the x axes are opposite (half a turn about z), then a rotation
// about b's own x. It is its own inverse, so `turn` is the same seen from either dock.
Pose engaged_dock(int symmetry, int turn);

}  // namespace volvox::model
