#include "crawl.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/random.h"

namespace volvox::experiments::dprsim {

using lattice::Cell;
using lattice::Crawler;

Result<std::vector<model::ParameterDesc>> Crawl::parameters(const std::filesystem::path&) const {
  std::vector<model::ParameterDesc> all = {
      {"lattice", "cubic", {}, {}, {"square", "hex", "cubic", "bcc", "fcc"}, "the lattice of the catoms", 0},
      {"motion",
       "usual",
       {},
       {},
       {"usual", "roll", "slide", "pivot"},
       "roll on square, hex, bcc and fcc; slide and pivot on square and cubic; usual: slide there, else roll",
       0},
      {"cells",
       "12x12x12",
       {},
       {},
       {},
       "a box such as 12x12x12 (12x12 in a plane), or a file: a list (.csv), an image or a closed mesh in m",
       0},
      {"crawlers", "0.3", 0, 1, {}, "part of the catoms that crawl, by chance", 0},
      {"pitch", "1", 1e-9, 1e9, {}, "distance of neighbours in m, for cells from a mesh", 0},
      {"capacity", "0", 0, 1e6, {}, "of an adapter, in bytes a tick; 0: not limited", 0, true}};
  add_motion_parameters(all, "true");
  return all;
}

Result<model::WorldModel> Crawl::init(sim::Setup& setup) {
  if (const auto made = make_world(setup); !made.ok()) return made.error();
  if (const auto done = world_->load<Crawler>(); !done.ok()) return done.error();
  std::string cells = setup.settings.at("cells");
  if (cells == "12x12x12" && world_->ensemble().lattice().flat()) cells = "12x12";  // nobody chose it
  if (const auto done = add_cells(setup, cells, sizeof(Crawler) + sizeof(Cell)); !done.ok()) return done.error();
  RandomStream random(setup.seed, 0, "crawlers");
  const double part = number(setup, "crawlers");
  for (std::uint32_t i = 0; i < world_->ensemble().count(); ++i) {
    const bool crawls = random.chance(part);
    if (Crawler* crawler = world_->state<Crawler>(i)) crawler->crawls = crawls;
    crawlers_.push_back(crawls);
    begun_.push_back(world_->ensemble().cell(i));
  }
  if (const auto done = world_->start(); !done.ok()) return done.error();
  return empty_world("crawl", 10);
}

void Crawl::before_tick(sim::Simulation&) {
  tick();
  on_the_way_ = std::max<std::uint64_t>(on_the_way_, world_->under_way().size());
}

// Those that crawl by how far they have come; the others are grey.
std::array<std::uint8_t, 3> Crawl::color(std::uint32_t catom) const {
  if (!crawlers_[catom]) return {128, 138, 152};
  const lattice::Lattice& lattice = world_->ensemble().lattice();
  const double far = length(lattice.position(world_->ensemble().cell(catom)) - lattice.position(begun_[catom]));
  return sim::ramp_color(std::min(1.0, far / (12 * lattice.pitch())));
}

void Crawl::shutdown(const sim::Simulation&, sim::Metrics& metrics) {
  const lattice::Ensemble& ensemble = world_->ensemble();
  double moved = 0, crawlers = 0, far = 0;
  for (std::uint32_t i = 0; i < ensemble.count(); ++i) {
    if (!crawlers_[i]) continue;
    ++crawlers;
    moved += ensemble.cell(i) != begun_[i] ? 1 : 0;
    far += length(ensemble.lattice().position(ensemble.cell(i)) - ensemble.lattice().position(begun_[i])) /
           ensemble.lattice().pitch();
  }
  metrics.set("catoms", real(ensemble.size()), "");
  metrics.set("crawlers", crawlers, "catoms that may move");
  metrics.set("motions", world_->motions().size(), "that a catom of this lattice may make");
  metrics.set("moves", real(world_->motion().moves), "made");
  metrics.set("lost", real(world_->motion().lost), "wishes that gave way to others");
  metrics.set("cuts_refused", real(world_->cuts_refused()), "motions that would have cut the ensemble");
  metrics.set("elsewhere", moved, "crawlers that are in another cell than at the start");
  metrics.set("distance", sim::mean_of(far, crawlers), "mean way of the crawlers from there, in pitches");
  metrics.set("most_on_the_way", real(on_the_way_), "at once, where motions take several ticks");
  metrics.set("pieces", count_pieces(), "of the ensemble, at the end");
  measure_world(metrics);
}

void Crawl::archive_state(Archive& ar) {
  CatomExperiment::archive_state(ar);
  ar.section("dprsim", "crawl");
  ar("on the way", on_the_way_);
}

}  // namespace volvox::experiments::dprsim
