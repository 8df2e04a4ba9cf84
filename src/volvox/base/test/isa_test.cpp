#include "volvox/base/isa.h"

#include <gtest/gtest.h>

namespace volvox {
namespace {

VOLVOX_FOR_EACH_ISA(double, scaled_sum, (const double* x, int count, double scale), (x, count, scale)) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += scale * x[i];
  return sum;
}

TEST(Isa, TakesWhatTheMachineHasAndRefusesTheRest) {
  EXPECT_EQ(*find_isa(""), best_isa());
  for (const Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512}) {
    const Result<Isa> found = find_isa(name(isa));
    ASSERT_EQ(found.ok(), isa <= best_isa()) << name(isa);
    if (found.ok()) {
      EXPECT_EQ(*found, isa);
    } else {
      EXPECT_NE(found.error().text().find("processor"), std::string::npos);
    }
  }
  for (const char* wrong : {"AVX2", "avx", "native", " avx2", "1"}) {
    const Result<Isa> found = find_isa(wrong);
    ASSERT_FALSE(found.ok()) << wrong;
    EXPECT_NE(found.error().text().find("sse2, avx2 or avx512"), std::string::npos);
  }
}

#if defined(__x86_64__)
TEST(Isa, EveryVersionOfALoopHasTheSameBits) {
  double x[37];
  for (int i = 0; i < 37; ++i) x[i] = 1.0 / (i + 3);
  const double expected = scaled_sum_sse2(x, 37, 0.1);
  EXPECT_EQ(scaled_sum(x, 37, 0.1), expected);
  if (best_isa() >= Isa::avx2) {
    EXPECT_EQ(scaled_sum_avx2(x, 37, 0.1), expected);
  }
  if (best_isa() >= Isa::avx512) {
    EXPECT_EQ(scaled_sum_avx512(x, 37, 0.1), expected);
  }
}
#endif

}  // namespace
}  // namespace volvox
