// Islands that touch each other form a group. Groups do not depend on each other: each is moved through a substep
// alone, while its data is in the cache. Within a group, contacts are solved by exact Gauss-Seidel sweeps in whitened
// coordinates. Each island keeps the sum a of the effects of its contacts; a contact's velocity is then
//   v = v0 + y_A.a_A + y_B.a_B        (y: its rows in the islands' coordinates)
// and an impulse d adds y d to a. Every impulse is projected onto the friction cone at once, so that no contact pulls.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/base/union_find.h"
#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/contact_batch.h"
#include "volvox/physics/native/island.h"
#include "volvox/physics/native/wide.h"
#include "volvox/physics/native/work.h"

namespace volvox::physics::native {

using Islands = std::vector<std::unique_ptr<Island>>;  // null: a free slot

class Detector;
class PlaneContacts;
class Tree;

// A tree that is a group of its own and touches only bodies that do not move.
struct FlockMember {
  const Tree* tree = nullptr;
  int island = -1;
  std::span<const int> points;        // its contacts
  std::uint64_t where = 0;            // the number of contacts of each node: trees with equal ones share lanes
  bool on_planes = false;             // its contacts are all in PlaneContacts
  int pattern = -1, first_body = -1;  // of the tree
  bool looks = false;                 // for these, before it moves
};

// Scratch memory for one group at a time; one for each thread, so that it stays in its cache.
struct GroupRoom {
  struct Active {
    int point;
    int island_a, node_a, island_b, node_b;  // b: -1 where it is not solved for
    int part_a = 0, part_b = 0;
    bool one_part = true;          // no island on either side is cut into parts
    int place_a = 0, place_b = 0;  // its parts among those of the group
    bool in_lanes = false;         // it is solved side by side with others
  };
  // A row of the direct solution.
  struct DirectRow {
    std::size_t contact;
    int direction;
    double slide[2];  // of a contact that slides: friction per unit of its normal impulse
  };

  // A bound of how far the whitened coordinates of an island have moved since some earlier moment. They oscillate, so
  // the sum of all changes is far more than the distance. Small islands of one part therefore remember a point now and
  // then (the anchor), and their distance from it is measured when it matters. From then to now they moved at most
  //   (gone + away)(now) - (gone - away)(then).
  struct Journey {
    double gone = 0;       // the distances between successive anchors; the sum of all changes if not measured
    double away = 0;       // at most this far from the last anchor
    bool measured = true;  // `away` is exact
    std::span<const double> coordinates;  // empty: not measured
    std::size_t anchor = 0;               // in anchors
  };
  // A contact that does not push need not be looked at until its islands have moved far enough: a change of their
  // coordinates of length l changes its normal speed by at most `response` l (Cauchy-Schwarz).
  struct Idle {
    double spare = -1;    // m/s; negative: it must be looked at
    double response = 0;  // the length of its normal row
    double since = 0;     // gone - away of both when it was looked at
  };

  // Consecutive contacts that one thread sweeps: first those that are solved one by one, then those in lanes.
  struct Section {
    std::size_t first = 0, last = 0, end = 0;
    double most = 0;        // change in the last sweep, in m/s
    std::size_t swept = 0;  // contacts in the last sweep
  };

  // A contact in lanes that does not push and is in no batch. It need not be looked at until the movement of its
  // islands (see Journey) may have used up the distance of its normal speed from its target (Cauchy-Schwarz).
  struct Watch {
    int contact = 0;
    int place_a = 0, place_b = 0;           // of its islands; b: as a, with no response, where it is not solved for
    double response_a = 0, response_b = 0;  // the length of the normal's row on each side, at most
    double limit = 0;                       // of response_a gone_a + response_b gone_b
    bool has_row = false;                   // its normal's row is written, and the responses are those
  };
  // The data from which its normal speed is computed without its rows.
  struct WatchedSides {
    Vec3 normal;
    Vec3 turn_a, turn_b;  // arm x normal
    double spare = 0;     // how far it is above its target while all coordinates are zero, m/s
    int island_a = -1, node_a = -1, island_b = -1, node_b = -1;  // b: -1 where it is not solved for
  };
  // The contacts of a section that are solved side by side.
  struct LaneSet {
    static constexpr std::size_t none = ~std::size_t{0};
    static constexpr int sizes = 3;  // of a side; contacts of like sizes go together
    struct Open {
      std::size_t batch = 0;
      int used = 0, kind = 0;
    };
    LaneVector<ContactBatch> batches;
    std::vector<double*> blocks;
    LaneVector<double> rows;
    std::vector<std::size_t> members;        // by batch and lane: the contact there, or none
    std::vector<std::array<int, 2>> places;  // the same: its two islands, by place
    std::vector<Watch> watches;
    // Batches with free lanes, at most 64 at a time.
    std::array<Open, 64> open;
    std::uint64_t with_room = 0;                         // which of them there are
    std::array<std::uint64_t, sizes * sizes> of_kind{};  // the same, by kind
    std::vector<std::uint64_t> taken;                    // by place: those that have a contact of this island
  };

  std::vector<std::uint8_t> anew;   // by island: predicted since the last sweep
  std::vector<Active> active;       // in the order of the sweep
  std::vector<Section> sections;    // of them
  std::vector<std::size_t> phases;  // the first of the sections that may be swept at once, and one more at the end
  std::vector<int> strip;           // by island
  std::vector<std::size_t> weight;  // by island: its contacts; where its nodes go
  std::vector<int> across;          // the group's islands, strip by strip where there are any
  std::vector<Active> sorted;
  std::vector<RowContact> hot;    // the same contacts, as the sweep wants them
  std::vector<Idle> idle;         // the same contacts
  std::vector<Journey> journeys;  // by island
  std::vector<double> anchors;
  std::vector<int> first_place;                 // by island: of its parts among those of the group
  std::vector<int> above;                       // by place: the part that it hangs on; -1: none
  std::vector<std::uint8_t> stirred, stirring;  // by place: something in it or beside it has not settled
  std::vector<double> rows;
  bool in_lanes = false;            // this group has contacts that are solved side by side; of those contacts:
  std::vector<LaneSet> lane_sets;   // by section
  std::vector<double> least_spare;  // by contact: how far it is above its target in the end, at least, m/s
  LaneVector<double> coordinates;   // of the islands of one part
  std::vector<double> gone;         // by place: see Journey
  std::vector<std::size_t> first_coordinate;          // by island
  std::array<int, LaneSet::sizes> columns_of_size{};  // the most that a side of this size has
  LaneVector<double> nothing;                         // see Batches
  std::vector<int> touched;                           // nodes that contacts are on
  std::vector<std::size_t> first_end;                 // of each island of the group among them, and one more at the end
  std::vector<DirectRow> direct;
  std::vector<double> matrix, right;
  std::vector<Vec3> kept;
};

class ContactSolver {
 public:
  explicit ContactSolver(Work& work) : work_(work) {}

  std::vector<ContactPoint>& points() { return points_; }
  const std::vector<ContactPoint>& points() const { return points_; }

  // Finds the groups, after detection and when islands have changed. An island that is alone on a plane is in no group.
  void regroup(const World& world, const Islands& islands, const PlaneContacts& planes);
  // A group sleeps or wakes as a whole. It falls asleep when it lies still for a while, supported by something; it
  // wakes when any of its bodies is awake.
  void wake_groups(World& world, const Islands& islands, ThreadPool* threads);
  void let_sleep(World& world, const Islands& islands, double tick, ThreadPool* threads) const;
  // The same for a tree that is alone on a plane.
  static void let_sleep(World& world, const Tree& tree, const PlaneContacts& planes, double tick);

  // Gives away the groups that are one small tree and touch nothing that moves.
  static constexpr std::size_t most_lone_points = 64;
  // The spans in `members` are valid until the next call.
  void take_lone_trees(const World& world, const Islands& islands, const Detector& detector,
                       std::vector<FlockMember>& members);

  // After that: lists the groups that must be moved, the largest first.
  void line_up();
  std::span<const std::size_t> groups() const { return line_; }
  // Calls visit(body) for all bodies of these groups.
  template <class Visit>
  void for_each_moved(const Islands& islands, const Visit& visit) const {
    for (const std::size_t group : line_) {
      for (std::size_t i = groups_[group].first_island; i < groups_[group].last_island; ++i)
        for (const int body : islands[static_cast<std::size_t>(islands_[i])]->bodies()) visit(body);
    }
  }
  // The same of all groups, those that sleep too.
  template <class Visit>
  void for_each_in_groups(const Islands& islands, const Visit& visit) const {
    for (const int island : islands_)
      for (const int body : islands[static_cast<std::size_t>(island)]->bodies()) visit(body);
  }
  // Whether a group is so large that it is itself divided among the threads: the others would end before it.
  bool large(std::size_t group) const {
    return groups_[group].bodies >= fewest_bodies_shared && 8 * groups_[group].bodies > bodies_;
  }
  // Moves the bodies of a group through a substep, by all threads, if there are any.
  void advance_group(World& world, Islands& islands, std::size_t group, double step, ThreadPool* threads) const;

 private:
  static constexpr std::size_t fewest_bodies_shared = 400;

  struct Group {
    std::size_t first_island = 0, last_island = 0;  // in islands_
    std::size_t first_point = 0, last_point = 0;    // in order_
    std::size_t bodies = 0;
    bool awake = true;
  };

  template <class Visit>
  void for_bodies(const Islands& islands, const Group& group, const Visit& visit) const;
  bool may_sleep(const World& world, const Islands& islands, const Group& group) const;
  template <class Visit>
  void for_islands(Islands& islands, const Group& group, ThreadPool* threads, const Visit& visit) const;
  void place(World& world, Islands& islands, const Group& group, ThreadPool* threads) const;
  double reach_of(const Group& group, double step) const;
  void refresh(World& world, const Group& group, double step, ThreadPool* threads) const;
  void refresh_point(const World& world, ContactPoint& c, double step) const;
  void share_weight(World& world, Islands& islands, const Group& group, ThreadPool* threads) const;
  void start_impulses(World& world, const Group& group, double step) const;
  Vec3 first_impulse(const World& world, const ContactPoint& c, double step) const;
  void solve(World& world, Islands& islands, const Group& group, GroupRoom& room, double step,
             ThreadPool* threads) const;
  void start(Islands& islands, const Group& group, GroupRoom& room) const;
  void collect_active(const World& world, const Group& group, GroupRoom& room) const;
  void choose_lanes(Islands& islands, GroupRoom& room) const;
  void whiten(Islands& islands, const Group& group, GroupRoom& room, ThreadPool* threads) const;
  void lay_out_rows(Islands& islands, GroupRoom& room) const;
  void fill(const World& world, Islands& islands, GroupRoom& room, std::size_t index, double step) const;
  void prepare(const World& world, Islands& islands, GroupRoom& room, std::size_t index, double step) const;
  void fill_rows(const World& world, Islands& islands, GroupRoom& room, std::size_t index, double step) const;
  Verdict take_up(World& world, Islands& islands, const Group& group, GroupRoom& room, ThreadPool* threads) const;
  void set_target(ContactPoint& c, double give, double step) const;
  void divide(const World& world, const Islands& islands, const Group& group, GroupRoom& room) const;
  void sort_by_parts(const Islands& islands, GroupRoom& room) const;
  void cut_into_strips(const World& world, const Islands& islands, GroupRoom& room, int strips) const;
  void sweep(Islands& islands, const Group& group, GroupRoom& room, ThreadPool* threads) const;
  void sweep(Islands& islands, GroupRoom& room, GroupRoom::Section& section, bool all, double enough) const;
  void lay_out_coordinates(Islands& islands, GroupRoom& room) const;
  void sweep_in_lanes(const World& world, Islands& islands, const Group& group, GroupRoom& room, double step,
                      ThreadPool* threads) const;
  void begin_lanes(const World& world, const Islands& islands, GroupRoom& room, std::size_t section) const;
  void look_at_watches(const World& world, Islands& islands, GroupRoom& room, std::size_t section, double step) const;
  GroupRoom::WatchedSides watched_sides(const GroupRoom& room, std::size_t index) const;
  double spare_in_lanes(const Islands& islands, GroupRoom& room, std::size_t index) const;
  void measure_islands(GroupRoom& room) const;
  void end_lanes(Islands& islands, GroupRoom& room) const;
  void wake_idle(const Islands& islands, const Group& group, GroupRoom& room) const;
  void drop_anchors(const Group& group, GroupRoom& room) const;
  void number_places(const Islands& islands, GroupRoom& room) const;
  Solved solve_one(Islands& islands, GroupRoom& room, std::size_t index) const;
  void take_impulses(World& world, Islands& islands, const Group& group, GroupRoom& room, double step,
                     ThreadPool* threads) const;
  bool holds(const World& world, Islands& islands, GroupRoom& room, std::size_t index, double step) const;

  Work& work_;
  mutable std::vector<ContactPoint> points_;  // each belongs to one group
  std::vector<Group> groups_;
  std::size_t bodies_ = 0;     // of all groups
  std::vector<int> islands_;   // by group
  std::vector<int> order_;     // points by group
  UnionFind touching_;         // islands
  std::vector<int> group_of_;  // by island
  std::vector<int> lone_points_;
  std::vector<std::uint8_t> lone_;  // by island: somebody else moves it
  std::vector<std::size_t> line_;   // groups
};

// One step towards the solution for the contacts that now touch, stick and slide. False: it
// leads nowhere, and nothing was changed.
bool solve_directly(GroupRoom& room);
// The velocity of a contact after the sweeps, where no island is cut into parts.
double velocity_of(const RowContact& contact, int direction);

}  // namespace volvox::physics::native
