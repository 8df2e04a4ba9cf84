#include "volvox/sim/tick_times.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace volvox::sim {
namespace {

constexpr unsigned digits = 7;  // significant bits of a time in its bucket
constexpr std::size_t bucket_count = (64 - digits) << digits;

}  // namespace

TimeDistribution::TimeDistribution() : buckets_(bucket_count) {}

// Times below 2^8 ns have one bucket each; every octave above has 2^7 buckets.
std::size_t TimeDistribution::bucket_of(std::int64_t ns) {
  VOLVOX_ASSERT(ns >= 0);
  const std::uint64_t time = ns;
  const auto width = narrow<unsigned>(std::bit_width(time));
  const unsigned octave = width > digits + 1 ? width - digits - 1 : 0;
  return (std::size_t{octave} << digits) + (time >> octave);
}

double TimeDistribution::middle_of(std::size_t bucket) const {
  VOLVOX_ASSERT(bucket < buckets_.size() && shortest_ <= longest_);
  double middle = real(bucket);
  if (bucket >= std::size_t{2} << digits) {
    const std::size_t octave = (bucket >> digits) - 1;
    middle = std::ldexp(real(bucket - (octave << digits)) + 0.5, narrow<int>(octave));
  }
  return std::clamp(middle, real(shortest_), real(longest_)) * 1e-9;
}

void TimeDistribution::add(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  shortest_ = count_ == 0 ? ns : std::min(shortest_, ns);
  longest_ = std::max(longest_, ns);
  sum_ += real(ns) * 1e-9;
  ++count_;
  VOLVOX_ASSERT(bucket_of(ns) < buckets_.size());
  ++buckets_[bucket_of(ns)];
}

double TimeDistribution::mean() const { return count_ > 0 ? sum_ / real(count_) : 0; }
double TimeDistribution::shortest() const { return real(shortest_) * 1e-9; }
double TimeDistribution::longest() const { return real(longest_) * 1e-9; }

double TimeDistribution::quantile(double part) const {
  if (count_ == 0) return 0;
  const auto rank = truncated<std::int64_t>(std::ceil(std::clamp(part, 0.0, 1.0) * real(count_)));
  if (rank >= count_) return longest();
  std::int64_t below = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    if ((below += buckets_[i]) >= std::max<std::int64_t>(rank, 1)) return middle_of(i);
  return longest();
}

Box TimeDistribution::box(std::string label) const {
  Box box{std::move(label), 0, quantile(0.25), quantile(0.5), quantile(0.75), 0, {}};
  const double reach = 1.5 * (box.q3 - box.q1);
  box.low = box.q1, box.high = box.q3;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] == 0) continue;
    const double time = middle_of(i);
    if (time < box.q1 - reach || time > box.q3 + reach) box.outliers.push_back(time);
    else box.low = std::min(box.low, time), box.high = std::max(box.high, time);
  }
  return box;
}

}  // namespace volvox::sim
