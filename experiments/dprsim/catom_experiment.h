#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/lattice/catom_world.h"
#include "volvox/mixed/mixed_world.h"
#include "volvox/sim/cloud.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::dprsim {

// A number of catoms after each tick, as FOLDER/NAME.csv (columns tick and `column`) and as a chart FOLDER/NAME.svg.
struct CountByTick {
  std::string name, column, title, label, unit;  // label: of the curve; unit: of the vertical axis
  const std::vector<std::uint64_t>& counts;
  std::int64_t first_tick = 0;
  std::optional<double> most{};  // that there can be: a dashed line
  std::string most_label{};
};
Result<void> write_counts(const std::filesystem::path& folder, const CountByTick& counted);

// What experiments with catoms share. Their lattice world stands beside the run's own, which is empty: it is saved,
// restored and hashed with it, and uses its threads. One tick of the run is one of DPRSim's.
class CatomExperiment : public sim::Experiment, public sim::Cloud {
 public:
  std::string camera() const override;
  void begin(const sim::Simulation& simulation) override;
  void archive_state(Archive& ar) override { mixed_ != nullptr ? mixed_->archive(ar) : world_->archive(ar); }
  bool state_is_hashed() const override { return true; }
  // Ranks that share the world know only a part of what is to be seen.
  sim::Cloud* cloud() override { return ranks_ == nullptr ? this : nullptr; }

  sim::CloudLook cloud_look() const override;
  void cloud_items(std::vector<sim::CloudItem>& items) const override;
  std::vector<std::string> cloud_state(std::uint32_t catom) const override;
  void cloud_values(std::size_t value, std::vector<float>& out) const override;

 protected:
  static double number(const sim::Setup& setup, const std::string& parameter);
  // Where catoms move: how long motions take, and whether they may cut the ensemble. One that also offers `motion`,
  // the kind of motion, adds it itself, with the kinds that its programs can use.
  static void add_motion_parameters(std::vector<model::ParameterDesc>& parameters, const std::string& connected);
  static Result<lattice::MotionOptions> motion_options(const sim::Setup& setup);
  // By the parameters `lattice`, `pitch`, `capacity` and those of motion; no catoms yet.
  Result<void> make_world(const sim::Setup& setup);
  // "30x20x10", or a file, which becomes one of the run's sources, so that a change of it is noticed. `state`: bytes of
  // a catom's program.
  Result<void> add_cells(sim::Setup& setup, const std::string& text, std::size_t state);
  // The same from a file only.
  Result<std::vector<lattice::Cell>> cells_of_file(sim::Setup& setup, const std::string& file, std::size_t state) const;
  // By the parameters `side` and `filled`: a box of which a random part is occupied. The first catom is in its middle.
  Result<void> add_box_with_holes(const sim::Setup& setup, std::size_t state);
  static model::WorldModel empty_world(const std::string& name, double seconds);
  void tick();                                   // throws what ends the run
  void tick(const sim::Simulation& simulation);  // of a world with catoms in dynamics, too
  std::uint32_t count_pieces() const;            // of the ensemble
  // Memory and hash of the catoms.
  void measure_world(sim::Metrics& metrics) const;
  virtual std::array<std::uint8_t, 3> color(std::uint32_t catom) const = 0;

  static constexpr std::int64_t look_every = 10;  // ticks; of experiments that look at all catoms

  std::unique_ptr<ThreadPool> threads_;
  cluster::Exchange* ranks_ = nullptr;  // other processes that share the world
  std::unique_ptr<lattice::CatomWorld> world_;
  std::unique_ptr<mixed::MixedWorld> mixed_;  // null: all catoms are on the lattice

 private:
  void use_engine(const sim::Simulation& simulation, bool begins = false);  // throws what ends the run

  // Places and who is covered, as long as the cells are the same, and the same catoms are on their way.
  mutable std::vector<sim::CloudItem> places_;
  mutable std::uint64_t places_version_ = 0;
  mutable std::vector<std::uint32_t> places_moving_;
};

// One that several processes can share: it looks at the states of its own catoms only, and sums over the ranks.
class SharedCatomExperiment : public CatomExperiment, public lattice::SharedByRanks {
 public:
  void share(cluster::Exchange& ranks) override { ranks_ = &ranks; }
};

}  // namespace volvox::experiments::dprsim
