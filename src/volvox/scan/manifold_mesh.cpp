#include "volvox/scan/manifold_mesh.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::scan {

std::uint32_t ManifoldMesh::add_node() {
  spokes_.emplace_back();
  return narrow<std::uint32_t>(spokes_.size() - 1);
}

const ManifoldMesh::Spoke* ManifoldMesh::find(std::uint32_t a, std::uint32_t b) const {
  for (const Spoke& spoke : spokes_[a])
    if (spoke.to == b) return &spoke;
  return nullptr;
}

ManifoldMesh::Spoke* ManifoldMesh::own(std::uint32_t a, std::uint32_t b) { return const_cast<Spoke*>(find(a, b)); }

bool ManifoldMesh::has_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  const Spoke* spoke = find(a, b);
  return spoke != nullptr && (spoke->third[0] == c || (spoke->faces == 2 && spoke->third[1] == c));
}

bool ManifoldMesh::on_boundary(std::uint32_t node) const {
  return std::any_of(spokes_[node].begin(), spokes_[node].end(), [](const Spoke& s) { return s.faces == 1; });
}

bool ManifoldMesh::can_add_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  VOLVOX_ASSERT(a < spokes_.size() && b < spokes_.size() && c < spokes_.size());
  if (a == b || b == c || c == a || has_face(a, b, c)) return false;
  const Spoke *ab = find(a, b), *bc = find(b, c), *ca = find(c, a);
  for (const Spoke* edge : {ab, bc, ca})
    if (edge != nullptr && edge->faces == 2) return false;
  // The fan at each corner is a path or empty, and the face must extend it at an end. An existing edge has one face,
  // so it is an end; a corner that has a fan, but none of the edges, would get a second fan.
  const auto continues = [&](std::uint32_t node, const Spoke* one, const Spoke* other) {
    return spokes_[node].empty() || one != nullptr || other != nullptr;
  };
  return continues(a, ab, ca) && continues(b, ab, bc) && continues(c, bc, ca);
}

void ManifoldMesh::attach(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  VOLVOX_ASSERT(a != b && b != c && c != a && a < spokes_.size() && b < spokes_.size() && c < spokes_.size());
  for (const auto& [from, to] : {std::array{a, b}, std::array{b, a}}) {
    Spoke* spoke = own(from, to);
    if (spoke == nullptr) spoke = &spokes_[from].emplace_back(Spoke{.to = to});
    spoke->third[spoke->faces++] = c;
  }
}

void ManifoldMesh::detach(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  VOLVOX_ASSERT(find(a, b) != nullptr);
  for (const auto& [from, to] : {std::array{a, b}, std::array{b, a}}) {
    Spoke* spoke = own(from, to);
    if (spoke->third[0] == c) spoke->third[0] = spoke->third[1];
    if (--spoke->faces == 0) spokes_[from].erase(spokes_[from].begin() + (spoke - spokes_[from].data()));
  }
}

bool ManifoldMesh::add_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if (!can_add_face(a, b, c)) return false;
  attach(a, b, c);
  attach(b, c, a);
  attach(c, a, b);
  ++faces_;
  return true;
}

std::vector<Triangle> ManifoldMesh::add_faces(std::vector<Triangle> faces) {
  // Adjacent to existing faces as long as possible: separate islands would touch at single nodes, where they
  // could not be joined.
  const auto is_adjacent = [&](const Triangle& f) {
    return find(f[0], f[1]) != nullptr || find(f[1], f[2]) != nullptr || find(f[2], f[0]) != nullptr;
  };
  while (!faces.empty()) {
    if (std::erase_if(faces, [&](const Triangle& f) { return is_adjacent(f) && add_face(f[0], f[1], f[2]); }) > 0)
      continue;
    const auto seed =
        std::find_if(faces.begin(), faces.end(), [&](const Triangle& f) { return add_face(f[0], f[1], f[2]); });
    if (seed == faces.end()) break;
    faces.erase(seed);
  }
  return faces;
}

std::vector<Triangle> ManifoldMesh::take_faces(const std::vector<Triangle>& faces) {
  for (const auto& [a, b, c] : faces) {
    const auto has_room = [&](std::uint32_t u, std::uint32_t v) {
      const Spoke* edge = find(u, v);
      return edge == nullptr || edge->faces < 2;
    };
    if (a == b || b == c || c == a || has_face(a, b, c) || !has_room(a, b) || !has_room(b, c) || !has_room(c, a))
      continue;
    attach(a, b, c);
    attach(b, c, a);
    attach(c, a, b);
    ++faces_;
  }
  for (std::uint32_t node = 0; node < spokes_.size(); ++node)
    for (std::vector<Triangle> part = smaller_part(node); !part.empty(); part = smaller_part(node))
      for (const auto& [a, b, c] : part) remove_face(a, b, c);
  std::vector<Triangle> refused;
  for (const Triangle& face : faces)
    if (!has_face(face[0], face[1], face[2])) refused.push_back(face);
  return refused;
}

std::vector<Triangle> ManifoldMesh::smaller_part(std::uint32_t node) const {
  VOLVOX_ASSERT(node < spokes_.size());
  const auto& around = spokes_[node];
  if (around.empty()) return {};
  // The spokes that are connected to the first by faces.
  std::vector<bool> reached(around.size());
  std::vector<std::size_t> open = {0};
  reached[0] = true;
  std::size_t count = 1;
  const auto position = [&](std::uint32_t to) -> std::size_t {
    return std::find_if(around.begin(), around.end(), [&](const Spoke& s) { return s.to == to; }) - around.begin();
  };
  while (!open.empty()) {
    const Spoke& spoke = around[open.back()];
    open.pop_back();
    for (int i = 0; i < spoke.faces; ++i) {
      const std::size_t next = position(spoke.third[i]);
      if (reached[next]) continue;
      reached[next] = true;
      ++count;
      open.push_back(next);
    }
  }
  if (count == around.size()) return {};
  const bool smaller = 2 * count <= around.size();
  std::vector<Triangle> part;
  for (std::size_t i = 0; i < around.size(); ++i) {
    if (reached[i] != smaller) continue;
    for (int k = 0; k < around[i].faces; ++k)
      if (around[i].to < around[i].third[k]) part.push_back({node, around[i].to, around[i].third[k]});
  }
  return part;
}

void ManifoldMesh::remove_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::vector<Triangle> doomed = {{a, b, c}};
  while (!doomed.empty()) {
    const Triangle face = doomed.back();
    doomed.pop_back();
    if (!has_face(face[0], face[1], face[2])) continue;
    for (int i = 0; i < 3; ++i) detach(face[i], face[(i + 1) % 3], face[(i + 2) % 3]);
    --faces_;
    for (const std::uint32_t node : face) {
      const std::vector<Triangle> part = smaller_part(node);
      doomed.insert(doomed.end(), part.begin(), part.end());
    }
  }
}

void ManifoldMesh::remove_edge(std::uint32_t a, std::uint32_t b) {
  while (const Spoke* spoke = find(a, b)) remove_face(a, b, spoke->third[0]);
}

void ManifoldMesh::replace_third(std::uint32_t a, std::uint32_t b, std::uint32_t old_third, std::uint32_t new_third) {
  VOLVOX_ASSERT(find(a, b) != nullptr && find(b, a) != nullptr);
  for (const auto& [from, to] : {std::array{a, b}, std::array{b, a}}) {
    Spoke* spoke = own(from, to);
    spoke->third[spoke->third[0] == old_third ? 0 : 1] = new_third;
  }
}

std::uint32_t ManifoldMesh::split_edge(std::uint32_t a, std::uint32_t b) {
  VOLVOX_ASSERT(find(a, b) != nullptr);
  const Spoke edge = *find(a, b);
  const std::uint32_t r = add_node();
  for (const auto& [from, to] : {std::array{a, b}, std::array{b, a}})
    std::erase_if(spokes_[from], [&, gone = to](const Spoke& s) { return s.to == gone; });
  for (int i = 0; i < edge.faces; ++i) {
    const std::uint32_t c = edge.third[i];
    replace_third(a, c, b, r);
    replace_third(b, c, a, r);
    attach(r, c, a);
    attach(r, c, b);
    attach(r, a, c);
    attach(r, b, c);
    ++faces_;
  }
  return r;
}

bool ManifoldMesh::flip_edge(std::uint32_t a, std::uint32_t b) {
  const Spoke* edge = find(a, b);
  if (edge == nullptr || edge->faces != 2) return false;
  const std::uint32_t c = edge->third[0], d = edge->third[1];
  // The new edge must not exist yet, and both nodes of the old edge must keep at least three edges.
  if (find(c, d) != nullptr || spokes_[a].size() <= 3 || spokes_[b].size() <= 3) return false;
  for (const auto& [from, to] : {std::array{a, b}, std::array{b, a}})
    std::erase_if(spokes_[from], [&, gone = to](const Spoke& s) { return s.to == gone; });
  replace_third(a, c, b, d);
  replace_third(a, d, b, c);
  replace_third(b, c, a, d);
  replace_third(b, d, a, c);
  attach(c, d, a);
  attach(c, d, b);
  return true;
}

void ManifoldMesh::remove_all_faces() {
  for (auto& spokes : spokes_) spokes.clear();
  faces_ = 0;
}

void ManifoldMesh::set_age(std::uint32_t a, std::uint32_t b, std::uint32_t age) {
  if (Spoke* spoke = own(a, b)) {
    spoke->age = age;
    own(b, a)->age = age;
  }
}

std::vector<std::uint32_t> ManifoldMesh::grow_older(std::uint32_t node, std::uint32_t limit) {
  std::vector<std::uint32_t> old;
  for (Spoke& spoke : spokes_[node]) {
    own(spoke.to, node)->age = ++spoke.age;
    if (spoke.age > limit) old.push_back(spoke.to);
  }
  return old;
}

std::vector<Triangle> ManifoldMesh::triangles() const {
  std::vector<Triangle> all;
  for (std::uint32_t a = 0; a < spokes_.size(); ++a) {
    for (const Spoke& spoke : spokes_[a]) {
      for (int i = 0; i < spoke.faces; ++i)
        if (a < spoke.to && spoke.to < spoke.third[i]) all.push_back({a, spoke.to, spoke.third[i]});
    }
  }
  return all;
}

}  // namespace volvox::scan
