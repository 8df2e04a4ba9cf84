// Small trees that touch nothing but what stands still, moved from one detection to the next
// on their own: nobody else can matter to them meanwhile. Trees of one pattern go side by
// side, a lane each; one that is left over goes through the same code alone, with the same
// bits. The method is that of Tree and ContactSolver, but that a motor which contacts overload is
// capped in the next substep, not solved again: against the ground alone nothing jams for long.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/contact_solver.h"
#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/flock_data.h"
#include "volvox/physics/native/plane_contacts.h"
#include "volvox/physics/native/shape.h"
#include "volvox/physics/native/tree.h"
#include "volvox/physics/native/work.h"

namespace volvox::physics::native {

// The whole of a vector.
template <class Vector>
auto row(Vector& all) -> Row<std::remove_pointer_t<decltype(all.data())>> {
  return {all.data(), all.size()};
}

template <class T>
struct Flock {
  std::vector<FlockMember> members;  // at most as many as there are lanes
  alignas(sizeof(T)) MaskOf<T> used{};
  MaskOf<T> alarmed{};                   // where it stopped
  LaneVector<FlockBody<T>> bodies;       // by node
  LaneVector<FlockJoint<T>> joints;      // by node
  LaneVector<Drive<T>> drives;           // by dof
  LaneVector<FlockContact<T>> contacts;  // by node
  int since = 0;                         // the substep at which it was loaded
  int reached = fresh;                   // that to which it went ahead
  static constexpr int fresh = -1;       // not loaded yet
  // It came to where all contacts are looked for again, and its state was written to the world while it was in the
  // cache: its lanes are somebody else's by now. What was written over, by member from `before_of` on, for who is
  // called back.
  bool written = false, ended = false;  // ended: and so was what others see at the end of the tick
  std::vector<double> before;
  std::size_t before_of[lane_count<T>] = {};

  const Tree& pattern() const { return *members.front().tree; }
  FlockView<T> view() {
    const Tree& tree = pattern();
    const TreeColumns& plan = tree.columns();
    return {{row(tree.shapes()), row(plan.columns), row(plan.first), row(plan.own), plan.total, plan.most,
             tree.safe_pull()},
            used,
            row(bodies),
            row(joints),
            row(drives),
            row(contacts)};
  }
};

// What FlockRoomView shows.
template <class T>
struct FlockRoom {
  LaneVector<Node<T>> nodes;
  LaneVector<Dof<T>> dofs;
  alignas(sizeof(T)) InverseFactor<T> root;
  LaneVector<T> y, rows, coordinates, touches;
  alignas(64) MaskOf<T> carried[Tree::most_flock_nodes];
  LaneVector<Spatial<T>> push;
  std::vector<FlockContact<T>*> active;  // its memory; not its size
  std::vector<std::uint8_t> wanted;
  Manifold manifold;
  Flock<T> flock;

  FlockRoomView<T> view() {
    return {row(nodes), row(dofs),          root,         row(y),
            row(rows),  row(coordinates),   row(touches), {carried, nodes.size()},
            row(push),  {active.data(), 0}, row(wanted)};
  }
};

// Substeps are counted from where all contacts were looked for.
struct Substeps {
  double step;  // s
  int now, count;
  bool begin_tick;  // at the first of them nothing has been booked yet
  double time_left() const { return (count - now) * step; }
};

// Flocks go ahead of the rest of the world: to where all contacts are looked for again, or to where one of their trees
// is alarmed (hit so hard that it may get where nobody looked). What happens elsewhere meanwhile does not matter to
// them, unless somebody who is alarmed there may reach them: then they are called back, and nobody else.
class Flocks {
 public:
  Flocks(Work& work, Precision precision);

  // Before all contacts are looked for: nobody is ahead.
  void clear();
  // After ContactSolver::regroup: takes the groups that can go on their own. Trees that are ahead stay where they are.
  // `alarmed`, by body: whose contacts are looked for since some have gone ahead; empty: everybody's.
  void gather(const World& world, const Islands& islands, ContactSolver& contacts, const Detector& detector,
              const PlaneContacts& planes, std::span<const std::uint8_t> alarmed);
  // Of a tick that ends here, what others see of the trees that are on planes alone is written, too, and it is noted
  // whose that is; a tick of no length: it does not end.
  struct EndOfTick {
    double tick = 0;                           // s
    std::span<std::uint8_t> bodies, joints{};  // by index
  };
  // Moves those that were gathered last; contacts with planes of those that have no others are looked for here, and the
  // state of these is written to the world if they come to the last substep, where `end` is. Nothing else is written.
  // `seen`: velocities when contacts were last looked for, by body; of trees that are on planes alone it says them here
  // of those who do not come so far, or are called back.
  // Returns the first substep to which a flock came: nobody else may go farther before it is committed.
  int run(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes,
          std::span<const std::shared_ptr<const Shape>> shapes, std::span<Twist> seen, const Substeps& substeps,
          const EndOfTick& end, ThreadPool* threads);
  // Writes the state of flocks that came to this substep, and lets them go. `judged`, by body: what the flock
  // found of it; asked in other numbers or later, it could depend on who else was in the flock.
  enum class Judged : std::uint8_t { no, calm, alarmed };
  void commit(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes, int now, std::span<Judged> judged,
              ThreadPool* threads);
  // By body: it is ahead, and the world holds its state of an earlier substep, or of a later one that may be taken
  // back.
  std::span<const std::uint8_t> ahead() const { return ahead_; }
  // Of a body that is ahead: as it was at that earlier substep.
  Body before(const Body& body);
  // Of an island that is ahead: that substep.
  int since(int island);
  // Bodies of which that may be a later one than that where all contacts were looked for.
  std::span<const int> late() const { return late_; }
  // Takes a tree that is ahead back to this substep, and lets it go. Nothing if it is not ahead. `end`: as in run().
  void call_back(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes, std::span<Twist> seen,
                 const EndOfTick& end, int island, double step, int now);

 private:
  // Flocks of so many lanes; those without members are free, and keep their memory.
  template <class T>
  struct Fleet {
    LaneVector<Flock<T>> flocks;
    std::size_t next_free = 0;  // before it there are none

    std::size_t add(std::span<const FlockMember> members);
    int first_reached(int substep) const;
  };
  // One for each width; of a precision, the first and that for the registers of the machine are used.
  using Fleets = std::tuple<Fleet<double>, Fleet<FourLanes>, Fleet<EightLanes>, Fleet<Floats<1>>, Fleet<Floats<4>>,
                            Fleet<Floats<8>>, Fleet<Floats<16>>>;
  // Where the tree of an island is.
  struct Place {
    static constexpr std::uint8_t nowhere = 255;
    std::uint8_t in = nowhere;  // which fleet
    std::uint8_t lane = 0;
    std::uint32_t flock = 0;
  };

  template <class Visit>
  void for_all(ThreadPool* threads, const Visit& visit);
  // visit(fleet) of the fleet with this number.
  template <class Visit>
  void in_fleet(std::uint8_t number, const Visit& visit);
  void add(std::uint8_t fleet, std::span<const FlockMember> members);

  Work& work_;
  std::vector<FlockMember> members_;  // sorted by pattern
  Fleets fleets_;
  std::uint8_t single_, wide_;  // the numbers of two fleets
  std::size_t lanes_;           // of the wide one
  std::vector<Place> places_;   // by island
  std::vector<std::uint8_t> ahead_;
  std::vector<int> late_;
  // One that is called back.
  std::tuple<Flock<double>, Flock<Floats<1>>> back_;
};

}  // namespace volvox::physics::native
