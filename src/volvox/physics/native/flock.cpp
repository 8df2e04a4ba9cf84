#include "volvox/physics/native/flock.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "volvox/physics/native/flock_kernel.h"
#include "volvox/physics/native/flock_load.h"
#include "volvox/physics/native/flock_rows.h"
#include "volvox/physics/native/flock_store.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Fewer trees of a pattern than this are moved one by one.
constexpr std::size_t fewest_side_by_side = 3;

template <class T>
int move_flock(Flock<T>& flock, FlockRoom<T>& room, double step, int substeps, double time_left) {
  return flock_kernels<T>().move(flock.view(), room.view(), step, substeps, time_left, flock.alarmed);
}

// Rows of bodies: see BodyRow.
static_assert(offsetof(Body, rotation) == 3 * sizeof(double) && offsetof(Body, angular) == 7 * sizeof(double) &&
              offsetof(Body, linear) == 10 * sizeof(double) && offsetof(Body, spin) == 13 * sizeof(double) &&
              offsetof(Body, weight) == BodyRow::state * sizeof(double) &&
              offsetof(Body, axle) == 19 * sizeof(double) && offsetof(Body, swing) == 22 * sizeof(double) &&
              offsetof(Body, shaped) == 23 * sizeof(double));

// Of drives: see DriveRow. A row ends within the drives of its joint.
static_assert(offsetof(Drive<double>, base) == 5 * sizeof(double) &&
              offsetof(Drive<double>, target) == 8 * sizeof(double) &&
              offsetof(Drive<double>, upper) == 10 * sizeof(double) &&
              offsetof(Drive<double>, slip) == DriveRow::slip * sizeof(double) &&
              offsetof(Drive<double>, cap) == (DriveRow::slip + 2) * sizeof(double) &&
              sizeof(decltype(World::drives)::value_type) >= DriveRow::count * sizeof(double));

// And of contacts with planes: see PlaneRow.
static_assert(offsetof(PlanePoint, rebound) == 3 * sizeof(double) &&
              offsetof(PlanePoint, arm_a) == 4 * sizeof(double) &&
              offsetof(PlanePoint, separation) == 7 * sizeof(double) &&
              offsetof(PlanePoint, feature) == PlaneRow::state * sizeof(double) &&
              offsetof(PlanePoint, on_b) == 9 * sizeof(double) && offsetof(PlanePoint, on_a) == 12 * sizeof(double) &&
              offsetof(PlanePoint, radius) == 15 * sizeof(double) &&
              offsetof(PlanePoint, normal) == 16 * sizeof(double) &&
              offsetof(PlanePoint, outward) == 19 * sizeof(double) &&
              offsetof(PlanePoint, rim) == 22 * sizeof(double) &&
              offsetof(PlanePoint, friction) == 23 * sizeof(double));

// Takes the state of the members from the world.
template <class T>
class Loader {
 public:
  // `begin_tick`: nothing has been booked yet.
  Loader(const World& world, const std::vector<ContactPoint>& points, const PlaneContacts& planes,
         std::span<const Twist> seen, double step, bool begin_tick)
      : world_(world), points_(points), planes_(planes), seen_(seen), step_(step), begin_tick_(begin_tick) {}

  void load(Flock<T>& flock, FlockRoom<T>& room) {
    const Tree& pattern = flock.pattern();
    const std::size_t nodes = pattern.shapes().size();
    flock.bodies.resize(nodes);
    flock.joints.resize(nodes);
    flock.drives.resize(pattern.columns().own.size());
    flock.used = MaskOf<T>{};
    for (int lane = 0; lane < lane_count<T>; ++lane) put(flock.used, lane, at(lane) < flock.members.size());
    // A lane that nobody needs runs after the first, without contacts.
    const auto tree_of = [&](int lane) -> const Tree& {
      return *flock.members[at(lane) < flock.members.size() ? at(lane) : 0].tree;
    };
    const double* bodies[Tree::most_flock_nodes * lane_count<T>];
    for (std::size_t i = 0; i < nodes; ++i)
      for (int lane = 0; lane < lane_count<T>; ++lane)
        bodies[i * lane_count<T> + at(lane)] = &world_.bodies[at(tree_of(lane).bodies()[i])].position.x;
    flock_kernels<T>().load_bodies(flock.view(), bodies, step_);
    // Node by node: lanes of a whole tree are larger than the nearest cache.
    for (std::size_t i = 0; i < nodes; ++i) {
      for (int lane = 0; lane < lane_count<T>; ++lane)
        load_node(flock, i, lane, tree_of(lane), at(lane) < flock.members.size() && flock.members[at(lane)].looks);
      if (begin_tick_) flock.joints[i].motor = T{}, flock.joints[i].load = Spatial<T>{};
      const std::size_t dofs = at(pattern.shapes()[i].dofs);
      if (dofs == 0) continue;
      Drive<T>* to = &flock.drives[at(pattern.shapes()[i].first_dof)];
      const double* rows[lane_count<T>];
      for (int lane = 0; lane < lane_count<T>; ++lane)
        rows[lane] = &world_.drives[at(tree_of(lane).joints()[i])].front().gain;
      flock_kernels<T>().load_drive(*to, rows);
      // A row is longer than a drive: behind the last of a joint nothing may be read.
      for (std::size_t k = 1; k < dofs; ++k)
        for (int lane = 0; lane < lane_count<T>; ++lane)
          copy_drive(to[k], lane, world_.drives[at(tree_of(lane).joints()[i])][k]);
    }
    if (flock.members.front().on_planes) lay_out_plane_contacts(flock);
    else lay_out_contacts(flock);
    make_room(flock, room);
  }

 private:
  void load_node(Flock<T>& flock, std::size_t i, int lane, const Tree& tree, bool looked) {
    const std::size_t index = at(tree.bodies()[i]);
    const Wrench& force = world_.system.forces[index];
    FlockBody<T>& body = flock.bodies[i];
    if (force != Wrench{}) {
      put(body.outside.a, lane, force.torque * step_);
      put(body.outside.l, lane, (world_.bodies[index].weight + force.force) * step_);
    }
    // Who was looked at before this substep is judged by what it was seen to do then.
    if (!looked) put(body.seen.a, lane, seen_[index].angular), put(body.seen.l, lane, seen_[index].linear);
    if (i == 0) return;
    const std::size_t joint = at(tree.joints()[i]);
    FlockJoint<T>& j = flock.joints[i];
    put(j.position, lane, world_.system.joints[joint].position);
    put(j.velocity, lane, world_.system.joints[joint].velocity);
    put(j.tension, lane, world_.tensions[joint]);
    if (begin_tick_) return;
    // Sums of the tick, so that they come out the same wherever a tree is stopped on its way.
    put(j.motor, lane, world_.motor_impulses[joint]);
    put(j.load.l, lane, world_.load_impulses[joint].force), put(j.load.a, lane, world_.load_impulses[joint].torque);
  }

  static void copy_drive(Drive<T>& to, int lane, const Drive<double>& from) {
    to.order(lane, from.given());
    put(to.slip, lane, from.slip), put(to.limit, lane, from.limit), put(to.cap, lane, from.cap);
  }

  // Every node gets as many contacts as the lane that has most there.
  void lay_out_contacts(Flock<T>& flock) {
    const std::size_t nodes = flock.bodies.size();
    int count[Tree::most_flock_nodes][lane_count<T>] = {};
    for (std::size_t lane = 0; lane < flock.members.size(); ++lane) {
      for (int point : flock.members[lane].points) ++count[world_.bodies[at(points_[at(point)].a)].node][lane];
    }
    std::size_t first[Tree::most_flock_nodes + 1] = {};
    for (std::size_t i = 0; i < nodes; ++i)
      first[i + 1] = first[i] + at(*std::max_element(count[i], count[i] + lane_count<T>));
    if (flock.contacts.capacity() < first[nodes]) flock.contacts.reserve(std::max(2 * first[nodes], 4 * nodes));
    flock.contacts.resize(first[nodes]);
    for (std::size_t i = 0; i < nodes; ++i) {
      for (std::size_t slot = first[i]; slot < first[i + 1]; ++slot) clear(flock.contacts[slot], static_cast<int>(i));
    }
    for (std::size_t lane = 0; lane < flock.members.size(); ++lane) {
      std::size_t next[Tree::most_flock_nodes] = {};
      for (int point : flock.members[lane].points) {
        const ContactPoint& c = points_[at(point)];
        const std::size_t node = at(world_.bodies[at(c.a)].node);
        load_contact(flock.contacts[first[node] + next[node]++], static_cast<int>(lane), c, world_.bodies[at(c.b)]);
      }
    }
    for (FlockContact<T>& c : flock.contacts) set_frames(c);
  }

  // The same of those with planes.
  void lay_out_plane_contacts(Flock<T>& flock) {
    const std::size_t nodes = flock.bodies.size(), lanes = flock.members.size();
    std::size_t first[Tree::most_flock_nodes + 1] = {};
    const auto points_of = [&](std::size_t lane, std::size_t node) {
      return planes_.points(at(flock.members[lane].tree->bodies()[node]));
    };
    for (std::size_t i = 0; i < nodes; ++i) {
      std::size_t most = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane) most = std::max(most, points_of(lane, i).size());
      first[i + 1] = first[i] + most;
    }
    if (flock.contacts.capacity() < first[nodes]) flock.contacts.reserve(std::max(2 * first[nodes], 4 * nodes));
    flock.contacts.resize(first[nodes]);
    for (std::size_t i = 0; i < nodes; ++i)
      for (std::size_t slot = first[i]; slot < first[i + 1]; ++slot)
        load_slot(flock, flock.contacts[slot], i, slot - first[i]);
  }

  // The k-th contacts of a node.
  void load_slot(Flock<T>& flock, FlockContact<T>& to, std::size_t node, std::size_t k) {
    static constexpr PlanePoint nothing = [] {
      PlanePoint point;
      point.normal = {0, 0, 1};
      return point;
    }();
    clear(to, static_cast<int>(node));
    const double* rows[lane_count<T>];
    const Body* ground = nullptr;
    bool one_ground = true;
    for (std::size_t lane = 0; lane < lane_count<T>; ++lane) {
      rows[lane] = &nothing.impulse.x;
      if (lane >= flock.members.size()) continue;
      const std::size_t body = at(flock.members[lane].tree->bodies()[node]);
      const std::span<const PlanePoint> points = planes_.points(body);
      if (k >= points.size()) continue;
      rows[lane] = &points[k].impulse.x;
      put(to.there, static_cast<int>(lane), true);
      if (points[k].restitution != 0) put(to.restitution, static_cast<int>(lane), points[k].restitution);
      const Body& own = world_.bodies[at(planes_.ground(body))];
      one_ground = one_ground && (ground == nullptr || ground == &own);
      ground = &own;
    }
    VOLVOX_ASSERT(ground != nullptr);
    if (one_ground)
      return flock_kernels<T>().load_plane_contact(to, rows, {native::lane(ground->position), ground->axes});
    for (std::size_t lane = 0; lane < flock.members.size(); ++lane) {
      const std::size_t body = at(flock.members[lane].tree->bodies()[node]);
      if (k < planes_.points(body).size())
        load_contact(to, static_cast<int>(lane), planes_.points(body)[k], world_.bodies[at(planes_.ground(body))]);
    }
    set_frames(to);
  }

  static void make_room(const Flock<T>& flock, FlockRoom<T>& room) {
    const TreeColumns& plan = flock.pattern().columns();
    const std::size_t nodes = flock.bodies.size(), rows = flock.contacts.size() * 3 * at(plan.most);
    room.nodes.resize(nodes), room.touches.resize(nodes), room.push.resize(nodes), room.wanted.resize(nodes);
    room.dofs.resize(flock.drives.size());
    room.y.resize(6 * plan.columns.size());
    room.coordinates.resize(at(plan.total));
    if (room.rows.size() < rows) room.rows.resize(2 * rows);
    if (room.active.size() < flock.contacts.size()) room.active.resize(2 * flock.contacts.size());
  }

  const World& world_;
  const std::vector<ContactPoint>& points_;
  const PlaneContacts& planes_;
  std::span<const Twist> seen_;
  double step_;
  bool begin_tick_;
};

}  // namespace

// What a tree that was looked at just now is seen to move with.
static void note_seen(const World& world, const FlockMember& member, std::span<Twist> seen) {
  if (!member.looks) return;
  for (const int body : member.tree->bodies()) {
    const Body& own = world.bodies[at(body)];
    seen[at(body)] = {own.linear, own.angular};
  }
}

// Bytes that a flock's trees have in lanes.
template <class T>
static std::uint64_t bytes_of(const Flock<T>& flock) {
  return flock.bodies.size() * sizeof(FlockBody<T>) + flock.joints.size() * sizeof(FlockJoint<T>) +
         flock.drives.size() * sizeof(Drive<T>) + flock.contacts.size() * sizeof(FlockContact<T>);
}

template <class T>
static FlockRoom<T>& own_room() {
  static thread_local FlockRoom<T> room;
  return room;
}

Flocks::Flocks(Work& work, Precision precision) : work_(work) {
  const auto number = [](Isa isa) { return isa == Isa::sse2 ? 0 : isa == Isa::avx2 ? 1 : 2; };
  if (precision == Precision::mixed) single_ = 3, wide_ = static_cast<std::uint8_t>(4 + number(isa()));
  else single_ = 0, wide_ = isa() == Isa::avx512 ? 2 : 1;
  in_fleet(wide_, [&]<class T>(Fleet<T>&) { lanes_ = lane_count<T>; });
}

template <class Visit>
void Flocks::in_fleet(std::uint8_t number, const Visit& visit) {
  [&]<std::size_t... i>(std::index_sequence<i...>) { ((number == i ? visit(std::get<i>(fleets_)) : void()), ...); }
  (std::make_index_sequence<std::tuple_size_v<Fleets>>{});
}

void Flocks::clear() {
  for (const std::uint8_t number : {single_, wide_}) {
    in_fleet(number, [](auto& fleet) {
      for (auto& flock : fleet.flocks) flock.members.clear();
    });
  }
  places_.clear(), late_.clear();
  ahead_.assign(ahead_.size(), 0);
}

int Flocks::since(int island) {
  const Place& place = places_[at(island)];
  VOLVOX_ASSERT(place.in != Place::nowhere);
  int substep = 0;
  in_fleet(place.in, [&](auto& fleet) { substep = fleet.flocks[place.flock].since; });
  return substep;
}

void Flocks::gather(const World& world, const Islands& islands, ContactSolver& contacts, const Detector& detector,
                    const PlaneContacts& planes, std::span<const std::uint8_t> alarmed) {
  places_.resize(islands.size()), ahead_.resize(world.bodies.size());
  members_.clear();
  contacts.take_lone_trees(world, islands, detector, members_);
  // Detection may have moved the contacts of those that are ahead; it cannot have changed them.
  [[maybe_unused]] const auto stayed = std::erase_if(members_, [&](const FlockMember& member) {
    const Place& place = places_[at(member.island)];
    if (place.in == Place::nowhere) return false;
    in_fleet(place.in, [&](auto& fleet) {
      FlockMember& there = fleet.flocks[place.flock].members[place.lane];
      VOLVOX_ASSERT(there.points.size() == member.points.size());
      there.points = member.points;
    });
    return true;
  });
  [[maybe_unused]] std::size_t alone = 0;
  planes.for_each_alone([&](int island, const Tree& tree) {
    if (places_[at(island)].in != Place::nowhere) return void(++alone);
    // As many as there were: which trees go side by side changes no bit.
    std::uint64_t where = 0;
    for (std::size_t node = 0; node < tree.bodies().size(); ++node)
      where += planes.points(at(tree.bodies()[node])).size() << (5 * node);
    const bool looks =
        alarmed.empty() || std::ranges::any_of(tree.bodies(), [&](int body) { return alarmed[at(body)] != 0; });
    members_.push_back({&tree, island, {}, where, true, tree.pattern(), tree.bodies()[0], looks});
  });
  VOLVOX_ASSERT(alone + stayed == static_cast<std::size_t>(std::ranges::count_if(
                                      places_, [](const Place& place) { return place.in != Place::nowhere; })));
  for (const FlockMember& member : members_)
    if (!alarmed.empty()) late_.insert(late_.end(), member.tree->bodies().begin(), member.tree->bodies().end());
  // The order depends on the state alone, whatever became of islands before.
  std::sort(members_.begin(), members_.end(), [](const FlockMember& x, const FlockMember& y) {
    return std::tuple(x.pattern, x.on_planes, x.where, x.first_body) <
           std::tuple(y.pattern, y.on_planes, y.where, y.first_body);
  });
  for (const std::uint8_t number : {single_, wide_}) in_fleet(number, [](auto& fleet) { fleet.next_free = 0; });
  for (std::size_t first = 0; first < members_.size();) {
    std::size_t last = first;
    const auto alike = [&](const FlockMember& x) {
      return x.pattern == members_[first].pattern && x.on_planes == members_[first].on_planes;
    };
    while (last < members_.size() && alike(members_[last])) ++last;
    while (first < last) {
      const std::size_t size = last - first < fewest_side_by_side ? 1 : std::min(lanes_, last - first);
      add(size == 1 ? single_ : wide_, {members_.data() + first, size});
      first += size;
    }
  }
}

void Flocks::add(std::uint8_t number, std::span<const FlockMember> members) {
  in_fleet(number, [&](auto& fleet) {
    const std::size_t flock = fleet.add(members);
    for (std::size_t lane = 0; lane < members.size(); ++lane)
      places_[at(members[lane].island)] = {number, static_cast<std::uint8_t>(lane), static_cast<std::uint32_t>(flock)};
  });
}

template <class T>
std::size_t Flocks::Fleet<T>::add(std::span<const FlockMember> members) {
  while (next_free < flocks.size() && !flocks[next_free].members.empty()) ++next_free;
  if (next_free == flocks.size()) flocks.emplace_back();
  flocks[next_free].members.assign(members.begin(), members.end());
  flocks[next_free].reached = Flock<T>::fresh, flocks[next_free].written = false;
  return next_free;
}

template <class T>
int Flocks::Fleet<T>::first_reached(int substep) const {
  for (const Flock<T>& flock : flocks)
    if (!flock.members.empty()) substep = std::min(substep, flock.reached);
  return substep;
}

template <class Visit>
void Flocks::for_all(ThreadPool* threads, const Visit& visit) {
  for (const std::uint8_t number : {wide_, single_}) {
    in_fleet(number, [&](auto& fleet) {
      parallel_for(threads, fleet.flocks.size(), 4, [&](std::size_t i) {
        if (!fleet.flocks[i].members.empty()) visit(fleet.flocks[i]);
      });
    });
  }
}

int Flocks::run(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes,
                std::span<const std::shared_ptr<const Shape>> shapes, std::span<Twist> seen, const Substeps& substeps,
                const EndOfTick& end, ThreadPool* threads) {
  for_all(threads, [&]<class T>(Flock<T>& flock) {
    if (flock.reached != Flock<T>::fresh) return;
    FlockRoom<T>& room = own_room<T>();
    // In lanes that stay in the cache of the thread.
    Flock<T>& lanes = room.flock;
    lanes.members.swap(flock.members);
    const bool on_planes = lanes.members.front().on_planes;
    if (on_planes) {
      for (const FlockMember& member : lanes.members)
        for (const int body : member.tree->bodies())
          if (member.looks) planes.find(world.bodies, shapes, at(body), substeps.time_left(), room.manifold);
    }
    Loader<T>(world, points, planes, seen, substeps.step, substeps.begin_tick && substeps.now == 0).load(lanes, room);
    for (const FlockMember& member : lanes.members)
      for (const int body : member.tree->bodies()) ahead_[at(body)] = 1;
    const int moved = move_flock(lanes, room, substeps.step, substeps.count - substeps.now, substeps.time_left());
    Work::add(work_.lane_substeps, lanes.members.size() * at(moved));
    Work::add(work_.lane_room, lane_count<T> * at(moved));
    Work::add(work_.bytes_moved, bytes_of(lanes));
    flock.since = substeps.now, flock.reached = substeps.now + moved;
    if (on_planes && flock.reached == substeps.count) {
      flock.written = true, flock.ended = end.tick > 0;
      keep_before(world, planes, flock, lanes.members, flock.ended);
      commit_flock(world, points, planes, lanes, {}, flock.ended);
      if (flock.ended) end_flock(world, planes, lanes, end);
      Work::add(work_.bytes_moved, bytes_of(lanes));
      lanes.members.swap(flock.members);
    } else {
      for (const FlockMember& member : lanes.members) note_seen(world, member, seen);
      lanes.since = flock.since, lanes.reached = flock.reached, lanes.written = false;
      std::swap(flock, lanes);
      lanes.members.clear();
    }
  });
  int first = substeps.count;
  for (const std::uint8_t number : {single_, wide_})
    in_fleet(number, [&](const auto& fleet) { first = fleet.first_reached(first); });
  return first;
}

void Flocks::commit(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes, int now,
                    std::span<Judged> judged, ThreadPool* threads) {
  for_all(threads, [&]<class T>(Flock<T>& flock) {
    if (flock.reached > now) return;
    VOLVOX_ASSERT(flock.reached == now);
    if (!flock.written) {
      commit_flock(world, points, planes, flock, judged);  // those on planes that got to the end are written by run()
      Work::add(work_.bytes_moved, bytes_of(flock));
    }
    std::uint64_t trees = 0;
    for (const FlockMember& member : flock.members) {
      if (!member.tree) continue;
      places_[at(member.island)] = {};
      for (const int body : member.tree->bodies()) ahead_[at(body)] = 0;
      ++trees;
    }
    // Once for all: threads wait for each other's counters.
    Work::add(work_.lone_substeps, trees * at(now - flock.since));
    flock.members.clear();
  });
}

Body Flocks::before(const Body& body) {
  Body out = body;
  const Place place = places_[at(body.island)];
  VOLVOX_ASSERT(place.in != Place::nowhere);
  in_fleet(place.in, [&](const auto& fleet) {
    const auto& flock = fleet.flocks[place.flock];
    if (!flock.written) return;
    const double* state = flock.before.data() + flock.before_of[place.lane] + body_before * at(body.node);
    std::memcpy(&out.position.x, state, BodyRow::state * sizeof(double));
    out.still = state[BodyRow::state], out.awake = true;
  });
  return out;
}

void Flocks::call_back(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes, std::span<Twist> seen,
                       const EndOfTick& end, int island, double step, int now) {
  const Place place = places_[at(island)];
  if (place.in == Place::nowhere) return;
  places_[at(island)] = {};
  FlockMember member;
  int since = 0;
  in_fleet(place.in, [&](auto& fleet) {
    auto& flock = fleet.flocks[place.flock];
    member = std::exchange(flock.members[place.lane], {});
    since = flock.since;
    if (flock.written) {
      restore_before(world, planes, *member.tree, std::span(flock.before).subspan(flock.before_of[place.lane]),
                     flock.ended);
      note_seen(world, member, seen);
    }
    if (std::ranges::all_of(flock.members, [](const FlockMember& other) { return !other.tree; })) flock.members.clear();
  });
  const auto bring_back = [&]<class T>(Flock<T>& back) {
    back.members.assign(1, member);
    FlockRoom<T>& room = own_room<T>();
    Loader<T>(world, points, planes, seen, step, false).load(back, room);
    // It went this far without alarm before.
    (void)move_flock(back, room, step, now - since, 0);
    commit_flock(world, points, planes, back, {});
    Work::add(work_.bytes_moved, 2 * bytes_of(back));
  };
  if (single_ == 0) bring_back(std::get<0>(back_));
  else bring_back(std::get<1>(back_));
  for (const int body : member.tree->bodies()) {
    world.bodies[at(body)].axes = rotation_matrix(lane(world.bodies[at(body)].rotation));
    ahead_[at(body)] = 0;
    if (end.tick > 0) end.bodies[at(body)] = 0;
  }
  for (std::size_t i = 1; end.tick > 0 && i < member.tree->joints().size(); ++i)
    end.joints[at(member.tree->joints()[i])] = 0;
  Work::add(work_.called_back, 1), Work::add(work_.lone_substeps, at(now - since));
  Work::add(work_.lane_substeps, at(now - since)), Work::add(work_.lane_room, at(now - since));
}

}  // namespace volvox::physics::native
