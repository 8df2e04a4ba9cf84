#include "volvox/physics/none/none_engine.h"

#include "volvox/physics/system.h"

namespace volvox::physics {
namespace {

class NoneEngine final : public SystemEngine {
 public:
  explicit NoneEngine(const EngineSettings& settings) : SystemEngine(settings.gravity) {
    info_.name = "none";
    info_.description = "nothing moves but what is placed";
    info_.settings = "no dynamics";
    info_.moves = false;
    info_.uses_threads = false;
    info_.limits =
        "no motion, no contacts, no loads; motors hold their joints where they are; a dock is closed "
        "when its latch time has passed, wherever its two bodies are";
  }

  Result<BodyId> add_body(const BodyDesc& desc) override {
    if (auto error = problem_with(desc)) return *error;
    return system_.add(desc);
  }
  void remove_body(BodyId id) override {
    while (!system_.joints_of[id.index].empty()) remove_joint(system_.joints_of[id.index].back());
    system_.remove(id);
  }
  JointId add_joint(const JointDesc& desc) override { return system_.add(desc); }
  void remove_joint(JointId id) override { system_.remove(id); }
  void set_body(BodyId id, const Pose& pose, const Twist& velocity) override {
    system_.poses[id.index] = pose;
    system_.velocities[id.index] = velocity;
    for (JointId joint : system_.joints_of[id.index]) system_.measure_joint(joint.index);
  }
  void set_gravity(const Vec3& gravity) override { system_.gravity = gravity; }

  StepStatus advance(Time begin, Time end) override {
    if (StepStatus status = problem_with_inputs(system_); !status.ok()) return status;
    for (std::size_t i = 0; i < system_.latches.size(); ++i) {
      if (!system_.joint_ids.alive_index(i) || system_.latched[i]) continue;
      system_.latches[i].advance((end - begin).seconds());
      system_.latched[i] = system_.latches[i].closed();
    }
    std::fill(system_.forces.begin(), system_.forces.end(), Wrench{});
    return problem_with_state(system_);
  }

  void archive(Archive& ar) override { system_.archive(ar); }
  bool archive_common(Archive& ar) override {
    system_.archive(ar);
    return true;
  }

 private:
  void read_contacts(std::vector<Contact>& out) const override { out.clear(); }
};

}  // namespace

std::unique_ptr<Engine> make_none_engine(const EngineSettings& settings) {
  return std::make_unique<NoneEngine>(settings);
}

}  // namespace volvox::physics
