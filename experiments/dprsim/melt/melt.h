#pragma once

#include "../catom_experiment.h"
#include "volvox/lattice/programs/pulse.h"

namespace volvox::experiments::dprsim {

// Mixed fidelity: a structure of catoms stands on a plate of others, all on a lattice, and a clump of catoms flies into
// it. Who is hit, loaded or no longer supported goes over to dynamics, falls, comes to rest, and goes back to the
// lattice where it lies in a cell. A program runs on all of them all the time. Where it is hit is by chance.
class Melt final : public CatomExperiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override;  // the structure and the plate; what rolls off is not followed
  void before_tick(sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;

 protected:
  std::array<std::uint8_t, 3> color(std::uint32_t catom) const override;

 private:
  Result<void> add_structure(sim::Setup& setup);
  Result<void> throw_clump(const sim::Setup& setup);
  double height(std::uint32_t catom) const { return world_->place(catom).z - begun_[0].z; }  // m, above the plate
  double potential_energy() const;                                                           // J
  std::uint32_t hearing() const;

  std::vector<Vec3> begun_;  // where each catom was; not of the clump
  std::uint32_t first_of_structure_ = 0, first_of_clump_ = 0;
  double mass_ = 0, energy_ = 0;  // kg, of a catom; J, of all at the start
  struct Sample {
    std::uint32_t in_dynamics = 0, bonds = 0, hearing = 0;
    double highest = 0;  // m
    template <class A>
    void archive(A& ar) {
      ar("in dynamics", in_dynamics), ar("bonds", bonds), ar("hearing", hearing), ar("highest", highest);
    }
  };
  std::vector<Sample> samples_;   // every tenth tick
  std::int64_t last_motion_ = 0;  // the tick after which all was still, so far
};

}  // namespace volvox::experiments::dprsim
