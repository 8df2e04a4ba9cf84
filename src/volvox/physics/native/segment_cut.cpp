#include "volvox/physics/native/segment_cut.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "volvox/base/check.h"

namespace volvox::physics::native {
namespace {

// So many segments are wanted, or a multiple of it, and about so many bodies in each.
constexpr int lanes_wanted = 8, most_bodies = 64;
// A pattern with fewer segments does not fill lanes. Trees are cut if so great a share of their nodes is in patterns
// that do: with fewer, what segments cost (they are factored twice) is more than what lanes gain.
constexpr std::size_t fewest_alike = 4;
constexpr double share_alike = 0.75;
// How far a segment looks ahead to see that its way goes on.
constexpr int outlook = 64;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::size_t hash_of(const SegmentPattern& pattern) {
  std::size_t hash = pattern.places.size();
  for (const SegmentPlace& place : pattern.places) {
    const int both = 8 * place.parent + static_cast<int>(place.type);
    hash = hash * 31 + static_cast<std::size_t>(2 * both + (place.flipped ? 1 : 0));
  }
  return hash * 31 + static_cast<std::size_t>(pattern.end);
}

}  // namespace

SegmentPattern pattern_of(const std::vector<NodeShape>& shapes, int end) {
  SegmentPattern pattern;
  const std::size_t count = shapes.size();
  pattern.places.resize(count);
  pattern.end = end;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeShape& shape = shapes[i];
    SegmentPlace& place = pattern.places[i];
    place.parent = shape.parent, place.type = shape.type, place.flipped = shape.flipped;
    place.first_dof = shape.first_dof, place.dofs = shape.dofs;
    pattern.dofs += shape.dofs;
    if (i > 0) pattern.places[at(place.parent)].parts = true;
  }
  // While a child is worked on, its siblings behind it have added up: it needs a slot of its own, unless it is the
  // last.
  std::vector<std::uint8_t> seen(count, 0);
  for (std::size_t i = count; i-- > 1;) {
    const std::size_t parent = at(pattern.places[i].parent);
    pattern.places[i].opens = !seen[parent];
    seen[parent] = 1;
  }
  for (std::size_t i = 1; i < count; ++i) {
    SegmentPlace& place = pattern.places[i];
    place.slot = pattern.places[at(place.parent)].slot + (place.opens ? 0 : 1);
    pattern.slots = std::max(pattern.slots, place.slot + 1);
  }
  for (int i = end; i >= 0; i = pattern.places[at(i)].parent) pattern.places[at(i)].on_way = true;
  return pattern;
}

CutRule::CutRule(std::size_t bodies)
    : target(std::clamp(static_cast<int>(bodies) / lanes_wanted, 2, most_bodies - 1)),
      twig(target / 8),
      blocks(bodies >= fewest_in_blocks) {
  if (blocks) target = most_bodies;
}

std::shared_ptr<const SegmentPattern> SegmentPatterns::find(SegmentPattern pattern) {
  auto& alike = known_[hash_of(pattern)];
  for (const auto& known : alike) {
    if (auto found = known.lock(); found && *found == pattern) return found;
  }
  std::erase_if(alike, [](const auto& known) { return known.expired(); });
  auto made = std::make_shared<const SegmentPattern>(std::move(pattern));
  alike.push_back(made);
  if (known_.size() < sweep_at_) return made;
  // Robots that take on ever new forms must not leave their patterns behind.
  for (auto entry = known_.begin(); entry != known_.end();) {
    std::erase_if(entry->second, [](const auto& known) { return known.expired(); });
    entry = entry->second.empty() ? known_.erase(entry) : std::next(entry);
  }
  sweep_at_ = 2 * known_.size() + 64;
  return made;
}

// What hangs on a body by other joints than the given one.
template <class Visit>
void SegmentCutter::for_links(int body, int but_joint, const Visit& visit) const {
  for (const JointId id : world_.system.joints_of[at(body)]) {
    const int joint = static_cast<int>(id.index);
    if (joint == but_joint) continue;
    const JointDesc& desc = world_.system.joint_descs[id.index];
    const BodyId other = static_cast<int>(desc.b.index) == body ? desc.a : desc.b;
    if (!other.valid() || !world_.bodies[other.index].dynamic) continue;
    visit(Segment::Link{joint, static_cast<int>(other.index)});
  }
}

// The bodies of a subtree, up to `most`.
int SegmentCutter::count(const Segment::Link& link, int most) {
  int found = 0;
  open_.assign(1, link);
  while (!open_.empty() && found < most) {
    const Segment::Link next = open_.back();
    open_.pop_back();
    ++found;
    for_links(next.body, next.joint, [&](const Segment::Link& child) { open_.push_back(child); });
  }
  return found;
}

int SegmentCutter::add(Segment& out, const Segment::Link& link, int parent) const {
  NodeShape shape = link.joint >= 0 ? node_shape(world_, link.body, link.joint) : body_shape(world_, link.body);
  if (link.joint < 0) shape.type = JointType::dock;  // to a body without mass
  shape.parent = parent;
  shape.first_dof = out.shapes.empty() ? 0 : out.shapes.back().first_dof + out.shapes.back().dofs;
  out.bodies.push_back(link.body), out.joints.push_back(link.joint), out.shapes.push_back(shape);
  return out.count() - 1;
}

void SegmentCutter::add_twig(Segment& out, const Segment::Link& link, int parent) {
  const int node = add(out, link, parent);
  std::vector<Child> children;
  for_links(link.body, link.joint, [&](const Segment::Link& child) { children.push_back({0, child}); });
  for (Child& child : children) child.size = count(child.link, rule_.twig + 1);
  std::sort(children.begin(), children.end(), [](const Child& x, const Child& y) {
    return std::tuple(x.size, x.link.joint) < std::tuple(y.size, y.link.joint);
  });
  for (const Child& child : children) add_twig(out, child.link, node);
}

bool SegmentCutter::ends_before(const Segment& out, const Segment::Link& here, int module,
                                const Segment::Link& next) const {
  const int taken = out.count();
  const bool root = out.above_body < 0, on_ground = root && out.joints[0] >= 0;
  if (taken >= (on_ground ? rule_.target : 2 * rule_.target)) return true;
  if (!is_dock(next)) return false;
  // What hangs on the ground looks like no other segment, so it is as short as can be.
  if (on_ground) return true;
  const int bodies_of_module = std::abs(next.body - module);
  if (!rule_.blocks || std::abs(next.body - here.body) >= rule_.target || bodies_of_module > rule_.target)
    return taken >= rule_.target;
  const int block = rule_.target / bodies_of_module * bodies_of_module;
  return taken > rule_.twig && next.body / block != out.bodies[0] / block;
}

void SegmentCutter::cut(const Segment::Link& first, int above_body, Segment& out) {
  out.bodies.clear(), out.joints.clear(), out.shapes.clear(), out.below.clear();
  out.above_body = above_body;
  int node = add(out, first, -1);
  int known = 0;            // so many bodies at least hang on the node
  int module = first.body;  // the first body behind the last dock on the way
  std::vector<Child> twigs, large;
  for (;;) {
    const Segment::Link here{out.joints[at(node)], out.bodies[at(node)]};
    twigs.clear(), large.clear();
    for_links(here.body, here.joint, [&](const Segment::Link& link) { large.push_back({0, link}); });
    const bool one = large.size() == 1;
    if (!one || known <= rule_.twig + 1) {
      known = 0;
      for (Child& child : large) child.size = count(child.link, one ? outlook : rule_.twig + 1);
      if (one) known = large[0].size;
      for (const Child& child : large)
        if (child.size <= rule_.twig) twigs.push_back(child);
      std::erase_if(large, [&](const Child& child) { return child.size <= rule_.twig; });
    }
    --known;
    std::sort(twigs.begin(), twigs.end(), [](const Child& x, const Child& y) {
      return std::tuple(x.size, x.link.joint) < std::tuple(y.size, y.link.joint);
    });
    const bool ends = large.empty();
    const std::size_t beside = ends && !twigs.empty() ? twigs.size() - 1 : twigs.size();
    for (std::size_t i = 0; i < beside; ++i) add_twig(out, twigs[i].link, node);
    out.end = node;
    if (ends && twigs.empty()) break;
    if (ends) {  // nothing large hangs on it: the way goes on to the last leaf
      node = add(out, twigs.back().link, node);
      known = 0;
      continue;
    }
    if (large.size() > 1 || ends_before(out, here, module, large[0].link)) {
      std::sort(large.begin(), large.end(), [](const Child& x, const Child& y) { return x.link.joint < y.link.joint; });
      for (const Child& child : large) out.below.push_back(child.link);
      break;
    }
    if (is_dock(large[0].link)) module = large[0].link.body;
    node = add(out, large[0].link, node);
  }
  describe(out);
}

// What follows from the nodes.
void SegmentCutter::describe(Segment& out) const {
  VOLVOX_ASSERT(!out.bodies.empty() && out.end >= 0 && out.end < out.count());
  SegmentPattern pattern = pattern_of(out.shapes, out.end);
  if (!out.pattern || !(*out.pattern == pattern)) out.pattern = patterns_.find(std::move(pattern));
  out.least_body = *std::min_element(out.bodies.begin(), out.bodies.end());
  out.whitened.plan(out.shapes, 6, Whitened::most_columns_of_a_part, out.bodies[0] / out.count());
  std::vector<double> arms(out.shapes.size(), 0.0);
  for (std::size_t i = 0; i < out.shapes.size(); ++i) {
    if (out.joints[i] < 0) continue;
    arms[i] += length(out.shapes[i].anchor_child);
    if (i > 0) arms[at(out.shapes[i].parent)] += length(out.shapes[i].anchor_parent);
  }
  out.safe_pull = 1e300, out.end_arm = arms[at(out.end)];
  for (std::size_t i = 0; i < out.shapes.size(); ++i) {
    const Vec3& m = out.shapes[i].moments;
    if (arms[i] > 0 && static_cast<int>(i) != out.end)
      out.safe_pull = std::min(out.safe_pull, std::min({m.x, m.y, m.z}) / arms[i]);
  }
}

bool enough_alike(const std::vector<std::unique_ptr<Segment>>& segments) {
  struct Kind {
    const SegmentPattern* pattern;
    std::size_t segments;
  };
  std::vector<Kind> kinds;
  std::size_t nodes = 0, alike = 0;
  for (const auto& segment : segments) {
    nodes += segment->bodies.size();
    const SegmentPattern* const pattern = segment->pattern.get();
    auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.pattern == pattern; });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {pattern, 0});
    ++kind->segments;
  }
  for (const Kind& kind : kinds)
    if (kind.segments >= fewest_alike) alike += kind.segments * kind.pattern->places.size();
  return static_cast<double>(alike) >= share_alike * static_cast<double>(nodes);
}

}  // namespace volvox::physics::native
