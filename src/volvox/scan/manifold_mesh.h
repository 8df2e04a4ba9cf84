// A triangle net that is a two-manifold after every change: an edge has one or two faces, and the faces at a node
// form one fan, open or closed. A change that would violate this is refused; a removal also removes faces that
// would violate it. Edges exist only as sides of faces. Deterministic.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/scan/mesh.h"

namespace volvox::scan {

class ManifoldMesh {
 public:
  // An edge, as seen from one of its nodes.
  struct Spoke {
    std::uint32_t to = 0;
    std::uint32_t age = 0;                 // for GSRM; the same at both ends
    std::uint8_t faces = 0;                // 1 or 2
    std::array<std::uint32_t, 2> third{};  // the third corners of its faces
  };

  std::uint32_t add_node();
  std::size_t nodes() const { return spokes_.size(); }  // including nodes without faces
  const std::vector<Spoke>& spokes(std::uint32_t node) const { return spokes_[node]; }
  const Spoke* find(std::uint32_t a, std::uint32_t b) const;
  bool has_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  bool on_boundary(std::uint32_t node) const;
  std::size_t faces() const { return faces_; }

  bool can_add_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  bool add_face(std::uint32_t a, std::uint32_t b, std::uint32_t c);  // false if refused
  // Adds faces in an order in which each can be added; returns the faces that could not be added.
  std::vector<Triangle> add_faces(std::vector<Triangle> faces);
  // Adds all faces to an empty net except third faces of an edge, then removes all fans but the largest at each
  // node. Returns the faces that are not in the net.
  std::vector<Triangle> take_faces(const std::vector<Triangle>& faces);
  // Removes the face, edges without faces, and the smaller part of each fan that it splits.
  void remove_face(std::uint32_t a, std::uint32_t b, std::uint32_t c);
  void remove_edge(std::uint32_t a, std::uint32_t b);  // and its faces
  // Adds a node on an edge; each face at the edge becomes two faces.
  std::uint32_t split_edge(std::uint32_t a, std::uint32_t b);
  // Replaces the edge a-b of two faces by the other diagonal of their quadrilateral; false if refused.
  bool flip_edge(std::uint32_t a, std::uint32_t b);
  void remove_all_faces();

  void set_age(std::uint32_t a, std::uint32_t b, std::uint32_t age);
  // Increments the age of all edges of a node; returns the other ends of edges older than `limit`.
  std::vector<std::uint32_t> grow_older(std::uint32_t node, std::uint32_t limit);

  std::vector<Triangle> triangles() const;

 private:
  Spoke* own(std::uint32_t a, std::uint32_t b);
  void attach(std::uint32_t a, std::uint32_t b, std::uint32_t c);
  void detach(std::uint32_t a, std::uint32_t b, std::uint32_t c);
  void replace_third(std::uint32_t a, std::uint32_t b, std::uint32_t old_third, std::uint32_t new_third);
  // The faces of the smaller part, if the faces at a node form more than one fan.
  std::vector<Triangle> smaller_part(std::uint32_t node) const;

  std::vector<std::vector<Spoke>> spokes_;
  std::size_t faces_ = 0;
};

}  // namespace volvox::scan
