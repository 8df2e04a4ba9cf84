#include "volvox/view/render_engine.h"

#include <algorithm>
#include <cmath>

namespace volvox::view {

Camera Camera::framing(const model::Bounds& box, const Vec3& direction, double aspect, double field_of_view) {
  const Vec3 centre = box.empty() ? Vec3{} : (box.low + box.high) / 2;
  const Vec3 out = normalized(direction), right = normalized(cross({0, 0, 1}, out)), up = cross(out, right);
  const double tan_y = std::tan(field_of_view / 2) / 1.12, tan_x = tan_y * aspect;  // an eighth of margin
  double distance = 0.05;
  for (int corner = 0; !box.empty() && corner < 8; ++corner) {
    const Vec3 p = Vec3{corner & 1 ? box.high.x : box.low.x, corner & 2 ? box.high.y : box.low.y, corner & 4 ? box.high.z : box.low.z} - centre;
    distance = std::max({distance, dot(p, out) + std::fabs(dot(p, right)) / tan_x, dot(p, out) + std::fabs(dot(p, up)) / tan_y});
  }
  return {centre + out * distance, centre, field_of_view};
}

Result<Image> RenderEngine::image(const Camera&) {
  return Error("the render engine '" + info().name + "' makes no images", "use the engine 'picture'");
}

}  // namespace volvox::view
