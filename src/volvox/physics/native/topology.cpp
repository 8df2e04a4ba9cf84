#include "volvox/physics/native/topology.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "volvox/base/union_find.h"
#include "volvox/physics/native/loop.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {
namespace {

// The graph of one island. Bodies are numbered by their order in `members`.
class Graph {
 public:
  struct Edge {
    int to;  // a member
    int joint;
  };

  // Both sorted.
  Graph(const World& world, const std::vector<int>& members, const std::vector<int>& joints,
        const std::vector<int>& member_of)
      : members_(members), first_(members.size() + 1) {
    const auto member = [&](BodyId id) { return world.system.moves(id) ? member_of[id.index] : -1; };
    struct Link {
      int a, b, joint;
    };
    std::vector<Link> links;
    links.reserve(joints.size());
    for (int joint : joints) {
      const JointDesc& desc = world.system.joint_descs[static_cast<std::size_t>(joint)];
      const Link link{member(desc.a), member(desc.b), joint};
      if (link.a >= 0 && link.b >= 0) {
        links.push_back(link);
        ++first_[static_cast<std::size_t>(link.a) + 1], ++first_[static_cast<std::size_t>(link.b) + 1];
      } else {
        anchors_.push_back({link.a >= 0 ? link.a : link.b, joint});
      }
    }
    inner_ = links.size();
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    edges_.resize(2 * links.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const Link& link : links) {
      edges_[next[static_cast<std::size_t>(link.a)]++] = {link.b, link.joint};
      edges_[next[static_cast<std::size_t>(link.b)]++] = {link.a, link.joint};
    }
  }

  bool tree() const { return inner_ + 1 == members_.size() && anchors_.size() <= 1; }

  // `for_segments`: see TreePlan.
  TreePlan plan(bool for_segments = false) const {
    TreePlan plan;
    plan.for_segments = for_segments;
    plan.steps.reserve(members_.size());
    const int root = !anchors_.empty() ? anchors_[0].to : for_segments ? farthest_path(0).front() : centre();
    const std::vector<int> sizes = for_segments ? subtree_sizes(root) : std::vector<int>{};
    std::vector<Edge> sorted;
    struct Visit {
      int member, parent, joint;
    };
    std::vector<Visit> stack{{root, -1, anchors_.empty() ? -1 : anchors_[0].joint}};
    while (!stack.empty()) {
      const Visit at = stack.back();
      stack.pop_back();
      const int step = static_cast<int>(plan.steps.size());
      plan.steps.push_back({members_[static_cast<std::size_t>(at.member)], at.parent, at.joint});
      std::span<const Edge> out = edges(at.member);
      if (for_segments && out.size() > 2) {
        sorted.assign(out.begin(), out.end());
        std::stable_sort(sorted.begin(), sorted.end(), [&](const Edge& x, const Edge& y) {
          return sizes[static_cast<std::size_t>(x.to)] < sizes[static_cast<std::size_t>(y.to)];
        });
        out = sorted;
      }
      for (std::size_t i = out.size(); i-- > 0;) {
        if (out[i].joint != at.joint) stack.push_back({out[i].to, step, out[i].joint});
      }
    }
    return plan;
  }

 private:
  std::span<const Edge> edges(int member) const {
    const std::size_t i = static_cast<std::size_t>(member);
    return {edges_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  // The middle of the longest path: the recursion is then as shallow as it can be.
  int centre() const {
    const std::vector<int> there = farthest_path(0);
    const std::vector<int> path = farthest_path(there.front());
    return path[path.size() / 2];
  }
  // Nearest first; `previous`: by member, the one before it on the way from the first.
  std::vector<int> by_distance(int from, std::vector<int>& previous) const {
    std::vector<int> queue;
    previous.assign(members_.size(), -2);
    queue.reserve(members_.size());
    queue.push_back(from);
    previous[static_cast<std::size_t>(from)] = -1;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const Edge& edge : edges(queue[i])) {
        if (previous[static_cast<std::size_t>(edge.to)] != -2) continue;
        previous[static_cast<std::size_t>(edge.to)] = queue[i];
        queue.push_back(edge.to);
      }
    }
    return queue;
  }
  std::vector<int> subtree_sizes(int root) const {
    std::vector<int> previous, sizes(members_.size(), 1);
    const std::vector<int> queue = by_distance(root, previous);
    for (std::size_t i = queue.size(); i-- > 1;)
      sizes[static_cast<std::size_t>(previous[static_cast<std::size_t>(queue[i])])] +=
          sizes[static_cast<std::size_t>(queue[i])];
    return sizes;
  }
  // From the member farthest from `from` back to it.
  std::vector<int> farthest_path(int from) const {
    std::vector<int> previous;
    const std::vector<int> queue = by_distance(from, previous);
    std::vector<int> path;
    for (int at = queue.back(); at >= 0; at = previous[static_cast<std::size_t>(at)]) path.push_back(at);
    return path;
  }

  const std::vector<int>& members_;
  std::vector<Edge> edges_;         // by member, one behind the other
  std::vector<std::size_t> first_;  // by member; one more at the end
  std::vector<Edge> anchors_;       // joints to what does not move freely
  std::size_t inner_ = 0;
};

}  // namespace

void Topology::touch(World& world, std::size_t body) {
  if (open_.size() < world.bodies.size()) open_.resize(world.bodies.size());
  const int island = world.bodies[body].island;
  if (island >= 0) dissolve(world, island);
  if (!open_[body]) {
    open_[body] = 1;
    touched_.push_back(static_cast<int>(body));
  }
}

void Topology::dissolve(World& world, int island) {
  const std::size_t slot = static_cast<std::size_t>(island);
  for (int body : islands_[slot]->bodies()) {
    world.bodies[static_cast<std::size_t>(body)].island = -1;
    if (open_[static_cast<std::size_t>(body)]) continue;
    open_[static_cast<std::size_t>(body)] = 1;
    touched_.push_back(body);
  }
  if (dynamic_cast<Tree*>(islands_[slot].get())) {
    spares_.emplace_back(static_cast<Tree*>(islands_[slot].release()));
    spares_.back()->give_segments(packs_);
  }
  islands_[slot].reset();
  free_slots_.push_back(island);
}

// The smallest that has room, but not far too much, among the latest: a search through all would take
// the square of the time where thousands of trees are laid out anew at once. Null if none has.
std::unique_ptr<Tree> Topology::spare_tree(std::size_t nodes) {
  constexpr std::size_t most_looked_at = 64;
  const std::size_t first = spares_.size() - std::min(spares_.size(), most_looked_at);
  std::size_t best = spares_.size(), least = 4 * nodes + 1;
  for (std::size_t i = spares_.size(); i-- > first && least > nodes;) {
    const std::size_t room = spares_[i]->room();
    if (room >= nodes && room < least) best = i, least = room;
  }
  if (best == spares_.size()) return nullptr;
  std::unique_ptr<Tree> tree = std::move(spares_[best]);
  spares_.erase(spares_.begin() + static_cast<std::ptrdiff_t>(best));
  return tree;
}

void Topology::update(World& world) {
  if (touched_.empty()) return;
  ++version_;
  std::sort(touched_.begin(), touched_.end());
  std::sort(free_slots_.begin(), free_slots_.end(), std::greater<>());
  for (int body : touched_) {
    const std::size_t i = static_cast<std::size_t>(body);
    if (!open_[i]) continue;
    open_[i] = 0;
    if (!world.system.body_ids.alive_index(i) || !world.bodies[i].dynamic) continue;
    gather(world, i);
    build(world);
  }
  touched_.clear();
  drop_spares(world.bodies.size());
  packs_.drop(world.bodies.size());
}

// No more than would hold all bodies once; the latest are the likeliest to fit.
void Topology::drop_spares(std::size_t bodies) {
  std::size_t room = 0, kept = 0;
  while (kept < spares_.size() && room + spares_[spares_.size() - 1 - kept]->room() <= bodies)
    room += spares_[spares_.size() - 1 - kept++]->room();
  spares_.erase(spares_.begin(), spares_.end() - static_cast<std::ptrdiff_t>(kept));
}

// Everything that hangs on a body through joints between bodies that move freely.
void Topology::gather(const World& world, std::size_t body) {
  members_.assign(1, static_cast<int>(body));
  joints_.clear();
  open_[body] = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (JointId id : world.system.joints_of[static_cast<std::size_t>(members_[i])]) {
      const JointDesc& desc = world.system.joint_descs[id.index];
      const auto moves = [&](BodyId end) { return end.valid() && world.bodies[end.index].dynamic; };
      // Once of two members.
      if (static_cast<int>(desc.b.index) == members_[i] || !moves(desc.b) || !moves(desc.a))
        joints_.push_back(static_cast<int>(id.index));
      for (BodyId end : {desc.a, desc.b}) {
        if (!end.valid() || !world.bodies[end.index].dynamic || !open_[end.index]) continue;
        open_[end.index] = 0;
        members_.push_back(static_cast<int>(end.index));
      }
    }
  }
  const auto sort = [](std::vector<int>& list) {
    if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
  };
  sort(members_), sort(joints_);
  member_.resize(world.bodies.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    member_[static_cast<std::size_t>(members_[i])] = static_cast<int>(i);
}

// Trees are alike if all that does not change is the same to the bit.
int Topology::pattern_of(const Tree& tree) {
  std::size_t key = tree.shapes().size();
  for (const NodeShape& shape : tree.shapes()) {
    for (double x : {shape.mass, shape.moments.x, shape.anchor_parent.x, shape.anchor_child.x, shape.axis_parent.x})
      key = key * 31 + std::hash<double>{}(x);
  }
  auto& alike = patterns_[key];
  for (const auto& [number, shapes] : alike) {
    if (shapes == tree.shapes()) return number;
  }
  alike.push_back({pattern_count_, tree.shapes()});
  return pattern_count_++;
}

void Topology::find_clusters(World& world) const {
  const auto cluster = [&](int body) -> int& { return world.bodies[static_cast<std::size_t>(body)].cluster; };
  for (int body : members_) cluster(body) = body;
  for (int joint : joints_) {
    const JointDesc& desc = world.system.joint_descs[static_cast<std::size_t>(joint)];
    if ((desc.type != JointType::fixed && desc.type != JointType::dock) || !world.system.moves(desc.a) ||
        !world.system.moves(desc.b))
      continue;
    join_sets(static_cast<int>(desc.a.index), static_cast<int>(desc.b.index), cluster);
  }
  for (int body : members_) cluster(body) = find_root(body, cluster);
}

void Topology::build(World& world) {
  find_clusters(world);
  const Graph graph(world, members_, joints_, member_);
  std::unique_ptr<Island> island;
  if (graph.tree()) {
    std::unique_ptr<Tree> tree;
    if (members_.size() > Tree::most_uncut) {
      tree = std::make_unique<Tree>(world, graph.plan(true), spare_tree(members_.size()), &packs_);
      if (!tree->cut()) spares_.push_back(std::move(tree));
    }
    if (!tree) tree = std::make_unique<Tree>(world, graph.plan(), spare_tree(members_.size()));
    if (tree->fits_flock()) tree->set_pattern(pattern_of(*tree));
    island = std::move(tree);
  } else {
    island = std::make_unique<Loop>(world, members_, joints_);
  }
  int slot = static_cast<int>(islands_.size());
  if (free_slots_.empty()) {
    islands_.push_back(nullptr);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  for (std::size_t i = 0; i < island->bodies().size(); ++i) {
    Body& body = world.bodies[static_cast<std::size_t>(island->bodies()[i])];
    body.island = slot;
    body.node = static_cast<int>(i);
  }
  islands_[static_cast<std::size_t>(slot)] = std::move(island);
}

}  // namespace volvox::physics::native
