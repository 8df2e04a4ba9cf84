// A cloud of measured points. Metres, z up, in any fixed frame.
// A plain value that owns its points; their order is that of the file or of the measurements.
// Any thread may read it.
#pragma once

#include <vector>

#include "volvox/base/math.h"
#include "volvox/scan/mesh.h"

namespace volvox::scan {

struct Cloud {
  std::vector<Vec3> points;  // all finite
  std::vector<Rgb> colors;   // one per point, or none
};

}  // namespace volvox::scan
