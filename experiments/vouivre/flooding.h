#pragma once

#include "flood_run.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::vouivre {

// The Vouivre paper, section V.B: a packet floods a structure of catoms. The base of both experiments; a run is one
// simulation of figure 13 or 11.
class Flooding : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;

 protected:
  virtual Plan plan(const sim::Setup& setup) const = 0;
  static Assumptions assumptions(const std::map<std::string, std::string>& settings);
  static std::vector<model::ParameterDesc> assumption_parameters();

 private:
  Plan plan_;
  FloodResult result_;
};

class Checkerboard final : public Flooding {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;

 protected:
  Plan plan(const sim::Setup& setup) const override;
};

class Cross final : public Flooding {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;

 protected:
  Plan plan(const sim::Setup& setup) const override;
};

}  // namespace volvox::experiments::vouivre
