// A net of nodes, edges and faces that is a two-manifold after every change: an edge has one or two
// faces, and the faces about a node form one fan, open or closed. A change that would break this is
// refused; a removal takes along what would break it. Edges are there only as sides of faces.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/scan/mesh.h"

namespace volvox::scan {

class ManifoldMesh {
 public:
  // The edge from a node to another, as seen from one end.
  struct Spoke {
    std::uint32_t to = 0;
    std::uint32_t age = 0;                 // for GSRM; the same at both ends
    std::uint8_t faces = 0;                // 1 or 2
    std::array<std::uint32_t, 2> third{};  // the third corners of its faces
  };

  std::uint32_t add_node();
  std::size_t nodes() const { return spokes_.size(); }  // all numbers ever given
  const std::vector<Spoke>& spokes(std::uint32_t node) const { return spokes_[node]; }
  const Spoke* find(std::uint32_t a, std::uint32_t b) const;
  bool has_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  bool on_boundary(std::uint32_t node) const;
  std::size_t faces() const { return faces_; }

  bool can_add_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;
  bool add_face(std::uint32_t a, std::uint32_t b, std::uint32_t c);  // false: refused
  // Adds faces in an order in which each may be added, and returns those that never could.
  std::vector<Triangle> add_faces(std::vector<Triangle> faces);
  // Adds faces all at once to a net that has none, and then takes away what is too much: the third face
  // of an edge, and at a node all fans but the largest. Returns what did not stay.
  std::vector<Triangle> take_faces(const std::vector<Triangle>& faces);
  // Removes the face, edges that lose their last one, and of a fan that falls in two the smaller part.
  void remove_face(std::uint32_t a, std::uint32_t b, std::uint32_t c);
  void remove_edge(std::uint32_t a, std::uint32_t b);  // with its faces
  // A new node in the middle of an edge; the faces at the edge become two each.
  std::uint32_t split_edge(std::uint32_t a, std::uint32_t b);
  // Turns the edge a-b of two faces into the other diagonal of their quadrangle; false: refused.
  bool flip_edge(std::uint32_t a, std::uint32_t b);
  void remove_all_faces();

  void set_age(std::uint32_t a, std::uint32_t b, std::uint32_t age);
  // Adds one to the ages of all edges of a node, and returns the other ends of those older than `limit`.
  std::vector<std::uint32_t> grow_older(std::uint32_t node, std::uint32_t limit);

  std::vector<Triangle> triangles() const;

 private:
  Spoke* own(std::uint32_t a, std::uint32_t b);
  void attach(std::uint32_t a, std::uint32_t b, std::uint32_t c);
  void detach(std::uint32_t a, std::uint32_t b, std::uint32_t c);
  void replace_third(std::uint32_t a, std::uint32_t b, std::uint32_t old_third, std::uint32_t new_third);
  // The faces of the smaller part, if the fan of a node has fallen in two.
  std::vector<Triangle> smaller_part(std::uint32_t node) const;

  std::vector<std::vector<Spoke>> spokes_;
  std::size_t faces_ = 0;
};

}  // namespace volvox::scan
