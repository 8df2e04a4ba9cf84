// What stands between two radios: rays through the world, cast at the start of a tick, because
// that is where everything is while the network runs through the tick.
#pragma once

#include <memory>
#include <vector>

#include "volvox/net/propagation.h"
#include "volvox/world/world.h"

namespace volvox::mind {

// Of the radios of one channel.
class Occlusion {
 public:
  explicit Occlusion(double passes_body) : passes_body_(passes_body) {}

  static constexpr std::size_t most_radios = 4096;  // the table has their square

  // `number` is the radio's in the network; `placement` the module that carries it.
  void add(std::uint32_t number, std::uint32_t placement);
  bool has(std::uint32_t number) const { return number < place_.size() && place_[number] != nowhere; }
  std::size_t radios() const { return placements_.size(); }
  void look(const world::World& world, const std::vector<Vec3>& positions);  // in the order of add

  // The fraction of the power that passes between two radios, by their numbers in the network.
  double passes(std::uint32_t a, std::uint32_t b) const {
    return table_.empty() ? 1.0 : table_[place_[a] * placements_.size() + place_[b]];
  }

 private:
  double between(const world::World& world, std::size_t a, const Vec3& from, std::size_t b, const Vec3& to) const;

  static constexpr std::uint32_t nowhere = 0xffffffffu;
  double passes_body_;
  std::vector<std::uint32_t> place_;       // by number
  std::vector<std::uint32_t> placements_;  // in the order of add
  std::vector<Vec3> looked_at_;            // where the radios were then
  std::vector<Pose> poses_;                // and all bodies
  std::vector<double> table_;
};

// Another model, dimmed by what stands between.
std::unique_ptr<net::Propagation> dimmed(std::unique_ptr<net::Propagation> base,
                                         std::shared_ptr<const Occlusion> occlusion);

}  // namespace volvox::mind
