#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/scan_work.h"
#include "volvox/cli/terminal.h"
#include "volvox/model/reader.h"
#include "volvox/report/table.h"
#include "volvox/scan/build.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/coverage.h"
#include "volvox/scan/files.h"
#include "volvox/scan/free_place.h"
#include "volvox/scan/refine.h"
#include "volvox/scan/register.h"

namespace volvox::cli {
namespace fs = std::filesystem;

namespace {

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

Result<scan::Built> build_mesh(const ScanArguments& a, const std::vector<scan::KnownObject>& objects) {
  auto options = build_options(a);
  if (!options.ok()) return options.error();
  options->objects = objects;
  const auto cloud = cloud_from(a, a.input);
  if (!cloud.ok()) return cloud.error();
  Progress progress("building", a.quiet);
  auto built = scan::build(*cloud, *options, progress.teller());
  if (!built.ok())
    return Diagnostic{a.input, 0, built.error().diagnostics()[0].what, built.error().diagnostics()[0].fix};
  for (const std::string& line : built->notes) note(a, fmt::format("{}: {}", a.input, line));
  if (const std::string doubt = scan::coverage(built->mesh, *cloud).doubt(); !doubt.empty())
    warn(fmt::format("{}: {}", a.input, doubt),
         "look at the mesh; a cloud of even density, or --method gsrm, leaves fewer gaps");
  return built;
}

nlohmann::json json_of(const ScanArguments& a, const scan::Built& built,
                       const std::vector<scan::KnownObject>& objects) {
  const scan::Topology shape = scan::topology(built.mesh);
  nlohmann::json json = {{"method", a.method},
                         {"seed", a.seed},
                         {"triangles", built.mesh.triangles.size()},
                         {"vertices", built.mesh.vertices.size()},
                         {"planes", built.planes},
                         {"noise_mm", 1e3 * built.noise},
                         {"cpu_s", built.cpu_s},
                         {"boundary_edges", shape.boundary_edges},
                         {"non_manifold_edges", shape.non_manifold_edges},
                         {"boxes", built.boxes.size()},
                         {"rest_triangles", built.remaining().triangles.size()}};
  if (!objects.empty()) json["objects"] = nlohmann::json::array();
  for (const scan::FoundObject& found : built.objects) {
    nlohmann::json one = json_of_object(objects[found.object].name(), found.pose);
    one["covered"] = found.covered;
    one["rms_mm"] = 1e3 * found.rms;
    one["points"] = found.points;
    json["objects"].push_back(std::move(one));
  }
  return json;
}

void print_built(const scan::Built& built, const std::vector<scan::KnownObject>& objects) {
  const scan::Topology shape = scan::topology(built.mesh);
  const std::string boxes = built.boxes.empty() ? "none"
                                                : fmt::format("{}, and {} triangles beside them", built.boxes.size(),
                                                              built.rest.triangles.size());
  std::vector<std::vector<std::string>> rows = {
      {"triangles", std::to_string(built.mesh.triangles.size())},
      {"boxes", boxes},
      {"planes in the cloud", std::to_string(built.planes)},
      {"noise of the points", fmt::format("{:.1f} mm", 1e3 * built.noise)},
      {"boundary edges", std::to_string(shape.boundary_edges)},
      {"non-manifold edges", std::to_string(shape.non_manifold_edges)},
      {"processor time",
       fmt::format("{:.2f} s, {:.2f} s of it to build", platform::process_cpu_seconds(), built.cpu_s)}};
  for (const scan::FoundObject& found : built.objects)
    rows.push_back({objects[found.object].name(),
                    fmt::format("{}; {:.0f} % of it seen", place_of(found.pose), 100 * found.covered)});
  fmt::print("{}", report::text_table(rows));
}

int build(const ScanArguments& a) {
  if (const auto good = scan::check_mesh_name(a.output); !good.ok()) return complain(good.error());
  const auto objects = objects_of(a);
  if (!objects.ok()) return complain(objects.error());
  const auto built = build_mesh(a, *objects);
  if (!built.ok()) return complain(built.error());
  if (const auto written = scan::write_arena(*built, a.output, *objects); !written.ok())
    return complain(written.error());
  if (a.json) fmt::print("{}\n", to_json_text(json_of(a, *built, *objects)));
  else if (!a.quiet) print_built(*built, *objects);
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
    warn(fmt::format("{}: {}", scan, doubt),
         "look at the result; scans that share more of the room tell its sides apart, and refine --placed takes a scan "
         "where it says it is");
}

int refine(const ScanArguments& a) {
  if (const auto good = scan::check_mesh_name(a.output); !good.ok()) return complain(good.error());
  auto options = build_options(a);
  if (!options.ok()) return complain(options.error());
  const auto objects = objects_of(a);
  if (!objects.ok()) return complain(objects.error());
  options->objects = *objects;
  const auto arena = scan::read_mesh(a.input);
  if (!arena.ok()) return complain(arena.error());
  std::vector<scan::Cloud> scans;
  for (const std::string& file : a.scans) {
    auto cloud = cloud_from(a, file);
    if (!cloud.ok()) return complain(cloud.error());
    scans.push_back(std::move(*cloud));
  }
  Result<scan::Refined> refined = [&] {
    Progress progress("refining", a.quiet);
    return scan::refine(*arena, scans, {*options, a.placed}, progress.teller());
  }();
  if (!refined.ok()) return complain(refined.error());
  for (const std::string& line : refined->built.notes) note(a, line);
  for (std::size_t i = 0; i < refined->fits.size(); ++i) warn_of_doubt(a.scans[i], refined->fits[i]);
  if (const auto written = scan::write_arena(refined->built, a.output, *objects); !written.ok())
    return complain(written.error());
  if (a.json) {
    nlohmann::json json = json_of(a, refined->built, *objects);
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
    print_built(refined->built, *objects);
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
    Progress progress("measuring", a.quiet);
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
    Progress progress("registering", a.quiet);
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
  const auto objects = objects_of(a);
  if (!objects.ok()) return complain(objects.error());
  const auto built = build_mesh(a, *objects);
  if (!built.ok()) return complain(built.error());
  const auto place = scan::free_place(built->mesh);
  if (!place.ok()) return complain(place.error());
  if (place->part < 0.6)
    warn(fmt::format("{}: the floor is in pieces: the robot stands on {:.1f} m2, {:.0f} % of it", a.input, place->floor,
                     100 * place->part),
         "look at the mesh: volvox scan build -o arena.ply");
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
  const scan::TriangleMesh& mesh = built->remaining();
  const std::string mesh_file = mesh.triangles.empty() ? "" : "arena.stl";
  if (!mesh_file.empty())
    if (const auto written = scan::write_mesh(mesh, folder / mesh_file); !written.ok())
      return complain(written.error());
  if (const auto written = write_file(
          folder / "arena.sdf",
          scan::sdf_world("arena", mesh_file, built->boxes, scan::sdf_objects(*built, *objects, folder) + robot));
      !written.ok())
    return complain(written.error());
  if (!a.json && !a.quiet) print_built(*built, *objects);
  arguments.experiment = (folder / "arena.sdf").string();
  arguments.out = folder.string();
  arguments.seed = a.seed;
  arguments.json = a.json;
  arguments.quiet = a.quiet;
  return run_command(arguments, library, log);
}

}  // namespace

int scan_command(const ScanArguments& arguments, sim::Library& library, Log& log) {
  if (arguments.subcommand == "simulate") return scan_simulate(arguments);
  if (arguments.subcommand == "locate") return scan_locate(arguments);
  if (arguments.subcommand == "clean") return clean(arguments);
  if (arguments.subcommand == "build") return build(arguments);
  if (arguments.subcommand == "refine") return refine(arguments);
  if (arguments.subcommand == "evaluate") return evaluate(arguments);
  if (arguments.subcommand == "register") return register_(arguments);
  return run(arguments, library, log);
}

}  // namespace volvox::cli
