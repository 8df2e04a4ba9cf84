// The arena of the Symbrion paper's experiments: a walled floor with a pit.
#pragma once

#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/build.h"
#include "volvox/scan/mesh.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {

struct Pit {
  double width = 0.4, depth = 0.25;           // m: from x = 0 to x = width, from z = 0 to z = -depth
  static constexpr double half_length = 0.5;  // m: from y = -0.5 to y = 0.5; there is floor beside it
};

// Made by hand (figure 6): 34 triangles. The floor is z = 0, the pit begins at x = 0, and all normals point into the
// room.
scan::TriangleMesh simple_arena(const Pit& pit);

// Cuts every triangle into detail * detail equal ones.
scan::TriangleMesh subdivided(const scan::TriangleMesh& mesh, int detail);

// Builds the arena from a cloud of 98,000 points with noise (m) and 2,000 outliers, by "gsrm", "gg", "pf" or "mixed".
// `triangles` is approximate; 0 means as many as in the paper; pf ignores it.
Result<scan::Built> rebuilt(const scan::TriangleMesh& truth, const std::string& method, std::size_t triangles,
                            double noise, std::uint64_t seed);

// The parameters arena= and detail=, which all experiments with the pit share.
std::vector<model::ParameterDesc> arena_parameters();
Result<scan::Built> arena_named(const std::string& name, int detail, const Pit& pit, std::uint64_t seed);

inline constexpr const char* overview = "1.5,-4.1,3.4:0.02,-0.16,0";  // a camera that shows the whole arena

// Adds the arena as one fixed body; a mixed model as its boxes and a mesh of the rest.
void add_arena(model::WorldBuilder& builder, const scan::Built& arena);

}  // namespace volvox::experiments::arenas
