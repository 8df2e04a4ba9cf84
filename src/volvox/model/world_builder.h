// Builds a world in C++. The SDF reader uses it too, so that <volvox:population> and add_chain() mean the
// same. Mistakes are collected, and build() returns all of them. SI units, poses in the world frame.
// A builder is for one thread; the worlds that it builds share its models. The same calls give the same world.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/model/world_model.h"

namespace volvox::model {

// Options of a placed module, all with defaults.
struct PlacementOptions {
  std::map<std::string, double> positions;  // by joint, initial rad or m; the others are 0
  Twist velocity;
  std::optional<Mind> mind;    // replaces the model's
  std::optional<Clock> clock;  // nullopt: drawn from the world's clocks
  std::string file;            // of the declaration, for diagnostics
  int line = 0;
};

// Modules on a grid, centred on the pose in x and y; layers go upwards from it along z.
struct GridOptions {
  int count_x = 1, count_y = 1, count_z = 1;
  Vec3 spacing{0.2, 0.2, 0.2};  // m
  double jitter = 0;            // m: each module is moved in x and y by up to +-jitter
  bool random_yaw = false;
  std::uint64_t seed = 1;  // of jitter and yaw
};

class WorldBuilder {
 public:
  using Model = std::shared_ptr<const ModuleModel>;
  static constexpr std::int64_t max_count = 10'000'000;  // of modules in one population

  explicit WorldBuilder(std::string name = "world", std::string file = {});

  // Each returns the index of the (first) placement; the placements of one call are consecutive.
  // A module without a pose gets it from its connections.
  int add(Model model, std::optional<Pose> pose, std::string name, const PlacementOptions& options = {});
  // NAME0, NAME1, ...: dock `from` of each is engaged with dock `to` of the next.
  int add_chain(Model model, std::int64_t count, const std::string& from, const std::string& to, int turn,
                std::optional<Pose> pose, const std::string& name, const PlacementOptions& options = {});
  // A chain whose last module is connected to the first; the joint positions must close it.
  int add_ring(Model model, std::int64_t count, const std::string& from, const std::string& to, int turn,
               std::optional<Pose> pose, const std::string& name, const PlacementOptions& options = {});
  int add_grid(Model model, const GridOptions& grid, const Pose& pose, const std::string& name,
               const PlacementOptions& options = {});
  // A grid in which every two docks that meet (within 0.5 mm and 0.5 degrees) are engaged.
  int add_lattice(Model model, const GridOptions& grid, const Pose& pose, const std::string& name,
                  const PlacementOptions& options = {});

  // Connects "MODULE.DOCK" to "MODULE.DOCK". `turn` counts steps of the docks' symmetry.
  void connect(const std::string& from, const std::string& to, int turn = 0, std::string file = {}, int line = 0);

  // A body without a mind; mass 0 fixes it in place. Planes, meshes and height fields must be
  // fixed. The inertia is that of the solid shape (of the bounding box, for a hull).
  int add_obstacle(Shape shape, const Pose& pose, double mass = 0, Material material = {}, Color color = {},
                   std::string name = {});
  int add_ground(Material material = {}, Color color = ground_color);  // the plane z = 0
  int add_terrain(HeightField field, const Pose& pose = {}, Material material = {},
                  Color color = {0.62, 0.58, 0.48, 1});

  void add_channel(Channel channel) { world_.channels.push_back(std::move(channel)); }
  void set_gravity(const Vec3& gravity) { world_.gravity = gravity; }
  void set_clocks(const ClockSpread& clocks) { world_.clocks = clocks; }
  void set_run(const RunSettings& run) { world_.run = run; }
  const RunSettings& run() const { return world_.run; }

  // For changes to single modules of a population, before build().
  Placement& placement(int index) { return world_.placements[index]; }
  int find(const std::string& name) const;  // -1 if there is none
  // At most fifty mistakes are kept.
  void report(Diagnostic diagnostic) {
    if (error_.diagnostics().size() < 50) error_.add(std::move(diagnostic));
  }

  // Checks everything, derives the poses (resolve_connections), and leaves the builder empty.
  Result<WorldModel> build();

 private:
  bool check_count(std::int64_t count, const std::string& name, const PlacementOptions& options);
  void connect(int a, int dock_a, int b, int dock_b, int turn, std::string file, int line);

  WorldModel world_;
  Error error_;
  std::unordered_map<std::string, int> index_;
};

}  // namespace volvox::model
