#include "volvox/sim/tick_times.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace volvox::sim {
namespace {

constexpr unsigned digits = 7;  // bits of a time that its bucket tells apart
constexpr std::size_t bucket_count = (64 - digits) << digits;

}  // namespace

TimeDistribution::TimeDistribution() : buckets_(bucket_count) {}

// Times below 2^8 ns have a bucket each; from there on every octave has 2^7 of them.
std::size_t TimeDistribution::bucket_of(std::int64_t ns) {
  const auto time = static_cast<std::uint64_t>(ns);
  const unsigned width = static_cast<unsigned>(std::bit_width(time));
  const unsigned octave = width > digits + 1 ? width - digits - 1 : 0;
  return (static_cast<std::size_t>(octave) << digits) + static_cast<std::size_t>(time >> octave);
}

double TimeDistribution::middle_of(std::size_t bucket) const {
  double middle = static_cast<double>(bucket);
  if (bucket >= std::size_t{2} << digits) {
    const std::size_t octave = (bucket >> digits) - 1;
    middle = std::ldexp(static_cast<double>(bucket - (octave << digits)) + 0.5, static_cast<int>(octave));
  }
  return std::clamp(middle, static_cast<double>(shortest_), static_cast<double>(longest_)) * 1e-9;
}

void TimeDistribution::add(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  shortest_ = count_ == 0 ? ns : std::min(shortest_, ns);
  longest_ = std::max(longest_, ns);
  sum_ += static_cast<double>(ns) * 1e-9;
  ++count_;
  ++buckets_[bucket_of(ns)];
}

double TimeDistribution::mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
double TimeDistribution::shortest() const { return static_cast<double>(shortest_) * 1e-9; }
double TimeDistribution::longest() const { return static_cast<double>(longest_) * 1e-9; }

double TimeDistribution::quantile(double part) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::int64_t>(std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(count_)));
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
