#include "melt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/csv.h"
#include "volvox/base/random.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"

namespace volvox::experiments::dprsim {
namespace {

using lattice::Cell;
using lattice::Pulse;

constexpr double g = 9.81;     // m/s^2
constexpr double rest = 1e-4;  // of the energy of the start, kinetic, at which all counts as still

// Cells of a structure, wide and high so many layers, above the plate's layer 0.
std::vector<Cell> cells_of(const std::string& structure, std::int32_t wide, std::int32_t high) {
  std::vector<Cell> cells;
  const std::int32_t span = 3 * wide;  // of an arch and of a wall
  for (std::int32_t z = 1; z <= high; ++z)
    for (std::int32_t y = 0; y < (structure == "tower" ? wide : span); ++y)
      for (std::int32_t x = 0; x < (structure == "wall" ? 2 : wide); ++x) {
        const bool opening = structure == "arch" && y >= wide && y < 2 * wide && z <= high - wide;
        if (!opening) cells.push_back({x, y, z});
      }
  return cells;
}

}  // namespace

Result<std::vector<model::ParameterDesc>> Melt::parameters(const std::filesystem::path&) const {
  return std::vector<model::ParameterDesc>{
      {"lattice", "fcc", {}, {}, {"fcc", "bcc", "cubic"}, "of the catoms: balls on fcc and bcc, cubes on cubic", 0},
      {"structure", "tower", {}, {}, {"tower", "arch", "wall"}, "that stands on the plate", 0},
      {"wide", "3", 1, 100, {}, "catoms of the structure from side to side", 0, true},
      {"high", "20", 1, 1000, {}, "its layers", 0, true},
      {"plate", "26", 4, 1000, {}, "catoms along a side of the plate", 0, true},
      {"clump", "2.1", 0, 20, {}, "radius of what flies into it, in pitches; 0: nothing does", 0},
      {"speed", "5", 0.1, 50, {}, "of the clump, in m/s", 0},
      {"axial", "0.05", 1e-6, 1e6, {}, "force that breaks a bond by pulling, in N; a catom weighs 0.01 N", 0},
      {"shear", "0.05", 1e-6, 1e6, {}, "force across a bond that breaks it, in N", 0},
      {"bending", "0.0002", 1e-9, 1e6, {}, "torque that breaks a bond, bending or turning, in N m", 0},
      {"friction", "0.4", 0, 10, {}, "between catoms", 0},
      {"drag",
       "2",
       0,
       10,
       {},
       "part of its velocity that a catom in dynamics loses in a second, by air and rolling",
       0},
      {"hit_speed", "0.5", 1e-3, 1e3, {}, "in m/s: whom something faster is about to touch goes over to dynamics", 0},
      {"give", "0.5", 1e-3, 1e3, {}, "part of its strength that a bond bears before the catom behind it goes over", 0},
      {"back", "true", {}, {}, {"true", "false"}, "whether what lies in a cell goes back to the lattice", 0},
      {"capacity", "0", 0, 1e6, {}, "of an adapter, in bytes a tick; 0: not limited", 0, true},
      {"pitch", "0.01", 1e-3, 10, {}, "distance of neighbours, in m", 0}};
}

Result<model::WorldModel> Melt::init(sim::Setup& setup) {
  if (const auto made = make_world(setup); !made.ok()) return made.error();
  const lattice::Lattice& lattice = world_->ensemble().lattice();
  mixed::MixedOptions options;
  const double pitch = lattice.pitch();
  mass_ = options.body.mass = 1000 * pitch * pitch * pitch;  // 1 g at 1 cm
  options.body.friction = options.body.ground_friction = number(setup, "friction");
  options.body.drag = number(setup, "drag");
  options.bond = {number(setup, "axial"), number(setup, "shear"), number(setup, "bending"), number(setup, "bending")};
  options.ground = -pitch / 2;
  options.hit_speed = number(setup, "hit_speed");
  options.give = number(setup, "give");
  options.push = options.bond.axial;
  options.goes_back = setup.settings.at("back") == "true";
  mixed_ = std::make_unique<mixed::MixedWorld>(*world_, options);
  if (const auto done = world_->load<Pulse>(); !done.ok()) return done.error();
  if (const auto done = add_structure(setup); !done.ok()) return done.error();
  world_->state<Pulse>(0)->source = true;
  if (const auto done = mixed_->start(); !done.ok()) return done.error();
  if (const auto done = throw_clump(setup); !done.ok()) return done.error();
  energy_ += potential_energy();
  model::WorldModel world = empty_world("melt", 4);
  world.run.engine = physics::default_engine;  // that of the catoms: the world itself is empty
  world.run.dt = TickLength{1, 120};
  return world;
}

std::string Melt::camera() const {
  Vec3 high = begun_[0];
  for (const Vec3& place : begun_)
    for (int axis = 0; axis < 3; ++axis) high[axis] = std::max(high[axis], place[axis]);
  Vec3 middle = (begun_[0] + high) / 2;
  middle.z =
      begun_[0].z + 0.22 * (high.z - begun_[0].z);  // the plate is seen from above, and wider than the tower is high
  const double far = 1.42 * length(high - begun_[0]);
  return fmt::format("{},{},{}:{},{},{}", middle.x + 0.75 * far, middle.y - 0.65 * far, middle.z + 0.45 * far, middle.x,
                     middle.y, middle.z);
}

// In the middle of the plate.
Result<void> Melt::add_structure(sim::Setup& setup) {
  const auto side = truncated<std::int32_t>(number(setup, "plate"));
  if (const auto done = world_->add_box({0, 0, 0}, {side - 1, side - 1, 0}); !done.ok()) return done.error();
  first_of_structure_ = narrow<std::uint32_t>(world_->ensemble().count());
  std::vector<Cell> cells = cells_of(setup.settings.at("structure"), truncated<std::int32_t>(number(setup, "wide")),
                                     truncated<std::int32_t>(number(setup, "high")));
  Cell far{};
  for (const Cell& cell : cells) far = {std::max(far.x, cell.x), std::max(far.y, cell.y), 0};
  if (far.x + 1 > side || far.y + 1 > side)
    return Error(fmt::format("a structure of {} x {} catoms does not fit on a plate of {} x {}", far.x + 1, far.y + 1,
                             side, side),
                 "give a larger plate (--set plate=60), or a narrower structure");
  for (Cell& cell : cells) cell.x += (side - far.x - 1) / 2, cell.y += (side - far.y - 1) / 2;
  if (const auto done = world_->add(cells); !done.ok()) return done.error();
  for (std::uint32_t i = 0; i < world_->ensemble().count(); ++i) begun_.push_back(world_->place(i));
  first_of_clump_ = narrow<std::uint32_t>(begun_.size());
  return {};
}

// A ball of cells in front of the structure, from a fifth to three fifths of its height, which flies along -x.
Result<void> Melt::throw_clump(const sim::Setup& setup) {
  const double radius = number(setup, "clump");
  if (radius <= 0) return {};
  const lattice::Lattice& lattice = world_->ensemble().lattice();
  const double pitch = lattice.pitch();
  Vec3 low = begun_[first_of_structure_], high = low;
  for (std::uint32_t i = first_of_structure_; i < first_of_clump_; ++i)
    for (int axis = 0; axis < 3; ++axis)
      low[axis] = std::min(low[axis], begun_[i][axis]), high[axis] = std::max(high[axis], begun_[i][axis]);
  RandomStream random(setup.seed, 0, "melt");
  const double half = (high.y - low.y) / 2, speed = number(setup, "speed") * random.uniform(0.9, 1.1);
  Vec3 aim{high.x + (radius + 4) * pitch, (low.y + high.y) / 2 + random.uniform(-0.5, 0.5) * half,
           low.z + (high.z - low.z) * random.uniform(0.2, 0.6)};
  aim.z = std::max(aim.z, low.z + (radius + 2) * pitch);  // it must not touch the plate
  const Cell middle = lattice.cell_at(aim);
  const auto far = truncated<std::int32_t>(2 * radius) + 2;
  std::vector<Cell> cells;
  for (std::int32_t z = -far; z <= far; ++z)
    for (std::int32_t y = -far; y <= far; ++y)
      for (std::int32_t x = -far; x <= far; ++x) {
        const Cell cell{middle.x + x, middle.y + y, middle.z + z};
        if (cell.z > 0 && length(lattice.position(cell) - lattice.position(middle)) <= radius * pitch)
          cells.push_back(cell);
      }
  if (auto done = world_->add(cells); !done.ok()) return done;
  for (std::uint32_t i = first_of_clump_; i < world_->ensemble().count(); ++i)
    if (auto done = mixed_->release(i, {{-speed, 0, 0}, {}}); !done.ok()) return done;
  energy_ = 0.5 * mass_ * speed * speed * real(cells.size());
  return {};
}

double Melt::potential_energy() const {
  double energy = 0;
  for (std::uint32_t i = 0; i < world_->ensemble().count(); ++i) energy += mass_ * g * height(i);
  return energy;
}

// Those that heard one of the last two pulses: the last may be on its way.
std::uint32_t Melt::hearing() const {
  const std::uint32_t round = world_->state<Pulse>(0)->round;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < world_->ensemble().count(); ++i)
    if (world_->state<Pulse>(i)->round + 1 >= round) ++count;
  return count;
}

void Melt::before_tick(sim::Simulation& simulation) {
  tick(simulation);
  if (mixed_->kinetic_energy() > rest * energy_) last_motion_ = world_->ticks();
  if (world_->ticks() % look_every != 0) return;
  double highest = 0;
  for (std::uint32_t i = first_of_structure_; i < world_->ensemble().count(); ++i)
    highest = std::max(highest, height(i));
  samples_.push_back(
      {narrow<std::uint32_t>(mixed_->count_in_dynamics()), narrow<std::uint32_t>(mixed_->bonds()), hearing(), highest});
}

// In dynamics orange, the clump red; on the lattice grey, and blue who came back to another cell.
std::array<std::uint8_t, 3> Melt::color(std::uint32_t catom) const {
  const bool flew = catom >= first_of_clump_;
  if (mixed_->in_dynamics(catom))
    return flew ? std::array<std::uint8_t, 3>{190, 40, 50} : std::array<std::uint8_t, 3>{240, 150, 40};
  if (flew) return {120, 60, 140};
  const bool moved = length(world_->place(catom) - begun_[catom]) > 1e-9;
  if (moved) return {60, 120, 200};
  return catom < first_of_structure_ ? std::array<std::uint8_t, 3>{200, 204, 208}
                                     : std::array<std::uint8_t, 3>{150, 158, 168};
}

void Melt::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const auto count = narrow<std::uint32_t>(world_->ensemble().count());
  const double dt = simulation.settings().dt.seconds(), pitch = world_->ensemble().lattice().pitch();
  const mixed::Changes& changes = mixed_->changes();
  double fallen = 0, stands = 0, before = 0, after = 0;
  for (std::uint32_t i = first_of_structure_; i < count; ++i) {
    after = std::max(after, height(i));
    if (i >= first_of_clump_) continue;
    before = std::max(before, begun_[i].z - begun_[0].z);
    fallen += begun_[i].z - world_->place(i).z > pitch ? 1 : 0;
    stands += length(world_->place(i) - begun_[i]) < 1e-9 ? 1 : 0;
  }
  const double structure = first_of_clump_ - first_of_structure_;
  metrics.set("catoms", count, "");
  metrics.set("structure", structure, "catoms of the structure");
  metrics.set("clump", count - first_of_clump_, "catoms of what flies into it");
  metrics.set("over", real(changes.over()), "times that a catom went over to dynamics");
  metrics.set("over_hit", real(changes.hit), "of those, about to be hit");
  metrics.set("over_loaded", real(changes.loaded), "by the load on a bond");
  metrics.set("over_pushed", real(changes.pushed), "by contacts");
  metrics.set("over_fell", real(changes.fell), "no longer supported");
  metrics.set("back", real(changes.back), "times that one went back to the lattice");
  metrics.set("most_in_dynamics", real(changes.most), "at once");
  metrics.set("in_dynamics", real(mixed_->count_in_dynamics()), "at the end");
  metrics.set("bonds_broken", real(changes.bonds_broken), "");
  metrics.set("fallen", fallen / structure, "part of the structure that lies a pitch or more lower");
  metrics.set("stands", stands / structure, "part of it that is where it was");
  metrics.set("height_before", before / pitch, "of the structure above the plate, in pitches");
  metrics.set("height_after", after / pitch, "");
  metrics.set("time_to_rest_s", sim::measured_if(last_motion_ < world_->ticks(), real(last_motion_) * dt),
              "until the kinetic energy is below a ten-thousandth of the energy of the start");
  metrics.set("hearing", hearing(), "catoms that hear the pulse of the program, at the end");
  metrics.set("energy_kept", (potential_energy() + mixed_->kinetic_energy()) / energy_,
              "part of the energy of the start, kinetic and above the plate");
  metrics.set("messages", real(world_->traffic().delivered), "");
  metrics.set("messages_lost", real(world_->traffic().lost), "to neighbours that had gone");
  metrics.set("farthest_mm", changes.farthest * 1000, "from the centre of the cell that one went back to");
  metrics.set("energy_lost_uJ", changes.energy_lost * 1e6, "kinetic, of those that went back");
  measure_world(metrics);
}

Result<void> Melt::write(const std::filesystem::path& folder) const {
  Csv csv({"tick", "in_dynamics", "bonds", "hearing", "highest_m"});
  report::Curve dynamics{.label = "in dynamics", .points = {}}, hear{.label = "hear the pulse", .points = {}};
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const Sample& s = samples_[i];
    const auto tick = (i + 1) * look_every;
    csv.row(tick, s.in_dynamics, s.bonds, s.hearing, s.highest);
    dynamics.points.push_back({real(tick), real(s.in_dynamics)});
    hear.points.push_back({real(tick), real(s.hearing)});
  }
  if (auto written = write_file(folder / "melt.csv", csv.text()); !written.ok()) return written;
  report::Panel panel;
  panel.x.label = "tick";
  panel.y.label = "catoms";
  panel.curves = {dynamics, hear};
  return write_file(folder / "melt.svg", svg(report::Chart{.title = "A tower falls", .panels = {panel}}));
}

void Melt::archive_state(Archive& ar) {
  CatomExperiment::archive_state(ar);
  ar.section("dprsim", "melt");
  ar("samples", samples_);
  ar("last motion", last_motion_);
}

}  // namespace volvox::experiments::dprsim
