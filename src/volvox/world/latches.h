// The jaws of docks that have a <volvox:latch>: they take time, press with a force, jam on what stands askew, and hold
// by form or by friction (docs/decisions/0072). This is how they move and what they hold; World joins and parts the
// docks.
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
  // Null: no dock has a latch. Docks that are engaged have theirs closed.
  static std::unique_ptr<Latches> create(const World& world);

  // What joins a pair in the engine, by its carrier dock.
  enum class Grip : std::uint8_t {
    firm,   // a dock that is pulled closed, and then does not move
    askew,  // fixed as it was captured, until the jaws jam on it
    slide,  // closed, and slides along x against friction
  };
  struct Pair {
    Grip grip = Grip::firm;
    double friction = 0;  // N, of the joint, if it slides
    double slip = 0;      // m, that it has slid out, if it is firm
    double stop = 0;      // opening (1: open) at which jaws jam on a pair that is askew
    bool told = false;    // that they have jammed
  };
  struct Jaws {
    double opening = 1;   // 1: open, 0: closed
    bool jammed = false;  // on a partner that stands askew
    bool stuck = false;   // told to open, and its load is more than its motor overcomes
  };

  const model::Latch* model(DockIndex dock) const { return models_[dock]; }  // null: a dock without a latch
  const Jaws& jaws(DockIndex dock) const { return jaws_[dock]; }
  Pair& pair(DockIndex carrier) { return pairs_[carrier]; }
  const Pair& pair(DockIndex carrier) const { return pairs_[carrier]; }

  // Of a free dock: whether its jaws are open. True of a dock without a latch.
  bool ready(DockIndex dock) const { return models_[dock] == nullptr || jaws_[dock].opening >= 1; }
  bool closed(DockIndex dock) const { return models_[dock] == nullptr || jaws_[dock].opening <= 0; }
  bool any(DockIndex a, DockIndex b) const { return models_[a] != nullptr || models_[b] != nullptr; }
  // Whether teeth of one of the two stand behind an edge.
  bool form(DockIndex a, DockIndex b) const;
  // Of a pair of docks, of which one has a latch: whether all jaws have been told to open, and are open.
  bool let_go(const World& world, DockIndex a, DockIndex b) const;
  bool jammed(DockIndex a, DockIndex b) const;
  // The force along x that holds a pair by friction, N: of jaws that are closed or jammed.
  double held_by_friction(DockIndex a, DockIndex b) const;
  double force(DockIndex a, DockIndex b) const;       // N, with which the jaws of both press
  double depth(DockIndex a, DockIndex b) const;       // m, the longest of both
  double close_time(DockIndex a, DockIndex b) const;  // s, of the slower of both
  // How far two docks stand askew, in multiples of what the jaws bear: `aside` (m, across x) and `angle` (rad).
  double misfit(DockIndex a, DockIndex b, double aside, double angle) const;

  // All jaws move for a time, s. Those of free docks open.
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
