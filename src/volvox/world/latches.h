// The jaws of docks that have a <volvox:latch> (docs/decisions/0072): they take time to close, press with a force, jam
// on a partner that is not aligned ("askew"), and hold by form (teeth behind an edge) or by friction. This class has
// their motion and what they can hold; World connects and disconnects the docks.
//
// SI units. The world owns it. Const functions may be called from several threads at once; the others by one. The same
// calls give the same bits.
#pragma once

#include <memory>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/math.h"
#include "volvox/world/indices.h"

namespace volvox::model {
struct Latch;
}

namespace volvox::world {

class World;

class Latches {
 public:
  // Null: no dock has a latch. The jaws of docks that are engaged begin closed.
  static std::unique_ptr<Latches> create(const World& world);

  // How the engine's joint of a pair holds it. Pairs are numbered by their carrier dock.
  enum class Grip : std::uint8_t {
    firm,   // it is pulled closed, and then does not move
    askew,  // fixed as it was captured; the jaws will jam on it
    slide,  // closed, and slides along x against friction
  };
  struct Pair {
    Grip grip = Grip::firm;
    double friction = 0;  // N, of the joint; only if it slides
    double slip = 0;      // m by which it has slid out; only if it is firm
    double stop = 0;      // opening (1: open) at which jaws jam on a pair that is askew
    bool told = false;    // the event `jammed` has been reported
  };
  struct Jaws {
    double opening = 1;   // 1: open, 0: closed
    bool jammed = false;  // on a partner that stands askew
    bool stuck = false;   // commanded to open, but the load is too large for its motor
  };

  const model::Latch* model(DockIndex dock) const { return models_[dock]; }  // null: a dock without a latch
  const Jaws& jaws(DockIndex dock) const { return jaws_[dock]; }
  Pair& pair(DockIndex carrier) { return pairs_[carrier]; }
  const Pair& pair(DockIndex carrier) const { return pairs_[carrier]; }

  // Whether the jaws of a free dock are open; true if it has no latch.
  bool ready(DockIndex dock) const { return models_[dock] == nullptr || jaws_[dock].opening >= 1; }
  bool closed(DockIndex dock) const { return models_[dock] == nullptr || jaws_[dock].opening <= 0; }
  bool any(DockIndex a, DockIndex b) const { return models_[a] != nullptr || models_[b] != nullptr; }
  // Whether one of the two holds by form.
  bool form(DockIndex a, DockIndex b) const;
  // Whether all jaws of a pair have been commanded to open and are open. At least one of the docks has a latch.
  bool let_go(const World& world, DockIndex a, DockIndex b) const;
  bool jammed(DockIndex a, DockIndex b) const;
  // The friction along x with which jaws that are closed or jammed hold a pair, N.
  double held_by_friction(DockIndex a, DockIndex b) const;
  double force(DockIndex a, DockIndex b) const;       // N: the sum of the pressing forces of both
  double depth(DockIndex a, DockIndex b) const;       // m, the larger of both
  double close_time(DockIndex a, DockIndex b) const;  // s, the longer of both
  // The misalignment of two docks, `aside` (m, across x) and `angle` (rad), as a multiple of what the jaws tolerate.
  double misfit(DockIndex a, DockIndex b, double aside, double angle) const;

  // Moves all jaws for a time (s). Those of free docks open.
  void move(const World& world, double time);

  void archive(Archive& ar);
  std::size_t memory_bytes() const;

 private:
  void open(const World& world, DockIndex dock, double time);
  void close(const World& world, DockIndex dock, double time);
  template <class Visit>
  void each_of(DockIndex a, DockIndex b, const Visit& visit) const {
    for (const DockIndex dock : {a, b})
      if (models_[dock] != nullptr) visit(dock);
  }

  std::vector<const model::Latch*> models_;  // by dock
  std::vector<DockIndex> latched_;           // the docks that have one

  // The state.
  std::vector<Jaws> jaws_;
  std::vector<Pair> pairs_;
};

}  // namespace volvox::world
