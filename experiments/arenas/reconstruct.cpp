#include <optional>

#include "experiments.h"
#include "pit.h"
#include "stages.h"
#include "volvox/base/index.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/files.h"
#include "volvox/scan/plane_fitting.h"

namespace volvox::experiments::arenas {
namespace {

// Table 1 and figures 3 and 4. The paper's steps of GSRM are nodes: its 4175 triangles have "max nodes" of 2200.
std::optional<double> paper_triangles(const std::string& method, const Detail& detail) {
  if (method == "pf") return 35;
  if (detail.triangles > 0) return std::nullopt;
  if (method == "gg") {
    if (detail.steps == 50'000) return 210;
    if (detail.steps == 200'000) return 576;
    if (detail.steps == 0 || detail.steps == 2'000'000) return 13'860;
  }
  if (method == "gsrm") {
    if (detail.steps == 800) return 1'011;
    if (detail.steps == 0 || detail.steps == 2'200) return 4'175;
    if (detail.steps == 5'000) return 5'895;
  }
  return std::nullopt;
}

// The Symbrion paper, table 1 and figures 2 to 5: the arena with the pit, scanned, built from the points by one of the
// three methods and compared with the true arena.
class Reconstruct final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"method", "gsrm", {}, {}, {"gsrm", "gg", "pf", "mixed"}, "how the cloud becomes a mesh", 0},
        scanner_parameter(),
        {"triangles", "0", 0, 200'000, {}, "approximate number (gsrm, gg); 0: by steps", 0, true},
        {"steps",
         "0",
         0,
         20'000'000,
         {},
         "gg: signals of growth; gsrm: nodes; 0: as the paper's table 1, 2000000 and 2200",
         0,
         true},
        {"plain",
         "false",
         {},
         {},
         {"true", "false"},
         "gsrm, gg: as printed; nodes stay where they learned to be, gg grows by counters alone",
         0},
        {"noise", "0.007", 0, 0.1, {}, "standard deviation of a range (drive) or of the points, in m", 0},
        {"show",
         "model",
         {},
         {},
         {"model", "raw", "clean", "clusters", "merged", "borders"},
         "what pictures show: figure 2 (raw, clean) or figure 5 (clusters, merged, borders) instead of the model",
         0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment arenas/reconstruct");
    method_ = parameters.text("method", "gsrm");
    const Scanner scanner = parameters.text("scanner", "points") == "drive" ? Scanner::drive : Scanner::points;
    detail_.triangles = narrow<std::size_t>(parameters.integer("triangles", 0, 0));
    detail_.steps = narrow<std::size_t>(parameters.integer("steps", 0, 0));
    detail_.plain = parameters.flag("plain", false);
    const double noise = parameters.number("noise", 0.007, 0, 0.1);
    const std::string show = parameters.text("show", "model");
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    const bool learned = method_ == "gsrm" || method_ == "gg";
    if (detail_.triangles > 0 && detail_.steps > 0)
      return Error("triangles= and steps= both say how detailed the mesh is", "give one of them");
    if ((detail_.steps > 0 || detail_.plain) && !learned)
      return Error(fmt::format("steps= and plain= are of gsrm and gg, not of {}", method_), "leave them out");
    const scan::TriangleMesh truth = simple_arena({});
    auto scan = scanned(truth, {}, scanner, noise, setup.seed);
    if (!scan.ok()) return scan.error();
    auto built = built_by(method_, *scan, detail_, setup.seed);
    if (!built.ok()) return built.error();
    triangles_ = built->mesh.triangles.size();
    cpu_ = built->cpu_s;
    points_ = scan->cloud.points.size(), raw_points_ = scan->raw.points.size();
    driven_ = scanner == Scanner::drive;
    path_error_ = scan->path_error, heading_error_ = scan->heading_error;
    found_ = scan::evaluate(built->mesh, truth, 2000);
    mesh_ = built->mesh;
    model::WorldBuilder builder("reconstruct");
    if (auto shown = add_stage(builder, show, *scan, *built, setup.seed); !shown.ok()) return shown.error();
    model::RunSettings run;
    run.duration = Time::seconds(0.1);
    builder.set_run(run);
    return builder.build();
  }

  std::string camera() const override { return overview; }
  sim::Cloud* cloud() override { return points_shown_ ? &*points_shown_ : nullptr; }

  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    const bool gg = method_ == "gg", pf = method_ == "pf";
    if (const auto paper = paper_triangles(method_, detail_))
      metrics.set_beside_paper("triangles", real(triangles_), *paper, "Symbrion paper, table 1, figures 3 and 4");
    else metrics.set("triangles", real(triangles_));
    metrics.set_beside_paper("cpu_s", cpu_,
                             gg   ? 270
                             : pf ? 71
                                  : 20,
                             "processor time to build the mesh from the points; Symbrion paper, table 1");
    metrics.set("points", real(points_), "of the cloud, from which the mesh is built");
    metrics.set("raw_points", real(raw_points_), "that the laser measured");
    metrics.set("path_error_max_mm", sim::measured_if(driven_, path_error_ * 1e3),
                "largest error of the scanning robot's own localisation; the paper: less than 10");
    metrics.set("heading_error_max_deg", sim::measured_if(driven_, degrees(heading_error_)),
                "likewise; the paper: less than 0.5");
    metrics.set("accuracy_mean_mm", found_.accuracy_mean * 1e3, "mean distance, mesh to true arena");
    metrics.set("accuracy_p95_mm", found_.accuracy_p95 * 1e3, "95th percentile of the distance, mesh to true arena");
    metrics.set("completeness_mean_mm", found_.completeness_mean * 1e3, "mean distance, true arena to mesh");
    metrics.set("hausdorff_mm", found_.hausdorff * 1e3, "Hausdorff distance between mesh and true arena");
    metrics.set("f_2cm", found_.f_2cm, "F-score at 2 cm");
    metrics.set("f_5mm", found_.f_5mm, "F-score at 5 mm");
    metrics.set("boundary_edges", real(found_.boundary_edges));
    metrics.set("non_manifold_edges", real(found_.non_manifold_edges));
    metrics.set("planes", real(found_.planes), "flat faces of the true arena");
    metrics.set("planes_found", real(found_.planes_found), "of these, found in the mesh; the paper's PF missed two");
  }

  Result<void> write(const std::filesystem::path& folder) const override {
    return scan::write_mesh(mesh_, folder / "arena.ply");
  }

 private:
  Result<void> add_stage(model::WorldBuilder& builder, const std::string& show, const Scanned& scan,
                         const scan::Built& built, std::uint64_t seed) {
    if (show == "model") return add_arena(builder, built), Result<void>();
    if (show == "raw" || show == "clean") {
      points_shown_.emplace(show == "raw" ? scan.raw.points : scan.cloud.points);
      return {};
    }
    const auto prepared = scan::prepare(scan.cloud, true);
    if (!prepared.ok()) return prepared.error();
    const scan::PlaneModel planes = scan::fit_planes(prepared->cloud, {seed, scan.noise});
    if (show == "borders") add_borders(builder, planes.mesh);
    else add_rectangles(builder, prepared->cloud.points, show == "clusters" ? planes.set.first : planes.set.label);
    return {};
  }

  std::string method_;
  Detail detail_;
  std::size_t triangles_ = 0, points_ = 0, raw_points_ = 0;
  double cpu_ = 0;                             // s
  bool driven_ = false;                        // scanned by a robot, which has a path
  double path_error_ = 0, heading_error_ = 0;  // m, rad
  scan::Evaluation found_;
  scan::TriangleMesh mesh_;
  std::optional<PointCloud> points_shown_;
};

}  // namespace

sim::ExperimentFactory reconstruct() { return make<Reconstruct>(); }

}  // namespace volvox::experiments::arenas
