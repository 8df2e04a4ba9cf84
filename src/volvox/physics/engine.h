// The physics engine interface. Bodies, joints and docks are made and removed one by one;
// everything that changes in a step crosses as arrays (spans indexed by Id::index), never as
// a virtual call for each body. Any engine behind it must pass conformance/.
//
// Units are SI. Poses are those of the link's frame, not of the centre of mass; linear
// velocities are those of the centre of mass; all in world axes unless said otherwise.
// Not thread-safe: one caller at a time; an engine may use threads inside.
// Deterministic: the same calls give the same bits, at any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/id.h"
#include "volvox/base/math.h"
#include "volvox/base/result.h"
#include "volvox/base/step_status.h"
#include "volvox/base/thread_pool.h"
#include "volvox/base/time.h"
#include "volvox/model/shape.h"

namespace volvox::physics {

using BodyId = Id<struct BodyTag>;
using JointId = Id<struct JointTag>;

enum class Motion {
  fixed,      // never moves
  kinematic,  // moved from outside, by set_body or by its velocity; pushes, is not pushed
  dynamic,
};

struct BodyDesc {
  Motion motion = Motion::dynamic;
  Pose pose;  // of the link's frame
  Twist velocity;
  double mass = 1;
  Pose inertial;  // centre of mass and principal axes, in the link's frame
  Vec3 moments{1, 1, 1};
  std::shared_ptr<const model::Geometry> geometry;  // null: touches nothing
  bool gravity = true;
  // If `quiet`, bodies of one owner (a module) do not collide with each other. Bodies that a joint or a dock connects
  // never collide.
  std::uint32_t owner = 0;  // 0: none
  bool quiet = false;
};

enum class JointType { revolute, prismatic, fixed, ball, dock };

struct JointDesc {
  JointType type = JointType::revolute;
  BodyId a, b;            // a not valid: the world. The position is that of b relative to a.
  Pose frame_a, frame_b;  // in the frames of a and b; they coincide at position zero
  // revolute and prismatic: about or along the z axis of frame_a
  double lower = -1e300, upper = 1e300;
  double damping = 0;   // viscous friction
  double friction = 0;  // Coulomb friction
  // dock: a fixed joint that starts open and pulls its two frames together by equal and
  // opposite impulses at one common point, at a constant rate over latch_time, no faster than
  // pull_speed (so a wide gap takes longer). latch_time 0: rigid at once, where it is closed
  // (to 1e-6); where it is not, it is pulled closed at pull_speed.
  double latch_time = 0;
  double pull_speed = 0.2;
};

enum class Control : std::uint8_t { off, position, velocity, torque };

// The command of a motor. torque = clamp(kd (v - qdot), +-max_torque), where v is the target in
// velocity control and clamp(kp / kd (target - q), +-max_velocity) in position control (read
// at every substep); in torque control the torque is the target, clamped.
struct MotorCommand {
  Control control = Control::off;
  double target = 0;
  double kp = 0, kd = 0;
  double max_velocity = 1e300;
  double max_torque = 1e300;
};

struct JointState {
  double position = 0;  // rad, not wrapped: a wheel counts its turns; m for prismatic
  double velocity = 0;
  double torque = 0;  // of the motor, mean over the last tick (friction and limits apart)
};

struct Contact {
  BodyId a, b;
  Vec3 point;
  Vec3 normal;       // from b to a
  double depth = 0;  // positive: they overlap
  double force = 0;  // N along the normal, in the last substep
};

// The numbers that an engine computes with. `mixed`: floats where they are enough, doubles where they are not.
enum class Precision : std::uint8_t { double_, mixed };
const char* name(Precision precision);  // "double", "mixed"
Result<Precision> parse_precision(const std::string& text);

struct EngineInfo {
  std::string name;
  std::string description;    // one line: what it is, and whose
  std::string settings;       // iterations, precision, substeps: what a comparison must state
  bool moves = true;          // false: engine `none`
  bool exact_restore = true;  // false: caches are not in a snapshot ("restore: cold")
  std::string limits;         // features that it lacks, for `volvox info engines`
  // The limits that make the conformance suite skip tests; only these words are known:
  // "meshes" (triangle meshes are refused), "restitution" (nothing bounces as told).
  std::vector<std::string> cannot{};
  bool uses_threads = true;  // false: ignores EngineSettings::threads
  Precision precision = Precision::double_;
  // What its snapshot has beyond archive_common(), in words: another engine that goes on from there does without it.
  std::string own_state{};
};

struct EngineSettings {
  Vec3 gravity{0, 0, -9.81};
  double max_substep = 1.0 / 240;        // s; a tick is divided into the fewest equal substeps that are not longer
  ThreadPool* threads = nullptr;         // may be null
  std::optional<Precision> precision{};  // none: as the engine likes
};

// Something that an engine did, and how often since it was made. The same at any number of threads.
struct WorkCount {
  const char* what = "";  // as in JSON: contact_solves
  std::uint64_t count = 0;
};

// The state and the commands that are exchanged in a step. Slots of removed ids are stale.
struct StateArrays {
  // By body index.
  std::vector<Pose> poses;        // of the link's frame
  std::vector<Twist> velocities;  // at the centre of mass
  std::vector<Wrench> forces;
  // By joint index.
  std::vector<MotorCommand> motors;
  std::vector<JointState> joints;
  std::vector<Wrench> loads;
  std::vector<std::uint8_t> latched;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const EngineInfo& info() const = 0;

  // The system. Shapes that an engine does not support (a mesh on a dynamic body) are an error.
  virtual Result<BodyId> add_body(const BodyDesc& desc) = 0;
  virtual void remove_body(BodyId id) = 0;  // removes its joints, too
  virtual JointId add_joint(const JointDesc& desc) = 0;
  virtual void remove_joint(JointId id) = 0;
  virtual void set_body(BodyId id, const Pose& pose, const Twist& velocity) = 0;
  virtual void set_gravity(const Vec3& gravity) = 0;

  // Commands and forces for the next advance. Motors keep theirs until they are changed;
  // forces (at the centre of mass, world axes) last for one advance and are then zeroed.
  // These and the arrays below are not virtual; bodies and joints that come or go make the spans invalid.
  std::span<MotorCommand> motors() { return state_->motors; }  // by joint index
  std::span<Wrench> forces() { return state_->forces; }        // by body index

  // Moves the world from `begin` to `end`, in equal substeps. On failure (a NaN, a runaway)
  // nothing is reset and the status names the body.
  virtual StepStatus advance(Time begin, Time end) = 0;

  // The state, as it is after the last advance or set_body. Slots of removed ids are stale.
  const StateArrays& state() const { return *state_; }
  std::span<const Pose> poses() const { return state_->poses; }             // by body index, the link's frame
  std::span<const Twist> velocities() const { return state_->velocities; }  // by body index, at the centre of mass
  std::span<const JointState> joints() const { return state_->joints; }     // by joint index
  // By joint index: the wrench that the joint applies to b, mean over the last tick, in frame_a's axes
  // at frame_a's origin. For a hanging load below b, force points up. Motors are included.
  std::span<const Wrench> loads() const { return state_->loads; }
  // By joint index: 0 while a dock still latches, 1 once it is closed.
  std::span<const std::uint8_t> latched() const { return state_->latched; }
  virtual bool has(JointId id) const = 0;

  // Where bodies touched in the last substep. Collected by this call, not in every advance.
  virtual void contacts(std::vector<Contact>& out) const = 0;

  // What its steps took, for `volvox bench`, in an order that stays; no part of the state. Empty: it does not count.
  virtual std::vector<WorkCount> work() const { return {}; }

  // Snapshot: everything that the next steps depend on. The bodies must have been made by the
  // same calls; joints come and go (docks), so loading restores them too, with their ids. An engine with exact_restore
  // == false also drops its caches when it saves, so that the run that goes on and the run that is restored agree.
  virtual void archive(Archive& ar) = 0;

  // The part of the state that means the same in every engine: poses, velocities, joints with their ids and positions,
  // motors, latches, loads, contacts. Saved by one engine it can be loaded by another with the same bodies, which then
  // goes on without caches. Returns false, and does nothing, if this engine cannot hand its state over or take one.
  virtual bool archive_common(Archive& /*ar*/) { return false; }

 protected:
  // The arrays are the engine's own (or, for one that wraps another, the other's), and live as long as it does.
  explicit Engine(StateArrays& state) : state_(&state) {}
  static StateArrays& state_of(Engine& wrapped) { return *wrapped.state_; }

 private:
  StateArrays* state_;
};

using EngineFactory = std::function<std::unique_ptr<Engine>(const EngineSettings&)>;

// The engine of a run that names none.
inline constexpr const char* default_engine = "native";

// The engines by name; plugins add to it.
class EngineRegistry {
 public:
  void add(const std::string& name, EngineFactory factory) { factories_[name] = std::move(factory); }
  Result<std::unique_ptr<Engine>> make(const std::string& name, const EngineSettings& settings) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, EngineFactory> factories_;
};

// A registry with every engine that this build has.
EngineRegistry built_in_engines();

}  // namespace volvox::physics
