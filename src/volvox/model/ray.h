// What is asked of whoever casts rays: engines and the ray caster of sensors.
#pragma once

#include <cstdint>

#include "volvox/base/math.h"

namespace volvox::model {

struct Ray {
  Vec3 origin;
  Vec3 direction;  // unit
  double range = 100;
  std::uint32_t ignore_owner = 0;  // 0: ignores nothing
};

}  // namespace volvox::model
