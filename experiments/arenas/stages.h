// What a reconstruction goes through, as a world to look at: figures 2 and 5 of the Symbrion paper.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/model/world_builder.h"
#include "volvox/scan/mesh.h"
#include "volvox/sim/cloud.h"

namespace volvox::experiments::arenas {

// A rectangle around the points of each label, in its plane, each in a colour of its own. A label below 0 is no plane.
void add_rectangles(model::WorldBuilder& builder, std::span<const Vec3> points, std::span<const std::int32_t> label);
// The borders of the flat faces of a mesh, as rods.
void add_borders(model::WorldBuilder& builder, const scan::TriangleMesh& mesh);

// Points of a laser, coloured by their height. They neither move nor think.
class PointCloud final : public sim::Cloud {
 public:
  PointCloud() = default;
  explicit PointCloud(const std::vector<Vec3>& points);
  sim::CloudLook cloud_look() const override;
  void cloud_items(std::vector<sim::CloudItem>& items) const override { items = items_; }
  std::vector<std::string> cloud_state(std::uint32_t item) const override;
  void cloud_values(std::size_t value, std::vector<float>& out) const override;

 private:
  std::vector<sim::CloudItem> items_;
};

}  // namespace volvox::experiments::arenas
