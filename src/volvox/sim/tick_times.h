// The distribution of the times of many ticks (a day's and more), in constant memory. Times in s, of the clock: no part
// of the state. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volvox::sim {

// The numbers of a box plot. Times in s.
struct Box {
  std::string label;
  double low = 0, q1 = 0, median = 0, q3 = 0, high = 0;  // low and high: the whiskers
  std::vector<double> outliers;                          // beyond 1.5 times the height of the box
};

// A histogram of times. Each bucket is at most 1/128 of its time wide. Only the constructor allocates, so that it can
// be used between two ticks of a run in real time.
class TimeDistribution {
 public:
  TimeDistribution();
  void add(std::int64_t ns);  // negative times count as 0

  std::int64_t count() const { return count_; }
  // In s; 0 if no time was added.
  double mean() const;
  double shortest() const;
  double longest() const;
  double quantile(double part) const;  // 0.5: the median
  Box box(std::string label) const;

 private:
  static std::size_t bucket_of(std::int64_t ns);
  double middle_of(std::size_t bucket) const;

  std::vector<std::int64_t> buckets_;
  std::int64_t count_ = 0, shortest_ = 0, longest_ = 0;
  double sum_ = 0;  // s
};

}  // namespace volvox::sim
