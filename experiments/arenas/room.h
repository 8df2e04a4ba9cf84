#pragma once

#include <memory>
#include <optional>

#include "pit.h"
#include "volvox/base/cell_grid.h"
#include "volvox/scan/cloud.h"

namespace volvox::experiments::arenas {

// A real room, built from a laser scan. A pair of Scouts drives in it, and its own laser readings are compared with the
// scan.
class Room final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override { return camera_; }
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;

 private:
  std::string camera_ = "corner";
  scan::Cloud scan_;
  scan::TriangleMesh mesh_;         // built from it
  std::unique_ptr<CellGrid> grid_;  // of the scan
  std::size_t boxes_ = 0;
  double cpu_ = 0;        // s
  double free_way_ = 0;   // m
  double error_sum_ = 0;  // m, from where a ray hit to the nearest point of the scan
  std::int64_t rays_ = 0, returned_ = 0, seen_ = 0, near_ = 0;
  std::optional<Vec3> start_;
  double way_ = 0, lowest_ = 0;  // m, relative to the start
};

}  // namespace volvox::experiments::arenas
