#pragma once

#include "pit.h"
#include "volvox/scan/evaluate.h"

namespace volvox::experiments::arenas {

// On-line refinement: a pair of Scouts with an upright laser and a camera drives through the
// arena, along its pit. What it saw first becomes a mesh; every few seconds the mesh takes in what it has seen since.
// At the end the camera's pictures colour it.
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
  // The arena as known, and what was seen since it was last made.
  std::vector<Vec3> vertices_;
  std::vector<scan::Triangle> triangles_;
  // As first made, and as last, in the camera's colours: to be looked at.
  std::vector<Vec3> first_vertices_;
  std::vector<scan::Triangle> first_triangles_;
  scan::TriangleMesh last_;
  std::vector<Vec3> points_;
  std::vector<Vec3> camera_at_;
  std::vector<Quat> camera_turn_;
  std::vector<std::vector<std::uint8_t>> pictures_;
  std::vector<double> f_scores_, completeness_;  // at 2 cm, and in m; after each time it learned
  double next_ = 0, next_picture_ = 0;           // s
  std::int64_t failures_ = 0;
};

}  // namespace volvox::experiments::arenas
