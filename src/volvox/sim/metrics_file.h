// Writes metrics.csv during the run, so that a killed run leaves its samples.
// Owns the file. For the thread of the loop. The rows are the same in every run; when they reach the disk is not.
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "volvox/base/csv.h"
#include "volvox/sim/run_report.h"

namespace volvox::sim {

// The table with these samples.
Csv metrics_table(std::span<const TimePoint> samples);

class MetricsFile {
 public:
  explicit MetricsFile(const std::filesystem::path& file);
  // Written with the samples that follow within a quarter of a second, in whole rows.
  void add(const TimePoint& sample);
  bool flush();  // false: something could not be written

 private:
  std::ofstream file_;
  Csv rows_;
  double last_flush_;  // s of wall time
};

}  // namespace volvox::sim
