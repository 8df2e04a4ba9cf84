// What an experiment reports: named numbers, each with the paper's figure where it gives one.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace volvox::sim {

struct Metric {
  std::string name;   // with its unit, as in "distance_m"
  double value = 0;
  std::optional<double> paper;  // the published figure, if there is one
  std::string note;             // where that figure is from, or what the metric means
};

class Metrics {
 public:
  void set(const std::string& name, double value, std::string note = {}) { add({name, value, std::nullopt, std::move(note)}); }
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
