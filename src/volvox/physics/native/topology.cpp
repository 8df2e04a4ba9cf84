#include "volvox/physics/native/topology.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>

#include "volvox/base/check.h"
#include "volvox/base/union_find.h"
#include "volvox/physics/native/loop.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

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

  TreePlan plan() const {
    TreePlan plan;
    plan.steps.reserve(members_.size());
    const int root = !anchors_.empty() ? anchors_[0].to : centre();
    struct Visit {
      int member, parent, joint;
    };
    std::vector<Visit> stack{{root, -1, anchors_.empty() ? -1 : anchors_[0].joint}};
    while (!stack.empty()) {
      const Visit at = stack.back();
      stack.pop_back();
      const int step = static_cast<int>(plan.steps.size());
      plan.steps.push_back({members_[static_cast<std::size_t>(at.member)], at.parent, at.joint});
      const std::span<const Edge> out = edges(at.member);
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
  if (open_.size() < world.bodies.size()) open_.resize(world.bodies.size()), spots_.resize(world.bodies.size());
  // Its segment is asked, not its island: a body that has the number of one that is gone has no island yet.
  if (spots_[body].segment) {
    edited_.push_back(static_cast<int>(body));
    return;
  }
  const int island = world.bodies[body].island;
  if (island >= 0) dissolve(world, island);
  else open(world, static_cast<int>(body));
}

// It has no island any more.
void Topology::open(World& world, int body) {
  world.bodies[at(body)].island = -1;
  if (open_[at(body)]) return;
  open_[at(body)] = 1;
  touched_.push_back(body);
}

void Topology::dissolve(World& world, int island) {
  const std::size_t slot = at(island);
  for (const int body : islands_[slot]->bodies()) open(world, body);
  if (dynamic_cast<Tree*>(islands_[slot].get())) spares_.emplace_back(static_cast<Tree*>(islands_[slot].release()));
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
  if (touched_.empty() && edited_.empty()) return;
  ++version_;
  std::sort(free_slots_.begin(), free_slots_.end(), std::greater<>());
  break_up_long_trees(world);
  std::sort(touched_.begin(), touched_.end());
  for (std::size_t k = 0; k < touched_.size(); ++k) {  // more may come
    const std::size_t i = at(touched_[k]);
    if (!open_[i]) continue;
    open_[i] = 0;
    if (!world.system.body_ids.alive_index(i) || !world.bodies[i].dynamic) continue;
    gather(world, i);
    build(world);
  }
  VOLVOX_ASSERT(std::ranges::all_of(loose_, [](const auto& segment) { return !segment; }));
  for (Broken& broken : broken_)
    if (broken.tree) free_slots_.push_back(broken.slot);
  for (auto& pack : loose_packs_) spare_packs_.give(std::move(pack));
  broken_.clear(), loose_.clear(), loose_packs_.clear(), touched_.clear(), edited_.clear();
  drop_spares(world.bodies.size());
  spare_packs_.drop(world.bodies.size());
}

void Topology::break_up_long_trees(World& world) {
  if (edited_.empty()) return;
  std::sort(edited_.begin(), edited_.end());
  edited_.erase(std::unique(edited_.begin(), edited_.end()), edited_.end());
  find_changed_clusters(world);
  const auto island_of = [&](int body) {
    const Segment* segment = spots_[at(body)].segment;
    return segment ? segment->island : -1;
  };
  std::vector<int> islands;
  for (const int body : edited_)
    if (std::ranges::find(islands, island_of(body)) == islands.end()) islands.push_back(island_of(body));
  for (const int island : islands) {
    if (island < 0) continue;
    std::vector<int> own;
    for (const int body : edited_)
      if (island_of(body) == island) own.push_back(body);
    break_up(world, island, own);
  }
}

// All its segments are loose but those that are touched, which are no more.
void Topology::break_up(World& world, int island, std::span<const int> edited) {
  // With more, all of it is likely to change.
  constexpr std::size_t most_edited = 16;
  const std::size_t slot = at(island);
  Broken broken{island, islands_[slot]->bodies().size(),
                std::unique_ptr<LongTree>(static_cast<LongTree*>(islands_[slot].release()))};
  const bool all = edited.size() > most_edited || !CutRule(broken.bodies).blocks;
  for (auto& segment : broken.tree->release(loose_packs_)) {
    segment->order = static_cast<int>(loose_.size());
    loose_.push_back(std::move(segment));
  }
  if (all) {
    for (const int body : broken.tree->bodies())
      if (Segment* segment = spots_[at(body)].segment) melt(world, *segment);
  } else {
    for (const int body : edited)
      if (Segment* segment = spots_[at(body)].segment) melt(world, *segment);
  }
  broken_.push_back(std::move(broken));
}

// Whether it belongs to a segment that stays.
bool Topology::whole(int body) const { return spots_[at(body)].segment != nullptr; }

// A loose segment is no more: its bodies wait for another.
void Topology::melt(World& world, Segment& segment) {
  VOLVOX_ASSERT(at(segment.order) < loose_.size() && loose_[at(segment.order)].get() == &segment);
  for (const int body : segment.bodies) {
    spots_[at(body)] = {};
    open(world, body);
  }
  put_spare(std::move(loose_[at(segment.order)]));
}

void Topology::melt_units(World& world) {
  for (Segment* unit : units_) melt(world, *unit);
  units_.clear();
}

std::unique_ptr<Segment> Topology::spare_segment() {
  if (spare_segments_.empty()) return std::make_unique<Segment>();
  std::unique_ptr<Segment> segment = std::move(spare_segments_.back());
  spare_segments_.pop_back();
  return segment;
}

void Topology::put_spare(std::unique_ptr<Segment> segment) {
  if (segment->pack) segment->pack->drop(*segment);
  segment->island = segment->order = -1;
  constexpr std::size_t most_spare = 256;
  if (spare_segments_.size() < most_spare) spare_segments_.push_back(std::move(segment));
}

// No more than would hold all bodies once; the latest are the likeliest to fit.
void Topology::drop_spares(std::size_t bodies) {
  std::size_t room = 0, kept = 0;
  while (kept < spares_.size() && room + spares_[spares_.size() - 1 - kept]->room() <= bodies)
    room += spares_[spares_.size() - 1 - kept++]->room();
  spares_.erase(spares_.begin(), spares_.end() - static_cast<std::ptrdiff_t>(kept));
}

// Everything that hangs on a body through joints between bodies that move freely: bodies, and segments that stay.
void Topology::gather(const World& world, std::size_t body) {
  members_.assign(1, static_cast<int>(body));
  joints_.clear(), units_.clear();
  open_[body] = 0;
  const auto reach = [&](int other) {
    if (open_[at(other)]) {
      open_[at(other)] = 0;
      members_.push_back(other);
    } else if (whole(other) && !spots_[at(other)].segment->gathered) {
      spots_[at(other)].segment->gathered = true;
      units_.push_back(spots_[at(other)].segment);
    }
  };
  for (std::size_t i = 0, k = 0; i < members_.size() || k < units_.size();) {
    if (i == members_.size()) {
      const Segment& unit = *units_[k++];
      if (unit.above_body >= 0) reach(unit.above_body);
      for (const Segment::Link& link : unit.below) reach(link.body);
      continue;
    }
    const int member = members_[i++];
    for (const JointId id : world.system.joints_of[at(member)]) {
      const JointDesc& desc = world.system.joint_descs[id.index];
      const bool is_b = static_cast<int>(desc.b.index) == member;
      const BodyId other = is_b ? desc.a : desc.b;
      const bool moves = other.valid() && world.bodies[other.index].dynamic;
      // Once of two members.
      if (is_b || !moves || whole(static_cast<int>(other.index))) joints_.push_back(static_cast<int>(id.index));
      if (moves) reach(static_cast<int>(other.index));
    }
  }
  const auto sort = [](std::vector<int>& list) {
    if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
  };
  sort(members_), sort(joints_);
  find_ends(world);
}

// How many joints hold it together, and by which it hangs on what does not move freely.
void Topology::find_ends(const World& world) {
  anchors_ = inner_ = 0;
  root_ = {};
  const auto anchor = [&](int joint, int body) { ++anchors_, root_ = {joint, body}; };
  for (const int joint : joints_) {
    const JointDesc& desc = world.system.joint_descs[at(joint)];
    const bool a = world.system.moves(desc.a), b = world.system.moves(desc.b);
    if (a && b) ++inner_;
    else anchor(joint, static_cast<int>((a ? desc.a : desc.b).index));
  }
  int least = members_.front();
  for (Segment* unit : units_) {
    unit->gathered = false;
    inner_ += unit->bodies.size() - 1;
    if (unit->above_body >= 0) inner_ += whole(unit->above_body) ? 1 : 0;
    else if (unit->joints[0] >= 0) anchor(unit->joints[0], unit->bodies[0]);
    least = std::min(least, unit->least_body);
  }
  if (anchors_ == 0) root_.body = least;
}

// Trees are alike if all that does not change is the same to the bit.
int Topology::pattern_of(const Tree& tree) {
  std::size_t key = tree.shapes().size();
  for (const NodeShape& shape : tree.shapes()) {
    for (double x : {shape.mass, shape.moments.x, shape.anchor_parent.x, shape.anchor_child.x, shape.axis_parent.x})
      key = key * 31 + std::hash<double>{}(x);
  }
  auto& alike = patterns_[key];
  static_assert(sizeof(LinkPlan) == 25 * sizeof(double));
  for (const auto& [number, shapes, links] : alike) {
    if (shapes == tree.shapes() && std::memcmp(links.data(), tree.links().data(), links.size() * sizeof(LinkPlan)) == 0)
      return number;
  }
  alike.push_back({pattern_count_, tree.shapes(), tree.links()});
  return pattern_count_++;
}

void Topology::find_clusters(World& world, std::span<const int> bodies, std::span<const int> joints) const {
  const auto cluster = [&](int body) -> int& { return world.bodies[at(body)].cluster; };
  for (const int body : bodies) cluster(body) = body;
  for (const int joint : joints) {
    const JointDesc& desc = world.system.joint_descs[at(joint)];
    if ((desc.type != JointType::fixed && desc.type != JointType::dock) || !world.system.moves(desc.a) ||
        !world.system.moves(desc.b))
      continue;
    join_sets(static_cast<int>(desc.a.index), static_cast<int>(desc.b.index), cluster);
  }
  for (const int body : bodies) cluster(body) = find_root(body, cluster);
}

// Of what is rigidly joined to bodies whose joints have changed.
void Topology::find_changed_clusters(World& world) {
  std::vector<int> bodies, joints;
  std::vector<std::uint8_t>& seen = reached_;
  seen.resize(world.bodies.size());
  const auto reach = [&](int body) {
    if (seen[at(body)] || !world.system.body_ids.alive_index(at(body)) || !world.bodies[at(body)].dynamic) return;
    seen[at(body)] = 1;
    bodies.push_back(body);
  };
  for (const int body : edited_) reach(body);
  for (const int body : touched_) reach(body);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    for (const JointId id : world.system.joints_of[at(bodies[i])]) {
      const JointDesc& desc = world.system.joint_descs[id.index];
      if (desc.type != JointType::fixed && desc.type != JointType::dock) continue;
      if (!world.system.moves(desc.a) || !world.system.moves(desc.b)) continue;
      joints.push_back(static_cast<int>(id.index));
      reach(static_cast<int>((static_cast<int>(desc.b.index) == bodies[i] ? desc.a : desc.b).index));
    }
  }
  find_clusters(world, bodies, joints);
  for (const int body : bodies) seen[at(body)] = 0;
}

int Topology::free_slot() {
  if (free_slots_.empty()) {
    islands_.push_back(nullptr);
    return static_cast<int>(islands_.size()) - 1;
  }
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Topology::build(World& world) {
  const std::size_t first = at(members_.front());
  const bool in_part = !units_.empty();
  if (build_long_tree(world)) return;
  if (in_part) {  // it is laid out whole
    melt_units(world);
    for (const int body : members_) open_[at(body)] = 1;
    open_[first] = 0;
    gather(world, first);
    if (build_long_tree(world)) return;
  }
  VOLVOX_ASSERT(units_.empty());
  find_clusters(world, members_, joints_);
  member_.resize(world.bodies.size());
  for (std::size_t i = 0; i < members_.size(); ++i) member_[at(members_[i])] = static_cast<int>(i);
  const Graph graph(world, members_, joints_, member_);
  std::unique_ptr<Island> island;
  if (graph.tree()) {
    auto tree = std::make_unique<Tree>(world, graph.plan(), spare_tree(members_.size()));
    if (tree->fits_flock()) tree->set_pattern(pattern_of(*tree));
    island = std::move(tree);
  } else {
    island = std::make_unique<Loop>(world, members_, joints_);
  }
  const int slot = free_slot();
  for (std::size_t i = 0; i < island->bodies().size(); ++i) {
    Body& body = world.bodies[at(island->bodies()[i])];
    body.island = slot;
    body.node = static_cast<int>(i);
  }
  islands_[at(slot)] = std::move(island);
}

// False: it is no tree, not long, or its pieces are not alike.
bool Topology::build_long_tree(World& world) {
  std::size_t bodies = members_.size();
  for (const Segment* unit : units_) bodies += unit->bodies.size();
  if (bodies <= LongTree::most_uncut || anchors_ > 1 || inner_ + 1 != bodies) return false;
  const CutRule rule(bodies);
  if (!units_.empty() && !rule.blocks) return false;
  std::vector<std::unique_ptr<Segment>> segments = lay_out_segments(world, rule);
  if (!enough_alike(segments)) {
    for (auto& segment : segments) {
      for (const int body : segment->bodies) {
        spots_[at(body)] = {};
        if (!units_.empty()) open(world, body);
      }
      put_spare(std::move(segment));
    }
    units_.clear();
    return false;
  }
  if (units_.empty()) find_clusters(world, members_, joints_);
  std::unique_ptr<LongTree> tree;
  const int slot = slot_for(segments, tree);
  for (const auto& segment : segments) {
    if (segment->island == slot) continue;
    segment->island = slot;
    for (const int body : segment->bodies) world.bodies[at(body)].island = slot, world.bodies[at(body)].node = body;
  }
  tree->take(std::move(segments), loose_packs_, world, spare_packs_);
  islands_[at(slot)] = std::move(tree);
  return true;
}

// The slot, and the object, of the tree that most of it comes from, if that is most of that tree, too: then most bodies
// know their island already.
int Topology::slot_for(const std::vector<std::unique_ptr<Segment>>& segments, std::unique_ptr<LongTree>& tree) {
  Broken* best = nullptr;
  std::size_t most = 0;
  for (Broken& broken : broken_) {
    std::size_t own = 0;
    for (const auto& segment : segments)
      if (segment->island == broken.slot) own += segment->bodies.size();
    if (!broken.tree || 2 * own <= broken.bodies || own <= most) continue;
    best = &broken, most = own;
  }
  if (best) {
    tree = std::move(best->tree);
    return best->slot;
  }
  tree = std::make_unique<LongTree>(spots_);
  return free_slot();
}

// From the root, what a segment hangs on before it.
std::vector<std::unique_ptr<Segment>> Topology::lay_out_segments(World& world, const CutRule& rule) {
  SegmentCutter cutter(world, rule, segment_patterns_);
  struct Start {
    Segment::Link first;
    int above_body;
  };
  std::vector<Start> open{{root_, -1}};
  std::vector<std::unique_ptr<Segment>> segments;
  while (!open.empty()) {
    const Start start = open.back();
    open.pop_back();
    segments.push_back(keep_or_cut(world, cutter, start.first, start.above_body));
    const Segment& own = *segments.back();
    const int end = own.bodies[at(own.end)];
    for (std::size_t i = own.below.size(); i-- > 0;) open.push_back({own.below[i], end});
  }
  return segments;
}

// One that stays is what would be cut there again if it begins with the same joint: nothing has changed in it, and
// what hangs on it is still more than a twig.
std::unique_ptr<Segment> Topology::keep_or_cut(World& world, SegmentCutter& cutter, const Segment::Link& first,
                                               int above_body) {
  const auto known_large = [&](const Segment::Link& link) {
    const SegmentSpot& spot = spots_[at(link.body)];
    return (spot.segment && spot.node == 0 && spot.segment->joints[0] == link.joint && spot.segment->count() > 8) ||
           cutter.large(link);
  };
  if (Segment* unit = spots_[at(first.body)].segment) {
    if (unit->first() == first && unit->above_body == above_body && std::ranges::all_of(unit->below, known_large))
      return std::move(loose_[at(unit->order)]);
  }
  std::unique_ptr<Segment> segment = spare_segment();
  cutter.cut(first, above_body, *segment);
  for (std::size_t i = 0; i < segment->bodies.size(); ++i) {
    const std::size_t body = at(segment->bodies[i]);
    if (Segment* unit = spots_[body].segment) melt(world, *unit);
    open_[body] = 0;
    spots_[body] = {segment.get(), static_cast<int>(i)};
  }
  return segment;
}

}  // namespace volvox::physics::native
