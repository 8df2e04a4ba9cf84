#include "experiments.h"
#include "pit.h"
#include "volvox/base/index.h"
#include "volvox/scan/evaluate.h"

namespace volvox::experiments::arenas {
namespace {

// The Symbrion paper, table 1 and figures 3 to 5: the arena with the pit, built from a point cloud by one of the three
// methods and compared with the true arena.
class Reconstruct final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"method", "gsrm", {}, {}, {"gsrm", "gg", "pf", "mixed"}, "how the cloud becomes a mesh", 0},
        {"triangles", "0", 0, 200'000, {}, "approximate number (gsrm, gg); 0: the paper's number", 0, true},
        {"noise", "0.007", 0, 0.1, {}, "standard deviation of the points, in m", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment arenas/reconstruct");
    method_ = parameters.text("method", "gsrm");
    const std::size_t triangles = parameters.integer("triangles", 0, 0);
    const double noise = parameters.number("noise", 0.007, 0, 0.1);
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    const scan::TriangleMesh truth = simple_arena({});
    auto built = rebuilt(truth, method_, triangles, noise, setup.seed);
    if (!built.ok()) return built.error();
    triangles_ = built->mesh.triangles.size();
    cpu_ = built->cpu_s;
    found_ = scan::evaluate(built->mesh, truth, 2000);
    model::WorldBuilder builder("reconstruct");
    add_arena(builder, *built);
    model::RunSettings run;
    run.duration = Time::seconds(0.1);
    builder.set_run(run);
    return builder.build();
  }

  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    const bool gg = method_ == "gg", pf = method_ == "pf";
    metrics.set_beside_paper("triangles", real(triangles_), gg ? 13'860 : pf ? 35 : 4'175, "Symbrion paper, table 1");
    metrics.set_beside_paper("cpu_s", cpu_,
                             gg   ? 270
                             : pf ? 71
                                  : 20,
                             "processor time to build the mesh; Symbrion paper, table 1");
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

 private:
  std::string method_;
  std::size_t triangles_ = 0;
  double cpu_ = 0;  // s
  scan::Evaluation found_;
};

}  // namespace

sim::ExperimentFactory reconstruct() { return make<Reconstruct>(); }

}  // namespace volvox::experiments::arenas
