// Obstacles between radios weaken the signal. Rays between the radios are cast at the beginning of a tick, because
// positions stay the same while the network runs through the tick.
// Distances in m, powers as fractions. look() belongs to the thread of the loop; between two of them passes() only
// reads, and several threads may call it. The same poses give the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "volvox/exchange/sight.h"
#include "volvox/net/propagation.h"
#include "volvox/world/world.h"

namespace volvox::exchange {

// The occlusion between the radios of one channel.
class Occlusion {
 public:
  explicit Occlusion(double passes_body) : passes_body_(passes_body) {}

  static constexpr std::size_t most_radios = 4096;  // the table grows with the square

  // `number` is the radio's in the network; `placement` the module that carries it.
  void add(std::uint32_t number, world::PlacementIndex placement);
  bool has(std::uint32_t number) const { return number < place_.size() && place_[number] != nowhere; }
  std::size_t radios() const { return placements_.size(); }
  // Casts the rays between all pairs if anything has moved. `sight` must be up to date; `positions` (m, world frame)
  // are in the order of add().
  void look(const world::World& world, const Sight& sight, const std::vector<Vec3>& positions);

  // The fraction of the power that passes between two radios, by their numbers in the network.
  double passes(std::uint32_t a, std::uint32_t b) const {
    return table_.empty() ? 1.0 : table_[place_[a] * placements_.size() + place_[b]];
  }

 private:
  void look_from(const world::World& world, const Sight& sight, const std::vector<Vec3>& positions, std::size_t a);

  static constexpr std::size_t most_bodies = 64;  // surfaces that a ray can pass through
  static constexpr std::uint32_t nowhere = 0xffffffffu;
  double passes_body_;
  std::vector<std::uint32_t> place_;               // by number
  std::vector<world::PlacementIndex> placements_;  // in the order of add
  std::vector<double> table_;                      // by pair
  std::vector<Vec3> looked_at_;                    // the positions of the radios at the last look()
  std::uint64_t version_ = 0;                      // of the sight at the last look()

  // Scratch: the unfinished rays of one radio, and the length that each has covered.
  struct Going {
    std::size_t to = 0;
    double whole = 0, done = 0;                  // m
    std::array<std::uint32_t, most_bodies> met;  // bodies so far, one for each batch
  };
  std::vector<Going> going_;
  std::vector<Ray> rays_;
  std::vector<RayHit> hits_;
};

// A propagation model whose power is reduced by the occlusion.
std::unique_ptr<net::Propagation> dimmed(std::unique_ptr<net::Propagation> base,
                                         std::shared_ptr<const Occlusion> occlusion);

}  // namespace volvox::exchange
