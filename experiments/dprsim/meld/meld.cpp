#include "meld.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "volvox/base/csv.h"
#include "volvox/base/text.h"
#include "volvox/lattice/cell_files.h"
#include "volvox/lattice/scenes.h"
#include "volvox/meld/programs.h"
#include "volvox/report/chart.h"

namespace volvox::experiments::dprsim {
namespace {

using lattice::Cell;

constexpr std::size_t facts_bytes = 400;      // of a catom, about
constexpr std::size_t most_drawn = 40'000;    // cells of the picture
constexpr std::size_t most_listed = 100'000;  // catoms whose facts are written

double number(const sim::Setup& setup, const std::string& name) {
  return std::strtod(setup.settings.at(name).c_str(), nullptr);
}

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

Result<void> add_box(lattice::CatomWorld& world, const std::array<std::int32_t, 3>& sides) {
  const bool flat = world.ensemble().lattice().flat();
  for (const std::int32_t side : sides)
    if (side < 1 || side > lattice::farthest_cell)
      return Error(fmt::format("a box of {}x{}x{} cells is not possible", sides[0], sides[1], sides[2]),
                   fmt::format("give sides from 1 to {}, as in --cells 30x30x10", lattice::farthest_cell));
  if (flat && sides[2] != 1)
    return Error(fmt::format("a plane lattice has one layer, not {}", sides[2]), "give two sides, as in --cells 30x20");
  const double count = real(sides[0]) * sides[1] * sides[2];
  if (count > 2e9) return Error(fmt::format("{:.0f} cells are too many", count), "give at most 2,000,000,000");
  if (auto fits = lattice::check_memory(truncated<std::size_t>(count), count, facts_bytes); !fits.ok()) return fits;
  return world.add_box({0, 0, 0}, {sides[0] - 1, sides[1] - 1, sides[2] - 1});
}

Result<void> add_file(lattice::CatomWorld& world, sim::Setup& setup, const std::string& file) {
  const auto bytes = setup.library.read(file);
  if (!bytes.ok()) return bytes.error();
  const auto cells = lattice::cells_of(*bytes, file, world.ensemble().lattice());
  if (!cells.ok()) return cells.error();
  if (auto fits = lattice::check_memory(cells->size(), 8 * real(cells->size()), facts_bytes); !fits.ok()) return fits;
  return world.add(*cells);
}

}  // namespace

Result<std::vector<model::ParameterDesc>> Meld::parameters(const std::filesystem::path&) const {
  return std::vector<model::ParameterDesc>{
      {"program", "tree", {}, {}, {}, "a file in Meld, or one of gradient, leader, line, tree", 0},
      {"lattice", "cubic", {}, {}, {"square", "hex", "cubic", "bcc", "fcc"}, "the lattice of the catoms", 0},
      {"cells",
       "10x10",
       {},
       {},
       {},
       "a box of cells such as 10x10x10, or a file: a list (.csv), an image or a closed mesh in m; "
       "catoms are numbered from 0 in this order",
       0},
      {"pitch", "1", 1e-9, 1e9, {}, "distance of neighbours in m, for cells from a mesh", 0},
      {"capacity",
       "0",
       0,
       1e6,
       {},
       "of an adapter, in bytes a tick (a fact has 4 to 12 or more); 0: not limited",
       0,
       true},
      {"taps", "", {}, {}, {}, "who is tapped when: seconds:catom, as in 0.5:0,2:13", 0},
      {"steps", "1000000", 1000, 1e12, {}, "of a catom in a tick; more is an endless program", 0, true},
      {"links", "neighbors", {}, {}, {"neighbors", "all"}, "who can be sent facts: neighbours, or all catoms", 0}};
}

Result<void> Meld::read_taps(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    Tap tap;
    const char *begin = one.data(), *stop = begin + one.size();
    const auto time = std::from_chars(begin, stop, tap.time);
    const bool colon = time.ec == std::errc{} && time.ptr != stop && *time.ptr == ':';
    const auto catom = std::from_chars(colon ? time.ptr + 1 : stop, stop, tap.catom);
    if (!colon || catom.ec != std::errc{} || catom.ptr != stop || !(tap.time >= 0) ||
        tap.catom >= world_->ensemble().count())
      return Error(fmt::format("taps: '{}' is no tap", one),
                   fmt::format("write seconds:catom, as in 0.5:0; catoms have the numbers 0 to {}",
                               world_->ensemble().count() - 1));
    taps_.push_back(tap);
    at = end + 1;
  }
  std::stable_sort(taps_.begin(), taps_.end(), [](const Tap& a, const Tap& b) { return a.time < b.time; });
  return {};
}

Result<model::WorldModel> Meld::init(sim::Setup& setup) {
  const auto kind = lattice::kind_named(setup.settings.at("lattice"));
  if (!kind.ok()) return kind.error();
  const auto program = meld::find_program(setup.settings.at("program"),
                                          [&](const std::filesystem::path& file) { return setup.library.read(file); });
  if (!program.ok()) return program.error();
  for (const Diagnostic& warning : (*program)->warnings) setup.warnings.push_back(warning);
  lattice::WorldOptions options{.seed = setup.seed};
  if (const auto bytes = truncated<std::uint32_t>(number(setup, "capacity")); bytes > 0) options.capacity = bytes;
  world_ = std::make_unique<lattice::CatomWorld>(lattice::Lattice(*kind, number(setup, "pitch")), options);
  meld::MachineOptions machine;
  machine.most_steps = truncated<std::uint64_t>(number(setup, "steps"));
  machine.reach_all = setup.settings.at("links") == "all";
  auto modules = std::make_unique<meld::MeldModules>(*program, machine);
  modules_ = modules.get();
  if (const auto done = world_->load_modules(std::move(modules)); !done.ok()) return done.error();
  const std::string& cells = setup.settings.at("cells");
  const auto box = box_of(cells);
  if (const auto done = box ? add_box(*world_, *box) : add_file(*world_, setup, cells); !done.ok()) return done.error();
  if (const auto done = read_taps(setup.settings.at("taps")); !done.ok()) return done.error();
  if (const auto done = world_->start(); !done.ok()) return done.error();
  model::WorldModel world;
  world.name = (*program)->name;
  world.run.duration = Time::seconds(10.0);
  world.run.engine = "none";
  return world;
}

void Meld::begin(const sim::Simulation& simulation) {
  threads_ = std::make_unique<ThreadPool>(simulation.settings().threads);
  world_->use_threads(threads_.get());
  modules_->set_tick(simulation.settings().dt);
}

void Meld::before_tick(sim::Simulation& simulation) {
  const Time now = simulation.now(), end = simulation.settings().dt.start_of(simulation.tick() + 1);
  for (const Tap& tap : taps_)
    if (const Time at = Time::seconds(tap.time); at >= now && at < end) modules_->tap(*world_, tap.catom);
  const bool busy = !world_->idle();
  if (const auto done = world_->tick(); !done.ok()) throw std::runtime_error(done.error().text());
  if (busy) last_change_ = world_->ticks();
  messages_.push_back(world_->traffic().delivered);
}

void Meld::shutdown(const sim::Simulation&, sim::Metrics& metrics) {
  const lattice::Ensemble& ensemble = world_->ensemble();
  std::uint64_t colored = 0;
  for (std::uint32_t i = 0; i < ensemble.count(); ++i)
    colored += ensemble.has(i) && modules_->color(i) != meld::no_color ? 1 : 0;
  metrics.set("catoms", real(ensemble.size()), "number of catoms");
  metrics.set("ticks_to_rest", sim::measured_if(world_->idle(), real(last_change_)),
              "after so many ticks nothing more happened");
  metrics.set("messages", real(world_->traffic().delivered), "facts that neighbours were told, delivered");
  metrics.set("facts", real(modules_->facts_stored()), "that catoms hold at the end, with what they sense");
  metrics.set("facts_lost", real(modules_->lost()), "for catoms that were no neighbours");
  metrics.set("colored", real(colored), "catoms that have set a colour");
  metrics.set("moves", real(world_->motion().moves), "of catoms that rolled");
  metrics.set("bytes_per_catom", real(world_->memory_bytes()) / real(std::max<std::size_t>(1, ensemble.count())),
              "memory");
  const std::uint64_t hash = world_->hash();
  metrics.set("catoms_hash_high", high_word(hash), "the state hash of the catoms, its upper 32 bits");
  metrics.set("catoms_hash_low", low_word(hash), "the lower 32 bits");
}

// Seen from above: of each column the highest catom.
std::string Meld::picture() const {
  const lattice::Ensemble& ensemble = world_->ensemble();
  const lattice::Lattice& lattice = ensemble.lattice();
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::uint32_t>> highest;
  Vec3 low{1e300, 1e300, 0};
  for (std::uint32_t i = 0; i < ensemble.count(); ++i) {
    if (!ensemble.has(i)) continue;
    const Cell c = ensemble.cell(i);
    const Vec3 p = lattice.position(c);
    low.x = std::min(low.x, p.x), low.y = std::min(low.y, p.y);
    auto& top = highest.try_emplace({c.y, c.x}, std::pair(c.z, i)).first->second;
    if (c.z > top.first) top = {c.z, i};
  }
  report::BoardChart::Board board;
  for (const auto& [column, top] : highest) {
    if (board.cells.size() == most_drawn) break;
    const Vec3 p = lattice.position(ensemble.cell(top.second));
    const std::uint32_t color = modules_->color(top.second);
    board.cells.push_back({(p.x - low.x) / lattice.pitch(), (p.y - low.y) / lattice.pitch(),
                           color == meld::no_color ? "" : fmt::format("#{:06x}", color)});
  }
  report::BoardChart chart;
  chart.title = modules_->program().name;
  chart.note = lattice.flat() ? "colours at the end" : "colours at the end, seen from above";
  if (highest.size() > most_drawn)
    chart.note += fmt::format("; the first {} of {} columns", most_drawn, highest.size());
  chart.boards.push_back(std::move(board));
  return svg(chart);
}

Result<void> Meld::write(const std::filesystem::path& folder) const {
  const lattice::Ensemble& ensemble = world_->ensemble();
  Csv colors({"catom", "x", "y", "z", "color"});
  Csv facts({"catom", "fact"});
  for (std::uint32_t i = 0; i < ensemble.count(); ++i) {
    if (!ensemble.has(i)) continue;
    const Cell c = ensemble.cell(i);
    const std::uint32_t color = modules_->color(i);
    colors.row(i, c.x, c.y, c.z, color == meld::no_color ? std::string() : fmt::format("#{:06x}", color));
    if (i >= most_listed) continue;
    for (const std::string& fact : modules_->facts(i)) facts.row(i, fact);
  }
  if (auto written = write_file(folder / "colors.csv", colors.text()); !written.ok()) return written;
  if (auto written = write_file(folder / "facts.csv", facts.text()); !written.ok()) return written;
  return write_file(folder / "colors.svg", picture());
}

void Meld::archive_state(Archive& ar) {
  world_->archive(ar);
  ar.section("dprsim", "meld");
  ar("last_change", last_change_);
  ar("messages", messages_);
}

}  // namespace volvox::experiments::dprsim
