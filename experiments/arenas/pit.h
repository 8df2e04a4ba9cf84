// The arena of the Symbrion paper's experiments: a walled floor with a pit, and how it is scanned and built.
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

// What a scanner gives. `drive`: of a robot with two perpendicular lasers that somebody steers around the pit (figure
// 1), with the paper's errors; it locates itself by its horizontal laser. `points`: 98,000 points of the true surface
// with noise and 2,000 outliers, as an ideal scanner would see all of it.
enum class Scanner { drive, points };
struct Scanned {
  scan::Cloud raw, cloud;                    // as measured; without shaking and mixed pixels
  double path_error = 0, heading_error = 0;  // largest error of the located path, m and rad
  double noise = 0;                          // of the cloud, as far as the scanner knows it, m; 0: to be estimated
};
Result<Scanned> scanned(const scan::TriangleMesh& truth, const Pit& pit, Scanner scanner, double noise,
                        std::uint64_t seed);

// How detailed the mesh is: about `triangles`, or after `steps` (gg: signals of growth; gsrm: nodes, which are what the
// paper's steps add); 0: as in the paper. pf ignores it. `plain`: the method as the paper prints it: nodes stay where
// they learned to be, and gg grows beside the neighbour that won most often.
struct Detail {
  std::size_t triangles = 0, steps = 0;
  bool plain = false;
};
Result<scan::Built> built_by(const std::string& method, const Scanned& scan, const Detail& detail, std::uint64_t seed);

// The parameters arena=, scanner= and detail=, which all experiments with the pit share.
std::vector<model::ParameterDesc> arena_parameters();
model::ParameterDesc scanner_parameter();
struct ArenaChoice {
  std::string arena = "simple";  // or a method
  Scanner scanner = Scanner::points;
  int detail = 1;  // of the simple one
};
ArenaChoice arena_choice(const Parameters& parameters);
Result<scan::Built> arena_of(const ArenaChoice& choice, const Pit& pit, std::uint64_t seed);

inline constexpr const char* overview = "1.5,-4.1,3.4:0.02,-0.16,0";  // a camera that shows the whole arena

// Adds the arena as one fixed body; a mixed model as its boxes and a mesh of the rest.
void add_arena(model::WorldBuilder& builder, const scan::Built& arena);

}  // namespace volvox::experiments::arenas
