#include "volvox/view/camera.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace volvox::view {
namespace {

// From the robots towards the eye. Robots head along x, so `corner` sees their front and their right side.
const std::map<std::string, Vec3> directions = {{"corner", {0.62, -0.74, 0.52}}, {"front", {1, 0, 0.22}},
                                                {"back", {-1, 0, 0.22}},         {"left", {0, 1, 0.22}},
                                                {"right", {0, -1, 0.22}},        {"top", {0, 0, 1}}};

std::optional<Vec3> parse_point(std::string_view text) {
  Vec3 point;
  for (int k = 0; k < 3; ++k) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), point[k]);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(end - text.data());
    if (k < 2 && !text.starts_with(',')) return std::nullopt;
    if (k < 2) text.remove_prefix(1);
  }
  return text.empty() && finite(point) ? std::optional(point) : std::nullopt;
}

std::optional<Camera> through_sensor(const std::string& text, double aspect, const world::World& world,
                                     const Frame& frame) {
  for (world::PlacementIndex p = 0; p < world.placements(); ++p) {
    const std::string& name = world.name(p);
    if (text.size() <= name.size() + 1 || !text.starts_with(name) || text[name.size()] != '.') continue;
    for (const model::Sensor& sensor : world.module_model(p).sensors) {
      if (text.compare(name.size() + 1, std::string::npos, sensor.name) != 0) continue;
      const Pose pose = to_pose(frame.links[world.part(p).first_link + sensor.link]) * sensor.pose;
      const auto width = sensor.parameters.find("field_of_view");
      const double wide = width != sensor.parameters.end()
                              ? clamp(std::strtod(width->second.c_str(), nullptr), radians(1), radians(170))
                              : pi / 3;
      Camera camera;
      camera.eye = pose.position;
      camera.target = pose * Vec3{1, 0, 0};
      camera.up = pose.rotation * Vec3{0, 0, 1};
      camera.field_of_view = 2 * std::atan(std::tan(wide / 2) / aspect);
      return camera;
    }
  }
  return std::nullopt;
}

}  // namespace

Camera Camera::framing(const model::Bounds& box, const Vec3& direction, double aspect, double field_of_view) {
  Vec3 target = box.empty() ? Vec3{} : (box.low + box.high) / 2;
  const Vec3 out = normalized(direction),
             right = std::fabs(out.z) < 0.9999 ? normalized(cross({0, 0, 1}, out)) : Vec3{1, 0, 0},
             up = cross(out, right);
  const double tan_y = std::tan(field_of_view / 2) / 1.12, tan_x = tan_y * aspect;  // a margin of 12 %
  const auto corner = [&](int i) {
    return Vec3{i & 1 ? box.high.x : box.low.x, i & 2 ? box.high.y : box.low.y, i & 4 ? box.high.z : box.low.z} -
           target;
  };
  double distance = 0.05;
  // Near parts look larger, so the middle of the box is not the middle of its image: move the target there,
  // iteratively.
  for (int round = 0; !box.empty() && round < 6; ++round) {
    distance = 0.05;
    for (int i = 0; i < 8; ++i) {
      const Vec3 p = corner(i);
      distance = std::max(
          {distance, dot(p, out) + std::fabs(dot(p, right)) / tan_x, dot(p, out) + std::fabs(dot(p, up)) / tan_y});
    }
    double left = 1e300, most_right = -1e300, low = 1e300, high = -1e300;
    for (int i = 0; i < 8; ++i) {
      const Vec3 p = corner(i);
      const double depth = distance - dot(p, out), x = dot(p, right) / depth, y = dot(p, up) / depth;
      left = std::min(left, x), most_right = std::max(most_right, x), low = std::min(low, y), high = std::max(high, y);
    }
    if (round < 5) target += (right * ((left + most_right) / 2) + up * ((low + high) / 2)) * distance;
  }
  Camera camera;
  camera.eye = target + out * distance;
  camera.target = target;
  camera.field_of_view = field_of_view;
  if (std::fabs(out.z) < 0.9999) camera.sun = normalized(Vec3{out.x, out.y, 0}) * 0.1 - right * 0.63 + Vec3{0, 0, 0.77};
  return camera;
}

Result<Camera> parse_camera(const std::string& text, const model::Bounds& box, double aspect, const world::World& world,
                            const Frame& frame) {
  if (const auto known = directions.find(text); known != directions.end())
    return Camera::framing(box, known->second, aspect);
  const std::size_t colon = text.find(':');
  const auto eye = parse_point(std::string_view(text).substr(0, colon));
  const auto target = colon == std::string::npos ? std::optional(box.empty() ? Vec3{} : (box.low + box.high) / 2)
                                                 : parse_point(std::string_view(text).substr(colon + 1));
  if (eye && target) {
    Camera camera;
    camera.eye = *eye;
    camera.target = *target;
    if (length(*eye - *target) > 1e-6) return camera;
    return Error(fmt::format("the camera '{}' looks at its own position", text),
                 "give it another point to look at: X,Y,Z:X,Y,Z");
  }
  if (auto camera = through_sensor(text, aspect, world, frame)) return *camera;
  std::vector<std::string> names;
  for (const auto& [name, direction] : directions) names.push_back(name);
  const std::string nearest = nearest_name(text, names);
  return Error(
      fmt::format("there is no camera '{}'", text),
      (nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest)) +
          "use corner, front, back, left, right, top, a point X,Y,Z, two points X,Y,Z:X,Y,Z, or MODULE.SENSOR");
}

}  // namespace volvox::view
