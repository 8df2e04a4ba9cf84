#include "volvox/sim/cloud.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "volvox/base/index.h"

namespace volvox::sim {

std::array<std::uint8_t, 3> ramp_color(double part) {
  constexpr double stops[5][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  const double x = part > 0 ? std::min(part, 1.0) * 4 : 0;  // also for NaN
  const int i = std::min(3, truncated(x));
  const auto mixed = [&](int k) {
    return narrow<std::uint8_t>(std::lround(stops[i][k] + (x - i) * (stops[i + 1][k] - stops[i][k])));
  };
  return {mixed(0), mixed(1), mixed(2)};
}

std::pair<double, double> color_by(std::span<const float> values, std::vector<CloudItem>& items) {
  const std::size_t count = std::min(values.size(), items.size());
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t i = 0; i < count; ++i) {
    if (items[i].shown == CloudItem::gone || !std::isfinite(values[i])) continue;
    least = std::min<double>(least, values[i]);
    most = std::max<double>(most, values[i]);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool known = i < count && std::isfinite(values[i]);
    items[i].color = known ? ramp_color(most > least ? (values[i] - least) / (most - least) : 0.5) : no_color;
  }
  return least <= most ? std::pair(least, most) : std::pair(0.0, 0.0);
}

bool CloudLook::in_sheet(std::size_t item) const {
  for (const Sheet& sheet : sheets)
    if (item >= sheet.first && item - sheet.first < std::size_t{sheet.columns} * sheet.rows) return true;
  return false;
}

void cut_open(const CloudCut& cut, const CloudLook& look, std::vector<CloudItem>& items) {
  // As thick as the viewer's (web/src/cloud.ts): all that the layer beyond covered, in shifted layers, too.
  const double bare = cut.at - 1.1 * look.size[cut.axis];
  for (CloudItem& item : items) {
    if (item.position[cut.axis] > cut.at) item.shown = CloudItem::gone;
    else if (item.shown == CloudItem::covered && item.position[cut.axis] > bare) item.shown = CloudItem::open;
  }
}

}  // namespace volvox::sim
