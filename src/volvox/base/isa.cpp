#include "volvox/base/isa.h"

#include <fmt/format.h>

#include <cstdlib>

namespace volvox {

const char* name(Isa isa) { return isa == Isa::sse2 ? "sse2" : isa == Isa::avx2 ? "avx2" : "avx512"; }

Isa best_isa() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();  // this may run before the constructor that does it
  const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return Isa::avx512;
  if (avx2) return Isa::avx2;
#endif
  return Isa::sse2;
}

Result<Isa> find_isa(const std::string& wanted) {
  const Isa best = best_isa();
  if (wanted.empty()) return best;
  for (const Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512}) {
    if (wanted != name(isa)) continue;
    if (isa <= best) return isa;
    return Error(fmt::format("VOLVOX_ISA={}: this processor does not have these instructions", wanted),
                 fmt::format("leave VOLVOX_ISA out, or take at most {}; the results are the same", name(best)));
  }
  return Error(fmt::format("VOLVOX_ISA={}: there is no such instruction set", wanted),
               "take sse2, avx2 or avx512, or leave VOLVOX_ISA out");
}

const Result<Isa>& chosen_isa() {
  static const Result<Isa> chosen = [] {
    const char* wanted = std::getenv("VOLVOX_ISA");
    return find_isa(wanted == nullptr ? "" : wanted);
  }();
  return chosen;
}

// Until the initialization below has run: what every machine has.
Isa detail::isa_in_use = Isa::sse2;
namespace {
[[maybe_unused]] const bool isa_was_chosen = [] {
  detail::isa_in_use = chosen_isa().ok() ? *chosen_isa() : best_isa();
  return true;
}();
}  // namespace

}  // namespace volvox
