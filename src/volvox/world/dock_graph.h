// The graph of connected docks and its connected components, the organisms. Independent of physics.
// Deterministic: organisms have the number of their lowest module, whatever the order of joining.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/union_find.h"
#include "volvox/world/indices.h"

namespace volvox::world {

// Docks and modules are numbered 0, 1, ... over the whole world. One thread changes it; several may read.
class DockGraph {
 public:
  // `owner[d]` is the module (or obstacle) that dock d belongs to.
  void reset(std::vector<PlacementIndex> owner, std::size_t modules);

  void join(DockIndex a, DockIndex b);
  void part(DockIndex dock);  // and its partner

  DockIndex partner(DockIndex dock) const { return partner_[dock]; }
  PlacementIndex owner(DockIndex dock) const { return owner_[dock]; }
  // The module that is connected through that dock, or nobody.
  PlacementIndex neighbor(DockIndex dock) const { return partner_[dock] == nobody ? nobody : owner_[partner_[dock]]; }
  std::size_t docks() const { return partner_.size(); }
  std::size_t connections() const { return connections_; }

  // The organism of each module at the last refresh(), identified by its lowest module number. Sensors may read it from
  // several threads.
  std::span<const std::uint32_t> organisms() const { return organism_; }
  std::size_t organism_count() const { return organism_count_; }
  // Recomputes the organisms if a connection has changed; in most ticks none has.
  void refresh();

  // Whether partners are mutual and in range: those of a damaged snapshot may not be.
  bool consistent() const;

  template <class A>
  void archive(A& ar) {
    ar("partner", partner_);
    ar("connections", connections_);
    if (ar.loading()) stale_ = true;
  }

 private:
  std::vector<PlacementIndex> owner_;
  std::vector<DockIndex> partner_;
  std::size_t connections_ = 0;
  std::size_t modules_ = 0;

  bool stale_ = true;
  UnionFind joined_;
  std::vector<std::uint32_t> organism_;
  std::size_t organism_count_ = 0;
};

}  // namespace volvox::world
