#include "volvox/physics/none/none_engine.h"

#include "volvox/physics/ray_scene.h"
#include "volvox/physics/scene.h"

namespace volvox::physics {
namespace {

class NoneEngine final : public SceneEngine {
 public:
  explicit NoneEngine(const EngineSettings& settings) : SceneEngine(settings.gravity) {
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
    const BodyId id = scene_.add(desc);
    rays_.add(id.index, desc);
    return id;
  }
  void remove_body(BodyId id) override {
    while (!scene_.joints_of[id.index].empty()) remove_joint(scene_.joints_of[id.index].back());
    scene_.remove(id);
    rays_.remove(id.index);
  }
  JointId add_joint(const JointDesc& desc) override { return scene_.add(desc); }
  void remove_joint(JointId id) override { scene_.remove(id); }
  void set_body(BodyId id, const Pose& pose, const Twist& velocity) override {
    scene_.poses[id.index] = pose;
    scene_.velocities[id.index] = velocity;
    for (JointId joint : scene_.joints_of[id.index]) scene_.measure_joint(joint.index);
  }
  void set_gravity(const Vec3& gravity) override { scene_.gravity = gravity; }

  StepStatus advance(Time begin, Time end) override {
    if (StepStatus status = problem_with_inputs(scene_); !status.ok()) return status;
    for (std::size_t i = 0; i < scene_.latches.size(); ++i) {
      if (!scene_.joint_ids.alive_index(i) || scene_.latched[i]) continue;
      scene_.latches[i].advance((end - begin).seconds());
      scene_.latched[i] = scene_.latches[i].closed();
    }
    std::fill(scene_.forces.begin(), scene_.forces.end(), Wrench{});
    return problem_with_state(scene_);
  }

  void cast_rays(std::span<const Ray> rays, std::span<RayHit> hits) const override { rays_.cast(scene_, rays, hits); }
  void archive(Archive& ar) override { scene_.archive(ar); }

 private:
  void read_contacts(std::vector<Contact>& out) const override { out.clear(); }

  RayScene rays_;
};

}  // namespace

std::unique_ptr<Engine> make_none_engine(const EngineSettings& settings) {
  return std::make_unique<NoneEngine>(settings);
}

}  // namespace volvox::physics
