#include "volvox/scan/build.h"

#include <fmt/format.h>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/growing_grid.h"
#include "volvox/scan/gsrm.h"
#include "volvox/scan/plane_fitting.h"
#include "volvox/scan/settle.h"

namespace volvox::scan {

Result<Method> parse_method(const std::string& name) {
  if (name == "gsrm") return Method::gsrm;
  if (name == "gg") return Method::growing_grid;
  if (name == "pf") return Method::plane_fitting;
  if (name == "mixed") return Method::mixed;
  return Error(fmt::format("there is no method '{}'", name),
               "choose gsrm (two-manifold net), gg (growing grid), pf (plane fitting) or mixed (planes, boxes, and a "
               "net elsewhere)");
}

std::string_view name(Method method) {
  switch (method) {
    case Method::gsrm: return "gsrm";
    case Method::growing_grid: return "gg";
    case Method::plane_fitting: return "pf";
    case Method::mixed: return "mixed";
  }
  return "";
}

namespace {

constexpr double most_noise = 0.02;        // m: with more, objects are taken for others
constexpr std::size_t least_points = 100;  // beside objects, for a surface; prepare() lets no fewer through
constexpr std::size_t least_beside_strays = 16;

Result<void> check(const BuildOptions& options) {
  const int given = options.triangles.has_value() + options.nodes.has_value() + options.steps.has_value();
  const std::string fix =
      "gsrm and mixed accept triangles or nodes, gg accepts triangles or steps, pf accepts none of them";
  if (given > 1) return Error("triangles, nodes and steps all set the level of detail", "give one of them: " + fix);
  const bool fits = (options.triangles && options.method != Method::plane_fitting) ||
                    (options.nodes && (options.method == Method::gsrm || options.method == Method::mixed)) ||
                    (options.steps && options.method == Method::growing_grid) || given == 0;
  if (!fits) return Error(fmt::format("the method {} does not accept this level of detail", name(options.method)), fix);
  const std::size_t most =
      std::max({options.triangles.value_or(0), options.nodes.value_or(0), options.steps.value_or(0) / 100});
  if (most > 5'000'000)
    return Error(fmt::format("a mesh of {} triangles or nodes is too large", most), "give at most 5000000");
  return {};
}

// The triangles of the recognized objects, for whoever wants the whole surface.
void put_in(Built& built, std::span<const KnownObject> library) {
  if (built.objects.empty()) return;
  if (built.boxes.empty()) built.rest = built.mesh;
  for (const FoundObject& found : built.objects) {
    const TriangleMesh& surface = library[found.object].surface();
    const auto first = narrow<std::uint32_t>(built.mesh.vertices.size());
    for (const Vec3& p : surface.vertices) built.mesh.vertices.push_back(found.pose * p);
    for (const Triangle& t : surface.triangles)
      built.mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
}

}  // namespace

Result<Built> build(const Cloud& cloud, const BuildOptions& options, const Progress& progress) {
  if (const auto good = check(options); !good.ok()) return good.error();
  const double start = platform::process_cpu_seconds();
  auto prepared = prepare(cloud, options.filter);
  if (!prepared.ok()) return prepared.error();
  Built built;
  built.notes = prepared->notes;
  Cloud& clean = prepared->cloud;
  Cloud all;  // with the objects; empty: the same
  if (!options.objects.empty()) {
    const PlaneSet planes = find_planes(clean.points, {options.seed, options.noise});
    if (planes.noise > most_noise)
      return Error(fmt::format("known objects cannot be recognized in a noise of {:.0f} mm", 1e3 * planes.noise),
                   fmt::format("give a cloud with at most {:.0f} mm (--noise, where it is known), or no --objects",
                               1e3 * most_noise));
    built.objects = find_objects(clean, planes, options.objects);
    all = without_objects(clean, planes, options.objects, built.objects);
    std::swap(all, clean);
    if (built.objects.empty())
      built.notes.push_back(fmt::format("none of the {} known objects was recognized", options.objects.size()));
  }
  GsrmOptions gsrm{.seed = options.seed, .sharpen = options.sharpen};
  gsrm.nodes =
      options.nodes ? std::max<std::size_t>(4, *options.nodes) : gsrm_nodes_for(options.triangles.value_or(4175));
  const bool alone = !built.objects.empty() && clean.points.size() < least_points;
  if (alone) {
    built.notes.push_back("the cloud shows nothing but the objects that were recognized");
  } else if (options.method == Method::plane_fitting) {
    PlaneModel model = fit_planes(clean, {options.seed, options.noise});
    built.planes = model.set.planes.size();
    built.noise = model.set.noise;
    built.mesh = std::move(model.mesh);
  } else if (options.method == Method::mixed) {
    MixedModel model = build_mixed(clean, {options.seed, options.noise}, gsrm, progress);
    built.planes = model.set.planes.size();
    built.noise = model.set.noise;
    built.mesh = std::move(model.mesh);
    built.boxes = std::move(model.boxes);
    built.rest = std::move(model.rest);
  } else {
    PlaneSet planes = find_planes(clean.points, {options.seed, options.noise});
    if (options.filter) remove_strays(clean, planes);
    built.planes = planes.planes.size();
    built.noise = planes.noise;
    if (clean.points.size() < least_beside_strays) {
      // Nothing to learn from.
    } else if (options.method == Method::gsrm) {
      built.mesh = build_gsrm(clean, planes, gsrm, progress);
    } else {
      GrowingGridOptions grid{.seed = options.seed, .sharpen = options.sharpen, .by_wins = options.by_wins};
      if (options.triangles) grid.triangles = *options.triangles;
      if (options.steps) {
        grid.steps = *options.steps;
        grid.triangles = SIZE_MAX;
      }
      built.mesh = build_growing_grid(clean, planes, grid, progress);
    }
  }
  if (built.mesh.triangles.empty() && !alone)
    return Error(fmt::format("no surface was found in {} points{}", clean.points.size(),
                             built.objects.empty() ? "" : " beside the objects that were recognized"),
                 "give a denser cloud, or another method: gsrm needs no planes");
  put_in(built, options.objects);
  paint(built.mesh, all.points.empty() ? clean : all);
  built.cpu_s = platform::process_cpu_seconds() - start;
  return built;
}

void paint(TriangleMesh& mesh, const Cloud& cloud) {
  if (cloud.colors.empty()) return;
  const double cell = 2 * std::sqrt(area(mesh) / real(cloud.points.size())) + 1e-9;
  const CellGrid grid(cloud.points, cell);
  mesh.colors.clear();
  for (const Vec3& vertex : mesh.vertices) {
    double r = 0, g = 0, b = 0, count = 0;
    for (double radius = cell; count == 0 && radius < 20 * cell; radius *= 2) {
      grid.near(vertex, radius, [&](std::uint32_t i, double) {
        r += cloud.colors[i].r, g += cloud.colors[i].g, b += cloud.colors[i].b;
        count += 1;
      });
    }
    const auto mean = [&](double sum) { return truncated<std::uint8_t>(count > 0 ? sum / count + 0.5 : 128); };
    mesh.colors.push_back({mean(r), mean(g), mean(b)});
  }
}

}  // namespace volvox::scan
