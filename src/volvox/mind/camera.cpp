#include "volvox/mind/camera.h"
#include "volvox/base/index.h"
#include "volvox/exchange/particle_sight.h"

#include <algorithm>
#include <cmath>

namespace volvox::mind {
namespace {

constexpr std::int64_t max_side = 1024, max_pixels = 640 * 480;

// The light does not depend on the camera, so that an object can be recognised by its colour.
const Vec3 sun = normalized(Vec3{-0.42, -0.48, 0.77});
constexpr double in_the_dark = 0.45;
constexpr std::uint8_t sky[3] = {205, 217, 231};

// Rays hit colliders, which have no colour; a link therefore has the colour of its first visual.
model::Color color_of(const model::Link& link) {
  return link.visuals.empty() ? model::Color{} : link.visuals.front().color;
}

class Camera final : public Sensor {
 public:
  Camera(const model::Sensor& sensor, const Parameters& p)
      : link_(sensor.link),
        pose_(sensor.pose),
        width_(p.integer("width", 32, 1, max_side)),
        height_(p.integer("height", 24, 1, std::min(max_side, max_pixels / std::max<std::int64_t>(1, width_)))),
        near_(p.number("near", 0.01, 0, 1e6)),
        max_range_(p.number("max_range", 10, 1e-6, 1e6)) {
    const double half = p.number("field_of_view", pi / 3, 1e-6, radians(170)) / 2;
    const double tangent = volvox::sin(half) / volvox::cos(half);
    for (std::int64_t row = 0; row < height_; ++row)
      for (std::int64_t column = 0; column < width_; ++column) {
        const double right = (real(2 * column + 1 - width_) / real(width_)) * tangent;
        const double down = (real(2 * row + 1 - height_) / real(width_)) * tangent;  // pixels are square
        directions_.push_back(normalized(Vec3{1, -right, -down}));
      }
  }

  const TypeInfo& type() const override { return type_of<CameraImage>(); }
  bool casts_rays() const override { return true; }

  // Rays begin on the plane at `near` and end on the plane at max_range: depth is measured along the axis, not along
  // the ray.
  void rays(const SenseContext& c, std::vector<Ray>& out) const override {
    const Pose mount = c.world.link_pose(c.link(link_)) * pose_;
    for (const Vec3& ahead : directions_) {
      const Vec3 direction = mount.rotation * ahead;
      out.push_back({mount.position + direction * (near_ / ahead.x), direction,
                     std::max(max_range_ - near_, 0.0) / ahead.x, c.module + 1});
    }
  }

  void read(const SenseContext& c, Value& reading) const override {
    CameraImage& image = *reading.get<CameraImage>();
    image.width = narrow<std::int32_t>(width_);
    image.height = narrow<std::int32_t>(height_);
    image.rgb.resize(3 * directions_.size());
    image.depth.resize(directions_.size());
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      const RayHit& hit = c.hits[i];
      image.depth[i] = to_float(hit.hit() ? near_ + hit.distance * directions_[i].x : max_range_);
      if (!hit.hit()) {
        std::copy(sky, sky + 3, &image.rgb[3 * i]);
        continue;
      }
      const model::Color color = exchange::is_particle(c.world, hit) ? exchange::color_of_particle(c.world, hit)
                                                                     : color_of(c.world.link_model(hit.body));
      const double light = in_the_dark + (1 - in_the_dark) * std::max(0.0, dot(hit.normal, sun));
      for (int k = 0; k < 3; ++k) {
        const double part = k == 0 ? color.r : k == 1 ? color.g : color.b;
        image.rgb[3 * i + k] = truncated<std::uint8_t>(255 * clamp(part * light, 0, 1) + 0.5);
      }
    }
  }

 private:
  int link_;
  Pose pose_;
  std::int64_t width_, height_;
  double near_, max_range_;
  std::vector<Vec3> directions_;  // unit, in the mount's frame, by pixel
};

}  // namespace

std::unique_ptr<Sensor> make_camera(const model::Sensor& sensor, const Parameters& parameters) {
  return std::make_unique<Camera>(sensor, parameters);
}

}  // namespace volvox::mind
