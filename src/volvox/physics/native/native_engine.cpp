#include "volvox/physics/native/native_engine.h"

#include <fmt/format.h>

#include "volvox/physics/joint_friction.h"
#include "volvox/physics/native/simulator.h"
#include "volvox/physics/stage_times.h"

namespace volvox::physics {
namespace {

constexpr Precision default_precision = Precision::mixed;

class NativeEngine final : public SystemEngine, public JointFriction, public StageTimes {
 public:
  explicit NativeEngine(const EngineSettings& settings)
      : SystemEngine(settings.gravity),
        simulator_(system_, settings.max_substep, settings.precision.value_or(default_precision), settings.threads) {
    info_.name = "native";
    info_.description = "Volvox's own: joints and docks solved directly, contacts by an exact sweep";
    const auto threads = settings.threads ? settings.threads->threads() : 1;
    info_.precision = settings.precision.value_or(default_precision);
    info_.settings =
        fmt::format("{} precision, substeps of at most {:.6g} s, 4 to 200 contact sweeps, {} thread{}",
                    physics::name(info_.precision), settings.max_substep, threads, threads == 1 ? "" : "s");
    info_.exact_restore = true;
    info_.own_state = "who sleeps, the impulses of contacts, what slips or rests on a limit";
    info_.limits = "meshes, height fields and planes only on bodies that do not move";
  }
  ~NativeEngine() override { come_home(true); }
  NativeEngine(const NativeEngine&) = delete;
  NativeEngine& operator=(const NativeEngine&) = delete;

  Result<BodyId> add_body(const BodyDesc& desc) override {
    if (auto error = problem_with(desc)) return *error;
    come_home(true);
    keep_contacts();
    const BodyId id = system_.add(desc);
    simulator_.add_body(id.index);
    return id;
  }
  void remove_body(BodyId id) override {
    come_home(true);
    keep_contacts();
    VOLVOX_CHECK(system_.body_ids.alive(id), "removing a body that is not there");
    while (!system_.joints_of[id.index].empty()) remove_joint(system_.joints_of[id.index].back());
    simulator_.remove_body(id.index);
    system_.remove(id);
  }
  JointId add_joint(const JointDesc& desc) override {
    come_home(true);
    keep_contacts();
    const JointId id = system_.add(desc);
    simulator_.add_joint(id.index);
    return id;
  }
  void remove_joint(JointId id) override {
    come_home(true);
    keep_contacts();
    VOLVOX_CHECK(system_.joint_ids.alive(id), "removing a joint that is not there");
    simulator_.before_joint_removed(id.index);
    system_.remove(id);
  }
  void set_joint_friction(JointId id, double friction) override {
    VOLVOX_CHECK(system_.joint_ids.alive(id) && friction >= 0, "no friction of a joint that is there");
    if (system_.joint_descs[id.index].friction == friction) return;
    come_home(true);
    system_.joint_descs[id.index].friction = friction;
  }
  double joint_friction(JointId id) const override {
    VOLVOX_CHECK(system_.joint_ids.alive(id), "no friction of a joint that is there");
    return system_.joint_descs[id.index].friction;
  }
  void set_body(BodyId id, const Pose& pose, const Twist& velocity) override {
    come_home(true);
    keep_contacts();
    VOLVOX_CHECK(system_.body_ids.alive(id), "placing a body that is not there");
    system_.poses[id.index] = pose;
    system_.velocities[id.index] = system_.bodies[id.index].motion == Motion::fixed ? Twist{} : velocity;
    simulator_.place_body(id.index);
    for (JointId joint : system_.joints_of[id.index]) system_.measure_joint(joint.index);
  }
  void set_gravity(const Vec3& gravity) override {
    come_home(true);
    system_.gravity = gravity;
  }

  StepStatus advance(Time begin, Time end) override {
    come_home(true);
    if (StepStatus status = problem_with_inputs(system_); !status.ok()) return status;
    const double tick = (end - begin).seconds();
    if (tick <= 0) return {};
    contacts_changed();
    return simulator_.advance(tick);
  }

  std::vector<WorkCount> work() const override {
    const native::Work& w = simulator_.work();
    return {{"detections", w.detections},
            {"partial_detections", w.partial_detections},
            {"hasty_detections", w.hasty_detections},
            {"alarmed_bodies", w.alarmed_bodies},
            {"pairs", w.pairs},
            {"gjk_calls", w.gjk_calls},
            {"gjk_iterations", w.gjk_iterations},
            {"group_substeps", w.group_substeps},
            {"attempts", w.attempts},
            {"sweeps", w.sweeps},
            {"contact_solves", w.contact_solves},
            {"looks", w.looks},
            {"batch_contacts", w.batch_contacts},
            {"batch_room", w.batch_room},
            {"lone_substeps", w.lone_substeps},
            {"lane_substeps", w.lane_substeps},
            {"lane_room", w.lane_room},
            {"called_back", w.called_back},
            {"bytes_moved", w.bytes_moved}};
  }

  void archive(Archive& ar) override {
    come_home(ar.loading());
    keep_contacts();
    system_.archive(ar);
    if (ar.ok()) simulator_.archive(ar);
  }
  double collision_s() const override { return simulator_.collision_s(); }
  native::Simulator& simulator() { return simulator_; }
  using SystemEngine::contacts_changed;
  void set_away(std::function<void(bool changes)> come_home) { come_home_ = std::move(come_home); }

  bool archive_common(Archive& ar) override {
    come_home(ar.loading());
    keep_contacts();
    system_.archive(ar);
    if (ar.loading() && ar.ok()) simulator_.begin_from_system();
    return true;
  }

 private:
  void read_contacts(std::vector<Contact>& out) const override {
    come_home(false);
    simulator_.read_contacts(out);
  }
  void come_home(bool changes) const {
    if (!come_home_) return;
    const auto call = come_home_;  // it may put another in its place
    call(changes);
  }

  native::Simulator simulator_;
  std::function<void(bool changes)> come_home_;  // see native_set_away()
};

}  // namespace

native::Simulator* native_simulator(Engine& engine) {
  auto* native = dynamic_cast<NativeEngine*>(&engine);
  return native == nullptr ? nullptr : &native->simulator();
}
void native_contacts_changed(Engine& engine) {
  if (auto* native = dynamic_cast<NativeEngine*>(&engine)) native->contacts_changed();
}
void native_set_away(Engine& engine, std::function<void(bool changes)> come_home) {
  if (auto* native = dynamic_cast<NativeEngine*>(&engine)) native->set_away(std::move(come_home));
}

std::unique_ptr<Engine> make_native_engine(const EngineSettings& settings) {
  return std::make_unique<NativeEngine>(settings);
}

}  // namespace volvox::physics
