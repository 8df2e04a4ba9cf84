// The arena of seed 002's experiments: a walled floor with a pit.
#pragma once

#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/build.h"
#include "volvox/scan/mesh.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {

struct Pit {
  double width = 0.4, depth = 0.25;  // along x from 0, and down, in m
};

// Made by hand (figure 6): 34 triangles. The floor is z = 0, the pit begins at x = 0, and everything
// looks into the room.
scan::TriangleMesh simple_arena(const Pit& pit);

// Every triangle cut into detail * detail equal ones.
scan::TriangleMesh subdivided(const scan::TriangleMesh& mesh, int detail);

// The same from a cloud of 98,000 points with noise and 2,000 outliers, by "gsrm", "gg", "pf" or "mixed"; about
// so many triangles, or as many as the paper has where that is 0 (a matter of course for pf).
Result<scan::Built> rebuilt(const scan::TriangleMesh& truth, const std::string& method, std::size_t triangles,
                            double noise, std::uint64_t seed);

// What --set arena= and detail= stand for, the same for all experiments on the pit.
std::vector<model::ParameterDesc> arena_parameters();
Result<scan::Built> arena_named(const std::string& name, int detail, const Pit& pit, std::uint64_t seed);

inline constexpr const char* overview = "1.5,-4.1,3.4:0.02,-0.16,0";  // a camera that shows all of it

// Adds it to a scene, as one fixed body; a mixed model as its boxes and the rest.
void add_arena(model::SceneBuilder& scene, const scan::Built& arena);

}  // namespace volvox::experiments::arenas
