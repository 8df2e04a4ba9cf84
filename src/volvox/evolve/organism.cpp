#include "volvox/evolve/organism.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "volvox/base/index.h"
#include "volvox/model/names.h"
#include "volvox/physics/overlap.h"

namespace volvox::evolve {
namespace {

constexpr double allowed_overlap = 1e-3;  // m, as before every run (world/start_check.cpp)

Result<int> dock_of(const model::ModuleModel& model, const std::string& name) {
  if (const int index = model.dock_index(name); index >= 0) return index;
  const std::vector<std::string> known = model::names_of(model.docks);
  const std::string nearest = nearest_name(name, known);
  return Error(fmt::format("{} has no dock '{}'", model.name, name),
               nearest.empty() ? fmt::format("use one of: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean '{}'? There are: {}", nearest, fmt::join(known, ", ")));
}

// The tree as placements and connections behind those that are there, the first module at the origin.
Result<void> add_tree(const Tree& tree, const model::Model& model, model::WorldModel& world) {
  const int first = narrow<int>(world.placements.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    model::Placement placement;
    placement.name = fmt::format("m{}", i);
    placement.model = model;
    placement.posed = i == 0;
    world.placements.push_back(std::move(placement));
    if (i == 0) continue;
    const auto dock = dock_of(*model, tree[i].dock), by = dock_of(*model, tree[i].by);
    if (!dock.ok()) return dock.error();
    if (!by.ok()) return by.error();
    world.connections.push_back({first + tree[i].on, *dock, first + narrow<int>(i), *by, tree[i].turn, {}, 0});
  }
  return model::resolve_connections(world);
}

// The links of an organism with all joints at zero, held by their docks alone. world/start_check.cpp also joins the
// links of a module; here a link that overlaps the neighbour of its own module is a clash.
physics::System docked_links(const model::WorldModel& world, std::vector<int>& placement_of_body) {
  physics::System system({});
  std::vector<std::vector<physics::BodyId>> bodies;
  for (std::size_t p = 0; p < world.placements.size(); ++p) {
    const model::Placement& placement = world.placements[p];
    bodies.emplace_back();
    for (const model::Link& link : placement.model->links) {
      physics::BodyDesc body;
      body.motion = physics::Motion::dynamic;
      body.pose = placement.pose * link.pose;
      body.inertial = link.inertial;
      body.geometry = link.geometry;
      body.owner = static_cast<std::uint32_t>(p + 1);
      body.quiet = true;  // a robot is made so that its own links do not overlap
      bodies.back().push_back(system.add(body));
      placement_of_body.push_back(narrow<int>(p));
    }
  }
  for (const model::Connection& c : world.connections) {
    physics::JointDesc joint;
    joint.type = physics::JointType::fixed;
    const auto body = [&](int placement, int dock) {
      const auto p = static_cast<std::size_t>(placement);
      const int link = world.placements[p].model->docks[dock].link;
      return bodies[p][link];
    };
    joint.a = body(c.a, c.dock_a), joint.b = body(c.b, c.dock_b);
    system.add(joint);
  }
  return system;
}

Pose dock_pose(const model::Placement& placement, const model::Dock& dock) {
  return placement.pose * placement.model->links[dock.link].pose * dock.pose;
}

// The turn at which two docks that meet are engaged; nothing if they do not meet.
std::optional<int> meeting_turn(const Pose& a, const Pose& b, int symmetry) {
  if (length(a.position - b.position) > model::connection_tolerance_m) return std::nullopt;
  for (int turn = 0; turn < std::max(1, symmetry); ++turn) {
    const Pose should = a * model::engaged_dock(symmetry, turn);
    if (angle(should.rotation.conjugate() * b.rotation) < model::connection_tolerance_rad) return turn;
  }
  return std::nullopt;
}

void close_loops(model::WorldModel& world, int first) {
  std::set<std::pair<int, int>> used;
  for (const model::Connection& c : world.connections) used.insert({c.a, c.dock_a}), used.insert({c.b, c.dock_b});
  const int count = narrow<int>(world.placements.size());
  for (int a = first; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      const model::Placement& pa = world.placements[a];
      const model::Placement& pb = world.placements[b];
      for (int i = 0; i < std::ssize(pa.model->docks); ++i)
        for (int j = 0; j < std::ssize(pb.model->docks); ++j) {
          const model::Dock& da = pa.model->docks[i];
          const model::Dock& db = pb.model->docks[j];
          if (used.contains({a, i}) || used.contains({b, j}) || !model::fit(da, db)) continue;
          const auto turn = meeting_turn(dock_pose(pa, da), dock_pose(pb, db), da.symmetry);
          if (!turn) continue;
          world.connections.push_back({a, i, b, j, *turn, {}, 0});
          used.insert({a, i}), used.insert({b, j});
        }
    }
}

void move_to_start(const Start& start, model::WorldModel& world, std::size_t first) {
  model::Bounds box;
  for (std::size_t p = first; p < world.placements.size(); ++p) {
    std::vector<Pose> links;
    for (const model::Link& link : world.placements[p].model->links)
      links.push_back(world.placements[p].pose * link.pose);
    box.add(model::bounds(*world.placements[p].model, links));
  }
  const Vec3 shift{start.x - (start.by_front ? box.high.x : (box.low.x + box.high.x) / 2),
                   start.y - (box.low.y + box.high.y) / 2, start.z - box.low.z};
  for (std::size_t p = first; p < world.placements.size(); ++p) world.placements[p].pose.position += shift;
}

void remove_modules(model::WorldModel& world) {
  std::vector<int> becomes(world.placements.size(), -1);
  std::vector<model::Placement> kept;
  for (std::size_t p = 0; p < world.placements.size(); ++p) {
    if (world.placements[p].is_module()) continue;
    becomes[p] = narrow<int>(kept.size());
    kept.push_back(std::move(world.placements[p]));
  }
  world.placements = std::move(kept);
  std::erase_if(world.connections, [&](model::Connection& c) {
    c.a = becomes[c.a], c.b = becomes[c.b];
    return c.a < 0 || c.b < 0;
  });
}

// The surface of everything that is not a module.
void scale_friction(model::WorldModel& world, double factor) {
  for (model::Placement& placement : world.placements) {
    if (placement.is_module()) continue;
    auto model = std::make_shared<model::ModuleModel>(*placement.model);
    for (model::Link& link : model->links) {
      auto geometry = std::make_shared<model::Geometry>(*link.geometry);
      for (model::Collider& collider : geometry->colliders) collider.material.friction *= factor;
      link.geometry = std::move(geometry);
    }
    placement.model = std::move(model);
  }
}

void add_noise(model::WorldModel& world, double deviation) {
  std::map<const model::ModuleModel*, model::Model> noisy;
  for (model::Placement& placement : world.placements) {
    if (!placement.is_module()) continue;
    model::Model& model = noisy[placement.model.get()];
    if (!model) {
      auto made = std::make_shared<model::ModuleModel>(*placement.model);
      const model::NoiseSpec noise{"gaussian", {{"deviation", fmt::format("{}", deviation)}}, 0};
      for (const model::Joint& joint : made->joints) {
        if (!joint.motor) continue;
        made->action_noise[joint.name].push_back(noise);
        made->percept_noise[joint.name + ".angle"].push_back(noise);
      }
      model = std::move(made);
    }
    placement.model = model;
  }
}

// The mind of a module: that of the organism, or its own with other parameters.
void give_mind(const Organism& organism, std::size_t module, model::Placement& placement) {
  model::Mind mind;
  if (const model::Mind* own = placement.effective_mind(); own != nullptr && organism.behavior.empty()) mind = *own;
  if (!organism.behavior.empty()) {
    mind.behavior = organism.behavior;
    mind = model::with_base_functions(std::move(mind), *placement.model);
  }
  for (const auto& [key, value] : organism.parameters) mind.parameters[key] = value;
  if (module < organism.each.size())
    for (const auto& [key, value] : organism.each[module]) mind.parameters[key] = value;
  placement.mind = std::move(mind);
}

class OrganismExperiment final : public sim::Experiment {
 public:
  OrganismExperiment(std::shared_ptr<const Organism> organism, sim::Located located,
                     std::unique_ptr<sim::Experiment> inner, std::shared_ptr<WorldFiles> read,
                     std::filesystem::path file = {})
      : file_(std::move(file)),
        organism_(std::move(organism)),
        located_(std::move(located)),
        inner_(std::move(inner)),
        read_(located_.registered ? nullptr : std::move(read)) {}
  explicit OrganismExperiment(Error error) : error_(std::move(error)) {}

  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    if (error_) return *error_;
    auto parameters = read_ && read_->parameters ? Result<std::vector<model::ParameterDesc>>(*read_->parameters)
                                                 : inner_->parameters(located_.folder);
    if (!parameters.ok()) return parameters;
    if (read_) read_->parameters = *parameters;
    for (const auto& [key, value] : organism_->settings) {
      const auto named = [&k = key](const model::ParameterDesc& one) { return one.name == k; };
      const auto it = std::ranges::find_if(*parameters, named);
      if (it == parameters->end()) {
        const auto settled = model::settle_values(*parameters, {{key, value}}, organism_->experiment);
        if (!settled.ok()) return settled.error();  // it names the nearest one
        continue;
      }
      if (has_own_body() && it->of_modules)
        return Diagnostic{file_.empty() ? organism_->experiment : file_.string(), 0,
                          fmt::format("{}={} would change nothing: {}", key, value, own_body),
                          fmt::format("leave {} out of the settings", key)};
      it->value = value;
    }
    for (model::ParameterDesc& one : *parameters)
      if (has_own_body() && one.of_modules) one.settled = own_body;
    parameters->push_back({"trial",
                           "1",
                           1,
                           real(organism_->trials.size()),
                           {},
                           "which of its trials: friction, noise and settings; its seed is --seed with the same number",
                           0,
                           true});
    return parameters;
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    if (error_) return *error_;
    const Parameters given(setup.settings, "this genome");
    const auto trial = static_cast<std::size_t>(
        std::clamp<std::int64_t>(given.integer("trial", 1), 1, std::ssize(organism_->trials)) - 1);
    const Condition& condition = organism_->trials[trial];
    if (auto noted = note_file(setup.library); !noted.ok()) return noted.error();
    if (!condition.settings.empty()) {
      auto settled = settled_for(trial, setup.settings);
      if (!settled.ok()) return settled.error();
      setup.settings = std::move(*settled);  // so that they are reported
    }
    sim::Setup inner{located_.folder, setup.settings, setup.seed, setup.library, setup.registries, setup.warnings};
    inner.settings.erase("trial");
    auto world = world_of(inner);
    if (!world.ok()) return world;
    if (auto put = put_organism(*organism_, condition, *world, setup.library); !put.ok()) return put.error();
    if (organism_->duration) world->run.duration = Time::seconds(*organism_->duration);
    if (!organism_->engine.empty()) world->run.engine = organism_->engine;
    if (!organism_->dt.empty()) {
      const auto dt = TickLength::parse(organism_->dt);
      if (!dt.ok()) return dt.error();
      world->run.dt = *dt;
    }
    return world;
  }

  std::string camera() const override { return inner_ ? inner_->camera() : Experiment::camera(); }
  void begin(const sim::Simulation& simulation) override { inner_->begin(simulation); }
  void before_tick(sim::Simulation& simulation) override { inner_->before_tick(simulation); }
  void observe(const sim::Simulation& simulation) override { inner_->observe(simulation); }
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    inner_->shutdown(simulation, metrics);
  }
  Result<void> write(const std::filesystem::path& folder) const override { return inner_->write(folder); }
  void archive_state(Archive& ar) override { inner_->archive_state(ar); }
  bool state_is_hashed() const override { return inner_->state_is_hashed(); }

 private:
  static constexpr const char* own_body = "the organism has a body and a mind of its own";
  bool has_own_body() const { return !organism_->robot.empty(); }

  // The genome is one of the files that the run is made of.
  Result<void> note_file(model::ModelLibrary& library) const {
    if (file_.empty()) return {};
    const auto bytes = library.read(file_);
    if (!bytes.ok()) return bytes.error();
    const auto now = read_organism(file_);
    if (now.ok() && to_json(*now) == to_json(*organism_)) return {};
    return Diagnostic{file_.string(), 0, "the genome was changed while it was read", "run it again"};
  }

  // The settings of a trial, together with those that were given: checked, and with defaults that depend on them.
  Result<std::map<std::string, std::string>> settled_for(std::size_t trial,
                                                         const std::map<std::string, std::string>& given) const {
    const auto declared = parameters({});
    if (!declared.ok()) return declared.error();
    const std::string file = file_.empty() ? organism_->experiment : file_.string();
    const auto defaults = model::settle_values(*declared, {}, file);
    if (!defaults.ok()) return defaults.error();
    std::map<std::string, std::string> wanted = organism_->trials[trial].settings;
    for (const auto& [key, value] : given) {
      if (defaults->contains(key) && defaults->at(key) == value) continue;
      const auto [own, is_new] = wanted.emplace(key, value);
      if (is_new || own->second == value) continue;
      return Diagnostic{file, 0,
                        fmt::format("{}={}: trial {} sets {} to {} itself", key, value, trial + 1, key, own->second),
                        fmt::format("leave out --set {}=..., or change the trials of the genome", key)};
    }
    return model::settle_values(*declared, wanted, file);
  }

  Result<model::WorldModel> world_of(sim::Setup& setup) {
    if (!read_) return inner_->init(setup);
    if (const auto found = read_->worlds.find(setup.settings); found != read_->worlds.end()) return found->second;
    auto world = inner_->init(setup);
    if (world.ok() && read_->worlds.size() < most_worlds) read_->worlds.emplace(setup.settings, *world);
    return world;
  }

  static constexpr std::size_t most_worlds = 64;  // where settings evolve, every genome has its own
  std::filesystem::path file_;                    // empty: it comes from no file
  std::shared_ptr<const Organism> organism_;
  sim::Located located_;
  std::unique_ptr<sim::Experiment> inner_;
  std::shared_ptr<WorldFiles> read_;  // null: nothing is shared
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<Clash>> clashes(const Tree& tree, const std::string& robot, model::ModelLibrary& library) {
  auto model = library.load(robot);
  if (!model.ok()) return model.error();
  model::WorldModel world;
  if (auto added = add_tree(tree, *model, world); !added.ok()) return added.error();
  std::vector<int> placement_of_body;
  const physics::System system = docked_links(world, placement_of_body);
  std::vector<Clash> found;
  for (const physics::Overlap& overlap : physics::find_overlaps(system, allowed_overlap)) {
    const int a = placement_of_body[overlap.a.index], b = placement_of_body[overlap.b.index];
    found.push_back({std::min(a, b), std::max(a, b), overlap.depth});
  }
  return found;
}

Result<void> put_organism(const Organism& organism, const Condition& condition, model::WorldModel& world,
                          model::ModelLibrary& library) {
  if (!organism.robot.empty()) {
    auto model = library.load(organism.robot);
    if (!model.ok()) return model.error();
    remove_modules(world);
    const std::size_t first = world.placements.size();
    if (auto added = add_tree(organism.tree, *model, world); !added.ok()) return added;
    if (organism.loops) close_loops(world, narrow<int>(first));
    move_to_start(organism.start, world, first);
    for (std::size_t i = 0; i < organism.tree.size(); ++i) give_mind(organism, i, world.placements[first + i]);
  } else {
    std::size_t module = 0;
    for (model::Placement& placement : world.placements)
      if (placement.is_module()) give_mind(organism, module++, placement);
  }
  if (condition.friction != 1) scale_friction(world, condition.friction);
  if (condition.noise > 0) add_noise(world, condition.noise);
  return {};
}

std::unique_ptr<sim::Experiment> organism_experiment(std::shared_ptr<const Organism> organism,
                                                     const sim::Located& located, const sim::Library& library,
                                                     std::shared_ptr<WorldFiles> read) {
  return std::make_unique<OrganismExperiment>(std::move(organism), located, sim::make_experiment(located, library),
                                              std::move(read));
}

bool is_genome(const sim::Located& located, const sim::Library& library) {
  return !located.registered && library.experiment_files.contains(located.file.extension().string());
}

std::unique_ptr<sim::Experiment> organism_file(const std::filesystem::path& file, const sim::Library& library) {
  auto organism = read_organism(file);
  if (!organism.ok()) return std::make_unique<OrganismExperiment>(organism.error());
  auto located = sim::locate_experiment(organism->experiment, library);
  if (!located.ok()) {
    Error error(Diagnostic{file.string(), 0, "the experiment of this genome is missing", ""});
    error.add(located.error());
    return std::make_unique<OrganismExperiment>(error);
  }
  if (is_genome(*located, library))  // it could be this one, and so on without end
    return std::make_unique<OrganismExperiment>(Error(Diagnostic{
        file.string(), 0, fmt::format("the experiment of this genome, '{}', is a genome itself", organism->experiment),
        "name the experiment or the world that it was bred for"}));
  return std::make_unique<OrganismExperiment>(std::make_shared<const Organism>(std::move(*organism)), *located,
                                              sim::make_experiment(*located, library), nullptr, file);
}

}  // namespace volvox::evolve
