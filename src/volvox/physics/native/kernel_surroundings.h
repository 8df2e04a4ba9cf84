// What kernels use and share with other files. A file that is compiled for one instruction set as a whole (by
//   #pragma GCC target
// after it has included this) has nothing of it compiled for that set: the linker keeps one of the functions that
// several files have, and it must not be one that other machines lack instructions for. What follows is inlined for the
// same reason.
//
// Why whole files: VOLVOX_FOR_EACH_ISA compiles a function for a set and inlines into it all that it calls. But GCC 12
// takes operations on vectors apart before it inlines, wherever the set of the function that they are in lacks them.
// Sums and products are put together again later, comparisons and choices are not: kernels that choose had six times as
// many instructions as they need.
// Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "volvox/base/cell_grid.h"
#include "volvox/base/isa.h"
#include "volvox/base/math.h"
#include "volvox/base/thread_pool.h"
#include "volvox/base/union_find.h"
#include "volvox/model/shape.h"
#include "volvox/physics/system.h"
