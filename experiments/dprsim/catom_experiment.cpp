#include "catom_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "settings.h"
#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/base/text.h"
#include "volvox/base/union_find.h"
#include "volvox/lattice/cell_files.h"
#include "volvox/lattice/scenes.h"
#include "volvox/report/chart.h"

namespace volvox::experiments::dprsim {

using lattice::Cell;

namespace {

// "100x100x100" or "30x20"; nothing: it is a file.
std::optional<std::array<std::int32_t, 3>> box_of(const std::string& text) {
  std::array<std::int32_t, 3> sides = {1, 1, 1};
  const char *at = text.data(), *end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [stopped, error] = std::from_chars(at, end, sides[i]);
    if (error != std::errc{}) return std::nullopt;
    if (stopped == end) return i > 0 ? std::optional(sides) : std::nullopt;
    if (*stopped != 'x') return std::nullopt;
    at = stopped + 1;
  }
  return std::nullopt;
}

Result<void> add_box(lattice::CatomWorld& world, const std::array<std::int32_t, 3>& sides, std::size_t state) {
  const bool flat = world.ensemble().lattice().flat();
  for (const std::int32_t side : sides)
    if (side < 1 || side > lattice::farthest_cell)
      return Error(fmt::format("a box of {}x{}x{} cells is not possible", sides[0], sides[1], sides[2]),
                   fmt::format("give sides from 1 to {}, as in --cells 30x30x10", lattice::farthest_cell));
  if (flat && sides[2] != 1)
    return Error(fmt::format("a plane lattice has one layer, not {}", sides[2]), "give two sides, as in --cells 30x20");
  const double count = real(sides[0]) * sides[1] * sides[2];
  if (count > 2e9) return Error(fmt::format("{:.0f} cells are too many", count), "give at most 2,000,000,000");
  const int ranks = world.region().ranks();
  if (auto fits = lattice::check_memory(truncated<std::size_t>(count), count, state, ranks); !fits.ok()) return fits;
  return world.add_box({0, 0, 0}, {sides[0] - 1, sides[1] - 1, sides[2] - 1});
}

// A box of cells of which a random part is occupied; the middle always is, and is the first.
Result<std::vector<Cell>> box_with_holes(std::int32_t side, double filled, bool flat, std::uint64_t seed,
                                         std::size_t state) {
  const std::int32_t layers = flat ? 1 : side;
  const double box = real(side) * side * layers;
  // Each catom also has 12 bytes in the list of cells.
  const auto catoms = truncated<std::size_t>(box * filled) + 1;
  if (const auto fits = lattice::check_memory(catoms, box, state + 12); !fits.ok()) return fits.error();
  RandomStream random(seed, 0, "holes");
  const Cell middle{side / 2, side / 2, layers / 2};
  std::vector<Cell> cells = {middle};
  for (std::int32_t z = 0; z < layers; ++z)
    for (std::int32_t y = 0; y < side; ++y)
      for (std::int32_t x = 0; x < side; ++x)
        if (random.chance(filled) && Cell{x, y, z} != middle) cells.push_back({x, y, z});
  return cells;
}

}  // namespace

double CatomExperiment::number(const sim::Setup& setup, const std::string& parameter) {
  return experiments::number(setup.settings, parameter);
}

void CatomExperiment::add_motion_parameters(std::vector<model::ParameterDesc>& parameters,
                                            const std::string& connected) {
  parameters.push_back({"motion_ticks", "1", 1, 1e6, {}, "of the shortest motion", 0, true});
  parameters.push_back(
      {"connected", connected, {}, {}, {"true", "false"}, "motions that would cut the ensemble in two are refused", 0});
}

Result<lattice::MotionOptions> CatomExperiment::motion_options(const sim::Setup& setup) {
  lattice::MotionOptions options;
  const auto& settings = setup.settings;
  if (const auto motion = settings.find("motion"); motion != settings.end() && motion->second != "usual") {
    const auto model = lattice::motion_model_named(motion->second);
    if (!model.ok()) return model.error();
    options.model = *model;
  }
  if (settings.contains("motion_ticks")) options.ticks = truncated<std::uint32_t>(number(setup, "motion_ticks"));
  options.keep_connected = settings.contains("connected") && settings.at("connected") == "true";
  return options;
}

Result<void> CatomExperiment::make_world(const sim::Setup& setup) {
  const auto kind = lattice::kind_named(setup.settings.at("lattice"));
  if (!kind.ok()) return kind.error();
  lattice::WorldOptions options{.seed = setup.seed};
  if (const auto bytes = truncated<std::uint32_t>(number(setup, "capacity")); bytes > 0) options.capacity = bytes;
  const auto motion = motion_options(setup);
  if (!motion.ok()) return motion.error();
  options.motion = *motion;
  options.ranks = ranks_;
  if (setup.settings.contains("radio_range")) options.radio_range = number(setup, "radio_range");
  world_ = std::make_unique<lattice::CatomWorld>(lattice::Lattice(*kind, number(setup, "pitch")), options);
  return {};
}

Result<std::vector<Cell>> CatomExperiment::cells_of_file(sim::Setup& setup, const std::string& file,
                                                         std::size_t state) const {
  if (!std::filesystem::path(file).has_extension())
    return Error(fmt::format("'{}' is neither a box of cells nor a file of them", file),
                 "write a box as 30x20x10, or name a list (.csv), an image or a closed mesh");
  const auto bytes = setup.library.read(file);
  if (!bytes.ok()) return bytes.error();
  auto cells = lattice::cells_of(*bytes, file, world_->ensemble().lattice());
  if (!cells.ok()) return cells;
  Cell low = cells->front(), high = low;
  for (const Cell& c : *cells) {
    low = {std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)};
    high = {std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)};
  }
  const double box = (real(high.x) - low.x + 1) * (real(high.y) - low.y + 1) * (real(high.z) - low.z + 1);
  if (const auto fits = lattice::check_memory(cells->size(), box, state); !fits.ok()) return fits.error();
  return cells;
}

Result<void> CatomExperiment::add_cells(sim::Setup& setup, const std::string& text, std::size_t state) {
  if (const auto box = box_of(text)) return add_box(*world_, *box, state);
  const auto cells = cells_of_file(setup, text, state);
  if (!cells.ok()) return cells.error();
  return world_->add(*cells);
}

Result<void> CatomExperiment::add_box_with_holes(const sim::Setup& setup, std::size_t state) {
  const auto box = box_with_holes(truncated<std::int32_t>(number(setup, "side")), number(setup, "filled"),
                                  world_->ensemble().lattice().flat(), setup.seed, state);
  if (!box.ok()) return box.error();
  return world_->add(*box);
}

model::WorldModel CatomExperiment::empty_world(const std::string& name, double seconds) {
  model::WorldModel world;
  world.name = name;
  world.run.duration = Time::seconds(seconds);
  world.run.engine = "none";
  return world;
}

void CatomExperiment::begin(const sim::Simulation& simulation) {
  const sim::SimulationSettings& settings = simulation.settings();
  threads_ = std::make_unique<ThreadPool>(settings.threads);
  world_->use_threads(threads_.get());
  if (mixed_ != nullptr) use_engine(simulation, true);
}

void CatomExperiment::use_engine(const sim::Simulation& simulation, bool begins) {
  const sim::SimulationSettings& settings = simulation.settings();
  if (!begins && mixed_->options().engine == settings.engine) return;
  const auto used = mixed_->use(settings.engine, threads_.get(), settings.max_substep, settings.precision);
  if (!used.ok()) throw std::runtime_error(used.error().text());
}

void CatomExperiment::tick() {
  if (const auto done = world_->tick(); !done.ok()) throw std::runtime_error(done.error().text());
}

void CatomExperiment::tick(const sim::Simulation& simulation) {
  if (mixed_ == nullptr) return tick();
  use_engine(simulation);  // after a restore the catoms are in the engine that wrote the snapshot
  const TickLength& dt = simulation.settings().dt;
  const auto done = mixed_->tick(dt.start_of(simulation.tick()), dt.start_of(simulation.tick() + 1));
  if (!done.ok()) throw std::runtime_error(done.error().text());
}

std::string CatomExperiment::camera() const { return world_->ensemble().lattice().flat() ? "top" : "corner"; }

sim::CloudLook CatomExperiment::cloud_look() const {
  using Shape = sim::CloudLook::Shape;
  const lattice::Lattice& lattice = world_->ensemble().lattice();
  const double wide = 0.94 * lattice.pitch();  // gaps show where one ends
  sim::CloudLook look{.noun = "catom", .size = {wide, wide, lattice.flat() ? 0.3 * wide : wide}};
  if (lattice.kind() == lattice::Kind::hex) look.shape = Shape::cylinder;
  if (lattice.kind() == lattice::Kind::bcc || lattice.kind() == lattice::Kind::fcc) look.shape = Shape::ball;
  for (const auto& modules : world_->code_modules())
    for (const std::string& value : modules->values()) look.values.push_back(value);
  return look;
}

void CatomExperiment::cloud_items(std::vector<sim::CloudItem>& items) const {
  const lattice::Ensemble& ensemble = world_->ensemble();
  // Those on their way leave the cells beside them open; that is no change of cells.
  std::vector<std::uint32_t> moving;
  for (const lattice::UnderWay& one : world_->under_way()) moving.push_back(one.catom);
  const auto stays = [&](std::uint32_t catom) { return !std::binary_search(moving.begin(), moving.end(), catom); };
  if (places_.empty() || places_version_ != ensemble.version() || places_moving_ != moving) {
    places_.assign(ensemble.count(), {});
    const lattice::Lattice& lattice = ensemble.lattice();
    for (std::uint32_t i = 0; i < ensemble.count(); ++i) {
      if (!ensemble.has(i)) continue;
      const Vec3 p = lattice.position(ensemble.cell(i));
      const auto around = ensemble.around(i);
      int port = lattice.flat() ? lattice.ports() : 0;  // those of a plane are seen from above
      while (port < lattice.ports() && around.at(port) != lattice::nobody && stays(around.at(port))) ++port;
      const bool covered = !lattice.flat() && port == lattice.ports() && stays(i);
      places_[i] = {
          {to_float(p.x), to_float(p.y), to_float(p.z)}, {}, covered ? sim::CloudItem::covered : sim::CloudItem::open};
    }
    places_version_ = ensemble.version();
    places_moving_ = std::move(moving);
  }
  items = places_;
  for (std::uint32_t i = 0; ensemble.loose() > 0 && i < ensemble.count(); ++i) {
    if (!ensemble.is_loose(i)) continue;
    const Vec3 p = world_->place(i);
    items[i] = {{to_float(p.x), to_float(p.y), to_float(p.z)}, {}, sim::CloudItem::open};
  }
  for (const lattice::UnderWay& one : world_->under_way()) {
    const Vec3 p = world_->position(one);
    items[one.catom].position = {to_float(p.x), to_float(p.y), to_float(p.z)};
  }
  for (std::uint32_t i = 0; i < items.size(); ++i)
    if (items[i].shown != sim::CloudItem::gone) items[i].color = color(i);
}

std::vector<std::string> CatomExperiment::cloud_state(std::uint32_t catom) const {
  std::vector<std::string> lines;
  if (!world_->ensemble().there(catom)) return lines;
  if (world_->ensemble().is_loose(catom)) lines.push_back("in dynamics");
  for (const auto& modules : world_->code_modules())
    for (const std::string& line : modules->describe_lines(catom)) lines.push_back(line);
  return lines;
}

void CatomExperiment::cloud_values(std::size_t value, std::vector<float>& out) const {
  const lattice::Ensemble& ensemble = world_->ensemble();
  out.assign(ensemble.count(), NAN);
  for (const auto& modules : world_->code_modules()) {
    const std::size_t count = modules->values().size();
    if (value < count) {
      for (std::uint32_t i = 0; i < ensemble.count(); ++i)
        if (ensemble.there(i)) out[i] = to_float(modules->value(i, value));
      return;
    }
    value -= count;
  }
}

std::uint32_t CatomExperiment::count_pieces() const {
  const lattice::Ensemble& ensemble = world_->ensemble();
  UnionFind sets(ensemble.count());
  std::uint32_t count = narrow<std::uint32_t>(ensemble.size());
  for (std::uint32_t i = 0; i < ensemble.count(); ++i) {
    if (!ensemble.there(i)) continue;
    for (int port = 0; port < ensemble.lattice().ports(); ++port)
      if (const std::uint32_t other = world_->neighbor(i, port); other != lattice::nobody && sets.join(i, other))
        --count;
  }
  return count;
}

void CatomExperiment::measure_world(sim::Metrics& metrics) const {
  const std::size_t catoms = std::max<std::size_t>(1, world_->ensemble().count());
  metrics.set("bytes_per_catom", real(world_->memory_bytes()) / real(catoms), "memory");
  if (ranks_ != nullptr) {
    metrics.set("ranks", ranks_->size(), "processes that share the catoms");
    metrics.set("mb_between_ranks", real(world_->region().sum(ranks_->bytes_sent())) / 1e6, "messages and wishes");
  }
  const std::uint64_t hash = mixed_ != nullptr ? mixed_->hash() : world_->hash();
  metrics.set("catoms_hash_high", high_word(hash), "the state hash of the catoms, its upper 32 bits");
  metrics.set("catoms_hash_low", low_word(hash), "the lower 32 bits");
}

Result<void> write_counts(const std::filesystem::path& folder, const CountByTick& counted) {
  Csv csv({"tick", counted.column});
  report::Curve curve{.label = counted.label, .points = {}, .join = report::Join::steps};
  for (std::size_t k = 0; k < counted.counts.size(); ++k) {
    const std::int64_t tick = counted.first_tick + std::int64_t(k);
    csv.row(tick, counted.counts[k]);
    curve.points.push_back({real(tick), real(counted.counts[k])});
  }
  if (auto written = write_file(folder / (counted.name + ".csv"), csv.text()); !written.ok()) return written;
  report::Panel panel;
  panel.x.label = "tick";
  panel.y.label = counted.unit;
  panel.curves = {curve};
  if (counted.most) {
    const double last = real(std::max<std::size_t>(1, counted.counts.size()));
    panel.curves.push_back(
        {.label = counted.most_label, .points = {{0, *counted.most}, {last, *counted.most}}, .dashed = true});
  }
  return write_file(folder / (counted.name + ".svg"), svg(report::Chart{.title = counted.title, .panels = {panel}}));
}

}  // namespace volvox::experiments::dprsim
