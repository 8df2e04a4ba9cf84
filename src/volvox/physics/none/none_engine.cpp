#include "volvox/physics/none/none_engine.h"

#include <map>

#include "volvox/physics/ray_shapes.h"
#include "volvox/physics/scene.h"

namespace volvox::physics {
namespace {

class NoneEngine final : public Engine {
 public:
  explicit NoneEngine(const EngineSettings& settings) : scene_(settings.gravity) {
    info_.name = "none";
    info_.description = "nothing moves but what is placed";
    info_.settings = "no dynamics";
    info_.moves = false;
    info_.limits =
        "no motion, no contacts, no loads; motors hold their joints where they are; a dock is closed "
        "when its latch time has passed, wherever its two bodies are";
  }

  const EngineInfo& info() const override { return info_; }

  Result<BodyId> add_body(const BodyDesc& desc) override {
    if (auto error = problem_with(desc)) return *error;
    const BodyId id = scene_.add(desc);
    rays_.resize(scene_.bodies.size());
    rays_[id.index] = desc.geometry ? ray_geometry(desc.geometry) : nullptr;
    return id;
  }
  void remove_body(BodyId id) override {
    while (!scene_.joints_of[id.index].empty()) remove_joint(scene_.joints_of[id.index].back());
    scene_.remove(id);
    rays_[id.index] = nullptr;
  }
  JointId add_joint(const JointDesc& desc) override { return scene_.add(desc); }
  void remove_joint(JointId id) override { scene_.remove(id); }
  void set_body(BodyId id, const Pose& pose, const Twist& velocity) override {
    scene_.poses[id.index] = pose;
    scene_.velocities[id.index] = velocity;
    for (JointId joint : scene_.joints_of[id.index]) scene_.measure_joint(joint.index);
  }
  void set_gravity(const Vec3& gravity) override { scene_.gravity = gravity; }

  std::span<MotorCommand> motors() override { return scene_.motors; }
  std::span<Wrench> forces() override { return scene_.forces; }

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

  std::span<const Pose> poses() const override { return scene_.poses; }
  std::span<const Twist> velocities() const override { return scene_.velocities; }
  std::span<const JointState> joints() const override { return scene_.joints; }
  std::span<const Wrench> loads() const override { return scene_.loads; }
  std::span<const std::uint8_t> latched() const override { return scene_.latched; }

  void cast_rays(std::span<const Ray> rays, std::span<RayHit> hits) const override {
    for (std::size_t i = 0; i < rays.size(); ++i) hits[i] = cast(rays[i]);
  }
  void contacts(std::vector<Contact>& out) const override { out = scene_.contacts; }
  void archive(Archive& ar) override { scene_.archive(ar); }

 private:
  std::shared_ptr<const RayGeometry> ray_geometry(const std::shared_ptr<const model::Geometry>& geometry) {
    std::weak_ptr<const RayGeometry>& cached = ray_cache_[geometry.get()];
    std::shared_ptr<const RayGeometry> result = cached.lock();
    if (!result) cached = result = std::make_shared<const RayGeometry>(geometry);
    return result;
  }

  RayHit cast(const Ray& ray) const {
    RayHit best;
    double range = ray.range;
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      if (!rays_[i] || (ray.ignore_owner != 0 && scene_.bodies[i].owner == ray.ignore_owner)) continue;
      const Pose& pose = scene_.poses[i];
      const Vec3 m = pose.position - ray.origin;
      const double along = clamp(dot(m, ray.direction), 0, range);
      const double radius = rays_[i]->radius() * (1 + 1e-9);
      if (length_squared(m - ray.direction * along) > radius * radius) continue;
      const Quat inverse = pose.rotation.conjugate();
      const ShapeHit hit = rays_[i]->cast(inverse * (ray.origin - pose.position), inverse * ray.direction, range);
      if (hit.distance < 0) continue;
      range = hit.distance;
      best = {hit.distance, scene_.body_ids.at(i), pose.rotation * hit.normal};
    }
    return best;
  }

  EngineInfo info_;
  Scene scene_;
  std::vector<std::shared_ptr<const RayGeometry>> rays_;  // by body index; null: cannot be hit
  std::map<const model::Geometry*, std::weak_ptr<const RayGeometry>> ray_cache_;  // for look-up only
};

}  // namespace

std::unique_ptr<Engine> make_none_engine(const EngineSettings& settings) {
  return std::make_unique<NoneEngine>(settings);
}

}  // namespace volvox::physics
