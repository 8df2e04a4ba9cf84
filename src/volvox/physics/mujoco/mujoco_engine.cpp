#include "volvox/physics/mujoco/mujoco_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/physics/joint_friction.h"
#include "volvox/physics/mujoco/mujoco_world.h"

namespace volvox::physics {
namespace {

#ifdef VOLVOX_MUJOCO3  // mujoco3
constexpr const char *own_name = "mujoco3", *version = VOLVOX_MUJOCO3_VERSION " (PyPI)";
#else
constexpr const char *own_name = "mujoco", *version = "2.2 (Debian)";
#endif

class MujocoEngine final : public SystemEngine {
 public:
  explicit MujocoEngine(const EngineSettings& settings)
      : SystemEngine(settings.gravity), max_substep_(settings.max_substep), world_(system_, sweep_) {
    info_.name = own_name;
    info_.description = fmt::format(
        "MuJoCo {}, trees in joint coordinates, soft contacts, with Volvox's own motors and latching", version);
    info_.settings = fmt::format(
        "double precision, Newton, elliptic cones, semi-implicit Euler, substeps of at most {:.6g} s, one thread, "
        "no sleeping",
        max_substep_);
    info_.exact_restore = false;
    info_.uses_threads = false;
    info_.limits =
        "soft contacts: nothing bounces, and what rests sinks in by micrometres; no triangle meshes; a dock that "
        "closes makes a "
        "new model (slow for many modules); of a joint that closes a loop the load is a force alone, its motor and "
        "limits do "
        "not act, and a prismatic one is rigid; memory grows with the square of the contacts; hundreds of bodies in "
        "one chain are too deep for its reader; solver caches are "
        "not in a snapshot";
    info_.cannot = {"meshes", "restitution", friction_by_load, sliding_jaws};
  }

  Result<BodyId> add_body(const BodyDesc& desc) override {
    if (auto error = problem_with(desc)) return *error;
    for (std::size_t i = 0; desc.geometry && i < desc.geometry->colliders.size(); ++i) {
      if (!std::holds_alternative<model::Mesh>(desc.geometry->colliders[i].shape)) continue;
      return Error(fmt::format("the engine '{}' replaces triangle meshes by their convex hulls", own_name),
                   "use convex hulls or a height field, or another engine");
    }
    const BodyId id = system_.add(desc);
    sweep_.add(id.index, desc);
    world_.change_topology();
    return id;
  }
  void remove_body(BodyId id) override {
    VOLVOX_CHECK(system_.body_ids.alive(id), "removing a body that is not there");
    while (!system_.joints_of[id.index].empty()) remove_joint(system_.joints_of[id.index].back());
    sweep_.remove(id.index);
    system_.remove(id);
    world_.change_topology();
  }
  JointId add_joint(const JointDesc& desc) override {
    world_.change_topology();
    return system_.add(desc);
  }
  void remove_joint(JointId id) override {
    VOLVOX_CHECK(system_.joint_ids.alive(id), "removing a joint that is not there");
    system_.remove(id);
    world_.change_topology();
  }
  void set_body(BodyId id, const Pose& pose, const Twist& velocity) override {
    VOLVOX_CHECK(system_.body_ids.alive(id), "placing a body that is not there");
    system_.poses[id.index] = pose;
    system_.velocities[id.index] = system_.bodies[id.index].motion == Motion::fixed ? Twist{} : velocity;
    for (JointId joint : system_.joints_of[id.index]) system_.measure_joint(joint.index);
    world_.change_state();
  }
  void set_gravity(const Vec3& gravity) override { system_.gravity = gravity; }

  StepStatus advance(Time begin, Time end) override {
    if (StepStatus status = problem_with_inputs(system_); !status.ok()) return status;
    const double tick = (end - begin).seconds();
    if (tick <= 0) return {};
    const int count = substep_count(tick, max_substep_);
    StepStatus status;
    world_.begin_tick();
    for (int i = 0; i < count && status.ok(); ++i) status = world_.substep(tick / count, i + 1 == count);
    world_.end_tick(tick);
    std::fill(system_.forces.begin(), system_.forces.end(), Wrench{});
    return status;
  }

  // Both the run that continues and the restored run make a new model from the system.
  void archive(Archive& ar) override {
    system_.archive(ar);
    world_.archive(ar);
    if (!ar.hashing()) world_.change_topology();
  }
  bool archive_common(Archive& ar) override {
    system_.archive(ar);
    if (!ar.hashing()) world_.change_topology();
    return true;
  }

 private:
  // Read in the last substep, because the closing of a dock replaces the model and its contacts.
  void read_contacts(std::vector<Contact>& out) const override { out = system_.contacts; }

  double max_substep_;
  Sweep sweep_;
  mujoco::World world_;
};

}  // namespace

std::unique_ptr<Engine> make_mujoco_engine(const EngineSettings& settings) {
  return std::make_unique<MujocoEngine>(settings);
}

}  // namespace volvox::physics
