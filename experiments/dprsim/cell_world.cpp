// Lattice worlds from SDF files: <volvox:population type="cells">.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "behavior_modules.h"
#include "catom_experiment.h"
#include "experiments.h"
#include "volvox/lattice/programs/crawler.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/leader.h"
#include "volvox/lattice/programs/pulse.h"
#include "volvox/lattice/programs/spanning_tree.h"
#include "volvox/meld/meld_modules.h"
#include "volvox/meld/programs.h"
#include "volvox/model/cell_population.h"

namespace volvox::experiments::dprsim {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t state_bytes = 400;  // of a catom's program, at most about

class CellWorld final : public SharedCatomExperiment {
 public:
  explicit CellWorld(fs::path file) : file_(std::move(file)) {}

  Result<std::vector<model::ParameterDesc>> parameters(const fs::path&) const override {
    return model::read_parameters(file_);
  }
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override { return has_modules_ ? sim::Experiment::camera() : CatomExperiment::camera(); }
  void begin(const sim::Simulation& simulation) override {
    CatomExperiment::begin(simulation);
    if (meld_ != nullptr) meld_->set_tick(simulation.settings().dt);
    if (behaviors_ == nullptr) return;
    behaviors_->set_tick(simulation.settings().dt);  // which start() may ask for
    if (const auto started = mixed_ != nullptr ? mixed_->start() : world_->start(); !started.ok())
      throw std::runtime_error(started.error().text());
  }
  void before_tick(sim::Simulation& simulation) override {
    if (mixed_ != nullptr) release(simulation);
    const bool busy = !world_->idle() || (mixed_ != nullptr && mixed_->kinetic_energy() > 0);
    tick(simulation);
    if (busy) last_change_ = world_->ticks();
  }
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override {
    CatomExperiment::archive_state(ar);
    ar.section("cells", "world");
    ar("last change", last_change_);
  }

 protected:
  std::array<std::uint8_t, 3> color(std::uint32_t catom) const override;

 private:
  Result<void> make(const model::CellPopulation& cells, const Vec3& gravity, sim::Setup& setup);
  void make_dynamics(const model::CellDynamics& d, const Vec3& gravity);
  void release(const sim::Simulation& simulation);
  Result<void> load(const model::CellPopulation& cells, const sim::Setup& setup);
  Result<void> load_behavior(const model::Mind& mind, const sim::Setup& setup);
  template <class Program>
  Result<void> load_first(bool Program::*first) {
    first_is_source_ = [this, first] {
      if (Program* program = world_->state<Program>(0)) program->*first = true;
    };
    return world_->load<Program>();
  }
  std::string beside(const std::string& path) const {
    return fs::path(path).is_absolute() ? path : (file_.parent_path() / path).string();
  }

  fs::path file_;
  bool has_modules_ = false;
  meld::MeldModules* meld_ = nullptr;
  robots::BehaviorModules* behaviors_ = nullptr;
  std::function<void()> first_is_source_;
  std::vector<model::CellDynamics::Release> releases_;
  std::int64_t last_change_ = 0;  // the tick after which nothing more happened, so far
  mutable std::int64_t colored_at_ = -1;
  mutable double largest_ = 1;  // value, of those that the catoms are coloured by
};

Result<model::WorldModel> CellWorld::init(sim::Setup& setup) {
  auto world = model::read_world(file_, setup.settings, setup.library, &setup.warnings);
  if (!world.ok()) return world;
  const auto cells = model::read_cell_population(file_, setup.settings, setup.library);
  if (!cells.ok()) return cells.error();
  if (const auto made = make(*cells, world->gravity, setup); !made.ok()) {
    Error error(
        Diagnostic{file_.string(), cells->line, fmt::format("the cells of '{}' cannot be made", cells->name), ""});
    error.add(made.error());
    return error;
  }
  has_modules_ = !world->placements.empty();
  if (!has_modules_ && mixed_ == nullptr && world->run.engine.empty()) world->run.engine = "none";
  return world;
}

void CellWorld::make_dynamics(const model::CellDynamics& d, const Vec3& gravity) {
  mixed::MixedOptions options;
  options.gravity = gravity;
  options.body = {d.mass, d.friction, d.restitution, d.friction, d.drag};
  options.bond = {d.axial, d.shear, d.bending, d.torsion};
  options.ground = d.ground;
  options.hit_speed = d.hit_speed, options.give = d.give, options.push = d.push;
  options.goes_back = d.back;
  options.rest_speed = d.rest_speed, options.rest_time = d.rest_time, options.place = d.place;
  mixed_ = std::make_unique<mixed::MixedWorld>(*world_, options);
  releases_ = d.releases;
}

// Those whose time lies in this tick.
void CellWorld::release(const sim::Simulation& simulation) {
  const TickLength& dt = simulation.settings().dt;
  const double begin = dt.start_of(simulation.tick()).seconds(), end = dt.start_of(simulation.tick() + 1).seconds();
  for (const model::CellDynamics::Release& r : releases_) {
    if (r.at < begin || r.at >= end) continue;
    for (std::uint32_t i = 0; i < world_->ensemble().count(); ++i) {
      if (!world_->ensemble().has(i)) continue;
      const Vec3 p = world_->place(i);
      if (p.x < r.low.x || p.y < r.low.y || p.z < r.low.z || p.x > r.high.x || p.y > r.high.y || p.z > r.high.z)
        continue;
      const auto released = mixed_->release(i, {r.velocity, {}});
      if (!released.ok()) throw std::runtime_error(released.error().text());
    }
  }
}

Result<void> CellWorld::make(const model::CellPopulation& cells, const Vec3& gravity, sim::Setup& setup) {
  sim::Setup own{setup.folder, {}, setup.seed, setup.library, setup.registries, setup.warnings};
  own.settings = {{"lattice", cells.lattice},
                  {"pitch", fmt::format("{}", cells.pitch)},
                  {"capacity", std::to_string(cells.capacity)},
                  {"motion", cells.motion},
                  {"motion_ticks", std::to_string(cells.motion_ticks)},
                  {"connected", cells.connected ? "true" : "false"},
                  {"radio_range", fmt::format("{}", cells.radio_range)}};
  if (auto made = make_world(own); !made.ok()) return made;
  if (auto loaded = load(cells, own); !loaded.ok()) return loaded;
  const bool is_file = fs::path(cells.cells).has_extension();
  if (auto added = add_cells(own, is_file ? beside(cells.cells) : cells.cells, state_bytes); !added.ok()) return added;
  if (first_is_source_) first_is_source_();
  if (cells.dynamics && ranks_ != nullptr)
    return Error("catoms that go over to dynamics (<volvox:dynamics>) cannot be shared by ranks",
                 "run it without mpirun, or leave <volvox:dynamics> out");
  if (cells.dynamics) make_dynamics(*cells.dynamics, gravity);
  if (behaviors_ != nullptr) return {};  // they start in begin()
  return mixed_ != nullptr ? mixed_->start() : world_->start();
}

Result<void> CellWorld::load(const model::CellPopulation& cells, const sim::Setup& setup) {
  const std::string& program = cells.program;
  if (cells.mind && !cells.mind->behavior.empty()) return load_behavior(*cells.mind, setup);
  if (program.empty()) return {};
  if (program == "flood") return load_first(&lattice::Flood::source);
  if (program == "gradient") return load_first(&lattice::Gradient::source);
  if (program == "tree") return load_first(&lattice::SpanningTree::root);
  if (program == "pulse") return load_first(&lattice::Pulse::source);
  if (program == "leader") return world_->load<lattice::Leader>();
  if (program == "crawl") return world_->load(lattice::Crawler{.crawls = true});
  if (fs::path(program).extension() != ".meld")
    return Error(
        fmt::format("there is no program '{}'", program),
        "use flood, gradient, tree, pulse (from the first cell), leader, crawl, or a file in Meld such as mine.meld");
  const auto compiled =
      meld::find_program(beside(program), [&](const fs::path& file) { return setup.library.read(file); });
  if (!compiled.ok()) return compiled.error();
  auto modules = std::make_unique<meld::MeldModules>(*compiled, meld::MachineOptions{});
  meld_ = modules.get();
  return world_->load_modules(std::move(modules));
}

Result<void> CellWorld::load_behavior(const model::Mind& mind, const sim::Setup& setup) {
  auto modules = robots::BehaviorModules::make(mind, setup.registries.behaviors, *world_);
  if (!modules.ok()) return modules.error();
  behaviors_ = modules->get();
  return world_->load_modules(std::move(*modules));
}

// By the first number of the program's state, from yellow to violet; who has none is grey.
std::array<std::uint8_t, 3> CellWorld::color(std::uint32_t catom) const {
  constexpr std::array<std::uint8_t, 3> grey = {128, 138, 152};
  if (world_->code_modules().empty()) return grey;
  if (behaviors_ != nullptr) {
    const auto light = behaviors_->light(catom);
    const auto channel = [](double part) { return narrow<std::uint8_t>(truncated<int>(255 * clamp(part, 0, 1))); };
    return light ? std::array{channel((*light)[0]), channel((*light)[1]), channel((*light)[2])} : grey;
  }
  const lattice::CodeModules& program = *world_->code_modules().front();
  if (program.values().empty()) return grey;
  if (colored_at_ != world_->ticks()) {
    largest_ = 1;
    for (std::uint32_t i = 0; i < world_->ensemble().count(); ++i)
      if (world_->ensemble().there(i)) largest_ = std::fmax(largest_, program.value(i, 0));
    colored_at_ = world_->ticks();
  }
  const double value = program.value(catom, 0);
  return std::isnan(value) ? grey : sim::ramp_color(value / largest_);
}

void CellWorld::shutdown(const sim::Simulation&, sim::Metrics& metrics) {
  const lattice::Ensemble& ensemble = world_->ensemble();
  metrics.set("catoms", real(ensemble.size()), "number of catoms");
  metrics.set("messages", real(world_->traffic().delivered), "delivered to catoms");
  metrics.set("messages_lost", real(world_->traffic().lost), "to no neighbour");
  metrics.set("moves", real(world_->motion().moves), "of catoms to other cells");
  metrics.set("ticks_to_rest", sim::measured_if(world_->idle(), real(last_change_)), "after which nothing happened");
  metrics.set("pieces", count_pieces(), "of the ensemble, at the end");
  if (mixed_ != nullptr) {
    const mixed::Changes& changes = mixed_->changes();
    metrics.set("over", real(changes.over()), "times that a catom went over to dynamics");
    metrics.set("back", real(changes.back), "times that one went back to the lattice");
    metrics.set("in_dynamics", real(mixed_->count_in_dynamics()), "at the end");
    metrics.set("bonds_broken", real(changes.bonds_broken), "");
  }
  measure_world(metrics);
}

}  // namespace

std::unique_ptr<sim::Experiment> cell_world_file(const fs::path& file, const sim::Library&) {
  return std::make_unique<CellWorld>(file);
}

}  // namespace volvox::experiments::dprsim
