#include "volvox/sim/metrics_file.h"

#include "volvox/base/platform/clock.h"

namespace volvox::sim {
namespace {

constexpr double flush_interval = 0.25;  // s of wall time

void add_row(Csv& csv, const TimePoint& sample) {
  csv.field(sample.time);
  for (const double value : sample.values()) csv.field(value);
  csv.end_row();
}

}  // namespace

Csv metrics_table(std::span<const TimePoint> samples) {
  std::vector<std::string> headings = {"time_s"};
  headings.insert(headings.end(), TimePoint::names.begin(), TimePoint::names.end());
  Csv csv(headings);
  for (const TimePoint& sample : samples) add_row(csv, sample);
  return csv;
}

MetricsFile::MetricsFile(const std::filesystem::path& file)
    : file_(file, std::ios::binary), rows_(metrics_table({})), last_flush_(platform::monotonic_seconds()) {}

void MetricsFile::add(const TimePoint& sample) {
  add_row(rows_, sample);
  const double now = platform::monotonic_seconds();
  if (now - last_flush_ < flush_interval) return;
  last_flush_ = now;
  flush();
}

bool MetricsFile::flush() {
  file_ << rows_.take();
  file_.flush();
  return file_.good();
}

}  // namespace volvox::sim
