// The water, rubble and cloth of a world as a Cloud, so that recorder, viewer and pictures show them. Only reads.
// For the thread of the loop, between two ticks. Lengths in m, world frame.
#pragma once

#include "volvox/sim/cloud.h"
#include "volvox/world/matter.h"

namespace volvox::sim {

class MatterCloud final : public Cloud {
 public:
  // `matter` must outlive it.
  explicit MatterCloud(const world::Matter& matter);

  CloudLook cloud_look() const override;
  void cloud_items(std::vector<CloudItem>& items) const override;
  std::vector<std::string> cloud_state(std::uint32_t item) const override;
  void cloud_values(std::size_t value, std::vector<float>& out) const override;

 private:
  const world::Matter& matter_;
  double largest_ = 0;  // diameter, m
};

}  // namespace volvox::sim
