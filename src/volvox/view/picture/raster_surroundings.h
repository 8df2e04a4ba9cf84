// What raster_kernel.h uses and shares with other files: it comes before the choice of an instruction set
// (physics/native/kernel_surroundings.h says why).
// Includes alone: nothing for threads to share.
#pragma once

#if defined(__x86_64__)
#  include <immintrin.h>
#endif

#include <cmath>
#include <cstring>

#include "volvox/physics/native/kernel_surroundings.h"
#include "volvox/view/picture/raster.h"
#include "volvox/view/picture/water_layers.h"
