#include "volvox/world/dock_graph.h"

#include <algorithm>

#include "volvox/base/check.h"

namespace volvox::world {

void DockGraph::reset(std::vector<std::uint32_t> owner, std::size_t modules) {
  VOLVOX_ASSERT(std::is_sorted(owner.begin(), owner.end()));
  VOLVOX_ASSERT(owner.empty() || owner.back() < modules);
  owner_ = std::move(owner);
  partner_.assign(owner_.size(), nobody);
  connections_ = 0;
  modules_ = modules;
  first_dock_.assign(modules + 1, static_cast<std::uint32_t>(owner_.size()));
  for (std::size_t d = owner_.size(); d-- > 0;) first_dock_[owner_[d]] = static_cast<std::uint32_t>(d);
  for (std::size_t m = modules; m-- > 0;)
    if (first_dock_[m] > first_dock_[m + 1]) first_dock_[m] = first_dock_[m + 1];
  stale_ = true;
  refresh();
}

void DockGraph::join(std::uint32_t a, std::uint32_t b) {
  VOLVOX_ASSERT(a < partner_.size() && b < partner_.size());
  VOLVOX_ASSERT(a != b);
  VOLVOX_CHECK(partner_[a] == nobody && partner_[b] == nobody, "a dock holds one other dock");
  partner_[a] = b;
  partner_[b] = a;
  ++connections_;
  stale_ = true;
}

void DockGraph::part(std::uint32_t dock) {
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
  for (std::uint32_t d = 0; d < partner_.size(); ++d) {
    if (partner_[d] == nobody) continue;
    if (partner_[d] >= partner_.size() || partner_[partner_[d]] != d || partner_[d] == d) return false;
    ++held;
  }
  return held == 2 * connections_;
}

void DockGraph::refresh() {
  if (!stale_) return;
  VOLVOX_ASSERT(consistent());
  VOLVOX_ASSERT(first_dock_.size() == modules_ + 1);
  organism_.assign(modules_, nobody);
  organism_count_ = 0;
  std::vector<std::uint32_t> open;
  for (std::uint32_t start = 0; start < modules_; ++start) {
    if (organism_[start] != nobody) continue;
    ++organism_count_;
    organism_[start] = start;
    open.push_back(start);
    while (!open.empty()) {
      const std::uint32_t module = open.back();
      open.pop_back();
      for (std::uint32_t d = first_dock_[module]; d < first_dock_[module + 1]; ++d) {
        const std::uint32_t next = neighbor(d);
        if (next == nobody || organism_[next] != nobody) continue;
        organism_[next] = start;
        open.push_back(next);
      }
    }
  }
  stale_ = false;
  VOLVOX_ASSERT(organism_count_ <= modules_);
}

}  // namespace volvox::world
