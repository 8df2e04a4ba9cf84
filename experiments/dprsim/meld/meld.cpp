#include "meld.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "volvox/base/csv.h"
#include "volvox/base/text.h"
#include "volvox/lattice/scenes.h"
#include "volvox/meld/programs.h"
#include "volvox/report/chart.h"

namespace volvox::experiments::dprsim {
namespace {

using lattice::Cell;

constexpr std::size_t facts_bytes = 400;      // of a catom, about
constexpr std::size_t most_drawn = 40'000;    // cells of the picture
constexpr std::size_t most_listed = 100'000;  // catoms whose facts are written

}  // namespace

Result<std::vector<model::ParameterDesc>> Meld::parameters(const std::filesystem::path&) const {
  std::vector<model::ParameterDesc> all = {
      {"program", "tree", {}, {}, {}, "a file in Meld, or one of gradient, leader, line (on a hex lattice), tree", 0},
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
      {"links", "neighbors", {}, {}, {"neighbors", "all"}, "who can be sent facts: neighbours, or all catoms", 0},
      {"motion",
       "usual",
       {},
       {},
       {"usual", "roll", "slide", "pivot"},
       "of programs that move: usual is slide on square and cubic, else roll; square also rolls, cubic also pivots",
       0}};
  add_motion_parameters(all, "false");
  return all;
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
  const auto program = meld::find_program(setup.settings.at("program"),
                                          [&](const std::filesystem::path& file) { return setup.library.read(file); });
  if (!program.ok()) return program.error();
  for (const Diagnostic& warning : (*program)->warnings) setup.warnings.push_back(warning);
  if (const auto made = make_world(setup); !made.ok()) return made.error();
  meld::MachineOptions machine;
  machine.most_steps = truncated<std::uint64_t>(number(setup, "steps"));
  machine.reach_all = setup.settings.at("links") == "all";
  auto modules = std::make_unique<meld::MeldModules>(*program, machine);
  modules_ = modules.get();
  if (const auto done = world_->load_modules(std::move(modules)); !done.ok()) return done.error();
  if (const auto done = add_cells(setup, setup.settings.at("cells"), facts_bytes); !done.ok()) return done.error();
  if (const auto done = read_taps(setup.settings.at("taps")); !done.ok()) return done.error();
  if (const auto done = world_->start(); !done.ok()) return done.error();
  return empty_world((*program)->name, 10);
}

void Meld::begin(const sim::Simulation& simulation) {
  CatomExperiment::begin(simulation);
  modules_->set_tick(simulation.settings().dt);
}

void Meld::before_tick(sim::Simulation& simulation) {
  const Time now = simulation.now(), end = simulation.settings().dt.start_of(simulation.tick() + 1);
  for (const Tap& tap : taps_)
    if (const Time at = Time::seconds(tap.time); at >= now && at < end) modules_->tap(*world_, tap.catom);
  const bool busy = !world_->idle();
  tick();
  if (busy) last_change_ = world_->ticks();
}

// Scripts, and so the catoms' tick, come before the inputs of a tick: a tap is felt in the next one.
bool Meld::cloud_tap(std::uint32_t catom) { return modules_->tap(*world_, catom); }

sim::CloudLook Meld::cloud_look() const {
  sim::CloudLook look = CatomExperiment::cloud_look();
  look.can_be_tapped = modules_->program().with(meld::Role::tap) != meld::no_predicate;
  return look;
}

std::array<std::uint8_t, 3> Meld::color(std::uint32_t catom) const {
  const std::uint32_t c = modules_->color(catom);
  if (c == meld::no_color) return sim::no_color;
  return {narrow<std::uint8_t>(c >> 16), narrow<std::uint8_t>(c >> 8 & 255), narrow<std::uint8_t>(c & 255)};
}

void Meld::shutdown(const sim::Simulation&, sim::Metrics& metrics) {
  const lattice::Ensemble& ensemble = world_->ensemble();
  std::uint64_t colored = 0;
  for (std::uint32_t i = 0; i < ensemble.count(); ++i)
    colored += ensemble.has(i) && modules_->color(i) != meld::no_color ? 1 : 0;
  colored = world_->region().sum(colored);
  metrics.set("catoms", real(ensemble.size()), "number of catoms");
  metrics.set("ticks_to_rest", sim::measured_if(world_->idle(), real(last_change_)),
              "after so many ticks nothing more happened");
  metrics.set("messages", real(world_->traffic().delivered), "facts that neighbours were told, delivered");
  metrics.set("facts", real(world_->region().sum(modules_->facts_stored())),
              "that catoms hold at the end, with what they sense");
  metrics.set("facts_lost", real(modules_->lost()), "for catoms that were no neighbours");
  metrics.set("colored", real(colored), "catoms that have set a colour");
  metrics.set("moves", real(world_->motion().moves), "of catoms that rolled");
  measure_world(metrics);
}

std::vector<std::uint32_t> Meld::colors() const {
  const lattice::Region& region = world_->region();
  const std::size_t own = region.count(world_->ensemble().count());
  std::string bytes(own * sizeof(std::uint32_t), 0);
  for (std::size_t i = 0; i < own; ++i) {
    const std::uint32_t color = modules_->color(narrow<std::uint32_t>(region.first() + i));
    std::memcpy(bytes.data() + i * sizeof color, &color, sizeof color);
  }
  std::vector<std::uint32_t> all;
  for (const std::string& part : region.collect(bytes)) {
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof(std::uint32_t));
    if (!part.empty()) std::memcpy(all.data() + before, part.data(), part.size());
  }
  return all;
}

// Seen from above: of each column the highest catom.
std::string Meld::picture(const std::vector<std::uint32_t>& colors) const {
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
    const std::uint32_t color = colors[top.second];
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
  const lattice::Region& region = world_->region();
  const std::vector<std::uint32_t> colors = this->colors();
  Csv table({"catom", "x", "y", "z", "color"});
  Csv facts({"catom", "fact"});
  for (std::uint32_t i = 0; i < ensemble.count(); ++i) {
    if (!ensemble.has(i)) continue;
    const Cell c = ensemble.cell(i);
    if (region.leads())
      table.row(i, c.x, c.y, c.z, colors[i] == meld::no_color ? std::string() : fmt::format("#{:06x}", colors[i]));
    if (i >= most_listed || !region.has(i)) continue;
    for (const std::string& fact : modules_->facts(i)) facts.row(i, fact);
  }
  std::string all_facts;  // of each rank, the first with the names of the columns
  for (const std::string& part : region.collect(facts.text()))
    all_facts += all_facts.empty() ? part : part.substr(std::min(part.size(), part.find('\n') + 1));
  if (!region.leads()) return {};
  if (auto written = write_file(folder / "colors.csv", table.text()); !written.ok()) return written;
  if (auto written = write_file(folder / "facts.csv", all_facts); !written.ok()) return written;
  return write_file(folder / "colors.svg", picture(colors));
}

void Meld::archive_state(Archive& ar) {
  CatomExperiment::archive_state(ar);
  ar.section("dprsim", "meld");
  ar("last_change", last_change_);
}

}  // namespace volvox::experiments::dprsim
