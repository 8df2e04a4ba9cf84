#include "volvox/model/world_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "volvox/base/cell_grid.h"
#include "volvox/base/random.h"
#include "volvox/model/mass.h"
#include "volvox/model/names.h"

namespace volvox::model {
namespace {

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// "did you mean front? It has front, back"
std::string which(const std::string& wanted, const std::vector<std::string>& names) {
  const std::string near = nearest_name(wanted, names);
  return (near.empty() ? "" : "did you mean " + near + "? ") + "There are: " + list(names);
}

}  // namespace

WorldBuilder::WorldBuilder(std::string name, std::string file) {
  world_.name = std::move(name);
  world_.file = std::move(file);
}

int WorldBuilder::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? -1 : found->second;
}

int WorldBuilder::add(Model model, std::optional<Pose> pose, std::string name, const PlacementOptions& options) {
  VOLVOX_CHECK(model != nullptr, "add() without a model");
  const int index = narrow<int>(world_.placements.size());
  if (!index_.emplace(name, index).second) {
    report({options.file, options.line, fmt::format("there are two things named {}", name), "give each its own name"});
  }
  Placement& p = world_.placements.emplace_back();
  p.name = std::move(name);
  p.pose = pose.value_or(Pose{});
  p.posed = pose.has_value();
  p.velocity = options.velocity;
  if (options.mind) p.mind = with_base_functions(*options.mind, *model);
  p.clock = options.clock;
  p.file = options.file;
  p.line = options.line;
  if (!options.positions.empty()) {
    p.positions.resize(model->joints.size());
    for (const auto& [joint, position] : options.positions) {
      const int j = model->joint_index(joint);
      if (j < 0) {
        report({options.file, options.line, fmt::format("{} ({}) has no joint {}", p.name, model->name, joint),
                which(joint, names_of(model->joints))});
        continue;
      }
      const Joint& limits = model->joints[j];
      if (!(position >= limits.lower && position <= limits.upper)) {
        report({options.file, options.line,
                fmt::format("{}: position {} of joint {} is outside of its limits", p.name, position, joint),
                fmt::format("give a value from {} to {}", limits.lower, limits.upper)});
      }
      p.positions[j] = position;
    }
  }
  p.model = std::move(model);
  return index;
}

bool WorldBuilder::check_count(std::int64_t count, const std::string& name, const PlacementOptions& options) {
  if (count >= 1 && count <= max_count) return true;
  report({options.file, options.line, fmt::format("the population {} would have {} modules", name, count),
          fmt::format("give a count from 1 to {}", max_count)});
  return false;
}

int WorldBuilder::add_chain(Model model, std::int64_t count, const std::string& from, const std::string& to, int turn,
                            std::optional<Pose> pose, const std::string& name, const PlacementOptions& options) {
  const int first = narrow<int>(world_.placements.size());
  if (!check_count(count, name, options)) return first;
  const int dock_from = model->dock_index(from), dock_to = model->dock_index(to);
  for (const auto& [dock, index] : {std::pair{from, dock_from}, std::pair{to, dock_to}}) {
    if (index >= 0) continue;
    report({options.file, options.line, fmt::format("the population {}: {} has no dock {}", name, model->name, dock),
            which(dock, names_of(model->docks))});
  }
  if (dock_from < 0 || dock_to < 0) return first;
  world_.placements.reserve(world_.placements.size() + count);
  for (std::int64_t i = 0; i < count; ++i) {
    const int index = add(model, i == 0 ? pose : std::nullopt, name + std::to_string(i), options);
    if (i > 0) connect(index - 1, dock_from, index, dock_to, turn, options.file, options.line);
  }
  return first;
}

int WorldBuilder::add_ring(Model model, std::int64_t count, const std::string& from, const std::string& to, int turn,
                           std::optional<Pose> pose, const std::string& name, const PlacementOptions& options) {
  if (count < 2) {
    report({options.file, options.line, fmt::format("the ring {} would have {} modules", name, count),
            "give a count of at least 2"});
    return narrow<int>(world_.placements.size());
  }
  const std::size_t errors = error_.diagnostics().size();
  const int first = add_chain(model, count, from, to, turn, pose, name, options);
  if (error_.diagnostics().size() != errors) return first;
  connect(first + narrow<int>(count) - 1, model->dock_index(from), first, model->dock_index(to), turn, options.file,
          options.line);
  return first;
}

int WorldBuilder::add_grid(Model model, const GridOptions& grid, const Pose& pose, const std::string& name,
                           const PlacementOptions& options) {
  const int first = narrow<int>(world_.placements.size());
  for (const int count : {grid.count_x, grid.count_y, grid.count_z}) {
    if (!check_count(count, name, options)) return first;
  }
  // Checked factor by factor, so that the product cannot overflow.
  const std::int64_t layer = std::int64_t{grid.count_x} * grid.count_y;
  if (!check_count(layer, name, options)) return first;
  const std::int64_t total = layer * grid.count_z;
  if (!check_count(total, name, options)) return first;
  world_.placements.reserve(world_.placements.size() + total);
  std::int64_t index = 0;
  for (int z = 0; z < grid.count_z; ++z) {
    for (int y = 0; y < grid.count_y; ++y) {
      for (int x = 0; x < grid.count_x; ++x, ++index) {
        Pose local{{(x - 0.5 * (grid.count_x - 1)) * grid.spacing.x, (y - 0.5 * (grid.count_y - 1)) * grid.spacing.y,
                    z * grid.spacing.z},
                   {}};
        RandomStream random(grid.seed, index, "population");
        const double dx = random.uniform(-1, 1), dy = random.uniform(-1, 1), yaw = random.uniform(0, 2 * pi);
        local.position += Vec3{dx, dy, 0} * grid.jitter;
        if (grid.random_yaw) local.rotation = Quat::axis_angle({0, 0, 1}, yaw);
        add(model, pose * local, name + std::to_string(index), options);
      }
    }
  }
  return first;
}

namespace {

// Finds the docks of posed modules that meet.
class MeetingDocks {
 public:
  struct Pair {
    int a, dock_a, b, dock_b, turn;
  };

  void add(const Placement& placement, int index) {
    const std::vector<Pose> links = forward_kinematics(*placement.model, placement.positions);
    for (int d = 0; d < std::ssize(placement.model->docks); ++d) {
      const Dock& dock = placement.model->docks[d];
      const Pose pose = placement.pose * links[dock.link] * dock.pose;
      positions_.push_back(pose.position);
      entries_.push_back({index, d, &dock, pose, false});
    }
  }

  std::vector<Pair> pair_up() {
    const CellGrid grid(positions_, 2 * connection_tolerance_m);
    std::vector<Pair> pairs;
    for (Entry& entry : entries_) pair_up(entry, grid, pairs);
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& a, const Pair& b) { return std::tie(a.a, a.dock_a) < std::tie(b.a, b.dock_a); });
    return pairs;
  }

 private:
  struct Entry {
    int placement, index;
    const Dock* dock;
    Pose pose;
    bool taken;
  };

  void pair_up(Entry& entry, const CellGrid& grid, std::vector<Pair>& pairs) {
    if (entry.taken) return;
    // A little farther than the tolerance: turn_between decides.
    grid.any_near(entry.pose.position, 1.01 * connection_tolerance_m, [&](std::uint32_t i, double) {
      Entry& other = entries_[i];
      if (other.taken || other.placement == entry.placement || !fit(*entry.dock, *other.dock)) return false;
      const std::optional<int> turn = turn_between(entry, other);
      if (!turn) return false;
      const bool first = entry.placement < other.placement;
      const Entry &a = first ? entry : other, &b = first ? other : entry;
      pairs.push_back({a.placement, a.index, b.placement, b.index, *turn});
      return entry.taken = other.taken = true;
    });
  }

  static std::optional<int> turn_between(const Entry& a, const Entry& b) {
    const Pose relative = a.pose.inverse() * b.pose;
    if (length(relative.position) > connection_tolerance_m) return std::nullopt;
    for (int turn = 0; turn < std::max(1, a.dock->symmetry); ++turn) {
      const Quat off = engaged_dock(a.dock->symmetry, turn).rotation.conjugate() * relative.rotation;
      if (angle(off) <= connection_tolerance_rad) return turn;
    }
    return std::nullopt;
  }

  std::vector<Entry> entries_;
  std::vector<Vec3> positions_;  // of those
};

}  // namespace

int WorldBuilder::add_lattice(Model model, const GridOptions& grid, const Pose& pose, const std::string& name,
                              const PlacementOptions& options) {
  const std::size_t errors = error_.diagnostics().size();
  const int first = add_grid(std::move(model), grid, pose, name, options);
  if (error_.diagnostics().size() != errors) return first;
  MeetingDocks docks;
  const int end = narrow<int>(world_.placements.size());
  for (int i = first; i < end; ++i) docks.add(placement(i), i);
  const auto pairs = docks.pair_up();
  for (const auto& pair : pairs) {
    connect(pair.a, pair.dock_a, pair.b, pair.dock_b, pair.turn, options.file, options.line);
  }
  if (pairs.empty() && end - first > 1) {
    report({options.file, options.line, fmt::format("no docks of the lattice {} meet", name),
            "set the spacing to the distance between opposite docks of the module, and jitter to 0; or use a grid"});
  }
  return first;
}

void WorldBuilder::connect(int a, int dock_a, int b, int dock_b, int turn, std::string file, int line) {
  world_.connections.push_back({a, dock_a, b, dock_b, turn, std::move(file), line});
}

void WorldBuilder::connect(const std::string& from, const std::string& to, int turn, std::string file, int line) {
  int placements[2] = {-1, -1}, docks[2] = {-1, -1};
  for (int end = 0; end < 2; ++end) {
    const std::string& text = end == 0 ? from : to;
    const auto dot = text.rfind('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == text.size()) {
      report({file, line, fmt::format("\"{}\" does not name a dock", text), "write MODULE.DOCK, such as a.front"});
      continue;
    }
    const std::string module = text.substr(0, dot), dock = text.substr(dot + 1);
    placements[end] = find(module);
    if (placements[end] < 0) {
      // Only the first thousand names: comparing with a million would take longer than reading them.
      std::vector<std::string> names;
      for (std::size_t i = 0; i < std::min<std::size_t>(world_.placements.size(), 1000); ++i) {
        names.push_back(world_.placements[i].name);
      }
      const std::string near = nearest_name(module, names);
      report({file, line, fmt::format("there is no module or model {}", module),
              near.empty() ? "give the name of a module in this world" : "did you mean " + near + "?"});
      continue;
    }
    const ModuleModel& model = *placement(placements[end]).model;
    docks[end] = model.dock_index(dock);
    if (docks[end] < 0) {
      report({file, line, fmt::format("{} ({}) has no dock {}", module, model.name, dock),
              which(dock, names_of(model.docks))});
    }
  }
  if (docks[0] >= 0 && docks[1] >= 0) {
    connect(placements[0], docks[0], placements[1], docks[1], turn, std::move(file), line);
  }
}

int WorldBuilder::add_obstacle(Shape shape, const Pose& pose, double mass, Material material, Color color,
                               std::string name) {
  auto model = std::make_shared<ModuleModel>();
  model->name = name.empty() ? fmt::format("{}{}", model::name(shape), world_.placements.size()) : std::move(name);
  const bool only_fixed = std::holds_alternative<Plane>(shape) || std::holds_alternative<Mesh>(shape) ||
                          std::holds_alternative<HeightField>(shape);
  if (!(mass >= 0) || !std::isfinite(mass) || (mass > 0 && only_fixed)) {
    report({{},
            0,
            fmt::format("the obstacle {} ({}) cannot have a mass of {} kg", model->name, model::name(shape), mass),
            only_fixed ? "give mass 0, which fixes it in place" : "give a positive mass, or 0 to fix it in place"});
    mass = 0;
  }
  model->fixed_in_place = mass == 0;
  Link& link = model->links.emplace_back();
  link.name = "body";
  if (mass > 0) set_mass_properties(link, solid(shape, mass));
  auto geometry = std::make_shared<Geometry>();
  geometry->colliders.push_back({"body", shape, {}, material});
  link.geometry = std::move(geometry);
  link.visuals.push_back({"body", std::move(shape), {}, color});
  std::string placed_as = model->name;
  return add(std::move(model), pose, std::move(placed_as));
}

int WorldBuilder::add_ground(Material material, Color color) {
  return add_obstacle(Plane{}, {}, 0, material, color, "ground");
}

int WorldBuilder::add_terrain(HeightField field, const Pose& pose, Material material, Color color) {
  return add_obstacle(Shape(std::move(field)), pose, 0, material, color, "terrain");
}

Result<WorldModel> WorldBuilder::build() {
  WorldModel world = std::move(world_);
  Error error = std::move(error_);
  world_ = {};
  error_ = {};
  index_.clear();
  if (!error.empty()) return error;
  if (!finite(world.gravity)) return Error("the gravity is not a number", "give three finite numbers in m/s^2");
  if (Result<void> resolved = resolve_connections(world); !resolved.ok()) return resolved.error();
  return world;
}

}  // namespace volvox::model
