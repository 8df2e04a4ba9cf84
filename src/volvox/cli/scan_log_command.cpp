#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/scan_work.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/table.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/files.h"
#include "volvox/scan/locate.h"
#include "volvox/scan/simulate.h"

namespace volvox::cli {
namespace fs = std::filesystem;

void note(const ScanArguments& arguments, const std::string& line) {
  if (!arguments.quiet) std::fputs((line + "\n").c_str(), stderr);
}

void warn(const std::string& what, const std::string& fix) {
  std::fputs(fmt::format("volvox: warning: {}\n  fix: {}\n", what, fix).c_str(), stderr);
}

namespace {

bool is_log(const std::string& file) {
  return fs::path(file).extension() == ".log" || fs::path(file).extension() == ".carmen";
}

// The extension of the file is the only mark of a log when it is read again.
Result<void> check_log_name(const fs::path& file) {
  if (!is_log(file.string()))
    return Diagnostic{file.string(), 0, "the name is not that of a scan log",
                      "give a name that ends in .log or .carmen"};
  return scan::check_folder_of(file);
}

Result<scan::ScanLog> read_log(const std::string& file) {
  const auto bytes = read_file(file);
  if (!bytes.ok()) return bytes.error();
  return scan::parse_carmen(*bytes, file);
}

bool is_located(const scan::ScanLog& log) {
  for (const auto* sweeps : {&log.forward, &log.side})
    for (const scan::Sweep& s : *sweeps)
      if (scan::length(s.pose.position - s.odometry.position) > 1e-6 ||
          std::fabs(s.pose.heading - s.odometry.heading) > 1e-6)
        return true;
  return false;
}

// A robot without odometry writes the same pose into every sweep.
void note_standing_odometry(const ScanArguments& arguments, const std::string& file, const scan::ScanLog& log) {
  const auto moved = [](const scan::Sweep& a, const scan::Sweep& b) {
    return a.odometry.position.x != b.odometry.position.x || a.odometry.position.y != b.odometry.position.y ||
           a.odometry.heading != b.odometry.heading;
  };
  if (log.forward.size() > 1 && std::adjacent_find(log.forward.begin(), log.forward.end(), moved) == log.forward.end())
    note(arguments, fmt::format("{}: the odometry is the same in all {} sweeps: the path comes from the laser alone, "
                                "relative to its beginning",
                                file, log.forward.size()));
}

void warn_of_doubts(const std::string& file, const scan::Located& located) {
  for (const std::string& doubt : located.doubts)
    warn(fmt::format("{}: {}", file, doubt),
         "look at the map before you use it; --raw takes the path of the log as it is");
}

}  // namespace

// Reads a cloud from a cloud file, or from a scan log; a log without poses is located first.
Result<scan::Cloud> cloud_from(const ScanArguments& arguments, const std::string& file) {
  if (is_log(file)) {
    auto log = read_log(file);
    if (!log.ok()) return log.error();
    for (const std::string& line : log->notes) note(arguments, line);
    if (!arguments.raw && !log->forward.empty() && !is_located(*log)) {
      note_standing_odometry(arguments, file, *log);
      Progress progress("locating", arguments.quiet);
      auto located = scan::locate(*log, progress.teller());
      if (!located.ok()) return located.error();
      warn_of_doubts(file, *located);
      log = std::move(located->log);
    }
    auto cloud = scan::cloud_of(*log);
    if (!cloud.ok())
      return Diagnostic{file, 0, cloud.error().diagnostics()[0].what, cloud.error().diagnostics()[0].fix};
    return cloud;
  }
  auto reading = scan::read_cloud(file);
  if (!reading.ok()) return reading.error();
  for (const std::string& repair : reading->repairs) note(arguments, fmt::format("{}: {}", file, repair));
  return std::move(reading->cloud);
}

Result<std::vector<scan::KnownObject>> objects_of(const ScanArguments& a) {
  model::ModelLibrary models;
  return scan::read_objects(a.objects, models);
}

int scan_simulate(const ScanArguments& a) {
  if (a.output.empty() && a.truth.empty() && a.cloud.empty())
    return complain(Error("no output was asked for", "give -o LOG, --truth MESH or --cloud CLOUD"));
  for (const auto& [file, check] : {std::pair{a.truth, &scan::check_mesh_name},
                                    {a.cloud, &scan::check_cloud_name},
                                    {a.output, &check_log_name},
                                    {a.path, &scan::check_folder_of}})
    if (!file.empty())
      if (const auto good = check(file); !good.ok()) return complain(good.error());
  if (!a.path.empty() && a.output.empty()) return complain(Error("--path needs a drive", "give -o LOG too"));
  const auto objects = objects_of(a);
  if (!objects.ok()) return complain(objects.error());
  const auto arena = scan::make_arena(
      {.seed = a.seed, .length = a.length, .width = a.width, .height = a.height, .pit = !a.no_pit, .boxes = a.boxes},
      *objects);
  if (!arena.ok()) return complain(arena.error());
  const double noise = a.noise >= 0 ? a.noise : 0.007;
  const std::uint64_t scan_seed = a.scan_seed.value_or(a.seed);
  if (!a.truth.empty())
    if (const auto written = scan::write_mesh(arena->mesh, a.truth); !written.ok()) return complain(written.error());
  nlohmann::json json = {{"seed", a.seed}, {"triangles", arena->mesh.triangles.size()}};
  for (const scan::PlacedObject& one : arena->objects)
    json["objects"].push_back(json_of_object((*objects)[one.object].name(), one.pose));
  if (!a.cloud.empty()) {
    const scan::Cloud cloud = scan::sample_cloud(
        arena->mesh, {.seed = scan_seed, .points = a.points, .outliers = a.outliers, .noise = noise});
    if (const auto written = scan::write_cloud(cloud, a.cloud); !written.ok()) return complain(written.error());
    json["points"] = cloud.points.size();
  }
  if (!a.output.empty()) {
    Progress progress("driving", a.quiet);
    const scan::Drive drive = scan::drive(
        *arena, {.seed = scan_seed, .noise = noise, .shake = a.shake, .odometry_drift = a.drift}, progress.teller());
    if (const auto written = write_file(a.output, scan::carmen_of(drive.log)); !written.ok())
      return complain(written.error());
    json["sweeps"] = drive.log.side.size();
    if (!a.path.empty()) {
      Csv csv({"time", "x", "y", "theta"});
      for (std::size_t i = 0; i < drive.forward_truth.size(); ++i)
        csv.row(Csv::fixed(drive.log.forward[i].time, 3), Csv::fixed(drive.forward_truth[i].position.x, 6),
                Csv::fixed(drive.forward_truth[i].position.y, 6), Csv::fixed(drive.forward_truth[i].heading, 6));
      if (const auto written = write_file(a.path, csv.text()); !written.ok()) return complain(written.error());
    }
  }
  if (a.json) {
    fmt::print("{}\n", to_json_text(json));
  } else if (!a.quiet) {
    std::vector<std::vector<std::string>> rows = {
        {"triangles of the arena", std::to_string(arena->mesh.triangles.size())}};
    if (json.contains("points")) rows.push_back({"points of the cloud", to_json_text(json["points"])});
    if (json.contains("sweeps")) rows.push_back({"sweeps of the drive", to_json_text(json["sweeps"])});
    for (const scan::PlacedObject& one : arena->objects)
      rows.push_back({(*objects)[one.object].name(), place_of(one.pose)});
    fmt::print("{}", report::text_table(rows));
  }
  return done;
}

nlohmann::json json_of_object(const std::string& object, const Pose& pose) {
  return {{"name", object},
          {"x_m", pose.position.x},
          {"y_m", pose.position.y},
          {"z_m", pose.position.z},
          {"yaw_rad", roll_pitch_yaw(pose.rotation).z}};
}

std::string place_of(const Pose& pose) {
  return fmt::format("at {:.3f} {:.3f} {:.3f} m, turned by {:.1f} degrees", pose.position.x, pose.position.y,
                     pose.position.z, degrees(roll_pitch_yaw(pose.rotation).z));
}

namespace {

// The error of a located path against the true path that `simulate --path` wrote.
Result<std::vector<std::array<double, 2>>> path_errors(const scan::ScanLog& log, const std::string& file) {
  const auto bytes = read_file(file);
  if (!bytes.ok()) return bytes.error();
  std::vector<std::array<double, 2>> errors;
  std::size_t line_begin = bytes->find('\n'), i = 0;
  int line = 1;
  while (line_begin != std::string::npos && line_begin + 1 < bytes->size() && i < log.forward.size()) {
    double time = 0, x = 0, y = 0, heading = 0;
    ++line;
    if (std::sscanf(bytes->c_str() + line_begin + 1, "%lf,%lf,%lf,%lf", &time, &x, &y, &heading) != 4)
      return Diagnostic{file, line, "the line is not time,x,y,theta",
                        "give the file that volvox scan simulate --path wrote"};
    errors.push_back({scan::length(log.forward[i].pose.position - scan::Vec2{x, y}),
                      std::fabs(scan::wrapped(log.forward[i].pose.heading - heading))});
    ++i;
    line_begin = bytes->find('\n', line_begin + 1);
  }
  if (i != log.forward.size())
    return Diagnostic{file, line, fmt::format("the path has {} places, the log {} sweeps", i, log.forward.size()),
                      "give the path of the same drive"};
  return errors;
}

// Compares with the poses of another log, such as the published ones of a public log: the motion over a metre and over
// ten metres, because the paths need not begin at the same place.
Result<void> compare_with_log(const scan::ScanLog& located, const std::string& file, nlohmann::json& json) {
  const auto other = read_log(file);
  if (!other.ok()) return other.error();
  if (other->forward.size() != located.forward.size())
    return Diagnostic{
        file, 0,
        fmt::format("the log has {} sweeps, the located one {}", other->forward.size(), located.forward.size()),
        "give a log of the same drive"};
  std::vector<scan::Pose2> truth, odometry, path;
  for (const scan::Sweep& sweep : other->forward) truth.push_back(sweep.pose);
  for (const scan::Sweep& sweep : located.forward) odometry.push_back(sweep.odometry), path.push_back(sweep.pose);
  for (const int apart : {1, 10}) {
    const scan::PathError before = scan::relative_error(odometry, truth, apart),
                          after = scan::relative_error(path, truth, apart);
    if (before.pairs == 0) continue;
    const std::string key = fmt::format("{}m", apart);
    json["relative_error_" + key] = {{"odometry_mm", 1e3 * before.position},
                                     {"odometry_deg", degrees(before.heading)},
                                     {"located_mm", 1e3 * after.position},
                                     {"located_deg", degrees(after.heading)}};
  }
  return {};
}

// Compares with the true path of a simulated drive.
Result<void> compare_with_path(const scan::ScanLog& located, const std::string& file, nlohmann::json& json) {
  const auto errors = path_errors(located, file);
  if (!errors.ok()) return errors.error();
  double sum = 0, most = 0, turn = 0;
  for (const auto& [distance, angle] : *errors)
    sum += distance, most = std::max(most, distance), turn = std::max(turn, angle);
  json["error_mean_mm"] = 1e3 * sum / real(errors->size());
  json["error_max_mm"] = 1e3 * most;
  json["error_max_deg"] = degrees(turn);
  return {};
}

void print_located(const scan::Located& located, const nlohmann::json& json) {
  std::vector<std::vector<std::string>> rows = {
      {"sweeps", fmt::format("{}, {} of them in the map", located.log.forward.size(), located.keyframes)},
      {"places recognized", std::to_string(located.loops)},
      {"walls matched", fmt::format("on {:.0f} % of the way; on {:.0f} % they determine the position",
                                    100 * located.matched, 100 * located.determined)},
      {"cells of 10 cm in the map",
       fmt::format("{} ({} by odometry alone)", located.cells, located.cells_by_odometry)}};
  if (json.contains("error_mean_mm"))
    rows.push_back(
        {"off the truth",
         fmt::format("{:.1f} mm on average, {:.1f} mm and {:.2f} degrees at most", json["error_mean_mm"].get<double>(),
                     json["error_max_mm"].get<double>(), json["error_max_deg"].get<double>())});
  for (const char* apart : {"1m", "10m"}) {
    const auto error = json.find(fmt::format("relative_error_{}", apart));
    if (error == json.end()) continue;
    rows.push_back({fmt::format("off the other log over {}", apart),
                    fmt::format("{:.1f} mm and {:.2f} degrees (odometry: {:.1f} mm and {:.2f} degrees)",
                                (*error)["located_mm"].get<double>(), (*error)["located_deg"].get<double>(),
                                (*error)["odometry_mm"].get<double>(), (*error)["odometry_deg"].get<double>())});
  }
  fmt::print("{}", report::text_table(rows));
}

}  // namespace

int scan_locate(const ScanArguments& a) {
  if (const auto good = check_log_name(a.output); !good.ok()) return complain(good.error());
  const auto log = read_log(a.input);
  if (!log.ok()) return complain(log.error());
  for (const std::string& line : log->notes) note(a, line);
  note_standing_odometry(a, a.input, *log);
  const Result<scan::Located> located = [&] {
    Progress progress("locating", a.quiet);
    return scan::locate(*log, progress.teller());
  }();
  if (!located.ok())
    return complain(
        Diagnostic{a.input, 0, located.error().diagnostics()[0].what, located.error().diagnostics()[0].fix});
  warn_of_doubts(a.input, *located);
  if (const auto written = write_file(a.output, scan::carmen_of(located->log)); !written.ok())
    return complain(written.error());
  nlohmann::json json = {{"sweeps", located->log.forward.size()},
                         {"keyframes", located->keyframes},
                         {"loops", located->loops},
                         {"matched", located->matched},
                         {"determined", located->determined},
                         {"map_cells", located->cells},
                         {"map_cells_by_odometry", located->cells_by_odometry},
                         {"doubtful", !located->doubts.empty()},
                         {"doubts", located->doubts}};
  if (!a.truth.empty()) {
    const auto compared = is_log(a.truth) ? compare_with_log(located->log, a.truth, json)
                                          : compare_with_path(located->log, a.truth, json);
    if (!compared.ok()) return complain(compared.error());
  }
  if (a.json) fmt::print("{}\n", to_json_text(json));
  else if (!a.quiet) print_located(*located, json);
  return done;
}

}  // namespace volvox::cli
