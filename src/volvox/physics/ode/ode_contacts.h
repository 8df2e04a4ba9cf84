// Finds the contacts of bodies with ODE's geoms and colliders, and three additions of our own:
//   planes   all near corners, also those that will touch within the substep. ODE takes an arbitrary few of the corners
//            below the plane, and lets a body fall that is completely below it
//   hulls    ODE finds one contact between two flat faces; we find more by tilting one of the hulls a little, and on
//            meshes by a ray at each corner
//   filters  bodies of one quiet owner, and bodies that a joint connects, do not collide
// SI units, world frame. Belongs to one World and its thread.
#pragma once

#include <ode/ode.h>

#include <array>
#include <vector>

#include "volvox/physics/ode/ode_shapes.h"
#include "volvox/physics/system.h"

namespace volvox::physics::ode {

struct OdeBody {
  dBodyID body = nullptr;  // of a fixed body: used by its joints only
  const BodyShape* shape = nullptr;
  std::vector<dGeomID> geoms;  // by collider; null for planes
};

struct ContactCandidate {
  std::size_t a = 0, b = 0;  // body indices; a is dynamic
  Vec3 point, normal;        // from b to a
  double depth = 0;          // negative: a gap
  double friction = 0, restitution = 0;
  bool bounces = false;
};

class ContactFinder {
 public:
  // The target of a geom's data pointer.
  struct Mark {
    std::size_t body, collider;
  };

  ContactFinder(const System& system, const std::vector<OdeBody>& bodies);
  ~ContactFinder();
  ContactFinder(const ContactFinder&) = delete;
  ContactFinder& operator=(const ContactFinder&) = delete;

  // All contacts of the next substep. Deterministic: their order depends on the ids of the bodies only.
  void find(dSpaceID space, double step, std::vector<ContactCandidate>& out);

 private:
  struct Touch {
    Vec3 point, normal;
    double depth = 0;
  };
  struct Pair {
    std::size_t a, collider_a, b, collider_b;
    auto operator<=>(const Pair&) const = default;
  };

  static void near_callback(void* self, dGeomID a, dGeomID b);
  void collide(const Pair& pair, std::vector<ContactCandidate>& out);
  void collide_planes(double step, std::vector<ContactCandidate>& out);
  void collide_plane(const Pair& pair, double step, std::vector<ContactCandidate>& out);
  void add_corners(const ColliderShape& shape, dGeomID geom, dGeomID surface);
  void tip(const ColliderShape& shape, dGeomID geom, dGeomID other, bool first);
  void keep(const Pair& pair, std::vector<ContactCandidate>& out);
  const ColliderShape& collider(std::size_t body, std::size_t index) const {
    return *bodies_[body].shape->colliders[index];
  }

  const System& system_;
  const std::vector<OdeBody>& bodies_;
  dGeomID ray_;
  std::vector<Pair> pairs_;
  std::vector<Touch> found_;
  std::vector<std::pair<Vec3, double>> points_;
};

// The points of a convex shape that may touch a plane, in the shape's frame, each with the radius of the shape's
// rounding there. `down` is a unit vector.
void plane_points(const ColliderShape& shape, const Vec3& down, std::vector<std::pair<Vec3, double>>& out);

}  // namespace volvox::physics::ode
