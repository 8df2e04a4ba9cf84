// Which bodies hang together, and how each island is laid out. What comes out depends only on
// the bodies and joints that there are, not on the order in which they came and went.
// By one thread, when joints have changed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "volvox/physics/native/contact_solver.h"
#include "volvox/physics/native/island.h"
#include "volvox/physics/native/segments.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {

class Topology {
 public:
  const Islands& islands() const { return islands_; }
  Islands& islands() { return islands_; }

  // A body came, went or changed its joints: its island is laid out anew at the next update.
  void touch(World& world, std::size_t body);
  void update(World& world);
  // Another number whenever islands have changed.
  std::uint64_t version() const { return version_; }

 private:
  void dissolve(World& world, int island);
  void gather(const World& world, std::size_t body);
  void build(World& world);
  void find_clusters(World& world) const;
  int pattern_of(const Tree& tree);
  std::unique_ptr<Tree> spare_tree(std::size_t nodes);
  void drop_spares(std::size_t bodies);

  Islands islands_;
  std::uint64_t version_ = 0;
  std::map<std::size_t, std::vector<std::pair<int, std::vector<NodeShape>>>> patterns_;  // by hash
  int pattern_count_ = 0;
  std::vector<int> free_slots_;
  std::vector<std::unique_ptr<Tree>> spares_;  // gone; their memory serves others
  SegmentPool packs_;                          // likewise
  std::vector<int> member_;                    // by body: its place among the members of its island, when it was built
  std::vector<int> touched_;                   // bodies whose island is gone
  std::vector<std::uint8_t> open_;             // by body: waits for an island
  std::vector<int> members_;                   // bodies of the island being built, in the order found
  std::vector<int> joints_;                    // its joints, each once, by index
};

}  // namespace volvox::physics::native
