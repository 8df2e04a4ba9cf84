#include "volvox/physics/mujoco/mjcf.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace volvox::physics::mujoco {
namespace {

std::string text(const Vec3& v) { return fmt::format("{:.17g} {:.17g} {:.17g}", v.x, v.y, v.z); }
std::string text(const Quat& q) { return fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}", q.w, q.x, q.y, q.z); }
std::string place(const Pose& p) { return fmt::format("pos=\"{}\" quat=\"{}\"", text(p.position), text(p.rotation)); }

class Writer {
 public:
  Writer(const System& system, const Forest& forest) : system_(system), forest_(forest) {}

  std::string write(std::uint64_t contacts) {
    for (const int root : forest_.roots) write_body(root);
    for (const int joint : forest_.loops) write_loop(joint);
    return fmt::format(
        "<mujoco><compiler angle=\"radian\" balanceinertia=\"true\" boundmass=\"1e-12\" boundinertia=\"1e-15\"/>"
        "<size nconmax=\"{}\" njmax=\"{}\"/>"
        "<option solver=\"Newton\" iterations=\"50\" tolerance=\"1e-12\" cone=\"elliptic\" impratio=\"100\" "
        "integrator=\"Euler\">"
        "<flag multiccd=\"enable\" filterparent=\"disable\"/></option>"
        "<default><geom condim=\"3\" solref=\"0.01 1\" solimp=\"0.95 0.99 0.0005\"/>"
        "<equality solref=\"0.01 1\" solimp=\"0.99 0.9999 0.0005\"/></default>"
        "<asset>{}</asset><worldbody>{}</worldbody><equality>{}</equality></mujoco>",
        contacts, 3 * contacts + 12 * forest_.loops.size() + 100, assets_, bodies_, equalities_);
  }

 private:
  void write_body(std::size_t index) {
    const BodyDesc& desc = system_.bodies[index];
    bodies_ += fmt::format("<body name=\"{}\" {}>", body_name(index), place(rest_pose(system_, forest_, index)));
    if (desc.motion != Motion::fixed) {
      write_joint(index);
      const bool led = desc.motion == Motion::kinematic;
      const double mass = led ? kinematic_mass : desc.mass;
      const Vec3 moments = led ? Vec3{mass, mass, mass} : desc.moments;
      bodies_ += fmt::format("<inertial pos=\"0 0 0\" mass=\"{:.17g}\" diaginertia=\"{}\"/>", mass, text(moments));
    }
    for (std::size_t c = 0; desc.geometry && c < desc.geometry->colliders.size(); ++c) write_geom(index, c);
    for (const int child : forest_.children[index]) write_body(child);
    bodies_ += "</body>";
  }

  void write_joint(std::size_t index) {
    if (forest_.joint[index] < 0) {
      bodies_ += "<freejoint/>";
      return;
    }
    const std::size_t joint = forest_.joint[index];
    const JointDesc& desc = system_.joint_descs[joint];
    const Pose at =
        body_frame(system_.bodies[index]).inverse() * (forest_.reversed[index] ? desc.frame_a : desc.frame_b);
    // Turning a about -z is turning b about z.
    const Vec3 axis = at.rotation * Vec3{0, 0, forest_.reversed[index] ? -1.0 : 1.0};
    const char* type = desc.type == JointType::revolute    ? "hinge"
                       : desc.type == JointType::prismatic ? "slide"
                                                           : "ball";
    if (desc.type == JointType::fixed || desc.type == JointType::dock) return;
    bodies_ += fmt::format("<joint name=\"{}\" type=\"{}\" pos=\"{}\" axis=\"{}\"/>", joint_name(joint), type,
                           text(at.position), text(axis));
  }

  void write_geom(std::size_t body, std::size_t index) {
    const model::Collider& collider = system_.bodies[body].geometry->colliders[index];
    Pose pose = body_frame(system_.bodies[body]).inverse() * collider.pose;
    std::string shape;
    if (const auto* s = std::get_if<model::Sphere>(&collider.shape))
      shape = fmt::format("type=\"sphere\" size=\"{:.17g}\"", s->radius);
    if (const auto* b = std::get_if<model::Box>(&collider.shape))
      shape = fmt::format("type=\"box\" size=\"{}\"", text(b->size / 2));
    if (const auto* c = std::get_if<model::Capsule>(&collider.shape))
      shape = fmt::format("type=\"capsule\" size=\"{:.17g} {:.17g}\"", c->radius, c->length / 2);
    if (const auto* c = std::get_if<model::Cylinder>(&collider.shape))
      shape = fmt::format("type=\"cylinder\" size=\"{:.17g} {:.17g}\"", c->radius, c->length / 2);
    if (const auto* p = std::get_if<model::Plane>(&collider.shape)) {
      pose.rotation = pose.rotation * Quat::between({0, 0, 1}, normalized(p->normal));
      shape = "type=\"plane\" size=\"0 0 1\"";
    }
    if (const auto* h = std::get_if<model::Hull>(&collider.shape))
      shape = fmt::format("type=\"mesh\" mesh=\"{}\"", mesh_of(*h));
    if (const auto* f = std::get_if<model::HeightField>(&collider.shape)) {
      const model::HeightFieldData& field = **f;
      const double rise = std::max(1e-6, field.highest() - field.lowest());
      pose.position += pose.rotation * Vec3{0, 0, field.lowest()};
      assets_ +=
          fmt::format("<hfield name=\"{}\" nrow=\"{}\" ncol=\"{}\" size=\"{:.17g} {:.17g} {:.17g} 1\"/>",
                      field_name(body, index), field.rows, field.columns, field.size_x / 2, field.size_y / 2, rise);
      shape = fmt::format("type=\"hfield\" hfield=\"{}\"", field_name(body, index));
    }
    bodies_ += fmt::format("<geom name=\"{}\" {} {}/>", geom_name(body, index), shape, place(pose));
  }

  // A hull that many links share is one asset.
  const std::string& mesh_of(const model::Hull& hull) {
    std::string& name = meshes_[hull.get()];
    if (!name.empty()) return name;
    name = "m" + std::to_string(meshes_.size());
    std::string points;
    for (const Vec3& p : hull->points) points += text(p) + " ";
    assets_ += fmt::format("<mesh name=\"{}\" vertex=\"{}\"/>", name, points);
    return name;
  }

  // A joint that closes a loop, as soft constraints. A hinge is held at two points of its axis.
  void write_loop(std::size_t joint) {
    const JointDesc& desc = system_.joint_descs[joint];
    const Pose from_a = desc.a.valid() ? body_frame(system_.bodies[desc.a.index]) : Pose{};
    const Pose to_b = body_frame(system_.bodies[desc.b.index]).inverse();
    const std::string a = desc.a.valid() ? body_name(desc.a.index) : "world", b = body_name(desc.b.index);
    const auto connect = [&](int part, const Vec3& anchor) {
      equalities_ += fmt::format("<connect name=\"{}\" body1=\"{}\" body2=\"{}\" anchor=\"{}\"/>",
                                 equality_name(joint, part), b, a, text(to_b * anchor));
    };
    switch (desc.type) {
      case JointType::ball: return connect(0, desc.frame_b.position);
      case JointType::revolute:
        connect(0, desc.frame_b * Vec3{0, 0, -0.05});
        return connect(1, desc.frame_b * Vec3{0, 0, 0.05});
      case JointType::prismatic:
      case JointType::fixed:
      case JointType::dock: {
        const Pose relative = to_b * desc.frame_b * desc.frame_a.inverse() * from_a;  // a in b
        equalities_ += fmt::format("<weld name=\"{}\" body1=\"{}\" body2=\"{}\" relpose=\"{} {}\"/>",
                                   equality_name(joint, 0), b, a, text(relative.position), text(relative.rotation));
      }
    }
  }

  const System& system_;
  const Forest& forest_;
  std::string assets_, bodies_, equalities_;
  std::map<const model::HullData*, std::string> meshes_;  // for look-up only
};

}  // namespace

Pose body_frame(const BodyDesc& desc) {
  if (desc.motion == Motion::fixed) return {};
  return {desc.inertial.position, normalized(desc.inertial.rotation)};
}

Pose rest_pose(const System& system, const Forest& forest, std::size_t body) {
  const int index = forest.joint[body], parent = forest.parent[body];
  const Pose frame = body_frame(system.bodies[body]);
  if (index < 0) return system.poses[body] * frame;
  const JointDesc& desc = system.joint_descs[index];
  const Pose in_parent =
      forest.reversed[body] ? desc.frame_b * desc.frame_a.inverse() : desc.frame_a * desc.frame_b.inverse();
  const Pose pose = (parent < 0 ? Pose{} : body_frame(system.bodies[parent]).inverse()) * in_parent * frame;
  return {pose.position, normalized(pose.rotation)};
}

std::string write_mjcf(const System& system, const Forest& forest, std::uint64_t contacts) {
  return Writer(system, forest).write(contacts);
}

}  // namespace volvox::physics::mujoco
