#include "volvox/world/dock_graph.h"

#include <algorithm>

#include "volvox/base/check.h"

namespace volvox::world {

void DockGraph::reset(std::vector<PlacementIndex> owner, std::size_t modules) {
  VOLVOX_ASSERT(std::is_sorted(owner.begin(), owner.end()));
  VOLVOX_ASSERT(owner.empty() || owner.back() < modules);
  owner_ = std::move(owner);
  partner_.assign(owner_.size(), nobody);
  connections_ = 0;
  modules_ = modules;
  stale_ = true;
  refresh();
}

void DockGraph::join(DockIndex a, DockIndex b) {
  VOLVOX_ASSERT(a < partner_.size() && b < partner_.size());
  VOLVOX_ASSERT(a != b);
  VOLVOX_CHECK(partner_[a] == nobody && partner_[b] == nobody, "a dock holds one other dock");
  partner_[a] = b;
  partner_[b] = a;
  ++connections_;
  stale_ = true;
}

void DockGraph::part(DockIndex dock) {
  VOLVOX_ASSERT(dock < partner_.size());
  VOLVOX_CHECK(partner_[dock] != nobody, "a free dock has nothing to let go");
  VOLVOX_ASSERT(partner_[partner_[dock]] == dock && connections_ > 0);
  partner_[partner_[dock]] = nobody;
  partner_[dock] = nobody;
  --connections_;
  stale_ = true;
}

bool DockGraph::consistent() const {
  if (partner_.size() != owner_.size()) return false;
  std::size_t held = 0;
  for (const DockIndex d : indices<DockIndex>(partner_)) {
    if (partner_[d] == nobody) continue;
    if (partner_[d] >= partner_.size() || partner_[partner_[d]] != d || partner_[d] == d) return false;
    ++held;
  }
  return held == 2 * connections_;
}

void DockGraph::refresh() {
  if (!stale_) return;
  joined_.reset(modules_);
  std::size_t joins = 0;
  for (const DockIndex d : indices<DockIndex>(partner_))
    if (partner_[d] != nobody) joins += joined_.join(owner_[d], owner_[partner_[d]]);
  organism_ = joined_.roots();
  organism_count_ = modules_ - joins;
  stale_ = false;
  VOLVOX_ASSERT(organism_count_ <= modules_);
}

}  // namespace volvox::world
