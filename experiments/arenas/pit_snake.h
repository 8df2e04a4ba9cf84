#pragma once

#include "pit.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {

// The Symbrion paper, section 3.1 and figure 7: a snake of Scouts drives over a pit. A long snake crosses it; a short
// one falls in.
class PitSnake final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Pit pit_;
  std::string arena_;
  std::size_t triangles_ = 0;
  double crossed_at_ = -1;  // s; negative: not yet
  double lowest_ = 1;       // m, height of the lowest hinge so far
  double dock_distance_ = 0;
  double spanned_ = -2;  // m, the farthest that the foremost hinge came while all stood on the floor
  bool beside_ = false;  // a Scout was beside the pit: to go around is not to cross
  // Wall time of the move phase; not part of the state.
  double spent_ = 0;  // s, up to the last tick
  double sum_ = 0, squares_ = 0;
  std::vector<double> ticks_;  // s, of each tick
  std::int64_t measured_ = 0;
};

}  // namespace volvox::experiments::arenas
