#pragma once

#include "pit.h"
#include "volvox/scan/evaluate.h"

namespace volvox::experiments::arenas {

// On-line refinement: a pair of Scouts with an upright laser and a camera drives along the pit of the arena. The first
// laser points become a mesh, which is refined with the new points every few seconds. At the end the camera's pictures
// colour it.
class Explore final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override { return overview; }
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;

 private:
  void learn();
  scan::TriangleMesh mesh() const;

  scan::BuildOptions build_;
  double every_ = 3;  // s
  scan::TriangleMesh truth_;
  // The current mesh.
  std::vector<Vec3> vertices_;
  std::vector<scan::Triangle> triangles_;
  // The first mesh, and the last one in the camera's colours: written to the run's folder.
  std::vector<Vec3> first_vertices_;
  std::vector<scan::Triangle> first_triangles_;
  scan::TriangleMesh last_;
  std::vector<Vec3> points_;  // seen since the last mesh was made; world frame
  std::vector<Vec3> camera_at_;
  std::vector<Quat> camera_turn_;
  std::vector<std::vector<std::uint8_t>> pictures_;
  std::vector<double> f_scores_, completeness_;  // of each mesh: F-score at 2 cm; m
  double next_ = 0, next_picture_ = 0;           // s
  std::int64_t failures_ = 0;
};

}  // namespace volvox::experiments::arenas
