#include "volvox/physics/ode/ode_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "volvox/physics/joint_friction.h"
#include "volvox/physics/ode/ode_world.h"
#include "volvox/physics/stage_times.h"

namespace volvox::physics {
namespace {

// ODE's random numbers, threads and collision caches are one for the whole process: worlds that two threads step at the
// same time would crash. So engines take turns. That costs nothing where there is one.
class Turn {
 public:
  Turn() : lock_(mutex()) {
    static const bool started = dInitODE2(0) != 0;
    thread_local const bool known = started && dAllocateODEDataForThread(dAllocateMaskAll) != 0;
    VOLVOX_CHECK(known, "ODE has no memory left");
  }

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex all;
    return all;
  }
  std::lock_guard<std::recursive_mutex> lock_;
};

class OdeEngine final : public SystemEngine, public StageTimes {
 public:
  explicit OdeEngine(const EngineSettings& settings)
      : SystemEngine(settings.gravity), max_substep_(settings.max_substep) {
    info_.name = "ode";
    info_.description =
        "Open Dynamics Engine 0.16 (Debian), QuickStep, with Volvox's own plane contacts and free rotation";
    info_.settings = fmt::format(
        "double precision, {} iterations of QuickStep, ERP {} for joints, CFM 0, substeps of at most {:.6g} s, "
        "one thread, no sleeping",
        ode::solver_iterations, ode::error_reduction, max_substep_);
    info_.exact_restore = false;
    info_.uses_threads = false;
    info_.limits =
        "long arms of docks droop (20 docks held at one end: 0.15 rad at the worst); friction is a pyramid turned to "
        "where "
        "things slide; meshes, height fields and planes only on bodies that do not move; ODE's random numbers are one "
        "for "
        "all worlds: engines of one process take turns; contact caches are not in a snapshot";
    info_.cannot = {friction_by_load, sliding_jaws};
    rebuild();
  }
  ~OdeEngine() override {
    const Turn turn;
    world_.reset();
    shapes_ = {};
  }

  Result<BodyId> add_body(const BodyDesc& desc) override {
    const Turn turn;
    if (auto error = problem_with(desc)) return *error;
    keep_contacts();
    const BodyId id = system_.add(desc);
    sweep_.add(id.index, desc);
    world_->add_body(id.index);
    return id;
  }
  void remove_body(BodyId id) override {
    const Turn turn;
    keep_contacts();
    VOLVOX_CHECK(system_.body_ids.alive(id), "removing a body that is not there");
    while (!system_.joints_of[id.index].empty()) remove_joint(system_.joints_of[id.index].back());
    world_->remove_body(id.index);
    sweep_.remove(id.index);
    system_.remove(id);
  }
  JointId add_joint(const JointDesc& desc) override {
    const Turn turn;
    keep_contacts();
    const JointId id = system_.add(desc);
    world_->add_joint(id.index);
    return id;
  }
  void remove_joint(JointId id) override {
    const Turn turn;
    keep_contacts();
    VOLVOX_CHECK(system_.joint_ids.alive(id), "removing a joint that is not there");
    world_->remove_joint(id.index);
    system_.remove(id);
  }
  double collision_s() const override { return world_->collision_s(); }
  void set_body(BodyId id, const Pose& pose, const Twist& velocity) override {
    const Turn turn;
    keep_contacts();
    VOLVOX_CHECK(system_.body_ids.alive(id), "placing a body that is not there");
    system_.poses[id.index] = pose;
    system_.velocities[id.index] = system_.bodies[id.index].motion == Motion::fixed ? Twist{} : velocity;
    world_->place_body(id.index);
    for (JointId joint : system_.joints_of[id.index]) system_.measure_joint(joint.index);
  }
  void set_gravity(const Vec3& gravity) override { system_.gravity = gravity; }

  StepStatus advance(Time begin, Time end) override {
    const Turn turn;
    if (StepStatus status = problem_with_inputs(system_); !status.ok()) return status;
    const double tick = (end - begin).seconds();
    if (tick <= 0) return {};
    const int count = substep_count(tick, max_substep_);
    contacts_changed();
    world_->begin_tick();
    for (int i = 0; i < count; ++i) {
      if (!world_->substep(tick / count)) break;  // ODE must not get a NaN
    }
    world_->end_tick(tick);
    std::fill(system_.forces.begin(), system_.forces.end(), Wrench{});
    return problem_with_state(system_);
  }

  // ODE's anchors and lists cannot be saved: both the run that continues and the restored run make a new world with the
  // same bodies and joints in the order of their ids.
  void archive(Archive& ar) override { archive_common(ar); }
  bool archive_common(Archive& ar) override {
    const Turn turn;
    keep_contacts();
    system_.archive(ar);
    if (!ar.hashing() && ar.ok()) rebuild();
    return true;
  }

 private:
  void read_contacts(std::vector<Contact>& out) const override {
    const Turn turn;
    world_->read_contacts(out);
  }
  void rebuild() {
    const Turn turn;
    world_.reset();
    world_ = std::make_unique<ode::World>(system_, shapes_, sweep_);
  }

  double max_substep_;
  ode::ShapeCache shapes_;
  Sweep sweep_;
  std::unique_ptr<ode::World> world_;
};

}  // namespace

std::unique_ptr<Engine> make_ode_engine(const EngineSettings& settings) {
  return std::make_unique<OdeEngine>(settings);
}

}  // namespace volvox::physics
