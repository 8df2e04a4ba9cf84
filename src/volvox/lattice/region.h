// The catoms that this process has, where several share a world (cluster/exchange.h): consecutive numbers. In a box of
// cells, an image and a filled mesh these are layers or rows. All processes know all cells, so that motions, radio and
// whether the ensemble hangs together need no other rules than in one process; states of programs, messages and the
// work of a tick are cut. Why: docs/decisions/0055.
// What is the same on all ranks is said once; what each has a part of is summed, or put together in the order of the
// ranks, which is that of the catoms. So states hash and save to the same bytes at any number of ranks.
// For the thread of the world; has(), first() and owner() for any thread.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/cluster/exchange.h"

namespace volvox::lattice {

class Region {
 public:
  explicit Region(cluster::Exchange* ranks = nullptr) : ranks_(ranks) {}

  bool alone() const { return ranks_ == nullptr; }
  bool leads() const { return alone() || ranks_->rank() == 0; }
  int rank() const { return alone() ? 0 : ranks_->rank(); }
  int ranks() const { return alone() ? 1 : ranks_->size(); }
  cluster::Exchange* exchange() const { return ranks_; }

  // Once, when the first catoms are added: so many. Those that are added later belong to the last rank.
  void cut(std::size_t catoms);
  bool is_cut() const { return alone() || !firsts_.empty(); }

  std::uint32_t first() const { return first_; }
  bool has(std::uint32_t catom) const { return catom - first_ < size_; }
  std::size_t count(std::size_t catoms) const {  // of so many, those that it has
    return catoms <= first_ ? 0 : std::min<std::size_t>(catoms - first_, size_);
  }
  int owner(std::uint32_t catom) const;

  // Collective.
  std::uint64_t sum(std::uint64_t own) const { return alone() ? own : ranks_->sum("sum", own); }
  bool any(bool own) const { return sum(own ? 1 : 0) > 0; }
  // What each rank writes, one after another. On ranks other than the first nothing comes into `ar`: only that of the
  // first rank is complete. Not while loading.
  void archive_parts(Archive& ar, const std::function<void(Archive&)>& own) const;
  // Letters of all ranks at the first one, by rank; elsewhere nothing.
  std::vector<std::string> collect(const std::string& own) const;

 private:
  void each_piece(const std::string& own,
                  const std::function<void(std::size_t from, const std::string& bytes)>& take) const;

  cluster::Exchange* ranks_;
  std::uint32_t first_ = 0, size_ = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> firsts_;  // by rank
};

// An experiment, or another thing that runs a world of catoms, which several processes can share.
class SharedByRanks {
 public:
  virtual void share(cluster::Exchange& ranks) = 0;  // before it makes its world

 protected:
  ~SharedByRanks() = default;
};

}  // namespace volvox::lattice
