// Functions that are compiled for baseline x86-64, AVX2 and AVX-512; the program chooses a version when it
// starts. All versions give the same bits (integers, and IEEE operations without contraction to FMA). Sanitizers are
// initialized after the choice, so sanitizer builds have one version.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#  define VOLVOX_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#  define VOLVOX_VECTOR_CLONES
#endif

namespace volvox::net {

// Prefetches a cache line; does not change results.
inline void fetch_early(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

}  // namespace volvox::net
