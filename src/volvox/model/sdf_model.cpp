#include "volvox/model/sdf_model.h"

#include <fmt/format.h>
#include <sdf/Camera.hh>
#include <sdf/Collision.hh>
#include <sdf/Frame.hh>
#include <sdf/Imu.hh>
#include <sdf/Joint.hh>
#include <sdf/JointAxis.hh>
#include <sdf/Lidar.hh>
#include <sdf/Link.hh>
#include <sdf/Material.hh>
#include <sdf/Noise.hh>
#include <sdf/Sensor.hh>
#include <sdf/Visual.hh>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/model/sdf_bridge.h"
#include "volvox/model/sdf_geometry.h"

namespace volvox::model {
namespace {

// The number at the end of a path of elements, if the file contains it.
std::optional<double> number_at(sdf::ElementPtr element, std::initializer_list<const char*> path) {
  for (const char* name : path) {
    if (element == nullptr) return std::nullopt;
    element = element->FindElement(name);
  }
  if (element == nullptr || element->GetValue() == nullptr) return std::nullopt;
  return parse_number(element->GetValue()->GetAsString());
}

class ModelConverter {
 public:
  ModelConverter(const sdf::Model& model, const ModelSource& source, Report& report)
      : sdf_(model), source_(source), report_(report), geometry_(source.library, source.folder, report) {}

  ModuleModel convert() {
    model_.name = sdf_.Name();
    model_.file = report_.file();
    model_.fixed_in_place = sdf_.Static();
    model_.self_collide = sdf_.SelfCollide();
    model_.default_pose = to_pose(sdf_.RawPose());
    for (std::uint64_t i = 0; i < sdf_.LinkCount(); ++i) add_link(*sdf_.LinkByIndex(i));
    for (std::uint64_t i = 0; i < sdf_.JointCount(); ++i) add_joint(*sdf_.JointByIndex(i));
    for (const XMLElement* plugin : children(source_.element, "plugin")) read_plugin(*plugin, model_.plugins, report_);
    return std::move(model_);
  }

 private:
  const XMLElement& element_of(const XMLElement* parent, const char* kind, const std::string& name) const {
    const XMLElement* found = child_named(parent, kind, name);
    return found != nullptr ? *found : parent != nullptr ? *parent : source_.element;
  }

  Pose resolve(const sdf::SemanticPose& pose, const std::string& to) {
    ignition::math::Pose3d resolved;
    const sdf::Errors errors = to.empty() ? pose.Resolve(resolved) : pose.Resolve(resolved, to);
    report_sdf_errors(errors, source_.element, report_);
    return to_pose(resolved);
  }

  void add_link(const sdf::Link& from) {
    Link link;
    link.name = from.Name();
    const XMLElement* element = child_named(&source_.element, "link", link.name);
    link.pose = resolve(from.SemanticPose(), {});
    set_inertial(from, link);
    if (sdf::ElementPtr gravity = from.Element() != nullptr ? from.Element()->FindElement("gravity") : nullptr) {
      link.gravity = gravity->Get<bool>();
    }
    auto geometry = std::make_shared<Geometry>();
    for (std::uint64_t i = 0; i < from.CollisionCount(); ++i)
      add_collision(*from.CollisionByIndex(i), element, *geometry);
    link.geometry = std::move(geometry);
    for (std::uint64_t i = 0; i < from.VisualCount(); ++i) add_visual(*from.VisualByIndex(i), element, link);
    model_.links.push_back(std::move(link));
    for (std::uint64_t i = 0; i < from.SensorCount(); ++i) add_sensor(*from.SensorByIndex(i), element);
  }

  void set_inertial(const sdf::Link& from, Link& link) {
    const auto& inertial = from.Inertial();
    const auto& matrix = inertial.MassMatrix();
    const PrincipalInertia principal =
        principal_axes({matrix.Ixx(), matrix.Iyy(), matrix.Izz(), matrix.Ixy(), matrix.Ixz(), matrix.Iyz()});
    link.mass = matrix.Mass();
    link.inertial = to_pose(inertial.Pose()) * Pose{{}, principal.axes};
    link.moments = principal.moments;
  }

  void add_collision(const sdf::Collision& from, const XMLElement* link, Geometry& geometry) {
    const XMLElement& at = element_of(link, "collision", from.Name());
    const XMLElement* shape_element = child_named(link, "collision", from.Name()) != nullptr && source_.urdf == nullptr
                                          ? at.FirstChildElement("geometry")
                                          : nullptr;
    const auto shape = geometry_.read(
        *from.Geom(), at, shape_element,
        model_.fixed_in_place ? GeometryReader::Use::collision_of_static : GeometryReader::Use::collision_of_moving);
    if (!shape) return;
    Collider collider{from.Name(), shape->shape, resolve(from.SemanticPose(), {}) * shape->pose, {}};
    if (const auto mu = number_at(from.Element(), {"surface", "friction", "ode", "mu"}))
      collider.material.friction = *mu;
    if (const auto bounce = number_at(from.Element(), {"surface", "bounce", "restitution_coefficient"})) {
      collider.material.restitution = *bounce;
    }
    if (collider.material.friction < 0)
      report_.error(at, fmt::format("the friction of {} is negative", from.Name()), "give <mu> a number of at least 0");
    if (collider.material.restitution < 0 || collider.material.restitution > 1) {
      report_.error(at, fmt::format("the restitution of {} is {}", from.Name(), collider.material.restitution),
                    "give <restitution_coefficient> a number from 0 to 1");
    }
    geometry.colliders.push_back(std::move(collider));
  }

  void add_visual(const sdf::Visual& from, const XMLElement* link, Link& to) {
    const XMLElement& at = element_of(link, "visual", from.Name());
    const XMLElement* shape_element = child_named(link, "visual", from.Name()) != nullptr && source_.urdf == nullptr
                                          ? at.FirstChildElement("geometry")
                                          : nullptr;
    const auto shape = geometry_.read(*from.Geom(), at, shape_element, GeometryReader::Use::visual);
    if (!shape) return;
    Visual visual{from.Name(), shape->shape, resolve(from.SemanticPose(), {}) * shape->pose, {}};
    if (const sdf::Material* material = from.Material(); material != nullptr && material->Element() != nullptr) {
      const bool diffuse = material->Element()->HasElement("diffuse");
      if (diffuse || material->Element()->HasElement("ambient")) {
        const ignition::math::Color& c = diffuse ? material->Diffuse() : material->Ambient();
        visual.color = {c.R(), c.G(), c.B(), c.A()};
      }
    }
    visual.color.a *= 1 - clamp(from.Transparency(), 0, 1);
    to.visuals.push_back(std::move(visual));
  }

  void add_joint(const sdf::Joint& from) {
    const XMLElement& at = element_of(&source_.element, "joint", from.Name());
    Joint joint;
    joint.name = from.Name();
    if (!set_type(from, at, joint) || !set_ends(from, at, joint)) return;
    Pose frame = resolve(from.SemanticPose(), model_.links[joint.child].name);
    if (joint.type == JointType::revolute || joint.type == JointType::prismatic) {
      const sdf::JointAxis* axis = from.Axis();
      if (axis == nullptr) {
        return report_.error(at, fmt::format("joint {} has no <axis>", joint.name),
                             "give it <axis><xyz>0 0 1</xyz></axis>");
      }
      ignition::math::Vector3d xyz;
      report_sdf_errors(axis->ResolveXyz(xyz), source_.element, report_);
      const Vec3 direction = to_vec(xyz);
      if (!(length(direction) > 1e-9)) {
        return report_.error(at, fmt::format("the axis of joint {} has no direction", joint.name),
                             "give <xyz> a vector that is not zero");
      }
      frame.rotation = normalized(frame.rotation * Quat::between({0, 0, 1}, normalized(direction)));
      set_limits(from, *axis, at, joint);
    }
    joint.child_frame = frame;
    const Pose in_model = model_.links[joint.child].pose * frame;
    joint.parent_frame = joint.parent < 0 ? in_model : model_.links[joint.parent].pose.inverse() * in_model;
    if (from.SensorCount() > 0)
      report_.warn(at, fmt::format("sensors on joint {} are ignored", joint.name), "use <volvox:sensor> on a link");
    model_.joints.push_back(std::move(joint));
  }

  bool set_type(const sdf::Joint& from, const XMLElement& at, Joint& joint) {
    switch (from.Type()) {
      case sdf::JointType::REVOLUTE:
      case sdf::JointType::CONTINUOUS: joint.type = JointType::revolute; return true;
      case sdf::JointType::PRISMATIC: joint.type = JointType::prismatic; return true;
      case sdf::JointType::FIXED: joint.type = JointType::fixed; return true;
      case sdf::JointType::BALL: joint.type = JointType::ball; return true;
      default: break;
    }
    const char* type = at.Attribute("type");
    report_.error(
        at, fmt::format("joint {}: joints of type {} are not supported", joint.name, type != nullptr ? type : "?"),
        "use revolute, continuous, prismatic, fixed or ball; replace a universal or revolute2 joint by two "
        "revolute joints with a small link between them");
    return false;
  }

  bool set_ends(const sdf::Joint& from, const XMLElement& at, Joint& joint) {
    std::string parent, child;
    sdf::Errors errors = from.ResolveParentLink(parent);
    const sdf::Errors more = from.ResolveChildLink(child);
    errors.insert(errors.end(), more.begin(), more.end());
    if (!report_sdf_errors(errors, source_.element, report_)) return false;
    joint.parent = parent == "world" ? -1 : model_.link_index(parent);
    joint.child = model_.link_index(child);
    if (joint.child >= 0 && (joint.parent >= 0 || parent == "world")) return true;
    report_.error(
        at,
        fmt::format("joint {} connects {} and {}, which are not both links of this model", joint.name, parent, child),
        "name links of this model; only the parent may be world");
    return false;
  }

  void set_limits(const sdf::Joint& from, const sdf::JointAxis& axis, const XMLElement& at, Joint& joint) {
    // In SDF "no limit" is 1e16 for positions, and a negative number for effort and velocity.
    const auto position = [](double x) { return std::fabs(x) >= 1e16 ? std::copysign(unlimited, x) : x; };
    const auto magnitude = [](double x) { return x < 0 || x >= 1e16 ? unlimited : x; };
    if (from.Type() != sdf::JointType::CONTINUOUS) {
      joint.lower = position(axis.Lower());
      joint.upper = position(axis.Upper());
    }
    joint.effort = magnitude(axis.Effort());
    joint.velocity = magnitude(axis.MaxVelocity());
    joint.damping = axis.Damping();
    joint.friction = axis.Friction();
    if (!(joint.lower <= joint.upper)) {
      report_.error(at,
                    fmt::format("the lower limit {} of joint {} is above the upper one, {}", joint.lower, joint.name,
                                joint.upper),
                    "swap <lower> and <upper>");
    }
    if (!(joint.damping >= 0) || !(joint.friction >= 0)) {
      report_.error(at, fmt::format("joint {} has a negative damping or friction", joint.name),
                    "give <dynamics> numbers of at least 0");
    }
    if (axis.SpringStiffness() != 0) {
      report_.warn(at, fmt::format("the spring of joint {} is ignored", joint.name), "let a motor with kp hold it");
    }
  }

  void add_sensor(const sdf::Sensor& from, const XMLElement* link) {
    const XMLElement& at = element_of(link, "sensor", from.Name());
    Sensor sensor;
    sensor.name = from.Name();
    sensor.link = narrow<int>(model_.links.size()) - 1;
    sensor.pose = resolve(from.SemanticPose(), {});
    sensor.line = at.GetLineNum();
    switch (from.Type()) {
      case sdf::SensorType::IMU: {
        sensor.type = "accelerometer";
        model_.sensors.push_back(sensor);
        sensor.name += "_gyroscope";
        sensor.type = "gyroscope";
        if (const sdf::Imu* imu = from.ImuSensor()) {
          add_noise(from.Name(), imu->LinearAccelerationXNoise(), at);
          add_noise(sensor.name, imu->AngularVelocityXNoise(), at);
        }
        break;
      }
      case sdf::SensorType::LIDAR:
      case sdf::SensorType::GPU_LIDAR:
        sensor.type = "laser";
        if (const sdf::Lidar* lidar = from.LidarSensor()) {
          const double right = lidar->HorizontalScanMinAngle().Radian(),
                       left = lidar->HorizontalScanMaxAngle().Radian();
          const double low = lidar->VerticalScanMinAngle().Radian(), high = lidar->VerticalScanMaxAngle().Radian();
          sensor.parameters = {{"min_range", fmt::format("{}", lidar->RangeMin())},
                               {"max_range", fmt::format("{}", std::min(lidar->RangeMax(), 1e6))},
                               {"rays", fmt::format("{}", lidar->HorizontalScanSamples())},
                               {"field_of_view", fmt::format("{}", left - right)}};
          // Our scan is centred on the sensor's x axis, so the pose is turned to the middle of the scan.
          sensor.pose.rotation = sensor.pose.rotation * Quat::axis_angle({0, 0, 1}, (left + right) / 2) *
                                 Quat::axis_angle({0, -1, 0}, (low + high) / 2);
          if (lidar->VerticalScanSamples() > 1) {
            sensor.parameters["rows"] = fmt::format("{}", lidar->VerticalScanSamples());
            sensor.parameters["vertical_field_of_view"] = fmt::format("{}", high - low);
          }
          add_noise(sensor.name, lidar->LidarNoise(), at, lidar->RangeMax());
        }
        break;
      case sdf::SensorType::SONAR: add_sonar(from, sensor); break;
      case sdf::SensorType::CAMERA:
      case sdf::SensorType::DEPTH_CAMERA:
      case sdf::SensorType::RGBD_CAMERA:
        sensor.type = "camera";  // our camera gives both colours and depths
        if (const sdf::Camera* camera = from.CameraSensor()) {
          // Our camera casts one ray per pixel in every tick, so an image size for a GPU would stall the run.
          const std::uint32_t width = camera->ImageWidth(), height = camera->ImageHeight();
          const std::uint32_t part = std::max({1u, (width + 63) / 64, (height + 63) / 64});
          sensor.parameters["width"] = fmt::format("{}", width / part);
          sensor.parameters["height"] = fmt::format("{}", height / part);
          if (part > 1)
            report_.warn(at,
                         fmt::format("the camera {} has {} x {} pixels; {} x {} are read", from.Name(), width, height,
                                     width / part, height / part),
                         "use <volvox:sensor type=\"camera\"> for more");
          sensor.parameters["field_of_view"] = fmt::format("{}", camera->HorizontalFov().Radian());
          sensor.parameters["near"] = fmt::format("{}", camera->NearClip());
          sensor.parameters["max_range"] = fmt::format("{}", camera->FarClip());
          add_noise(sensor.name, camera->ImageNoise(), at);
        }
        break;
      case sdf::SensorType::CONTACT: sensor.type = "contact"; break;
      default:
        return report_.warn(
            at, fmt::format("the sensor {} ({}) is ignored", from.Name(), from.TypeStr()),
            "the supported sensors are imu, lidar, sonar, camera and contact; write others as <volvox:sensor>");
    }
    model_.sensors.push_back(std::move(sensor));
  }

  void add_sonar(const sdf::Sensor& from, Sensor& sensor) {
    sensor.type = "sonar";
    const sdf::ElementPtr sonar =
        from.Element() && from.Element()->HasElement("sonar") ? from.Element()->GetElement("sonar") : nullptr;
    if (!sonar) return;
    const double max_range = sonar->Get<double>("max", 1.0).first, radius = sonar->Get<double>("radius", 0.5).first;
    const bool sphere = sonar->Get<std::string>("geometry", "cone").first == "sphere";
    sensor.parameters = {{"min_range", fmt::format("{}", sonar->Get<double>("min", 0.0).first)},
                         {"max_range", fmt::format("{}", max_range)},
                         {"cone", fmt::format("{}", sphere ? pi : 2 * volvox::atan2(radius, max_range))}};
  }

  // With `max_range`, noise that keeps values within the range.
  void add_noise(const std::string& percept, const sdf::Noise& noise, const XMLElement& at, double max_range = 0) {
    if (noise.Type() == sdf::NoiseType::NONE) return;
    NoiseChainSpec& chain = model_.percept_noise[percept];
    if (noise.Mean() != 0) chain.push_back({"bias", {{"value", fmt::format("{}", noise.Mean())}}, at.GetLineNum()});
    if (max_range > 0)
      chain.push_back({"ranging",
                       {{"deviation", fmt::format("{}", noise.StdDev())}, {"max_range", fmt::format("{}", max_range)}},
                       at.GetLineNum()});
    else chain.push_back({"gaussian", {{"deviation", fmt::format("{}", noise.StdDev())}}, at.GetLineNum()});
  }

  const sdf::Model& sdf_;
  const ModelSource& source_;
  Report& report_;
  GeometryReader geometry_;
  ModuleModel model_;
};

}  // namespace

ModuleModel convert_model(const sdf::Model& model, const ModelSource& source, Report& report) {
  ModuleModel result = ModelConverter(model, source, report).convert();
  if (report.ok()) add_our_elements(result, source, report);
  return result;
}

}  // namespace volvox::model
