#include "volvox/view/picture/lines.h"

#include <algorithm>

namespace volvox::view::picture {
namespace {

constexpr Rgba ray_hits{214, 60, 40, 150}, ray_misses{60, 110, 190, 60};
constexpr Rgba said{174, 62, 201, 235}, heard{174, 62, 201, 110};
constexpr double faded_after = 0.1, faded = 0.25;  // s since an antenna fell silent; what is left of its rings then
constexpr double thin = 1.1, thick = 3;            // pixels

class Ribbons {
 public:
  explicit Ribbons(const Viewpoint& view) : view_(view) {}

  // Between two points relative to the target.
  void add(const Vec3& a, const Vec3& b, double pixels, Rgba color) {
    const Vec3 across = cross(b - a, (a + b) / 2 - view_.eye);
    const double size = length(across);
    if (size == 0) return;
    const auto half_width = [&](const Vec3& p) {
      const double depth = std::max(dot(p - view_.eye, view_.forward), view_.near);
      return across * (pixels / 2 * depth / (view_.pixels_per_tangent * size));
    };
    const Vec3 at_a = half_width(a), at_b = half_width(b);
    const LineVertex corners[] = {vertex(a - at_a, color), vertex(a + at_a, color), vertex(b - at_b, color),
                                  vertex(b + at_b, color)};
    for (const int i : {0, 1, 2, 2, 1, 3}) vertices.push_back(corners[i]);
  }

  void add_circle(const Vec3& centre, double radius, double pixels, Rgba color) {
    constexpr int sides = 96;
    const auto point = [&](int i) {
      return centre + Vec3{radius * volvox::cos(2 * pi * i / sides), radius * volvox::sin(2 * pi * i / sides), 0};
    };
    for (int i = 0; i < sides; ++i) add(point(i), point(i + 1), pixels, color);
  }

  std::vector<LineVertex> vertices;

 private:
  static LineVertex vertex(const Vec3& p, Rgba color) {
    return {{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)}, color};
  }
  const Viewpoint& view_;
};

// What is on the air is drawn full; what was, the paler the longer ago.
Rgba faded_by_age(Rgba color, double age) {
  color.a = static_cast<std::uint8_t>(color.a * (1 - (1 - faded) * clamp(age / faded_after, 0, 1)));
  return color;
}

Vec3 point(float x, float y, float z) {
  return {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
}

}  // namespace

std::vector<LineVertex> ray_ribbons(const Frame& frame, const Viewpoint& view) {
  Ribbons ribbons(view);
  for (const RayView& ray : frame.rays)
    ribbons.add(point(ray.from[0], ray.from[1], ray.from[2]) - view.target,
                point(ray.to[0], ray.to[1], ray.to[2]) - view.target, thin, ray.hit ? ray_hits : ray_misses);
  return std::move(ribbons.vertices);
}

std::vector<LineVertex> traffic_ribbons(const Scene& scene, const Frame& frame, const Viewpoint& view) {
  Ribbons ribbons(view);
  // Through both docks, from the middle of one module to that of the other.
  for (const auto& [from, to] : frame.traffic.wires) {
    if (from >= scene.docks() || to >= scene.docks()) continue;
    const RenderNode &sender = scene.dock_node(from), &receiver = scene.dock_node(to);
    const Pose begin = to_pose(frame.links[sender.parent]), end = to_pose(frame.links[receiver.parent]);
    const Vec3 stations[] = {begin.position, begin * sender.pose.position, end * receiver.pose.position, end.position};
    for (int i = 0; i < 3; ++i) ribbons.add(stations[i] - view.target, stations[i + 1] - view.target, thick, said);
  }
  for (const record::Traffic::Ring& ring : frame.traffic.rings) {
    const Vec3 antenna = point(ring.x, ring.y, ring.z) - view.target;
    const double range = static_cast<double>(ring.radius), age = static_cast<double>(ring.age);
    ribbons.add_circle(antenna, range, thick, faded_by_age(heard, age));
    // Most are heard from farther off than a picture shows: small ones say who it is that sends.
    for (const double part : {0.012, 0.022, 0.032})
      if (part * view.distance < range)
        ribbons.add_circle(antenna, part * view.distance, thick * 0.6, faded_by_age(said, age));
  }
  return std::move(ribbons.vertices);
}

}  // namespace volvox::view::picture
