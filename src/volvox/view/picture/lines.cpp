#include "volvox/view/picture/lines.h"

#include <algorithm>

namespace volvox::view::picture {
namespace {

constexpr Rgba ray_hits{214, 60, 40, 150}, ray_misses{60, 110, 190, 60};
constexpr Rgba said{174, 62, 201, 235}, heard{174, 62, 201, 110};
constexpr double faded_after = 0.1, faded = 0.25;  // s after the end of a transmission; opacity of its rings then
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
  static LineVertex vertex(const Vec3& p, Rgba color) { return {to_floats(p), color}; }
  const Viewpoint& view_;
};

// A transmission in progress has its full colour; an ended one becomes paler with its age (s).
Rgba faded_by_age(Rgba color, double age) {
  color.a = truncated<std::uint8_t>(color.a * (1 - (1 - faded) * clamp(age / faded_after, 0, 1)));
  return color;
}

}  // namespace

std::vector<LineVertex> ray_ribbons(const Frame& frame, const Viewpoint& view) {
  Ribbons ribbons(view);
  for (const RayView& ray : frame.rays)
    ribbons.add(to_vec(ray.from) - view.target, to_vec(ray.to) - view.target, thin, ray.hit ? ray_hits : ray_misses);
  return std::move(ribbons.vertices);
}

std::vector<LineVertex> traffic_ribbons(const RenderTree& tree, const Frame& frame, const Viewpoint& view) {
  Ribbons ribbons(view);
  // From the origin of the sender's link through both docks to that of the receiver's link.
  for (const auto& [from, to] : frame.traffic.wires) {
    if (from >= tree.docks() || to >= tree.docks()) continue;
    const RenderNode &sender = tree.dock_node(from), &receiver = tree.dock_node(to);
    const Pose begin = to_pose(frame.links[sender.parent]), end = to_pose(frame.links[receiver.parent]);
    const Vec3 stations[] = {begin.position, begin * sender.pose.position, end * receiver.pose.position, end.position};
    for (int i = 0; i < 3; ++i) ribbons.add(stations[i] - view.target, stations[i + 1] - view.target, thick, said);
  }
  for (const record::Traffic::Ring& ring : frame.traffic.rings) {
    const Vec3 antenna = Vec3{ring.x, ring.y, ring.z} - view.target;
    const double range = ring.radius, age = ring.age;
    ribbons.add_circle(antenna, range, thick, faded_by_age(heard, age));
    // The range of most radios exceeds the picture, so small rings mark the sender.
    for (const double part : {0.012, 0.022, 0.032})
      if (part * view.distance < range)
        ribbons.add_circle(antenna, part * view.distance, thick * 0.6, faded_by_age(said, age));
  }
  return std::move(ribbons.vertices);
}

}  // namespace volvox::view::picture
