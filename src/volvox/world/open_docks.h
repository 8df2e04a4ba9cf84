// The docks that are free to connect, by owner, and the pairs of owners that are near each other. Most robots of a
// swarm are alone, and their docks need not be looked at.
//
// Every owner has a box around its links with free docks. Pairs of owners are listed with a margin, and the list stays
// valid until an owner leaves its box. Positions in m, world frame. For one thread. The result follows from the
// positions alone; earlier lists do not change it.
#pragma once

#include <span>
#include <vector>

#include "volvox/base/cell_grid.h"
#include "volvox/base/math.h"
#include "volvox/world/indices.h"

namespace volvox::world {

class OpenDocks {
 public:
  struct Owner {
    std::uint32_t first_dock = 0, first_link = 0;  // those of the next owner are the end
  };

  void clear();
  // To be called in the order of docks, all docks of an owner after each other. `body`: the index of the pose of its
  // link. `arm` (m): how far the dock is from the origin of the link.
  void add(DockIndex dock, PlacementIndex owner, std::uint32_t body, double arm);
  void finish();  // after the last

  // The numbers of the owners whose boxes are within `reach` of the box of another one, in their order.
  const std::vector<std::uint32_t>& owners_within(double reach, std::span<const Pose> poses);
  std::span<const DockIndex> docks_of(std::uint32_t owner) const {
    return std::span(docks_).subspan(owners_[owner].first_dock,
                                     owners_[owner + 1].first_dock - owners_[owner].first_dock);
  }
  std::size_t lists_made() const { return lists_made_; }  // for tests
  std::size_t memory_bytes() const;

 private:
  struct Link {
    std::uint32_t body;
    double arm;  // of its farthest dock
  };
  struct Box {
    Vec3 low, high;
  };
  // With more pairs for each owner, or boxes so much larger than most, there is no list: all owners are looked at.
  static constexpr std::size_t most_pairs_an_owner = 32;
  static constexpr double much_larger = 8;

  std::size_t size() const { return owners_.empty() ? 0 : owners_.size() - 1; }
  Box box_of(std::uint32_t owner, std::span<const Pose> poses) const;
  static bool within(const Box& inner, const Box& outer);
  static bool near(const Box& a, const Box& b, double reach);
  void list_pairs(double reach);

  std::vector<DockIndex> docks_;
  std::vector<Link> links_;
  std::vector<Owner> owners_;  // and an end
  PlacementIndex last_owner_{};
  double listed_reach_ = -1;  // negative: nothing is listed
  bool all_ = false;          // instead of pairs
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::vector<Box> boxes_, listed_boxes_;
  std::vector<std::uint8_t> found_;
  std::vector<std::uint32_t> owners_found_;
  std::vector<Vec3> centres_;
  CellGrid grid_;
  std::size_t lists_made_ = 0;
};

}  // namespace volvox::world
