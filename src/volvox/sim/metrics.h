// The metrics of an experiment: named numbers, each with the paper's figure if the paper gives one.
// A value is in the unit that its name ends with. Plain values, not for several threads at once.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace volvox::sim {

// The value of a metric that could not be measured: the run was too short, or the event never happened. It is null in
// JSON, "-" in tables and left out of means; never 0, -1 or 1e300.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();
inline double measured_if(bool there_is, double value) { return there_is ? value : not_measured; }
// Most often used for a time that is negative until the event happens.
inline double measured_time(double seconds) { return measured_if(seconds >= 0, seconds); }
inline double mean_of(double sum, double count) { return count > 0 ? sum / count : not_measured; }

struct Metric {
  std::string name;             // with its unit, as in "distance_m"
  double value = 0;             // or not_measured
  std::optional<double> paper;  // the published figure, if there is one
  std::string note;             // the source of that figure, or the meaning of the metric
};

class Metrics {
 public:
  void set(const std::string& name, double value, std::string note = {}) {
    add({name, value, std::nullopt, std::move(note)});
  }
  void set_beside_paper(const std::string& name, double value, double paper, std::string source) {
    add({name, value, paper, std::move(source)});
  }
  const std::vector<Metric>& all() const { return metrics_; }
  const Metric* find(const std::string& name) const {
    for (const Metric& m : metrics_)
      if (m.name == name) return &m;
    return nullptr;
  }

 private:
  void add(Metric metric) {
    metric.value = measured_if(std::isfinite(metric.value), metric.value + 0.0);  // + 0.0 turns -0 into 0
    for (Metric& m : metrics_) {
      if (m.name != metric.name) continue;
      m = std::move(metric);
      return;
    }
    metrics_.push_back(std::move(metric));
  }
  std::vector<Metric> metrics_;  // in the order in which they were first set
};

}  // namespace volvox::sim
