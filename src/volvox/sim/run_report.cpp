#include "volvox/sim/run_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "volvox/base/hash.h"
#include "volvox/base/json_text.h"
#include "volvox/sim/metrics_file.h"

namespace volvox::sim {
namespace {

nlohmann::ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return nullptr;
}

nlohmann::ordered_json times_ms(const TimeDistribution& times) {
  nlohmann::ordered_json json;
  json["count"] = times.count();
  json["least"] = times.shortest() * 1e3;
  for (const auto& [name, part] :
       {std::pair{"q1", 0.25}, {"median", 0.5}, {"q3", 0.75}, {"p99", 0.99}, {"p999", 0.999}})
    json[name] = times.quantile(part) * 1e3;
  json["most"] = times.longest() * 1e3;
  json["mean"] = times.mean() * 1e3;
  return json;
}

nlohmann::ordered_json pacing(const PacingReport& report) {
  nlohmann::ordered_json json;
  json["factor"] = report.factor;
  json["tick_length_ms"] = report.tick_length * 1e3;
  json["late_ticks"] = report.late_ticks;
  json["worst_lateness_ms"] = report.worst_lateness * 1e3;
  json["drift_s"] = report.drift;
  json["tick_ms"] = times_ms(report.tick_times);
  json["wake_delay_ms"] = times_ms(report.wake_delays);
  json["scheduling"] = report.scheduling;
  json["memory"] = report.memory;
  return json;
}

nlohmann::ordered_json results(const RunReport& report) {
  nlohmann::ordered_json json;
  json["experiment"] = report.experiment;
  json["engine"] = report.engine;
  json["precision"] = report.precision;
  json["seed"] = report.seed;
  json["dt"] = report.dt.text();
  json["threads"] = report.threads;
  json["modules"] = report.modules;
  json["ticks"] = report.ticks;
  json["sim_time_s"] = number(report.sim_time);
  json["wall_time_s"] = number(report.wall_time);
  json["real_time_factor"] = number(report.real_time_factor());
  json["status"] = report.status;
  if (!report.failure.empty()) json["failure"] = report.failure;
  json["state_hash"] = hash_text(report.state_hash);
  if (report.clock_decided) json["reproducible"] = false;
  else if (report.inputs == 0) json["reproducible"] = true;
  else json["reproducible"] = "with_inputs";
  if (report.restored)
    json["restored"] = {{"file", report.restored->file},           {"tick", report.restored->tick},
                        {"time_s", number(report.restored->time)}, {"differences", report.restored->differences},
                        {"engine", report.restored->engine},       {"not_carried", report.restored->not_carried}};
  if (report.pacing) json["real_time"] = pacing(*report.pacing);
  json["metrics"] = nlohmann::ordered_json::object();
  for (const Metric& metric : report.metrics.all()) json["metrics"][metric.name] = number(metric.value);
  nlohmann::ordered_json paper = nlohmann::ordered_json::object();
  for (const Metric& metric : report.metrics.all())
    if (metric.paper) paper[metric.name] = number(*metric.paper);
  if (!paper.empty()) json["paper"] = paper;
  json["warnings"] = report.warnings;
  return json;
}

}  // namespace

std::string RunReport::json() const { return to_json_text(results(*this), 2); }

std::string RunReport::summary() const {
  nlohmann::ordered_json json = results(*this);
  json["file"] = file;
  json["settings"] = settings;
  json["files"] = files;
  json["own_files"] = own_files;
  json["engine_settings"] = engine_settings;
  if (save_every) json["save_every_s"] = *save_every;
  json["load_time_s"] = number(load_time);
  for (std::size_t i = 0; i < phase_count; ++i)
    json["phase_times_s"][std::string(phase_names[i])] = number(phases.seconds[i]);
  json["memory_bytes"] = memory_bytes;
  return to_json_text(json, 2) + "\n";
}

std::string RunReport::csv() const { return metrics_table(history).text(); }

}  // namespace volvox::sim
