#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/numbers.h"
#include "volvox/cli/terminal.h"
#include "volvox/model/reader.h"
#include "volvox/report/table.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/build.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/files.h"
#include "volvox/scan/free_place.h"
#include "volvox/scan/locate.h"
#include "volvox/scan/refine.h"
#include "volvox/scan/register.h"
#include "volvox/scan/simulate.h"

namespace volvox::cli {
namespace fs = std::filesystem;

namespace {

// Progress of long work on standard error: one line that is overwritten on a terminal, a few lines otherwise.
class WorkProgress {
 public:
  WorkProgress(std::string label, bool quiet)
      : label_(std::move(label)),
        quiet_(quiet),
        terminal_(is_terminal(STDERR_FILENO)),
        start_(platform::monotonic_seconds()) {}
  ~WorkProgress() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
  }
  scan::Progress teller() {
    return [this](double part) { show(part); };
  }

 private:
  void show(double part) {
    if (quiet_) return;
    const double elapsed = platform::monotonic_seconds() - start_;
    const double due = terminal_ ? last_ + 0.1 : next_line_;
    if (elapsed < due) return;
    const double percent = 100 * clamp(part, 0, 1);
    std::fputs((terminal_ ? fmt::format("\r\x1b[K{} {:3.0f} %", label_, percent)
                          : fmt::format("{}: {:.0f} %\n", label_, percent))
                   .c_str(),
               stderr);
    std::fflush(stderr);
    drawn_ = terminal_;
    last_ = elapsed;
    next_line_ = std::max(2.0, elapsed * 2);
  }

  std::string label_;
  bool quiet_, terminal_, drawn_ = false;
  double start_, last_ = 0, next_line_ = 2;
};

void note(const ScanArguments& arguments, const std::string& line) {
  if (!arguments.quiet) std::fputs((line + "\n").c_str(), stderr);
}

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
  const auto bytes = scan::read_bytes(file);
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

// Reads a cloud from a cloud file, or from a scan log; a log without poses is located first.
Result<scan::Cloud> cloud_from(const ScanArguments& arguments, const std::string& file) {
  if (is_log(file)) {
    auto log = read_log(file);
    if (!log.ok()) return log.error();
    if (!arguments.raw && !log->forward.empty() && !is_located(*log)) {
      note_standing_odometry(arguments, file, *log);
      WorkProgress progress("locating", arguments.quiet);
      log = scan::locate(*log, progress.teller());
      if (!log.ok()) return log.error();
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

int simulate(const ScanArguments& a) {
  if (a.output.empty() && a.truth.empty() && a.cloud.empty())
    return complain(Error("no output was asked for", "give -o LOG, --truth MESH or --cloud CLOUD"));
  for (const auto& [file, check] : {std::pair{a.truth, &scan::check_mesh_name},
                                    {a.cloud, &scan::check_cloud_name},
                                    {a.output, &check_log_name},
                                    {a.path, &scan::check_folder_of}})
    if (!file.empty())
      if (const auto good = check(file); !good.ok()) return complain(good.error());
  if (!a.path.empty() && a.output.empty()) return complain(Error("--path needs a drive", "give -o LOG too"));
  const auto arena = scan::make_arena(
      {.seed = a.seed, .length = a.length, .width = a.width, .height = a.height, .pit = !a.no_pit, .boxes = a.boxes});
  if (!arena.ok()) return complain(arena.error());
  const double noise = a.noise >= 0 ? a.noise : 0.007;
  const std::uint64_t scan_seed = a.scan_seed.value_or(a.seed);
  if (!a.truth.empty())
    if (const auto written = scan::write_mesh(arena->mesh, a.truth); !written.ok()) return complain(written.error());
  nlohmann::json json = {{"seed", a.seed}, {"triangles", arena->mesh.triangles.size()}};
  if (!a.cloud.empty()) {
    const scan::Cloud cloud = scan::sample_cloud(
        arena->mesh, {.seed = scan_seed, .points = a.points, .outliers = a.outliers, .noise = noise});
    if (const auto written = scan::write_cloud(cloud, a.cloud); !written.ok()) return complain(written.error());
    json["points"] = cloud.points.size();
  }
  if (!a.output.empty()) {
    WorkProgress progress("driving", a.quiet);
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
    fmt::print("{}", report::text_table(rows));
  }
  return done;
}

// The error of a located path against the true path that `simulate --path` wrote.
Result<std::vector<std::array<double, 2>>> path_errors(const scan::ScanLog& log, const std::string& file) {
  const auto bytes = scan::read_bytes(file);
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

int locate(const ScanArguments& a) {
  if (const auto good = check_log_name(a.output); !good.ok()) return complain(good.error());
  const auto log = read_log(a.input);
  if (!log.ok()) return complain(log.error());
  note_standing_odometry(a, a.input, *log);
  Result<scan::ScanLog> located = [&] {
    WorkProgress progress("locating", a.quiet);
    return scan::locate(*log, progress.teller());
  }();
  if (!located.ok())
    return complain(
        Diagnostic{a.input, 0, located.error().diagnostics()[0].what, located.error().diagnostics()[0].fix});
  if (const auto written = write_file(a.output, scan::carmen_of(*located)); !written.ok())
    return complain(written.error());
  nlohmann::json json = {{"sweeps", located->forward.size()}};
  if (!a.truth.empty()) {
    const auto errors = path_errors(*located, a.truth);
    if (!errors.ok()) return complain(errors.error());
    double sum = 0, most = 0, turn = 0;
    for (const auto& [distance, angle] : *errors)
      sum += distance, most = std::max(most, distance), turn = std::max(turn, angle);
    json["error_mean_mm"] = 1e3 * sum / real(errors->size());
    json["error_max_mm"] = 1e3 * most;
    json["error_max_deg"] = degrees(turn);
  }
  if (a.json) {
    fmt::print("{}\n", to_json_text(json));
  } else if (!a.quiet) {
    std::vector<std::vector<std::string>> rows = {{"sweeps", std::to_string(located->forward.size())}};
    if (json.contains("error_mean_mm"))
      rows.push_back(
          {"off the truth", fmt::format("{:.1f} mm on average, {:.1f} mm and {:.2f} degrees at most",
                                        json["error_mean_mm"].get<double>(), json["error_max_mm"].get<double>(),
                                        json["error_max_deg"].get<double>())});
    fmt::print("{}", report::text_table(rows));
  }
  return done;
}

int clean(const ScanArguments& a) {
  if (const auto good = scan::check_cloud_name(a.output); !good.ok()) return complain(good.error());
  const auto cloud = cloud_from(a, a.input);
  if (!cloud.ok()) return complain(cloud.error());
  const scan::Cloud single = scan::without_duplicates(*cloud);
  const scan::Cloud result = scan::histogram_filter(single, {.cell = a.cell, .least = a.least});
  if (result.points.empty())
    return complain(Diagnostic{a.input, 0, "no point is left", "give a smaller --least or a larger --cell"});
  if (const auto written = scan::write_cloud(result, a.output); !written.ok()) return complain(written.error());
  const std::size_t duplicates = cloud->points.size() - single.points.size(),
                    lone = single.points.size() - result.points.size();
  if (a.json)
    fmt::print("{}\n", to_json_text(nlohmann::json(
                           {{"points", result.points.size()}, {"duplicates", duplicates}, {"outliers", lone}})));
  else if (!a.quiet)
    fmt::print("{}", report::text_table({{"points", std::to_string(result.points.size())},
                                         {"duplicates left out", std::to_string(duplicates)},
                                         {"outliers left out", std::to_string(lone)}}));
  return done;
}

Result<scan::BuildOptions> build_options(const ScanArguments& a) {
  const auto method = scan::parse_method(a.method);
  if (!method.ok()) return method.error();
  scan::BuildOptions options{.method = *method, .seed = a.seed};
  if (a.triangles > 0) options.triangles = a.triangles;
  if (a.nodes > 0) options.nodes = a.nodes;
  if (a.steps > 0) options.steps = a.steps;
  options.noise = std::max(0.0, a.noise);
  options.filter = !a.no_filter;
  options.sharpen = !a.raw;
  return options;
}

Result<scan::Built> build_mesh(const ScanArguments& a) {
  const auto options = build_options(a);
  if (!options.ok()) return options.error();
  const auto cloud = cloud_from(a, a.input);
  if (!cloud.ok()) return cloud.error();
  WorkProgress progress("building", a.quiet);
  auto built = scan::build(*cloud, *options, progress.teller());
  if (!built.ok())
    return Diagnostic{a.input, 0, built.error().diagnostics()[0].what, built.error().diagnostics()[0].fix};
  for (const std::string& line : built->notes) note(a, fmt::format("{}: {}", a.input, line));
  return built;
}

nlohmann::json json_of(const ScanArguments& a, const scan::Built& built) {
  const scan::Topology shape = scan::topology(built.mesh);
  return {{"method", a.method},
          {"seed", a.seed},
          {"triangles", built.mesh.triangles.size()},
          {"vertices", built.mesh.vertices.size()},
          {"planes", built.planes},
          {"noise_mm", 1e3 * built.noise},
          {"cpu_s", built.cpu_s},
          {"boundary_edges", shape.boundary_edges},
          {"non_manifold_edges", shape.non_manifold_edges},
          {"boxes", built.boxes.size()},
          {"rest_triangles", built.boxes.empty() ? built.mesh.triangles.size() : built.rest.triangles.size()}};
}

void print_built(const scan::Built& built) {
  const scan::Topology shape = scan::topology(built.mesh);
  const std::string boxes = built.boxes.empty() ? "none"
                                                : fmt::format("{}, and {} triangles beside them", built.boxes.size(),
                                                              built.rest.triangles.size());
  fmt::print("{}", report::text_table({{"triangles", std::to_string(built.mesh.triangles.size())},
                                       {"boxes", boxes},
                                       {"planes in the cloud", std::to_string(built.planes)},
                                       {"noise of the points", fmt::format("{:.1f} mm", 1e3 * built.noise)},
                                       {"boundary edges", std::to_string(shape.boundary_edges)},
                                       {"non-manifold edges", std::to_string(shape.non_manifold_edges)},
                                       {"processor time", fmt::format("{:.2f} s", built.cpu_s)}}));
}

int build(const ScanArguments& a) {
  if (const auto good = scan::check_mesh_name(a.output); !good.ok()) return complain(good.error());
  const auto built = build_mesh(a);
  if (!built.ok()) return complain(built.error());
  if (const auto written = scan::write_arena(*built, a.output); !written.ok()) return complain(written.error());
  if (a.json) fmt::print("{}\n", to_json_text(json_of(a, *built)));
  else if (!a.quiet) print_built(*built);
  return done;
}

nlohmann::json json_of(const scan::Registration& fit) {
  const Vec3 shift = fit.pose.position, turn = roll_pitch_yaw(fit.pose.rotation);
  return {{"x_m", shift.x},
          {"y_m", shift.y},
          {"z_m", shift.z},
          {"roll_rad", turn.x},
          {"pitch_rad", turn.y},
          {"yaw_rad", turn.z},
          {"overlap", fit.overlap},
          {"rms_mm", 1e3 * fit.rms},
          {"walls", fit.walls},
          {"walls_back", fit.walls_back},
          {"rival_turn_rad", fit.rival_turn},
          {"rival_walls", fit.rival_walls_met},
          {"rival_overlap", fit.rival_overlap},
          {"doubtful", !fit.doubt().empty()}};
}

void print_fit(const scan::Registration& fit) {
  const Vec3 shift = fit.pose.position, turn = roll_pitch_yaw(fit.pose.rotation);
  fmt::print("{}", report::text_table({{"shift", fmt::format("{:.3f} {:.3f} {:.3f} m", shift.x, shift.y, shift.z)},
                                       {"turn", fmt::format("roll {:.2f}, pitch {:.2f}, yaw {:.2f} degrees",
                                                            degrees(turn.x), degrees(turn.y), degrees(turn.z))},
                                       {"overlap", fmt::format("{:.0f} %", 100 * fit.overlap)},
                                       {"walls that lie on walls", fmt::format("{:.0f} %, and {:.0f} % the other way",
                                                                               100 * fit.walls, 100 * fit.walls_back)},
                                       {"rms across the surface", fmt::format("{:.1f} mm", 1e3 * fit.rms)}}));
}

void warn_of_doubt(const std::string& scan, const scan::Registration& fit) {
  if (const std::string doubt = fit.doubt(); !doubt.empty())
    std::fputs(fmt::format("volvox: warning: {}: {}\n  fix: look at the result; scans that share more of the room tell "
                           "its sides apart, and refine --placed takes a scan where it says it is\n",
                           scan, doubt)
                   .c_str(),
               stderr);
}

int refine(const ScanArguments& a) {
  if (const auto good = scan::check_mesh_name(a.output); !good.ok()) return complain(good.error());
  const auto options = build_options(a);
  if (!options.ok()) return complain(options.error());
  const auto arena = scan::read_mesh(a.input);
  if (!arena.ok()) return complain(arena.error());
  std::vector<scan::Cloud> scans;
  for (const std::string& file : a.scans) {
    auto cloud = cloud_from(a, file);
    if (!cloud.ok()) return complain(cloud.error());
    scans.push_back(std::move(*cloud));
  }
  Result<scan::Refined> refined = [&] {
    WorkProgress progress("refining", a.quiet);
    return scan::refine(*arena, scans, {*options, a.placed}, progress.teller());
  }();
  if (!refined.ok()) return complain(refined.error());
  for (const std::string& line : refined->built.notes) note(a, line);
  for (std::size_t i = 0; i < refined->fits.size(); ++i) warn_of_doubt(a.scans[i], refined->fits[i]);
  if (const auto written = scan::write_arena(refined->built, a.output); !written.ok()) return complain(written.error());
  if (a.json) {
    nlohmann::json json = json_of(a, refined->built);
    json["new_points"] = refined->new_points;
    json["fits"] = nlohmann::json::array();
    for (const scan::Registration& fit : refined->fits) json["fits"].push_back(json_of(fit));
    fmt::print("{}\n", to_json_text(json));
  } else if (!a.quiet) {
    for (std::size_t i = 0; i < refined->fits.size(); ++i) {
      fmt::print("{} laid on the arena\n", a.scans[i]);
      print_fit(refined->fits[i]);
    }
    fmt::print("{}", report::text_table({{"points that were new", std::to_string(refined->new_points)}}));
    print_built(refined->built);
  }
  return done;
}

int evaluate(const ScanArguments& a) {
  const auto mesh = scan::read_mesh(a.input), truth = scan::read_mesh(a.truth);
  if (!mesh.ok()) return complain(mesh.error());
  if (!truth.ok()) return complain(truth.error());
  if (a.density * std::max(scan::area(*mesh), scan::area(*truth)) > 2e8)
    return complain(Error(fmt::format("{:.0f} m2 at {:.0f} points a square metre are too many to measure",
                                      std::max(scan::area(*mesh), scan::area(*truth)), a.density),
                          "give a smaller --density"));
  scan::Evaluation e;
  {
    WorkProgress progress("measuring", a.quiet);
    e = scan::evaluate(*mesh, *truth, a.density, progress.teller());
  }
  if (a.json) {
    fmt::print("{}\n", to_json_text(nlohmann::json({{"triangles", e.triangles},
                                                    {"accuracy_mean_mm", 1e3 * e.accuracy_mean},
                                                    {"accuracy_p95_mm", 1e3 * e.accuracy_p95},
                                                    {"completeness_mean_mm", 1e3 * e.completeness_mean},
                                                    {"completeness_p95_mm", 1e3 * e.completeness_p95},
                                                    {"hausdorff_mm", 1e3 * e.hausdorff},
                                                    {"f_2cm", e.f_2cm},
                                                    {"f_5mm", e.f_5mm},
                                                    {"boundary_edges", e.boundary_edges},
                                                    {"non_manifold_edges", e.non_manifold_edges},
                                                    {"planes", e.planes},
                                                    {"planes_found", e.planes_found}})));
    return done;
  }
  fmt::print("{}",
             report::text_table(
                 {{"triangles", std::to_string(e.triangles)},
                  {"accuracy (mesh to truth)", fmt::format("{:.2f} mm on average, 95 % within {:.2f} mm",
                                                           1e3 * e.accuracy_mean, 1e3 * e.accuracy_p95)},
                  {"completeness (truth to mesh)", fmt::format("{:.2f} mm on average, 95 % within {:.2f} mm",
                                                               1e3 * e.completeness_mean, 1e3 * e.completeness_p95)},
                  {"Hausdorff distance", fmt::format("{:.1f} mm", 1e3 * e.hausdorff)},
                  {"F-score at 2 cm", fmt::format("{:.4f}", e.f_2cm)},
                  {"F-score at 5 mm", fmt::format("{:.4f}", e.f_5mm)},
                  {"boundary edges", std::to_string(e.boundary_edges)},
                  {"non-manifold edges", std::to_string(e.non_manifold_edges)},
                  {"planes found", fmt::format("{} of {}", e.planes_found, e.planes)}}));
  return done;
}

int register_(const ScanArguments& a) {
  if (const auto good = scan::check_cloud_name(a.output); !a.output.empty() && !good.ok())
    return complain(good.error());
  const auto fixed = cloud_from(a, a.input), moving = cloud_from(a, a.second);
  if (!fixed.ok()) return complain(fixed.error());
  if (!moving.ok()) return complain(moving.error());
  Result<scan::Registration> found = [&] {
    WorkProgress progress("registering", a.quiet);
    return scan::register_clouds(*fixed, *moving, progress.teller());
  }();
  if (!found.ok()) return complain(found.error());
  warn_of_doubt(a.second, *found);
  if (!a.output.empty()) {
    scan::Cloud both = *fixed;
    both.colors.clear();
    for (const Vec3& p : moving->points) both.points.push_back(found->pose * p);
    if (const auto written = scan::write_cloud(both, a.output); !written.ok()) return complain(written.error());
  }
  if (a.json) fmt::print("{}\n", to_json_text(json_of(*found)));
  else if (!a.quiet) print_fit(*found);
  return done;
}

int run(const ScanArguments& a, sim::Library& library, Log& log) {
  if (const auto robot = model::ModelLibrary().load(a.robot); !robot.ok()) return complain(robot.error());
  const auto built = build_mesh(a);
  if (!built.ok()) return complain(built.error());
  const auto place = scan::free_place(built->mesh);
  if (!place.ok()) return complain(place.error());
  RunArguments arguments = a.run;
  fs::path folder;
  if (arguments.out) {
    folder = *arguments.out;
    std::error_code failure;
    fs::create_directories(folder, failure);
  } else {
    const auto made = make_next_run_folder("scan");
    if (!made.ok()) return complain(made.error());
    folder = *made;
  }
  const std::string robot = fmt::format(
      "  <volvox:run duration=\"10\" dt=\"1/60\"/>\n  <volvox:module name=\"robot\" robot=\"{}\" pose=\"{:.4f} {:.4f} "
      "{:.4f} 0 0 {:.4f}\">\n    <volvox:mind behavior=\"{}\"/>\n  </volvox:module>\n",
      a.robot, place->at.x, place->at.y, place->at.z + 0.08, place->heading, a.behavior);
  const scan::TriangleMesh& mesh = built->boxes.empty() ? built->mesh : built->rest;
  const std::string mesh_file = mesh.triangles.empty() ? "" : "arena.stl";
  if (!mesh_file.empty())
    if (const auto written = scan::write_mesh(mesh, folder / mesh_file); !written.ok())
      return complain(written.error());
  if (const auto written = write_file(folder / "arena.sdf", scan::sdf_world("arena", mesh_file, built->boxes, robot));
      !written.ok())
    return complain(written.error());
  if (!a.json && !a.quiet) print_built(*built);
  arguments.experiment = (folder / "arena.sdf").string();
  arguments.out = folder.string();
  arguments.seed = a.seed;
  arguments.json = a.json;
  arguments.quiet = a.quiet;
  return run_command(arguments, library, log);
}

void add_common(CLI::App& command, ScanArguments& a, bool seed) {
  if (seed)
    command.add_option("--seed", a.seed, "of everything random: the same seed gives the same bits")
        ->capture_default_str()
        ->type_name("N")
        ->check(between(0, 1.8e19));
  command.add_flag("--json", a.json, "print one JSON object on standard output and nothing else there");
  command.add_flag("--quiet", a.quiet, "no progress, no table");
}

void add_build_options(CLI::App& command, ScanArguments& a, bool input = true) {
  if (input)
    command.add_option("input", a.input, "a cloud (.pcd, .ply, .xyz, .off), or a scan log (.log, CARMEN)")
        ->required()
        ->type_name("CLOUD");
  command
      .add_option("--method", a.method,
                  "gsrm (a two-manifold net that grows), gg (a grid that grows), pf (planes and their borders) or "
                  "mixed (planes, boxes, and a net elsewhere)")
      ->capture_default_str()
      ->type_name("NAME");
  command
      .add_option("--triangles", a.triangles,
                  "about so many (gsrm, gg; mixed, if all were a net); default 4175 (gg: 13860)")
      ->type_name("N")
      ->check(whole_number(2, 5'000'000));
  command.add_option("--nodes", a.nodes, "or so many nodes (gsrm, mixed)")
      ->type_name("N")
      ->check(whole_number(4, 5'000'000));
  command.add_option("--steps", a.steps, "or so many signals of growth (gg)")
      ->type_name("N")
      ->check(whole_number(1, 500'000'000));
  command.add_option("--noise", a.noise, "of the points in metres; otherwise estimated")
      ->type_name("M")
      ->check(between(0, 10));
  command.add_flag("--no-filter", a.no_filter, "keep points that stand alone");
  command.add_flag("--raw", a.raw, "leave nodes where they learned to be (gsrm, gg), and the path of a log as it is");
}

}  // namespace

void add_scan(CLI::App& app, ScanArguments& a) {
  CLI::App* scan = app.add_subcommand(
      "scan", "arenas from laser scans: simulate, locate, clean, build, refine, evaluate, register, run");
  scan->require_subcommand(1);
  scan->footer(
      "\nExamples:\n  volvox scan simulate --seed 7 -o drive.log --truth truth.ply\n  volvox scan build drive.log "
      "--method pf -o arena.sdf\n"
      "  volvox scan evaluate arena.stl --truth truth.ply\n  volvox scan run room.pcd --method gsrm --robot wheelbot "
      "--duration 20");

  CLI::App* simulate = scan->add_subcommand(
      "simulate", "draw an arena by chance, and scan it: a robot with two lasers drives through it");
  simulate->footer(
      "\nExamples:\n  volvox scan simulate --seed 7 -o drive.log --truth truth.ply --path path.csv\n"
      "  volvox scan simulate --cloud cloud.pcd --truth truth.ply --points 98000 --outliers 2000   (points all over "
      "the surface, no drive)\n"
      "  volvox scan simulate --seed 7 --scan-seed 2 --cloud again.pcd   (another scan of the arena of seed 7)");
  simulate->add_option("-o,--output", a.output, "the scan log to write (CARMEN): .log or .carmen")->type_name("LOG");
  simulate->add_option("--truth", a.truth, "write the arena as it is: .ply, .off, .stl or .sdf")->type_name("MESH");
  simulate->add_option("--path", a.path, "write where the robot really was: time,x,y,theta")->type_name("CSV");
  simulate->add_option("--cloud", a.cloud, "write points drawn evenly over the arena: .pcd, .ply or .xyz")
      ->type_name("CLOUD");
  simulate->add_option("--points", a.points, "of that cloud")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 100'000'000));
  simulate->add_option("--outliers", a.outliers, "of that cloud, anywhere in the room")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, 100'000'000));
  simulate->add_option("--noise", a.noise, "deviation of ranges and points, in metres (default 0.007)")
      ->type_name("M")
      ->check(between(0, 1));
  simulate->add_option("--shake", a.shake, "deviation of the robot's roll, in rad")
      ->capture_default_str()
      ->type_name("RAD")
      ->check(between(0, 0.2));
  simulate->add_option("--drift", a.drift, "error of the odometry, as a part of the way")
      ->capture_default_str()
      ->type_name("PART")
      ->check(between(0, 0.5));
  simulate->add_option("--length", a.length, "of the room, in metres")
      ->capture_default_str()
      ->type_name("M")
      ->check(between(0.5, 100));
  simulate->add_option("--width", a.width, "of the room, in metres")
      ->capture_default_str()
      ->type_name("M")
      ->check(between(0.5, 100));
  simulate->add_option("--height", a.height, "of its walls, in metres")
      ->capture_default_str()
      ->type_name("M")
      ->check(between(0.1, 10));
  simulate->add_option("--boxes", a.boxes, "on its floor")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, 1000));
  simulate->add_flag("--no-pit", a.no_pit, "a floor without a pit");
  simulate
      ->add_option("--scan-seed", a.scan_seed,
                   "of the scan alone, for another one of the same arena (default: the seed)")
      ->type_name("N")
      ->check(between(0, 1.8e19));
  add_common(*simulate, a, true);

  CLI::App* locate =
      scan->add_subcommand("locate", "find the robot's path, from its horizontal laser and its odometry");
  locate->footer(
      "\nExamples:\n  volvox scan locate drive.log -o located.log\n  volvox scan locate drive.log -o located.log "
      "--truth path.csv");
  locate->add_option("input", a.input, "a scan log (CARMEN)")->required()->type_name("LOG");
  locate->add_option("-o,--output", a.output, "the log with the poses corrected: .log or .carmen")
      ->required()
      ->type_name("LOG");
  locate->add_option("--truth", a.truth, "the true path (simulate --path), to compare with")->type_name("CSV");
  add_common(*locate, a, false);

  CLI::App* clean =
      scan->add_subcommand("clean", "a cloud without shaking, noise and outliers, from a scan log or a cloud");
  clean->footer(
      "\nExamples:\n  volvox scan clean located.log -o cloud.ply\n  volvox scan clean raw.pcd -o cloud.pcd --cell 0.05 "
      "--least 5");
  clean->add_option("input", a.input, "a scan log (CARMEN; located first if it is not) or a cloud")
      ->required()
      ->type_name("LOG|CLOUD");
  clean->add_option("-o,--output", a.output, "the cloud to write: .ply, .pcd or .xyz")->required()->type_name("CLOUD");
  clean->add_option("--cell", a.cell, "of the histogram, in metres; otherwise by the cloud's density")
      ->type_name("M")
      ->check(between(1e-6, 100));
  clean
      ->add_option("--least", a.least,
                   "points that a cell and its neighbours must hold; otherwise by the cloud's density")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  clean->add_flag("--raw", a.raw, "leave the path of the log as it is");
  add_common(*clean, a, false);

  CLI::App* build = scan->add_subcommand("build", "a mesh from a cloud or a scan log");
  build->footer(
      "\nExamples:\n  volvox scan build cloud.pcd -o arena.ply\n  volvox scan build cloud.pcd --method pf -o arena.sdf "
      "    (a world, with arena.stl beside it)\n"
      "  volvox scan build drive.log --method gg --triangles 576 -o coarse.off");
  add_build_options(*build, a);
  build->add_option("-o,--output", a.output, "the mesh to write: .ply, .off, .stl, or .sdf for a world")
      ->required()
      ->type_name("MESH");
  add_common(*build, a, true);

  CLI::App* refine = scan->add_subcommand("refine", "a built arena takes in new scans");
  refine->footer(
      "\nExamples:\n  volvox scan refine arena.ply scan2.pcd -o better.ply\n  volvox scan refine arena.ply scan2.pcd "
      "--method mixed -o better.sdf   (a mesh does not say how it was built: give the method again)\n  volvox scan "
      "refine arena.ply drive.log --placed --method pf -o better.sdf   (the scans are in the arena's frame)");
  refine->add_option("mesh", a.input, "the arena: .ply, .off or .stl")->required()->type_name("MESH");
  refine->add_option("scans", a.scans, "clouds or scan logs; each is laid on the arena first")
      ->required()
      ->type_name("CLOUD");
  refine->add_option("-o,--output", a.output, "the mesh to write: .ply, .off, .stl, or .sdf for a world")
      ->required()
      ->type_name("MESH");
  refine->add_flag("--placed", a.placed, "the scans are in the arena's frame already");
  add_build_options(*refine, a, false);
  add_common(*refine, a, true);

  CLI::App* evaluate = scan->add_subcommand("evaluate", "measure a mesh against the true one");
  evaluate->footer(
      "\nExamples:\n  volvox scan evaluate arena.ply --truth truth.ply\n  volvox scan evaluate arena.ply --truth "
      "truth.ply --json | jq .f_2cm");
  evaluate->add_option("mesh", a.input, "what was built: .ply, .off or .stl")->required()->type_name("MESH");
  evaluate->add_option("--truth", a.truth, "what is really there")->required()->type_name("MESH");
  evaluate->add_option("--density", a.density, "points to measure at, a square metre")
      ->capture_default_str()
      ->type_name("N")
      ->check(between(1, 1e7));
  add_common(*evaluate, a, false);

  CLI::App* registered = scan->add_subcommand("register", "lay one scan of a room on another");
  registered->footer("\nExamples:\n  volvox scan register scan1.pcd scan2.pcd -o room.pcd");
  registered->add_option("first", a.input, "stays where it is")->required()->type_name("CLOUD");
  registered->add_option("second", a.second, "is turned and shifted")->required()->type_name("CLOUD");
  registered->add_option("-o,--output", a.output, "both in one cloud: .ply, .pcd or .xyz")->type_name("CLOUD");
  add_common(*registered, a, false);

  CLI::App* run = scan->add_subcommand("run", "a cloud to an arena to a run, with a robot on its floor");
  run->footer(
      "\nExamples:\n  volvox scan run room.pcd --method pf --duration 20\n  volvox scan run drive.log --method gsrm "
      "--robot superbot --behavior alternate --json --quiet");
  add_build_options(*run, a);
  run->add_option("--robot", a.robot, "that is put where most of the floor is free (volvox list robots)")
      ->capture_default_str()
      ->type_name("NAME");
  run->add_option("--behavior", a.behavior, "of the robot (volvox list behaviors)")
      ->capture_default_str()
      ->type_name("NAME");
  run->add_option("--engine", a.run.engine, "physics engine (volvox list engines)")->type_name("NAME");
  run->add_option("--duration", a.run.duration, "seconds to simulate (default 10)")
      ->type_name("S")
      ->check(between(0, 1e9));
  run->add_option("--threads", a.run.threads, "threads to use; the result does not depend on it")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1, 1024));
  run->add_option("--out", a.run.out, "folder for the arena and the results (default: runs/scan/001, ...)")
      ->type_name("DIR");
  add_common(*run, a, true);
}

int scan_command(const CLI::App& scan, const ScanArguments& arguments, sim::Library& library, Log& log) {
  if (scan.got_subcommand("simulate")) return simulate(arguments);
  if (scan.got_subcommand("locate")) return locate(arguments);
  if (scan.got_subcommand("clean")) return clean(arguments);
  if (scan.got_subcommand("build")) return build(arguments);
  if (scan.got_subcommand("refine")) return refine(arguments);
  if (scan.got_subcommand("evaluate")) return evaluate(arguments);
  if (scan.got_subcommand("register")) return register_(arguments);
  return run(arguments, library, log);
}

}  // namespace volvox::cli
