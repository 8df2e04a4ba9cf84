#include "volvox/scan/gsrm.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/scan/settle.h"

namespace volvox::scan {
namespace {

// Faces at 41 degrees or more may be an edge of the room; finally, to close a hole, at 20 degrees or more.
constexpr double sharp_fold = 0.75, last_fold = 0.94;

model::Bounds bounds_of(const Cloud& cloud) {
  model::Bounds box;
  for (const Vec3& p : cloud.points) box.add(p);
  return box;
}

std::uint64_t edge_key(std::uint32_t u, std::uint32_t v) {
  return std::uint64_t{std::min(u, v)} << 32 | std::max(u, v);
}

void make_unique(std::vector<std::uint64_t>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

// The faces at every edge, of which there are at most two.
class EdgeFaces {
 public:
  struct Edge {
    std::array<std::uint32_t, 2> faces{};
    int count = 0;
  };
  explicit EdgeFaces(std::vector<std::uint64_t> keys) : keys_(std::move(keys)) {
    make_unique(keys_);
    edges_.resize(keys_.size());
  }
  Edge& of(std::uint32_t u, std::uint32_t v) {
    return edges_[std::lower_bound(keys_.begin(), keys_.end(), edge_key(u, v)) - keys_.begin()];
  }

 private:
  std::vector<std::uint64_t> keys_;
  std::vector<Edge> edges_;
};

// Ordered by breadth-first search, so that each face is adjacent to an earlier one: separate faces would touch at
// single nodes and block each other.
std::vector<Triangle> adjacent_first(const std::vector<Triangle>& faces, EdgeFaces& edges) {
  std::vector<std::uint32_t> order;
  std::vector<bool> reached(faces.size());
  for (std::uint32_t seed = 0; seed < faces.size(); ++seed) {
    if (reached[seed]) continue;
    reached[seed] = true;
    order.push_back(seed);
    for (std::size_t n = order.size() - 1; n < order.size(); ++n) {
      const Triangle t = faces[order[n]];
      for (int i = 0; i < 3; ++i) {
        const EdgeFaces::Edge& edge = edges.of(t[i], t[(i + 1) % 3]);
        for (int k = 0; k < edge.count; ++k) {
          if (reached[edge.faces[k]]) continue;
          reached[edge.faces[k]] = true;
          order.push_back(edge.faces[k]);
        }
      }
    }
  }
  std::vector<Triangle> ordered;
  for (const std::uint32_t f : order) ordered.push_back(faces[f]);
  return ordered;
}

}  // namespace

std::size_t gsrm_nodes_for(std::size_t triangles) {
  return std::max<std::size_t>(4, narrow<std::size_t>(std::lround(0.505 * real(triangles))));
}

GsrmNet::GsrmNet(const Cloud& cloud, const GsrmOptions& options)
    : cloud_(cloud),
      options_(options),
      random_(options.seed, 0, "scan:gsrm"),
      box_(bounds_of(cloud)),
      lone_cell_(index_cell(cloud, 1)),
      index_(box_.low, box_.high, lone_cell_ / std::sqrt(12.0)),
      indexed_for_(12) {
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t node = net_.add_node();
    nodes_.push_back(cloud.points[random_.below(cloud.points.size())]);
    index_.insert(node, nodes_[node]);
  }
  error_.assign(3, 0);
  alive_.assign(3, true);
  living_ = 3;
  net_.add_face(0, 1, 2);
}

void GsrmNet::step() {
  const Vec3& signal = cloud_.points[random_.below(cloud_.points.size())];
  const auto winners = index_.nearest<3>(signal);
  const std::uint32_t first = winners[0].node, second = winners[1].node, third = winners[2].node;
  scale_ *= 1 - options_.forgetting;
  error_[first] += winners[0].distance_squared / scale_;

  const auto move = [&](std::uint32_t node, double part) {
    nodes_[node] += (signal - nodes_[node]) * part;
    index_.move(node, nodes_[node]);
  };
  move(first, options_.winner_step);
  for (const ManifoldMesh::Spoke& spoke : net_.spokes(first)) move(spoke.to, options_.neighbour_step);

  if (third != NodeIndex::none) net_.add_face(first, second, third);
  const std::vector<std::uint32_t> old = net_.grow_older(first, options_.oldest);
  net_.set_age(first, second, 0);
  net_.set_age(first, third, 0);
  net_.set_age(second, third, 0);
  bool removed = false;
  for (const std::uint32_t other : old) {
    if (other == second || other == third || net_.faces() < 2) continue;
    net_.remove_edge(first, other);
    removed = true;
  }
  if (removed) {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!alive_[n] || !net_.spokes(n).empty() || living_ <= 3) continue;
      alive_[n] = false;
      --living_;
      index_.erase(n);
    }
  }
  if (++signals_ % options_.signals_a_node == 0) {
    insert_node();
    if (scale_ < 1e-200) {
      for (double& e : error_) e *= scale_;
      scale_ = 1;
    }
  }
}

void GsrmNet::insert_node() {
  std::uint32_t most = NodeIndex::none;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (alive_[n] && !net_.spokes(n).empty() && (most == NodeIndex::none || error_[n] > error_[most])) most = n;
  if (most == NodeIndex::none) return;
  std::uint32_t other = net_.spokes(most)[0].to;
  for (const ManifoldMesh::Spoke& spoke : net_.spokes(most))
    if (error_[spoke.to] > error_[other]) other = spoke.to;
  const std::uint32_t between = net_.split_edge(most, other);
  nodes_.push_back((nodes_[most] + nodes_[other]) * 0.5);
  error_[most] *= 1 - options_.split_loss;
  error_[other] *= 1 - options_.split_loss;
  error_.push_back(error_[most]);
  alive_.push_back(true);
  index_.insert(between, nodes_.back());
  ++living_;
  if (living_ > 3 * indexed_for_) make_index(real(living_) * 1.5);
}

void GsrmNet::make_index(double nodes) {
  index_ = NodeIndex(box_.low, box_.high, lone_cell_ / std::sqrt(nodes));
  indexed_for_ = truncated<std::size_t>(nodes);
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (alive_[n]) index_.insert(n, nodes_[n]);
}

void GsrmNet::place_nodes(const PlaneSet& planes) {
  make_index(real(living_));
  planes_ = &planes;
  node_planes_ = settle(cloud_, planes, index_, nodes_, alive_, 3, options_.sharpen);
  // Nodes that moved to the same corner are merged.
  const double same = 0.2 * index_.cell();
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (!alive_[n]) continue;
    const auto near = index_.nearest<2>(nodes_[n]);
    if (near[1].node == NodeIndex::none || near[1].distance_squared > same * same) continue;
    const std::uint32_t other = near[0].node == n ? near[1].node : near[0].node;
    const std::uint32_t gone = node_planes_[other].size() < node_planes_[n].size() ? other : n;
    alive_[gone] = false;
    --living_;
    index_.erase(gone);
  }
}

// Whether two faces at the edge u-v overlap, by the directions to their third corners.
bool GsrmNet::lies_upon(std::uint32_t u, std::uint32_t v, std::uint32_t one, std::uint32_t other, double fold) const {
  const Vec3 along = normalized(nodes_[v] - nodes_[u]);
  const auto across = [&](std::uint32_t node) {
    const Vec3 d = nodes_[node] - nodes_[u];
    return normalized(d - along * dot(d, along));
  };
  return dot(across(one), across(other)) > fold;
}

// Whether a face would overlap a face that shares an edge with it.
bool GsrmNet::folds(std::uint32_t a, std::uint32_t b, std::uint32_t c, double fold) const {
  const std::uint32_t corners[3] = {a, b, c};
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t u = corners[i], v = corners[(i + 1) % 3], w = corners[(i + 2) % 3];
    const ManifoldMesh::Spoke* edge = net_.find(u, v);
    for (int k = 0; edge != nullptr && k < edge->faces; ++k)
      if (lies_upon(u, v, w, edge->third[k], fold)) return true;
  }
  return false;
}

void GsrmNet::learn_topology() {
  assemble(witnessed_faces());
  points_.reset();
}

// Builds the net from faces and patches the holes between them.
void GsrmNet::assemble(const std::vector<Triangle>& faces) {
  net_.remove_all_faces();
  std::vector<Triangle> waiting = net_.take_faces(faces);
  // Faces that touched others only at a node can be added after the gap between them is patched.
  for (int round = 0; round < 4; ++round) {
    patch_holes(sharp_fold);
    std::erase_if(waiting, [&](const Triangle& t) { return folds(t[0], t[1], t[2], sharp_fold); });
    const std::size_t before = waiting.size();
    waiting = net_.add_faces(std::move(waiting));
    if (waiting.size() == before) break;
  }
  patch_holes(last_fold);
  remove_islands();
  close_small_holes();
}

void GsrmNet::remove_islands() {
  constexpr std::size_t least = 8;
  std::vector<bool> reached(nodes_.size());
  for (std::uint32_t seed = 0; seed < nodes_.size(); ++seed) {
    if (reached[seed] || net_.spokes(seed).empty()) continue;
    reached[seed] = true;
    std::vector<std::uint32_t> part = {seed};
    std::size_t corners = 0;  // counts each face six times
    for (std::size_t n = 0; n < part.size(); ++n) {
      for (const ManifoldMesh::Spoke& spoke : net_.spokes(part[n])) {
        corners += spoke.faces;
        if (!reached[spoke.to]) reached[spoke.to] = true, part.push_back(spoke.to);
      }
    }
    if (corners / 6 >= least) continue;  // each corner of a face has two spokes
    for (const std::uint32_t n : part)
      while (!net_.spokes(n).empty()) net_.remove_edge(n, net_.spokes(n)[0].to);
  }
}

void GsrmNet::close_small_holes() {
  constexpr std::size_t most = 12;
  const auto next_on_boundary = [&](std::uint32_t from, std::uint32_t at) {
    for (const ManifoldMesh::Spoke& spoke : net_.spokes(at))
      if (spoke.faces == 1 && spoke.to != from) return spoke.to;
    return from;
  };
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (!net_.on_boundary(n)) continue;
    std::vector<std::uint32_t> loop = {n};
    std::uint32_t before = n, at = next_on_boundary(n, n);
    while (at != n && loop.size() <= most) {
      loop.push_back(at);
      const std::uint32_t next = next_on_boundary(before, at);
      before = at;
      at = next;
    }
    if (loop.size() > most || loop.size() < 3) continue;
    while (loop.size() >= 3) {
      // The shortest new edge first.
      std::size_t best = loop.size();
      double least = 1e300;
      const std::size_t size = loop.size();
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t a = loop[(i + size - 1) % size], c = loop[(i + 1) % size];
        const double distance = length(nodes_[a] - nodes_[c]);
        if (distance < least && net_.can_add_face(a, loop[i], c)) least = distance, best = i;
      }
      if (best == size) break;
      net_.add_face(loop[(best + size - 1) % size], loop[best], loop[(best + 1) % size]);
      if (size == 3) break;
      loop.erase(loop.begin() + best);
    }
  }
}

// Faces that are supported by points, the best first.
std::vector<GsrmNet::Candidate> GsrmNet::candidate_faces() const {
  const double reach = 1.5 * index_.cell();
  std::vector<Candidate> candidates;
  const auto add_candidate = [&](int rank, Triangle t) {
    std::sort(t.begin(), t.end());
    const double ab = length(nodes_[t[0]] - nodes_[t[1]]), bc = length(nodes_[t[1]] - nodes_[t[2]]),
                 ca = length(nodes_[t[2]] - nodes_[t[0]]);
    if (std::max({ab, bc, ca}) < 2 * reach) candidates.push_back({rank, ab + bc + ca, t});
  };
  std::vector<std::uint64_t> pairs;
  for (const Vec3& p : cloud_.points) {
    const auto near = index_.nearest<3>(p);
    if (near[2].node == NodeIndex::none || near[0].distance_squared > reach * reach) continue;
    pairs.push_back(edge_key(near[0].node, near[1].node));
    add_candidate(1, {near[0].node, near[1].node, near[2].node});
  }
  make_unique(pairs);
  std::vector<std::vector<std::uint32_t>> higher(nodes_.size());  // sorted, like the pairs
  for (const std::uint64_t pair : pairs) higher[pair >> 32].push_back(low_word(pair));
  for (std::uint32_t a = 0; a < nodes_.size(); ++a) {
    for (std::size_t i = 0; i < higher[a].size(); ++i) {
      const auto& beyond = higher[higher[a][i]];
      for (std::size_t k = i + 1; k < higher[a].size(); ++k)
        if (std::binary_search(beyond.begin(), beyond.end(), higher[a][k]))
          add_candidate(0, {a, higher[a][i], higher[a][k]});
    }
  }
  // Small faces first, so that a face that contains others comes last.
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return x.rank != y.rank ? x.rank < y.rank : x.size != y.size ? x.size < y.size : x.corners < y.corners;
  });
  candidates.erase(std::unique(candidates.begin(), candidates.end(),
                               [](const Candidate& x, const Candidate& y) { return x.corners == y.corners; }),
                   candidates.end());
  return candidates;
}

// Compatible faces that are supported by points, in an order in which the net can accept them.
std::vector<Triangle> GsrmNet::witnessed_faces() const {
  const std::vector<Candidate> candidates = candidate_faces();
  std::vector<std::uint64_t> keys;
  for (const Candidate& c : candidates)
    for (int i = 0; i < 3; ++i) keys.push_back(edge_key(c.corners[i], c.corners[(i + 1) % 3]));
  EdgeFaces edges(std::move(keys));
  // Chooses compatible faces: at most two at an edge, which must not overlap.
  const auto third_of = [](const Triangle& t, std::uint32_t u, std::uint32_t v) {
    return t[0] != u && t[0] != v ? t[0] : t[1] != u && t[1] != v ? t[1] : t[2];
  };
  std::vector<Triangle> chosen;
  for (const Candidate& candidate : candidates) {
    const Triangle& t = candidate.corners;
    bool fits = true;
    // A candidate of both ranks is already chosen.
    const EdgeFaces::Edge& first = edges.of(t[0], t[1]);
    for (int k = 0; k < first.count; ++k) fits = fits && chosen[first.faces[k]] != t;
    for (int i = 0; i < 3 && fits; ++i) {
      const EdgeFaces::Edge& edge = edges.of(t[i], t[(i + 1) % 3]);
      fits = edge.count < 2;
      for (int k = 0; k < edge.count && fits; ++k)
        fits = !lies_upon(t[i], t[(i + 1) % 3], t[(i + 2) % 3], third_of(chosen[edge.faces[k]], t[i], t[(i + 1) % 3]),
                          sharp_fold);
    }
    if (!fits) continue;
    for (int i = 0; i < 3; ++i) {
      EdgeFaces::Edge& edge = edges.of(t[i], t[(i + 1) % 3]);
      edge.faces[edge.count++] = narrow<std::uint32_t>(chosen.size());
    }
    chosen.push_back(t);
  }
  return adjacent_first(chosen, edges);
}

void GsrmNet::patch_holes(double fold) {
  // Only where the cloud has points: the open top of a room is not a hole.
  if (!points_) points_.emplace(cloud_.points, 2 * cell_for(cloud_.points, 1));
  const auto on_cloud = [&](const Vec3& p) {
    bool found = false;
    points_->near(p, points_->cell_size(), [&](std::uint32_t, double) { found = true; });
    return found;
  };
  const double longest = 2.5 * index_.cell();
  for (int round = 0; round < 100; ++round) {
    struct Gap {
      double size;
      Triangle corners;
    };
    std::vector<Gap> gaps;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      std::vector<std::uint32_t> ends;
      for (const ManifoldMesh::Spoke& spoke : net_.spokes(n))
        if (spoke.faces == 1) ends.push_back(spoke.to);
      if (ends.size() != 2) continue;
      const double size = length(nodes_[ends[0]] - nodes_[ends[1]]);
      if (size < longest) gaps.push_back({size, {n, ends[0], ends[1]}});
    }
    std::sort(gaps.begin(), gaps.end(),
              [](const Gap& x, const Gap& y) { return x.size != y.size ? x.size < y.size : x.corners < y.corners; });
    bool patched = false;
    for (const Gap& gap : gaps) {
      const auto [n, a, b] = gap.corners;
      if (!net_.can_add_face(n, a, b) || net_.find(n, a) == nullptr || net_.find(n, b) == nullptr ||
          folds(n, a, b, fold))
        continue;
      if (!on_cloud((nodes_[n] + nodes_[a] + nodes_[b]) / 3) || !on_cloud((nodes_[a] + nodes_[b]) / 2)) continue;
      net_.add_face(n, a, b);
      patched = true;
    }
    if (!patched) break;
  }
}

void GsrmNet::flip_edges() {
  if (node_planes_.size() != nodes_.size()) return;
  const auto common = [&](std::uint32_t a, std::uint32_t b) {
    int count = 0;
    for (const std::int32_t p : node_planes_[a])
      count += std::count(node_planes_[b].begin(), node_planes_[b].end(), p) > 0;
    return count;
  };
  for (int round = 0; round < 3; ++round) {
    bool flipped = false;
    for (std::uint32_t a = 0; a < nodes_.size(); ++a) {
      const std::vector<ManifoldMesh::Spoke> spokes = net_.spokes(a);
      for (const ManifoldMesh::Spoke& spoke : spokes) {
        const std::uint32_t b = spoke.to;
        if (b < a || spoke.faces != 2) continue;
        const ManifoldMesh::Spoke* now = net_.find(a, b);
        if (now == nullptr || now->faces != 2) continue;
        const std::uint32_t c = now->third[0], d = now->third[1];
        if (common(c, d) <= common(a, b)) continue;
        // The quadrilateral must be convex; otherwise the flip would fold it.
        const Vec3 n1 = cross(nodes_[c] - nodes_[d], nodes_[a] - nodes_[d]),
                   n2 = cross(nodes_[b] - nodes_[d], nodes_[c] - nodes_[d]);
        if (dot(normalized(n1), normalized(n2)) < -0.2) continue;
        flipped = net_.flip_edge(a, b) || flipped;
      }
    }
    if (!flipped) break;
  }
}

void GsrmNet::split_crossings() {
  if (planes_ == nullptr || !options_.sharpen) return;
  const auto shares_plane = [&](std::uint32_t a, std::uint32_t b) {
    return std::any_of(node_planes_[a].begin(), node_planes_[a].end(), [&](std::int32_t p) {
      return std::count(node_planes_[b].begin(), node_planes_[b].end(), p) > 0;
    });
  };
  // New nodes are on the planes of both ends, so their edges need not be checked.
  const auto known = narrow<std::uint32_t>(nodes_.size());
  for (std::uint32_t a = 0; a < known; ++a) {
    const std::vector<ManifoldMesh::Spoke> spokes = net_.spokes(a);
    for (const ManifoldMesh::Spoke& spoke : spokes) {
      const std::uint32_t b = spoke.to;
      if (b < a || b >= known || node_planes_[a].empty() || node_planes_[b].empty() || shares_plane(a, b)) continue;
      const Vec3 middle = (nodes_[a] + nodes_[b]) * 0.5;
      double nearest = 0.5 * length(nodes_[a] - nodes_[b]);
      Vec3 place;
      std::vector<std::int32_t> onto;
      for (const std::int32_t p : node_planes_[a]) {
        for (const std::int32_t q : node_planes_[b]) {
          Vec3 candidate;
          if (!project(middle, *planes_, {p, q}, nearest, candidate)) continue;
          nearest = length(candidate - middle);
          place = candidate;
          onto = {p, q};
        }
      }
      if (onto.empty()) continue;
      const std::uint32_t between = net_.split_edge(a, b);
      nodes_.push_back(place);
      error_.push_back(0);
      alive_.push_back(true);
      index_.insert(between, place);
      node_planes_.push_back(std::move(onto));
      ++living_;
    }
  }
}

TriangleMesh GsrmNet::mesh() const {
  TriangleMesh result;
  result.vertices = nodes_;
  if (planes_ != nullptr && options_.sharpen)
    stretch_boundary(cloud_, *planes_, node_planes_, index_, net_, result.vertices);
  result.triangles = net_.triangles();
  // Removes nodes without faces and renumbers the others.
  std::vector<std::uint32_t> number(nodes_.size(), UINT32_MAX);
  TriangleMesh compact;
  for (Triangle t : result.triangles) {
    for (std::uint32_t& v : t) {
      if (number[v] == UINT32_MAX) {
        number[v] = narrow<std::uint32_t>(compact.vertices.size());
        compact.vertices.push_back(result.vertices[v]);
      }
      v = number[v];
    }
    compact.triangles.push_back(t);
  }
  return oriented(std::move(compact));
}

TriangleMesh build_gsrm(const Cloud& cloud, const PlaneSet& planes, const GsrmOptions& options,
                        const Progress& progress) {
  GsrmNet net(cloud, options);
  const std::size_t most =
      20 * options.nodes * options.signals_a_node;  // a limit for nets that lose as many nodes as they gain
  for (std::size_t signal = 0; signal < most && !net.grown(); ++signal) {
    net.step();
    if (progress && signal % 8192 == 0) progress(0.8 * real(net.living()) / real(options.nodes));
  }
  net.place_nodes(planes);
  if (progress) progress(0.85);
  net.learn_topology();
  net.flip_edges();
  net.split_crossings();
  net.flip_edges();
  if (progress) progress(1);
  return net.mesh();
}

}  // namespace volvox::scan
