// Loops worth compiling several times: for every x86-64, for those with AVX2 and for those
// with AVX-512, chosen when the program starts. The bits are the same (integers, and IEEE operations that are never
// fused); only the speed differs. Sanitizers start too late for the choice, so they get one version.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#  define VOLVOX_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#  define VOLVOX_VECTOR_CLONES
#endif

namespace volvox::net {

// Asks the cache for a line that will be needed soon; never changes a result.
inline void fetch_early(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

}  // namespace volvox::net
