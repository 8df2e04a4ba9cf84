// Reconstruction of arenas: the methods of Volvox, CGAL and PCL (if installed) on the same clouds in one run.
#include <fmt/format.h>

#include <functional>

#include "scan_peers.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/build.h"

using namespace volvox;

int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  struct Way {
    const char* name;
    std::function<scan::TriangleMesh(const scan::Cloud&)> build;
  };
  const auto own = [](scan::Method method) {
    return [method](const scan::Cloud& cloud) {
      auto built = scan::build(cloud, {.method = method});
      return built.ok() ? std::move(built->mesh) : scan::TriangleMesh{};
    };
  };
  std::vector<Way> ways = {{"volvox pf", own(scan::Method::plane_fitting)},
                           {"volvox mixed", own(scan::Method::mixed)},
                           {"volvox gsrm", own(scan::Method::gsrm)},
                           {"volvox gg", own(scan::Method::growing_grid)}};
#ifdef VOLVOX_HAS_CGAL
  ways.push_back({"CGAL advancing front", bench::cgal_advancing_front});
#else
  fmt::print("CGAL is skipped: install libcgal-dev and libeigen3-dev and configure with -DVOLVOX_BENCH_PEERS=ON\n");
#endif
#ifdef VOLVOX_HAS_PCL
  ways.push_back({"PCL greedy projection", bench::pcl_greedy_projection});
#else
  fmt::print("PCL is skipped: install libpcl-dev and configure with -DVOLVOX_BENCH_PEERS=ON\n");
#endif
  fmt::print(
      "| method | seed | CPU s | triangles | accuracy mm | completeness mm | Hausdorff mm | F at 2 cm | boundary edges "
      "| non-manifold edges | planes |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto arena = scan::make_arena({.seed = narrow<std::uint64_t>(seed)});
    const scan::Cloud cloud = scan::sample_cloud(arena->mesh, {.seed = narrow<std::uint64_t>(seed)});
    for (const Way& way : ways) {
      const double start = platform::process_cpu_seconds();
      const scan::TriangleMesh mesh = way.build(cloud);
      const double spent = platform::process_cpu_seconds() - start;
      if (mesh.triangles.empty()) {
        fmt::print("| {} | {} | {:.2f} | built nothing |\n", way.name, seed, spent);
        continue;
      }
      const scan::Evaluation e = scan::evaluate(mesh, arena->mesh, 3000);
      fmt::print("| {} | {} | {:.2f} | {} | {:.2f} | {:.2f} | {:.1f} | {:.4f} | {} | {} | {} of {} |\n", way.name, seed,
                 spent, e.triangles, 1e3 * e.accuracy_mean, 1e3 * e.completeness_mean, 1e3 * e.hausdorff, e.f_2cm,
                 e.boundary_edges, e.non_manifold_edges, e.planes_found, e.planes);
      std::fflush(stdout);
    }
  }
}
