#include "volvox/physics/native/flock.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "volvox/physics/native/flock_kernel.h"
#include "volvox/physics/native/flock_load.h"
#include "volvox/physics/native/flock_rows.h"

namespace volvox::physics::native {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Fewer trees of a pattern than this are moved one by one.
constexpr std::size_t fewest_side_by_side = 3;

// Each width is compiled for the registers that it fits, in files of their own: nothing takes longer to compile.
template <class T>
const FlockKernels<T>& kernels() {
  static const FlockKernels<T> chosen = [] {
    if constexpr (std::same_as<T, double>) return one_double();
    else if constexpr (std::same_as<T, Floats<1>>) return one_float();
    else if constexpr (std::same_as<T, Floats<4>>) return four_floats_sse2();
    else if constexpr (std::same_as<T, FourLanes>)
      return isa() == Isa::avx2 ? four_doubles_avx2() : four_doubles_sse2();
    else if constexpr (std::same_as<T, Floats<8>>) return eight_floats_avx2();
    else if constexpr (std::same_as<T, Floats<16>>) return sixteen_floats_avx512();
    else return eight_doubles_avx512();
  }();
  return chosen;
}

template <class T>
int move_flock(Flock<T>& flock, FlockRoom<T>& room, double step, int substeps, double time_left) {
  return kernels<T>().move(flock.view(), room.view(), step, substeps, time_left, flock.alarmed);
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
    kernels<T>().load_bodies(flock.view(), bodies, step_);
    // Node by node: lanes of a whole tree are larger than the nearest cache.
    for (std::size_t i = 0; i < nodes; ++i) {
      for (int lane = 0; lane < lane_count<T>; ++lane) load_node(flock, i, lane, tree_of(lane));
      if (begin_tick_) flock.joints[i].motor = T{}, flock.joints[i].load = Spatial<T>{};
      const std::size_t dofs = at(pattern.shapes()[i].dofs);
      if (dofs == 0) continue;
      Drive<T>* to = &flock.drives[at(pattern.shapes()[i].first_dof)];
      const double* rows[lane_count<T>];
      for (int lane = 0; lane < lane_count<T>; ++lane)
        rows[lane] = &world_.drives[at(tree_of(lane).joints()[i])].front().gain;
      kernels<T>().load_drive(*to, rows);
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
  void load_node(Flock<T>& flock, std::size_t i, int lane, const Tree& tree) {
    const std::size_t index = at(tree.bodies()[i]);
    const Wrench& force = world_.system.forces[index];
    FlockBody<T>& body = flock.bodies[i];
    if (force != Wrench{}) {
      put(body.outside.a, lane, force.torque * step_);
      put(body.outside.l, lane, (world_.bodies[index].weight + force.force) * step_);
    }
    // Who was looked at before this substep is judged by what it was seen to do then.
    if (!flock.members.front().on_planes)
      put(body.seen.a, lane, seen_[index].angular), put(body.seen.l, lane, seen_[index].linear);
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
    if (one_ground) return kernels<T>().load_plane_contact(to, rows, {native::lane(ground->position), ground->axes});
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

template <class T>
void commit_joint(World& world, std::size_t joint, const FlockJoint<T>& from, int lane) {
  world.system.joints[joint].position = take(from.position, lane);
  world.system.joints[joint].velocity = take(from.velocity, lane);
  world.tensions[joint] = take(from.tension, lane);
  world.load_impulses[joint] = Wrench{take(from.load.l, lane), take(from.load.a, lane)};
  world.motor_impulses[joint] = take(from.motor, lane);
}

// Their state, slot by slot.
template <class T>
void commit_plane_contacts(PlaneContacts& planes, const Flock<T>& flock) {
  alignas(64) double nobody[PlaneRow::state];
  int node = -1;
  std::size_t k = 0;
  for (const FlockContact<T>& c : flock.contacts) {
    k = c.node == node ? k + 1 : 0;
    node = c.node;
    double* rows[lane_count<T>];
    bool any = false;
    for (std::size_t lane = 0; lane < lane_count<T>; ++lane) {
      rows[lane] = nobody;
      if (lane >= flock.members.size() || !flock.members[lane].on_planes) continue;
      const std::span<PlanePoint> points = planes.points(at(flock.members[lane].tree->bodies()[at(node)]));
      if (k >= points.size()) continue;
      rows[lane] = &points[k].impulse.x;
      points[k].active = take(c.active, static_cast<int>(lane));
      any = true;
    }
    if (any) kernels<T>().store_plane_contact(c, rows);
  }
}

// `ends`: what a joint did in the tick is booked by end_flock().
template <class T>
void commit_flock(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes, const Flock<T>& flock,
                  std::span<Flocks::Judged> judged, bool ends = false) {
  alignas(64) double nobody[BodyRow::state];
  double* rows[Tree::most_flock_nodes * lane_count<T>];
  for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
    for (std::size_t lane = 0; lane < lane_count<T>; ++lane) {
      const Tree* tree = lane < flock.members.size() ? flock.members[lane].tree : nullptr;
      rows[i * lane_count<T> + lane] = tree ? &world.bodies[at(tree->bodies()[i])].position.x : nobody;
    }
  }
  kernels<T>().store_bodies(row(flock.bodies), rows);
  commit_plane_contacts(planes, flock);
  for (std::size_t lane = 0; lane < flock.members.size(); ++lane) {
    if (!flock.members[lane].tree) continue;  // called back
    const Tree& tree = *flock.members[lane].tree;
    const int l = static_cast<int>(lane);
    for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
      if (!judged.empty())
        judged[at(tree.bodies()[i])] = take(flock.alarmed, l) ? Flocks::Judged::alarmed : Flocks::Judged::calm;
      if (i == 0) continue;
      const std::size_t joint = at(tree.joints()[i]);
      if (ends) world.tensions[joint] = take(flock.joints[i].tension, l);
      else commit_joint(world, joint, flock.joints[i], l);
      for (std::size_t k = 0; k < at(tree.shapes()[i].dofs); ++k) {
        const Drive<T>& drive = flock.drives[at(tree.shapes()[i].first_dof) + k];
        world.drives[joint][k].slip = take(drive.slip, l), world.drives[joint][k].limit = take(drive.limit, l);
        world.drives[joint][k].cap = take(drive.cap, l);
      }
    }
    // The contacts of a node are in the order of its points.
    std::size_t next[Tree::most_flock_nodes] = {}, slot = 0;
    for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
      next[i] = slot;
      while (slot < flock.contacts.size() && flock.contacts[slot].node == static_cast<int>(i)) ++slot;
    }
    for (int point : flock.members[lane].points) {
      ContactPoint& c = points[at(point)];
      commit_contact(c, flock.contacts[next[world.bodies[at(c.a)].node]++], l);
      c.arm_b = world.bodies[at(c.a)].position + c.arm_a - world.bodies[at(c.b)].position;
    }
  }
}

// What others see of trees that were alone on a plane, while their lanes are at hand.
template <class T>
void end_flock(World& world, const PlaneContacts& planes, Flock<T>& flock, const Flocks::EndOfTick& end) {
  static_assert(sizeof(Pose) == 7 * sizeof(double) && sizeof(Twist) == 6 * sizeof(double) &&
                sizeof(JointState) == 3 * sizeof(double) && sizeof(Wrench) == 6 * sizeof(double));
  constexpr std::size_t lanes = lane_count<T>;
  System& system = world.system;
  double nobody[8];
  double *poses[Tree::most_flock_nodes * lanes], *twists[Tree::most_flock_nodes * lanes];
  double *joints[Tree::most_flock_nodes * lanes], *loads[Tree::most_flock_nodes * lanes];
  const Tree* pattern = nullptr;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Tree* tree = lane < flock.members.size() ? flock.members[lane].tree : nullptr;
    if (tree) pattern = tree;
    for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
      const std::size_t row = i * lanes + lane;
      poses[row] = tree ? &system.poses[at(tree->bodies()[i])].position.x : nobody;
      twists[row] = tree ? &system.velocities[at(tree->bodies()[i])].linear.x : nobody;
      if (i == 0) continue;
      joints[row] = tree ? &system.joints[at(tree->joints()[i])].position : nobody;
      loads[row] = tree ? &system.loads[at(tree->joints()[i])].force.x : nobody;
    }
  }
  VOLVOX_ASSERT(pattern != nullptr && pattern->links().size() == flock.bodies.size());
  kernels<T>().end_tick({row(pattern->shapes()), row(pattern->links()), row(flock.bodies), row(flock.joints)}, end.tick,
                        {poses, twists, joints, loads});
  for (const FlockMember& member : flock.members) {
    if (!member.tree) continue;
    for (std::size_t i = 1; i < flock.bodies.size(); ++i) {
      const std::size_t joint = at(member.tree->joints()[i]);
      system.latched[joint] = system.latches[joint].closed();
      end.joints[joint] = 1;
    }
    ContactSolver::let_sleep(world, *member.tree, planes, end.tick);
    const bool awake = world.bodies[at(member.tree->bodies().front())].awake;
    for (const int body : member.tree->bodies()) {
      if (!awake) system.velocities[at(body)] = world.bodies[at(body)].velocity();
      end.bodies[at(body)] = 1;
    }
  }
}

}  // namespace

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
                    const PlaneContacts& planes, bool late) {
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
    members_.push_back({&tree, island, {}, where, true, tree.pattern(), tree.bodies()[0]});
  });
  VOLVOX_ASSERT(alone + stayed == static_cast<std::size_t>(std::ranges::count_if(
                                      places_, [](const Place& place) { return place.in != Place::nowhere; })));
  for (const FlockMember& member : members_)
    if (late) late_.insert(late_.end(), member.tree->bodies().begin(), member.tree->bodies().end());
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
  flocks[next_free].reached = Flock<T>::fresh;
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

int Flocks::run(const World& world, const std::vector<ContactPoint>& points, PlaneContacts& planes,
                std::span<const std::shared_ptr<const Shape>> shapes, std::span<const Twist> seen,
                const Substeps& substeps, ThreadPool* threads) {
  for_all(threads, [&]<class T>(Flock<T>& flock) {
    if (flock.reached != Flock<T>::fresh) return;
    FlockRoom<T>& room = own_room<T>();
    if (flock.members.front().on_planes) {
      for (const FlockMember& member : flock.members)
        for (const int body : member.tree->bodies())
          planes.find(world.bodies, shapes, at(body), substeps.time_left(), room.manifold);
    }
    Loader<T>(world, points, planes, seen, substeps.step, substeps.begin_tick && substeps.now == 0).load(flock, room);
    flock.since = substeps.now;
    for (const FlockMember& member : flock.members)
      for (const int body : member.tree->bodies()) ahead_[at(body)] = 1;
    const int moved = move_flock(flock, room, substeps.step, substeps.count - substeps.now, substeps.time_left());
    flock.reached = substeps.now + moved;
    Work::add(work_.lane_substeps, flock.members.size() * at(moved));
    Work::add(work_.lane_room, lane_count<T> * at(moved));
    Work::add(work_.bytes_moved, bytes_of(flock));
  });
  int first = substeps.count;
  for (const std::uint8_t number : {single_, wide_})
    in_fleet(number, [&](const auto& fleet) { first = fleet.first_reached(first); });
  return first;
}

void Flocks::commit(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes, int now,
                    std::span<Judged> judged, const EndOfTick& end, ThreadPool* threads) {
  for_all(threads, [&]<class T>(Flock<T>& flock) {
    if (flock.reached > now) return;
    VOLVOX_ASSERT(flock.reached == now);
    const bool ends = end.tick > 0 && std::ranges::any_of(flock.members, &FlockMember::on_planes);
    commit_flock(world, points, planes, flock, judged, ends);
    if (ends) end_flock(world, planes, flock, end);
    std::uint64_t trees = 0;
    for (const FlockMember& member : flock.members) {
      if (!member.tree) continue;
      places_[at(member.island)] = {};
      for (const int body : member.tree->bodies()) ahead_[at(body)] = 0;
      ++trees;
    }
    // Once for all: threads wait for each other's counters.
    Work::add(work_.lone_substeps, trees * at(now - flock.since));
    Work::add(work_.bytes_moved, bytes_of(flock));
    flock.members.clear();
  });
}

void Flocks::call_back(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes,
                       std::span<const Twist> seen, int island, double step, int now) {
  const Place place = places_[at(island)];
  if (place.in == Place::nowhere) return;
  places_[at(island)] = {};
  FlockMember member;
  int since = 0;
  in_fleet(place.in, [&](auto& fleet) {
    auto& flock = fleet.flocks[place.flock];
    member = std::exchange(flock.members[place.lane], {});
    since = flock.since;
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
  }
  Work::add(work_.called_back, 1), Work::add(work_.lone_substeps, at(now - since));
  Work::add(work_.lane_substeps, at(now - since)), Work::add(work_.lane_room, at(now - since));
}

}  // namespace volvox::physics::native
