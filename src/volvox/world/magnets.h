// The magnets of all modules: poles that modules switch, and that pull and push each other (docs/magnets.md).
//
// Two poles of strength p and q (A m, with the sign of the pole), r apart, have the energy
//   U(r) = mu0 / (4 pi) p q (1 / sqrt(r^2 + a^2) - 1 / sqrt(R^2 + a^2)),  0 where r > R,
// and push each other by -dU/dr along the line between them: Coulomb's law of magnetic poles, rounded off at the size
// a = sqrt((a1^2 + a2^2) / 2) and cut off at the shorter of both ranges. Equal poles push, opposite ones pull. Poles of
// one link do not act on each other.
//
// SI units, world frame. The world owns it and calls it in its move phase. The forces on two bodies are equal and
// opposite to the last bit. The same calls give the same bits.
#pragma once

#include <memory>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/cell_grid.h"
#include "volvox/model/module_model.h"
#include "volvox/world/indices.h"

namespace volvox::world {

class World;

// Of two poles at a distance. `push` is the force that drives them apart (N), negative where they attract each other.
struct PolePair {
  double push = 0;    // N
  double energy = 0;  // J
};
// p and q: strengths with the sign of the poles, A m; size and range are those of the pair, m.
PolePair pole_pair(double p, double q, double distance, double size, double range);

class Magnets {
 public:
  // Null: no module has a magnet.
  static std::unique_ptr<Magnets> create(const World& world);

  void set(PlacementIndex placement, int magnet, double pole) { poles_[first_[placement] + magnet] = pole; }
  double pole(PlacementIndex placement, int magnet) const { return poles_[first_[placement] + magnet]; }

  // Adds the forces of all poles that are on to those of the engine's next advance.
  void pull(World& world);
  double energy(const World& world) const;  // J, of all pairs

  void archive(Archive& ar);
  std::size_t memory_bytes() const;

 private:
  struct Magnet {
    const model::Magnet* model = nullptr;
    LinkIndex link;
  };
  // A magnet that is on.
  struct Pole {
    std::uint32_t magnet = 0;
    double strength = 0;
    Vec3 position;
  };
  void gather(const World& world, std::vector<Pole>& poles, CellGrid& grid) const;
  // visit(pole, pole, what they do to each other, their distance) for each pair within reach, in a fixed order.
  template <class Visit>
  void each_pair(const std::vector<Pole>& poles, const CellGrid& grid, const Visit& visit) const;

  std::vector<Magnet> magnets_;
  std::vector<std::uint32_t> first_;  // by placement
  double reach_ = 0;                  // m, the longest range
  std::vector<double> poles_;         // by magnet: -1 to 1; the state

  std::vector<Pole> on_;  // scratch
  CellGrid grid_;
};

}  // namespace volvox::world
