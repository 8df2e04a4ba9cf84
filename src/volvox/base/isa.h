// Instruction sets: hot loops are compiled once for each, and the program chooses when it starts. The bits are the
// same (integers, and IEEE operations that are never fused); only the speed differs.
//
// The best set of the machine is taken, or the one that the environment names: VOLVOX_ISA=sse2|avx2|avx512.
// Any thread may ask which set is in use: it does not change after the start.
#pragma once

#include <string>

#include "volvox/base/result.h"

namespace volvox {

enum class Isa { sse2, avx2, avx512 };  // a machine that has one has those before it
const char* name(Isa isa);

// The best set of this machine.
Isa best_isa();
// What VOLVOX_ISA asks for (empty: the best). An error where there is no such set, or this machine lacks it.
Result<Isa> find_isa(const std::string& wanted);
// What VOLVOX_ISA asked for when the program started. A program's main reports the error; a program that does not check
// this uses the best set.
const Result<Isa>& chosen_isa();

namespace detail {
extern Isa isa_in_use;  // set before main, never changed after
}
inline Isa isa() { return detail::isa_in_use; }

}  // namespace volvox

// Functions that a loop calls must be inlined into each version of it; otherwise they are compiled for the basic set
// only. NVIDIA's compiler makes a version for GPUs, too.
#ifdef __CUDACC__
#  define VOLVOX_KERNEL __host__ __device__ __forceinline__
#else
#  define VOLVOX_KERNEL inline __attribute__((always_inline))
#endif

// VOLVOX_FOR_EACH_ISA(double, sum, (const double* x, int count), (x, count)) { ... }
// defines `double sum(const double* x, int count)`, whose body is compiled once for each set. Within it, `Set` is that
// set, for types that depend on the width of the registers.
#if defined(__x86_64__) && defined(__GNUC__)
#  define VOLVOX_FOR_EACH_ISA(result, function, parameters, arguments)                                       \
    template <::volvox::Isa Set>                                                                             \
    static VOLVOX_KERNEL result function##_body parameters;                                                  \
    static result function##_sse2 parameters { return function##_body<::volvox::Isa::sse2> arguments; }      \
    __attribute__((target("avx2"))) static result function##_avx2 parameters {                               \
      return function##_body<::volvox::Isa::avx2> arguments;                                                 \
    }                                                                                                        \
    __attribute__((                                                                                          \
        target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl"))) static result function##_avx512 parameters { \
      return function##_body<::volvox::Isa::avx512> arguments;                                               \
    }                                                                                                        \
    result function parameters {                                                                             \
      if (::volvox::isa() == ::volvox::Isa::avx2) return function##_avx2 arguments;                          \
      if (::volvox::isa() == ::volvox::Isa::avx512) return function##_avx512 arguments;                      \
      return function##_sse2 arguments;                                                                      \
    }                                                                                                        \
    template <::volvox::Isa Set>                                                                             \
    result function##_body parameters
#else
#  define VOLVOX_FOR_EACH_ISA(result, function, parameters, arguments)                    \
    template <::volvox::Isa Set>                                                          \
    static result function##_body parameters;                                             \
    result function parameters { return function##_body<::volvox::Isa::sse2> arguments; } \
    template <::volvox::Isa Set>                                                          \
    result function##_body parameters
#endif
