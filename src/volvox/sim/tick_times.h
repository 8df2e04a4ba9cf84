// How times are distributed: as many as there are ticks in a day, in constant memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volvox::sim {

// What a box plot shows. Times in s.
struct Box {
  std::string label;
  double low = 0, q1 = 0, median = 0, q3 = 0, high = 0;  // low and high: the whiskers
  std::vector<double> outliers;                          // beyond 1.5 times the height of the box
};

// Counts times in buckets, each at most a 128th of its own time wide. It never allocates once it
// is made, so that it may be used between two ticks of a run that keeps real time.
class TimeDistribution {
 public:
  TimeDistribution();
  void add(std::int64_t ns);  // what is negative counts as 0

  std::int64_t count() const { return count_; }
  // In s; 0 if there is none.
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
