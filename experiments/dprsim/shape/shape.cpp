#include "shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "volvox/base/random.h"
#include "volvox/base/text.h"
#include "volvox/lattice/scenes.h"

namespace volvox::experiments::dprsim {
namespace {

using lattice::Cell;
using lattice::SelfAssembly;

const int southwest = lattice::turned(0, 4), southeast = lattice::turned(0, 5);

bool is_within(const std::string& shape, double size, const Vec3& p) {
  if (p.y < -1e-9) return false;
  if (shape == "disc") return length(Vec3{p.x, p.y - size / 2, 0}) <= size / 2 + 1e-9;
  if (shape == "rectangle") return p.x > -0.6 && p.x <= 1.5 * size && p.y <= size;
  // A wrench: a shaft with a fork at its end.
  const double wide = 0.3 * size, jaw = 0.45 * size;
  const bool shaft = p.x > -0.6 && p.x <= wide && p.y <= size;
  const bool head = p.y > 0.7 * size && p.y <= 1.4 * size && std::abs(p.x - wide / 2) <= jaw;
  const bool gap = p.y > 1.05 * size && std::abs(p.x - wide / 2) <= wide / 2;
  return (shaft || head) && !gap;
}

// The shape of about so many cells, from the seed's at (0, 0).
std::vector<Cell> cells_of_shape(const std::string& shape, std::size_t count) {
  const lattice::Lattice hex(lattice::Kind::hex);
  std::vector<Cell> cells;
  for (double size = 2; cells.size() < count; size += 0.25) {
    cells.clear();
    const auto far = truncated<std::int32_t>(2 * size) + 2;
    for (std::int32_t y = 0; y <= far; ++y)
      for (std::int32_t x = -far; x <= far; ++x)
        if (is_within(shape, size, hex.position({x, y, 0}))) cells.push_back({x, y, 0});
  }
  return cells;
}

// Catoms follow its edge from the seed, and never reach another piece.
Result<void> check_one_piece(const std::vector<Cell>& cells, const std::string& file, const lattice::Lattice& hex) {
  lattice::Ensemble shape(hex);
  if (auto good = shape.add(cells); !good.ok()) return good;
  std::vector<bool> found(cells.size());
  std::vector<std::uint32_t> open = {shape.at({})};  // the seed
  found[open[0]] = true;
  while (!open.empty()) {
    const auto around = shape.around(open.back());
    open.pop_back();
    for (int port = 0; port < hex.ports(); ++port)
      if (const std::uint32_t next = around.at(port); next != lattice::nobody && !found[next])
        found[next] = true, open.push_back(next);
  }
  const auto lost = std::find(found.begin(), found.end(), false);
  if (lost == found.end()) return {};
  return Error(fmt::format("{}: the shape has several pieces: its cell {} is not connected with the lowest one", file,
                           text(cells[lost - found.begin()])),
               "give a shape of one piece (cells are counted from its lowest, leftmost one)");
}

// Rows below the seed whose ends go outwards, or inwards by chance.
std::vector<Cell> random_heap(std::size_t count, std::uint64_t seed) {
  const lattice::Lattice hex(lattice::Kind::hex);
  RandomStream random(seed, 0, "heap");
  std::vector<Cell> cells;
  Cell left{}, right{};
  while (cells.size() < count) {
    left = hex.neighbor(left, random.chance(0.8) ? southwest : southeast);
    right = hex.neighbor(right, random.chance(0.8) ? southeast : southwest);
    if (right.x < left.x) right = left;
    for (std::int32_t x = left.x; x <= right.x && cells.size() < count; ++x) cells.push_back({x, left.y, 0});
  }
  return cells;
}

}  // namespace

Result<std::vector<model::ParameterDesc>> Shape::parameters(const std::filesystem::path&) const {
  std::vector<model::ParameterDesc> all = {
      {"shape",
       "wrench",
       {},
       {},
       {},
       "disc, rectangle, wrench, or a file with its cells, one piece without holes: a list (.csv), an image or a "
       "closed mesh; the first cell of its lowest row is the seed",
       0},
      {"catoms", "300", 4, 100000, {}, "about so many cells has a shape that is named; files have their own", 0, true},
      {"extra", "0", 0, 1000, {}, "catoms in percent of the shape's cells, more than it needs", 0}};
  add_motion_parameters(all, "true");
  return all;
}

Result<lattice::TargetShape> Shape::read_shape(sim::Setup& setup) const {
  const std::string& name = setup.settings.at("shape");
  const lattice::Lattice& hex = world_->ensemble().lattice();
  if (!std::filesystem::path(name).has_extension()) {
    if (name != "disc" && name != "rectangle" && name != "wrench")
      return Error(fmt::format("there is no shape '{}'", name), "use disc, rectangle, wrench, or name a file of cells");
    return lattice::TargetShape(cells_of_shape(name, truncated<std::size_t>(number(setup, "catoms"))));
  }
  auto cells = cells_of_file(setup, name, sizeof(SelfAssembly) + sizeof(Cell));
  if (!cells.ok()) return cells.error();
  const auto lower = [](const Cell& a, const Cell& b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); };
  const Cell seed = *std::min_element(cells->begin(), cells->end(), lower);
  // Rows keep whether they are shifted: the seed's row becomes 0 or, if it is a shifted one, is moved with its cells.
  const Vec3 origin = hex.position(seed);
  for (Cell& cell : *cells) cell = hex.cell_at(hex.position(cell) - origin);
  if (const auto good = check_one_piece(*cells, name, hex); !good.ok()) return good.error();
  return lattice::TargetShape(std::move(*cells));
}

Result<model::WorldModel> Shape::init(sim::Setup& setup) {
  const auto motion = motion_options(setup);
  if (!motion.ok()) return motion.error();
  world_ = std::make_unique<lattice::CatomWorld>(
      lattice::Lattice(lattice::Kind::hex),
      lattice::WorldOptions{.seed = setup.seed, .motion = *motion, .ranks = ranks_});
  auto shape = read_shape(setup);
  if (!shape.ok()) return shape.error();
  shape_ = std::move(*shape);
  const double more = 1 + number(setup, "extra") / 100;
  const auto count = std::max<std::size_t>(2, truncated<std::size_t>(real(shape_.cells().size()) * more));
  // Beside its program a catom has a cell in the list, and at most one in the shape; a heap is a triangle, half a box.
  const std::size_t state = sizeof(SelfAssembly) + 2 * sizeof(Cell);
  if (const auto fits = lattice::check_memory(count, 2 * real(count), state); !fits.ok()) return fits.error();
  std::vector<Cell> cells = random_heap(count - 1, setup.seed);
  cells.insert(cells.begin(), Cell{});
  if (const auto done = world_->load(SelfAssembly{.shape = &shape_}); !done.ok()) return done.error();
  if (const auto done = world_->add(cells); !done.ok()) return done.error();
  if (SelfAssembly* seed = world_->state<SelfAssembly>(0)) seed->seed = true, seed->role = SelfAssembly::placed;
  if (const auto done = world_->start(); !done.ok()) return done.error();
  return empty_world("shape", 150);
}

std::uint64_t Shape::filled() const {
  std::uint64_t count = 0;
  world_->each_state<SelfAssembly>([&](std::uint32_t i, const SelfAssembly& state) {
    count += state.role == SelfAssembly::placed && shape_.has(world_->ensemble().cell(i)) ? 1 : 0;
  });
  return world_->region().sum(count);
}

void Shape::before_tick(sim::Simulation&) {
  tick();
  filled_.push_back(filled());
}

// The seed is red; those in the shape by their gradient; those that move orange; those that wait grey.
std::array<std::uint8_t, 3> Shape::color(std::uint32_t catom) const {
  const SelfAssembly& state = *world_->state<SelfAssembly>(catom);
  if (state.seed) return {200, 40, 40};
  if (state.role == SelfAssembly::moving) return {245, 140, 30};
  if (state.role == SelfAssembly::waiting) return {128, 138, 152};
  return sim::ramp_color(real(state.gradient) / (2.5 * std::sqrt(real(shape_.cells().size()))));
}

void Shape::shutdown(const sim::Simulation&, sim::Metrics& metrics) {
  const std::size_t cells = shape_.cells().size();
  const auto whole = std::find(filled_.begin(), filled_.end(), cells);
  const double moves = real(world_->motion().moves);
  metrics.set("catoms", real(world_->ensemble().size()), "number of catoms");
  metrics.set("shape_cells", real(cells), "cells of the shape");
  metrics.set("filled", filled_.empty() ? 0 : real(filled_.back()) / real(cells),
              "part of them with a catom that stays");
  metrics.set("ticks_to_shape", sim::measured_if(whole != filled_.end(), real(whole - filled_.begin() + 1)),
              "until the shape was filled");
  metrics.set("moves", moves, "rolls by a sixth of a turn");
  metrics.set("moves_per_catom", moves / real(world_->ensemble().size()), "");
  metrics.set("lost", real(world_->motion().lost), "wishes to move that gave way to others");
  metrics.set("cuts_refused", real(world_->cuts_refused()), "motions that would have cut the ensemble in two");
  metrics.set("pieces", count_pieces(), "of the ensemble, at the end");
  metrics.set("messages", real(world_->traffic().delivered), "delivered");
  measure_world(metrics);
}

Result<void> Shape::write(const std::filesystem::path& folder) const {
  return write_counts(folder, {.name = "filled",
                               .column = "filled",
                               .title = "A heap becomes a shape",
                               .label = "cells filled",
                               .unit = "cells",
                               .counts = filled_,
                               .first_tick = 1,
                               .most = real(shape_.cells().size()),
                               .most_label = "the shape"});
}

void Shape::archive_state(Archive& ar) {
  CatomExperiment::archive_state(ar);
  ar.section("dprsim", "filled");
  ar("filled", filled_);
}

}  // namespace volvox::experiments::dprsim
