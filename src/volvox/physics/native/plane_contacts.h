// Contacts of lone robots with planes. Most of a swarm are small trees that touch nothing but a plane that stands.
// Their contacts are found by the flocks that move them and stay here, by body, from tick to tick: nobody else looks at
// them, and a ContactPoint, twice as large, is made of them only for who asks (snapshots, contacts()) and where a robot
// is alone no longer: it gets company or falls asleep. SI units, world frame unless a name says otherwise.
// Part of the state of the simulator. Within a phase one thread works at a body.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/contact_solver.h"
#include "volvox/physics/native/manifold.h"
#include "volvox/physics/native/shape.h"

namespace volvox::physics::native {

// See ContactPoint. The normal is fixed to the plane. In the order in which flocks take it (PlaneRow).
struct PlanePoint {
  // Of the last substep; the first four numbers and where it was found are what the next detection asks for.
  Vec3 impulse;
  double rebound = 0;
  Vec3 arm_a;
  double separation = 0;
  // Found by detection.
  std::uint64_t feature = 0;
  Vec3 on_b, on_a;
  double radius = 0;
  Vec3 normal, outward;
  double rim = 0, friction = 0;
  double restitution = 0;
  bool active = false;  // of the last substep
};

class PlaneContacts {
 public:
  explicit PlaneContacts(Precision precision) : precision_(precision) {}

  // The phases of a detection, in their order. First everybody may be alone who is a small tree, awake, and latched.
  // `version`: of the islands, another number whenever they have changed.
  void begin(const World& world, const Islands& islands, std::uint64_t version, ThreadPool* threads);
  // The same since then, for some bodies only: of lone robots all or none. Who is alone stays so until it is refused.
  void begin_again(const std::vector<Body>& bodies, std::span<const std::uint8_t> alarmed);
  bool alone(int island) const { return island >= 0 && alone_[static_cast<std::size_t>(island)] != 0; }
  void refuse(int island) {
    if (island >= 0) alone_[static_cast<std::size_t>(island)] = 0;
  }
  // What `body` is near: a body that stands and is one plane. A robot with a link that is near two of them is refused.
  void set_near(const std::vector<Body>& bodies, std::size_t body, int ground);
  // Now it is known who is alone. Contacts of the others go to `contacts`, where they belong (sorted by bodies, up to
  // `calm`, the number of those of calm pairs); contacts of those who were not alone before come from there.
  void exchange(const std::vector<Body>& bodies, std::vector<ContactPoint>& contacts, std::size_t calm);
  // Those who are alone no longer, since begin_again(). Returns how many contacts.
  std::size_t hand_over_refused(const std::vector<Body>& bodies, std::vector<ContactPoint>& contacts,
                                std::size_t calm) {
    return hand_over(bodies, contacts, calm, [&](std::size_t body) { return alone(bodies[body].island); });
  }
  // Looks for the contacts of a body of a lone robot for the next `horizon` seconds. Any thread. Returns how many.
  int find(const std::vector<Body>& bodies, std::span<const std::shared_ptr<const Shape>> shapes, std::size_t body,
           double horizon, Manifold& room);

  // visit(island, tree) of those who are alone.
  template <class Visit>
  void for_each_alone(const Visit& visit) const {
    for (const Small& small : small_)
      if (alone(small.island)) visit(small.island, *small.tree);
  }

  // Bodies of lone robots that `stays` does not name go to the contacts as in exchange(). Returns how many contacts.
  template <class Stays>
  std::size_t hand_over(const std::vector<Body>& bodies, std::vector<ContactPoint>& contacts, std::size_t calm,
                        const Stays& stays);
  // All of them: from here on there are none.
  std::size_t hand_over_all(const std::vector<Body>& bodies, std::vector<ContactPoint>& contacts, std::size_t calm) {
    return hand_over(bodies, contacts, calm, [](std::size_t) { return false; });
  }
  // others(contact) of the contacts and here(body, point) of those that are here, in the order of hand_over().
  template <class Others, class Here>
  void for_each(std::span<const ContactPoint> contacts, std::size_t calm, const Others& others, const Here& here) const;
  // The normal of a point in the world, as its flock had it.
  Vec3 normal(const std::vector<Body>& bodies, std::size_t body, const PlanePoint& point) const;

  // visit(body) of those that have contacts with this ground.
  template <class Visit>
  void for_each_on(std::size_t ground, const Visit& visit) const {
    for (std::size_t i = 0; i < of_body_.size(); ++i)
      if (of_body_[i].count > 0 && of_body_[i].ground == static_cast<int>(ground)) visit(i);
  }
  int ground(std::size_t body) const { return of_body_[body].ground; }
  std::span<PlanePoint> points(std::size_t body) {
    return {points_.data() + body * Manifold::most_kept, static_cast<std::size_t>(of_body_[body].count)};
  }
  std::span<const PlanePoint> points(std::size_t body) const {
    return {points_.data() + body * Manifold::most_kept, static_cast<std::size_t>(of_body_[body].count)};
  }
  void clear() { of_body_.clear(), points_.clear(), alone_.clear(), small_.clear(), version_ = none; }

 private:
  struct OfBody {
    int near = -1;    // the ground that its contacts are looked for with
    int ground = -1;  // that of its contacts
    int count = 0;    // of these
  };

  // A tree that is small enough to be alone.
  struct Small {
    int island;
    const Tree* tree;
    bool docked;  // it has docks, which may latch
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  void list_small(const World& world, const Islands& islands);
  ContactPoint written(const std::vector<Body>& bodies, std::size_t body, const PlanePoint& point) const;
  static void merge(std::vector<ContactPoint>& contacts, std::size_t calm, std::span<const ContactPoint> leaving,
                    std::vector<ContactPoint>& room);

  Precision precision_;
  std::vector<Small> small_;
  std::uint64_t version_ = none;     // of the islands that it was made of
  std::vector<std::uint8_t> alone_;  // by island
  std::vector<OfBody> of_body_;
  std::vector<PlanePoint> points_;  // by body, room for most_kept each
  std::vector<ContactPoint> leaving_, merged_;
};

template <class Stays>
std::size_t PlaneContacts::hand_over(const std::vector<Body>& bodies, std::vector<ContactPoint>& contacts,
                                     std::size_t calm, const Stays& stays) {
  leaving_.clear();
  for (std::size_t i = 0; i < of_body_.size(); ++i) {
    if (of_body_[i].count == 0 || stays(i)) continue;
    for (const PlanePoint& point : points(i)) leaving_.push_back(written(bodies, i, point));
    of_body_[i].count = 0, of_body_[i].ground = -1;
  }
  merge(contacts, calm, leaving_, merged_);
  return leaving_.size();
}

template <class Others, class Here>
void PlaneContacts::for_each(std::span<const ContactPoint> contacts, std::size_t calm, const Others& others,
                             const Here& here) const {
  calm = calm < contacts.size() ? calm : contacts.size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < of_body_.size(); ++i) {
    if (of_body_[i].count == 0) continue;
    // A lone robot's body has no other contacts.
    while (next < calm && contacts[next].a < static_cast<int>(i)) others(contacts[next++]);
    for (const PlanePoint& point : points(i)) here(i, point);
  }
  for (const ContactPoint& c : contacts.subspan(next)) others(c);
}

}  // namespace volvox::physics::native
