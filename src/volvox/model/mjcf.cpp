#include "volvox/model/mjcf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/model/matter.h"

namespace volvox::model {
namespace {

// s. Welds and contacts of MuJoCo are springs, and stiff servos at their torque limit chatter: SuperBots that are
// docked shake with 2 ms, and sometimes with 1 ms.
constexpr double longest_step = 0.0005;

std::string text(const Vec3& v) { return fmt::format("{:.12g} {:.12g} {:.12g}", v.x, v.y, v.z); }
std::string text(const Quat& q) { return fmt::format("{:.12g} {:.12g} {:.12g} {:.12g}", q.w, q.x, q.y, q.z); }
std::string text(const Color& c) { return fmt::format("{:.4g} {:.4g} {:.4g} {:.4g}", c.r, c.g, c.b, c.a); }
std::string place(const Pose& p) {
  return fmt::format("pos=\"{}\" quat=\"{}\"", text(p.position), text(normalized(p.rotation)));
}

class Writer {
 public:
  explicit Writer(const WorldModel& world) : world_(world) {}

  Mjcf write() {
    for (const Placement& placement : world_.placements) write_placement(placement);
    for (const Connection& connection : world_.connections) write_weld(connection);
    if (world_.matter) leave_out("water, rubble and cloth");
    std::string out = "<!-- Written by Volvox (volvox export), for MuJoCo 3 or later.";
    if (!left_out_.empty()) out += "\n     Left out or changed:";
    for (const std::string& each : left_out_) out += "\n     - " + comment(each);
    out += fmt::format(
        " -->\n<mujoco model=\"{}\">\n  <compiler angle=\"radian\" balanceinertia=\"true\"/>\n"
        "  <option timestep=\"{:.12g}\" gravity=\"{}\" integrator=\"implicitfast\" cone=\"elliptic\" "
        "impratio=\"10\"/>\n"
        "  <default>\n    <geom condim=\"3\"/>\n"
        "    <equality solref=\"0.002 1\" solimp=\"0.99 0.9999 0.0005\"/>\n"
        "    <default class=\"visual\"><geom group=\"2\" contype=\"0\" conaffinity=\"0\" density=\"0\"/></default>\n"
        "    <default class=\"collision\"><geom group=\"3\"/></default>\n  </default>\n",
        xml_escaped(world_.name), std::min(world_.run.max_substep, longest_step), text(world_.gravity));
    const auto section = [&](const char* name, const std::string& content) {
      if (!content.empty()) out += fmt::format("  <{0}>\n{1}  </{0}>\n", name, content);
    };
    section("asset", assets_);
    section("worldbody", bodies_);
    section("equality", equalities_);
    section("contact", excludes_);
    section("actuator", actuators_);
    section("sensor", sensors_);
    if (!qpos_.empty())
      section("keyframe", fmt::format("    <key name=\"start\" qpos=\"{}\" qvel=\"{}\"/>\n", qpos_, qvel_));
    return {out + "</mujoco>\n", {left_out_.begin(), left_out_.end()}};
  }

 private:
  static std::string comment(std::string words) {  // "--" would end it
    for (std::size_t at = words.find("--"); at != std::string::npos; at = words.find("--", at))
      words.replace(at, 2, "- -");
    return words;
  }
  void leave_out(const std::string& what) { left_out_.insert(what); }
  static std::string named(const Placement& p, const std::string& part) { return xml_escaped(p.name + "." + part); }

  void write_placement(const Placement& placement) {
    const ModuleModel& module = *placement.model;
    const std::size_t count = module.links.size();
    // By link: the joint that carries it, if one does. A second one closes a loop.
    std::vector<int> carried(count, -1);
    std::vector<std::vector<int>> carries(count);
    std::vector<int> loops;
    for (int j = 0; j < std::ssize(module.joints); ++j) {
      const Joint& joint = module.joints[j];
      if (carried[joint.child] >= 0) {
        loops.push_back(j);
        continue;
      }
      carried[joint.child] = j;
      if (joint.parent >= 0) carries[joint.parent].push_back(j);
    }
    const std::vector<Pose> links = forward_kinematics(module, placement.positions);
    for (std::size_t i = 0; i < count; ++i) {
      if (module.fixed_in_place) write_link(placement, i, placement.pose * links[i], -1, {}, 2);
      else if (carried[i] < 0 || module.joints[carried[i]].parent < 0)
        write_link(placement, i, root_pose(placement, links[i], carried[i]), carried[i], carries, 2);
    }
    for (const int loop : loops) write_loop(placement, module.joints[loop]);
    if (!module.self_collide && !module.fixed_in_place) {
      for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = a + 1; b < count; ++b)
          exclude(named(placement, module.links[a].name), named(placement, module.links[b].name));
    }
    name_what_is_left(placement);
  }

  static Pose root_pose(const Placement& placement, const Pose& link, int joint) {
    if (joint < 0) return placement.pose * link;
    const Joint& held = placement.model->joints[joint];
    return placement.pose * held.parent_frame * held.child_frame.inverse();
  }

  // `joint`: what carries the link; -1: nothing. Children follow within it.
  void write_link(const Placement& placement, std::size_t index, const Pose& pose, int joint,
                  const std::vector<std::vector<int>>& carries, int depth) {
    const ModuleModel& module = *placement.model;
    const Link& link = module.links[index];
    const std::string indent(2 * depth, ' ');
    bodies_ += fmt::format("{}<body name=\"{}\" {}{}>\n", indent, named(placement, link.name), place(pose),
                           link.gravity ? "" : " gravcomp=\"1\"");
    if (!module.fixed_in_place) {
      if (joint < 0) write_free_joint(placement, pose, indent);
      else write_joint(placement, joint, indent);
      bodies_ += fmt::format("{}  <inertial {} mass=\"{:.12g}\" diaginertia=\"{}\"/>\n", indent, place(link.inertial),
                             link.mass, text(link.moments));
    }
    for (const Collider& collider : link.geometry->colliders)
      write_geom(collider.shape, collider.pose,
                 fmt::format("class=\"collision\" friction=\"{:.6g} 0.001 0.0001\"", collider.material.friction),
                 indent);
    for (const Visual& visual : link.visuals)
      write_geom(visual.shape, visual.pose, fmt::format("class=\"visual\" rgba=\"{}\"", text(visual.color)), indent);
    for (const Dock& dock : module.docks)
      if (dock.link == narrow<int>(index))
        bodies_ += fmt::format("{}  <site name=\"{}\" {} size=\"0.004\"/>\n", indent, named(placement, dock.name),
                               place(dock.pose));
    for (const Sensor& sensor : module.sensors)
      if (sensor.link == narrow<int>(index)) write_sensor(placement, sensor, indent);
    if (index < carries.size()) {
      for (const int next : carries[index]) {
        const Joint& to = module.joints[next];
        write_link(placement, to.child, to.parent_frame * to.child_frame.inverse(), next, carries, depth + 1);
      }
    }
    bodies_ += indent + "</body>\n";
  }

  void write_free_joint(const Placement& placement, const Pose& pose, const std::string& indent) {
    bodies_ += indent + "  <freejoint/>\n";
    const Twist& given = placement.velocity;
    const Vec3 linear = given.linear + cross(given.angular, pose.position - placement.pose.position);
    add_start(fmt::format("{} {}", text(pose.position), text(normalized(pose.rotation))),
              fmt::format("{} {}", text(linear), text(pose.rotation.conjugate() * given.angular)));
  }

  void add_start(const std::string& position, const std::string& velocity) {
    qpos_ += (qpos_.empty() ? "" : " ") + position;
    qvel_ += (qvel_.empty() ? "" : " ") + velocity;
  }

  void write_joint(const Placement& placement, int index, const std::string& indent) {
    const Joint& joint = placement.model->joints[index];
    const double at = index < std::ssize(placement.positions) ? placement.positions[index] : 0;
    if (joint.type == JointType::fixed) return;
    const bool ball = joint.type == JointType::ball;
    if (ball) add_start("1 0 0 0", "0 0 0");
    else add_start(fmt::format("{:.12g}", at), "0");
    bodies_ += fmt::format("{}  <joint name=\"{}\" type=\"{}\" pos=\"{}\"", indent, named(placement, joint.name),
                           ball                                 ? "ball"
                           : joint.type == JointType::prismatic ? "slide"
                                                                : "hinge",
                           text(joint.child_frame.position));
    if (!ball) bodies_ += fmt::format(" axis=\"{}\"", text(joint.child_frame.rotation * Vec3{0, 0, 1}));
    if (!ball && std::isfinite(joint.lower) && std::isfinite(joint.upper))
      bodies_ += fmt::format(" limited=\"true\" range=\"{:.12g} {:.12g}\"", joint.lower, joint.upper);
    else if (!ball && (std::isfinite(joint.lower) || std::isfinite(joint.upper)))
      leave_out("limits of joints that have only one");
    if (joint.damping > 0) bodies_ += fmt::format(" damping=\"{:.12g}\"", joint.damping);
    if (joint.friction > 0) bodies_ += fmt::format(" frictionloss=\"{:.12g}\"", joint.friction);
    bodies_ += "/>\n";
    if (joint.motor) write_motor(placement, joint);
  }

  // A servo: kp (target - q) - kd qdot; with kp = 0 it follows a velocity.
  void write_motor(const Placement& placement, const Joint& joint) {
    const Motor& motor = *joint.motor;
    const bool speed = motor.kp <= 0;
    actuators_ += fmt::format(
        "    <general name=\"{0}\" joint=\"{0}\" gaintype=\"fixed\" biastype=\"affine\" gainprm=\"{1:.12g}\" "
        "biasprm=\"0 {2:.12g} {3:.12g}\"",
        named(placement, joint.name), speed ? motor.kd : motor.kp, speed ? 0.0 : -motor.kp, -motor.kd);
    if (std::isfinite(joint.effort))
      actuators_ += fmt::format(" forcelimited=\"true\" forcerange=\"{:.12g} {:.12g}\"", -joint.effort, joint.effort);
    if (speed && std::isfinite(joint.velocity))
      actuators_ += fmt::format(" ctrllimited=\"true\" ctrlrange=\"{:.12g} {:.12g}\"", -joint.velocity, joint.velocity);
    else if (!speed && std::isfinite(joint.lower) && std::isfinite(joint.upper))
      actuators_ += fmt::format(" ctrllimited=\"true\" ctrlrange=\"{:.12g} {:.12g}\"", joint.lower, joint.upper);
    actuators_ += "/>\n";
    if (!speed && std::isfinite(joint.velocity)) leave_out("the largest velocity of motors in position control");
  }

  void write_geom(const Shape& shape, const Pose& at, const std::string& how, const std::string& indent) {
    Pose pose = at;
    std::string what;
    if (const auto* s = std::get_if<Sphere>(&shape)) what = fmt::format("type=\"sphere\" size=\"{:.12g}\"", s->radius);
    if (const auto* b = std::get_if<Box>(&shape)) what = fmt::format("type=\"box\" size=\"{}\"", text(b->size / 2));
    if (const auto* c = std::get_if<Capsule>(&shape))
      what = fmt::format("type=\"capsule\" size=\"{:.12g} {:.12g}\"", c->radius, c->length / 2);
    if (const auto* c = std::get_if<Cylinder>(&shape))
      what = fmt::format("type=\"cylinder\" size=\"{:.12g} {:.12g}\"", c->radius, c->length / 2);
    if (const auto* p = std::get_if<Plane>(&shape)) {
      pose.rotation = pose.rotation * Quat::between({0, 0, 1}, normalized(p->normal));
      what = "type=\"plane\" size=\"0 0 1\"";
    }
    if (const auto* h = std::get_if<Hull>(&shape)) what = mesh((*h).get(), (*h)->points, {});
    if (const auto* m = std::get_if<Mesh>(&shape)) {
      what = mesh((*m).get(), (*m)->vertices, (*m)->triangles);
      if (how.find("collision") != std::string::npos)
        leave_out("hollows of static meshes: MuJoCo takes their convex hull");
    }
    if (const auto* f = std::get_if<HeightField>(&shape)) {
      pose.position += pose.rotation * Vec3{0, 0, (*f)->lowest()};
      what = height_field(**f);
    }
    bodies_ += fmt::format("{}  <geom {} {} {}/>\n", indent, how, what, place(pose));
  }

  // MuJoCo moves a mesh to its own centre and axes, and the geom back: pos and quat stay those of the file.
  std::string mesh(const void* key, const std::vector<Vec3>& points,
                   const std::vector<std::array<std::uint32_t, 3>>& faces) {
    std::string& name = meshes_[key];
    if (name.empty()) {
      name = fmt::format("mesh{}", meshes_.size());
      assets_ += fmt::format("    <mesh name=\"{}\" vertex=\"", name);
      for (std::size_t i = 0; i < points.size(); ++i)
        assets_ += fmt::format("{}{:.9g} {:.9g} {:.9g}", i > 0 ? " " : "", points[i].x, points[i].y, points[i].z);
      assets_ += '"';
      if (!faces.empty()) {
        assets_ += " face=\"";
        for (std::size_t i = 0; i < faces.size(); ++i)
          assets_ += fmt::format("{}{} {} {}", i > 0 ? " " : "", faces[i][0], faces[i][1], faces[i][2]);
        assets_ += '"';
      }
      assets_ += "/>\n";
    }
    return fmt::format("type=\"mesh\" mesh=\"{}\"", name);
  }

  std::string height_field(const HeightFieldData& field) {
    const double low = field.lowest(), rise = std::max(1e-6, field.highest() - low);
    std::string& name = meshes_[&field];
    if (name.empty()) {
      name = fmt::format("field{}", meshes_.size());
      assets_ += fmt::format(
          "    <hfield name=\"{}\" nrow=\"{}\" ncol=\"{}\" size=\"{:.12g} {:.12g} {:.12g} 0.1\" elevation=\"", name,
          field.rows, field.columns, field.size_x / 2, field.size_y / 2, rise);
      // MuJoCo's text begins with the row of the largest y.
      for (std::uint32_t row = field.rows; row-- > 0;)
        for (std::uint32_t column = 0; column < field.columns; ++column)
          assets_ += fmt::format("{:.7g} ", (field.heights[std::size_t{row} * field.columns + column] - low) / rise);
      assets_ += "\"/>\n";
    }
    return fmt::format("type=\"hfield\" hfield=\"{}\"", name);
  }

  void write_sensor(const Placement& placement, const Sensor& sensor, const std::string& indent) {
    const bool known = sensor.type == "accelerometer" || sensor.type == "gyroscope";
    if (!known) return leave_out(fmt::format("sensors of type {}", sensor.type));
    const std::string name = named(placement, sensor.name);
    bodies_ += fmt::format("{}  <site name=\"{}\" {} size=\"0.004\"/>\n", indent, name, place(sensor.pose));
    sensors_ += fmt::format("    <{0} name=\"{1}\" site=\"{1}\"/>\n",
                            sensor.type == "gyroscope" ? "gyro" : "accelerometer", name);
  }

  void exclude(const std::string& a, const std::string& b) {
    excludes_ += fmt::format("    <exclude body1=\"{}\" body2=\"{}\"/>\n", a, b);
  }

  void weld(const std::string& a, const std::string& b, const Pose& b_in_a) {
    equalities_ += fmt::format("    <weld body1=\"{}\" body2=\"{}\" relpose=\"{} {}\"/>\n", a, b, text(b_in_a.position),
                               text(normalized(b_in_a.rotation)));
  }

  void write_weld(const Connection& c) {
    const Placement &a = world_.placements[c.a], &b = world_.placements[c.b];
    const Dock &dock_a = a.model->docks[c.dock_a], &dock_b = b.model->docks[c.dock_b];
    const std::string body_a = named(a, a.model->links[dock_a.link].name),
                      body_b = named(b, b.model->links[dock_b.link].name);
    weld(body_a, body_b, dock_a.pose * engaged_dock(dock_a.symmetry, c.turn) * dock_b.pose.inverse());
    exclude(body_a, body_b);
  }

  void write_loop(const Placement& placement, const Joint& joint) {
    const std::string a = joint.parent < 0 ? "world" : named(placement, placement.model->links[joint.parent].name);
    const std::string b = named(placement, placement.model->links[joint.child].name);
    if (joint.type == JointType::fixed) return weld(a, b, joint.parent_frame * joint.child_frame.inverse());
    const auto connect = [&](const Vec3& in_child) {
      equalities_ += fmt::format("    <connect body1=\"{}\" body2=\"{}\" anchor=\"{}\"/>\n", b, a,
                                 text(joint.child_frame * in_child));
    };
    if (joint.type == JointType::prismatic) return leave_out("sliding joints that close a loop within a module");
    connect({0, 0, -0.05 * (joint.type == JointType::revolute)});
    if (joint.type == JointType::revolute) connect({0, 0, 0.05});
    leave_out("motors and limits of joints that close a loop within a module");
  }

  void name_what_is_left(const Placement& placement) {
    const ModuleModel& module = *placement.model;
    if (placement.is_module()) leave_out("minds: behaviours, messages, clocks, noise");
    if (!module.docks.empty())
      leave_out("that docks capture, let go and break: engaged ones are welds, free ones are sites");
    for (const Dock& dock : module.docks)
      if (dock.latch) leave_out("jaws of docks");
    for (const Joint& joint : module.joints)
      if (joint.flush) leave_out("friction of flush faces that follows their load");
    if (!module.actuators.empty()) leave_out("rotors, thrusters, tyres and lamps");
    if (!module.magnets.empty()) leave_out("magnets");
    if (!module.radios.empty() || !module.wires.empty() || !module.buses.empty()) leave_out("radios, wires and buses");
    if (module.driven) leave_out("that modules are driven from outside: they are free bodies");
    for (const Link& link : module.links)
      for (const Collider& collider : link.geometry->colliders) {
        if (collider.material.restitution > 0) leave_out("restitution: contacts do not bounce");
        frictions_.insert(collider.material.friction);
      }
    if (frictions_.size() > 1)
      leave_out("how friction is mixed: MuJoCo takes the larger of two, Volvox the geometric mean");
  }

  const WorldModel& world_;
  std::string assets_, bodies_, equalities_, excludes_, actuators_, sensors_, qpos_, qvel_;
  std::map<const void*, std::string> meshes_;  // by what they are made of, for look-up only
  std::set<std::string> left_out_;
  std::set<double> frictions_;
};

}  // namespace

Mjcf write_mjcf(const WorldModel& world) { return Writer(world).write(); }

}  // namespace volvox::model
