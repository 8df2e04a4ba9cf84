// A tick of a robot that is alone on planes that stand: Simulator::advance for one small tree, from the detection of
// contacts to sleep, with the engine's own kernels (plane_kernel.h, flock_kernel.h). The same text is compiled for the
// processor (lone.cpp), where it is tested against the engine bit by bit, and for GPUs (../cuda), a thread a robot.
//
// All is in arrays of fixed size and in tables of the pattern, which all robots of a kind share. What it cannot do it
// says (LoneEnd), and leaves the robot as it was before the tick: the engine goes on from there.
#pragma once

#include <cstdint>

#include "volvox/physics/native/box.h"
#include "volvox/physics/native/flock_kernel.h"
#include "volvox/physics/native/flock_load.h"
#include "volvox/physics/native/lone_shape.h"
#include "volvox/physics/native/plane_kernel.h"
#include "volvox/physics/native/sleep_rules.h"
#include "volvox/physics/state_rules.h"

namespace volvox::physics::native {

struct LonePlane {
  Vec3 normal;
  double offset = 0;
  double friction = 0, restitution = 0;
  int collider = 0;
};

// A body that stands and has nothing but planes.
struct LoneGround {
  Vec3 position, linear, angular;  // the velocities are zero
  M3<double> axes;
  int body = 0;
  int first_plane = 0, planes = 0;
};

struct LoneLink {
  LoneShape shape;
  Pose from_link;
  Vec3 weight;
  int body = 0;
  // The joint to its parent; none at the root.
  JointDesc joint;
  int joint_index = -1;
  int node_a = 0, node_b = 0;  // the nodes of its links
};

struct LonePattern {
  FlockPlan plan;
  Row<const LoneLink> links;  // by node
  Row<const LoneGround> grounds;
  Row<const LonePlane> planes;
  double max_substep = 0;
  VOLVOX_KERNEL int nodes() const { return static_cast<int>(links.size()); }
  VOLVOX_KERNEL int dofs() const { return static_cast<int>(plan.own.size()); }
  // Each node has room for so many contacts.
  VOLVOX_KERNEL int slots() const { return Manifold::most_kept * static_cast<int>(planes.size()); }
};

// What a contact keeps from one detection to the next.
struct LoneContact {
  std::uint64_t feature = feature_taken;  // that: there is none
  Vec3 on_b, impulse;
  double rebound = 0;
};

// The engine's: lone.cpp holds them against Detector, ContactSolver and Simulator.
inline constexpr double lone_hit_speed = 1.0;  // m/s
inline constexpr int lone_most_points = 64, lone_between_looks = 8;
// The largest robots: those that go in flocks (Tree), on one plane; on more planes, smaller ones.
inline constexpr int lone_most_nodes = 12, lone_most_dofs = 10,
                     lone_most_contacts = Manifold::most_kept * lone_most_nodes;

enum class LoneEnd : std::uint8_t { moved, too_fast, too_many_contacts, runs_away };

// The words of 64 bits that hold the state of a robot: where they lie is a matter of who has them.
struct LoneLayout {
  int nodes = 0, dofs = 0, slots = 0;
  static constexpr int node_words = 17, joint_words = 3 + 6, drive_words = 3, contact_words = 8;
  VOLVOX_KERNEL int awake() const { return 0; }
  VOLVOX_KERNEL int node(int i) const { return 1 + node_words * i; }
  VOLVOX_KERNEL int joint(int i) const {
    return 1 + node_words * nodes + joint_words * (i - 1);
  }  // of a node but the root
  VOLVOX_KERNEL int drive(int i) const { return joint(nodes) + drive_words * i; }
  VOLVOX_KERNEL int contact(int i) const { return drive(dofs) + contact_words * i; }
  VOLVOX_KERNEL int words() const { return contact(nodes * slots); }
  // Behind them what others want to know, not the next tick: loads, and contacts as the engine has them. Written in the
  // last tick of a call, and when a robot falls asleep.
  static constexpr int load_words = 7, seen_words = 29;
  VOLVOX_KERNEL int tick() const { return words(); }             // s, the length of the last tick
  VOLVOX_KERNEL int loaded_tick() const { return words() + 1; }  // s, of that in which it bore the loads
  VOLVOX_KERNEL int load(int i) const { return words() + 2 + load_words * (i - 1); }
  VOLVOX_KERNEL int seen(int i) const { return load(nodes) + seen_words * i; }
  VOLVOX_KERNEL int all_words() const { return seen(nodes * slots); }
};
VOLVOX_KERNEL LoneLayout layout_of(const LonePattern& pattern) {
  return {pattern.nodes(), pattern.dofs(), pattern.slots()};
}

// Goes through words one after the other, and reads or writes them. `Words`: word(i) is a reference to a double.
template <class Words>
struct LoneReader {
  Words words;
  int next;
  VOLVOX_KERNEL void operator()(double& x) { x = words.word(next++); }
  VOLVOX_KERNEL void operator()(std::uint64_t& x) {
    const double word = words.word(next++);
    std::memcpy(&x, &word, sizeof x);
  }
};
template <class Words>
struct LoneWriter {
  Words words;
  int next;
  VOLVOX_KERNEL void operator()(const double& x) { words.word(next++) = x; }
  VOLVOX_KERNEL void operator()(const std::uint64_t& x) {
    double word;
    std::memcpy(&word, &x, sizeof x);
    words.word(next++) = word;
  }
};
template <class Fields, class V>
VOLVOX_KERNEL void archive3(Fields& fields, V& v) {
  fields(v.x), fields(v.y), fields(v.z);
}
template <class Fields, class B>
VOLVOX_KERNEL void archive_motion(Fields& fields, B& body) {
  archive3(fields, body.x);
  fields(body.q.w), fields(body.q.x), fields(body.q.y), fields(body.q.z);
  archive3(fields, body.v.a), archive3(fields, body.v.l), archive3(fields, body.spin);
}
template <class Fields, class B>
VOLVOX_KERNEL void archive_body(Fields& fields, B& body, double& still) {
  archive_motion(fields, body);
  fields(still);
}
template <class Fields, class C>
VOLVOX_KERNEL void archive_contact(Fields& fields, C& c) {
  fields(c.feature);
  archive3(fields, c.on_b), archive3(fields, c.impulse);
  fields(c.rebound);
}
// The rest of a contact; nothing of it matters to the next tick.
template <class Fields, class C>
VOLVOX_KERNEL void archive_seen(Fields& fields, C& c, double& active) {
  archive3(fields, c.on_a), fields(c.radius), fields(c.radius_a), fields(c.rim), archive3(fields, c.outward);
  archive3(fields, c.normal), fields(c.friction), fields(c.restitution), fields(c.separation), fields(c.approach);
  fields(active), archive3(fields, c.arm_a);
  for (int k = 0; k < 3; ++k) archive3(fields, c.frame[k]);
}

// Room for a robot that a thread works at. All of it is written before it is read: to set it to zero would move as many
// bytes as a substep does. (So unions: what is in them is left as it is.)
template <int most_nodes, int most_dofs, int most_contacts>
struct LoneRoom {
  static constexpr int nodes_room = most_nodes, dofs_room = most_dofs, contacts_room = most_contacts;
  VOLVOX_KERNEL LoneRoom() {}

  using Rows = SweepRow<double, 6 + most_dofs>;
  Rows* sweep_rows = nullptr;  // of somebody else: one for each contact
  FlockBody<double> bodies[most_nodes];
  FlockJoint<double> joints[most_nodes];
  union {
    Drive<double> drives[most_dofs];
  };
  union {
    FlockContact<double> contacts[most_contacts];
  };
  FlockContact<double>* active[most_contacts];
  union {
    ContactPoint points[most_contacts];  // by slot
  };
  union {
    LoneContact kept[most_contacts];  // the same
  };
  union {
    Manifold manifold;
  };
  double still[most_nodes];
  bool sleeps[most_nodes];  // when contacts are looked for first: others of the robot are woken, it follows
  // Of FlockRoomView.
  Node<double> nodes[most_nodes];
  Dof<double> dofs[most_dofs];
  InverseFactor<double> root;
  double y[6 * most_nodes * (6 + most_dofs)], coordinates[6 + most_dofs];
  double touches[most_nodes];
  bool carried[most_nodes];
  Spatial<double> push[most_nodes];
  std::uint8_t wanted[most_nodes];

  VOLVOX_KERNEL static bool holds(const LoneLayout& layout) {
    return layout.nodes <= most_nodes && layout.dofs <= most_dofs && layout.nodes * layout.slots <= most_contacts;
  }
};
struct LargestLoneRoom : LoneRoom<lone_most_nodes, lone_most_dofs, lone_most_contacts> {
  LargestLoneRoom() { sweep_rows = own_rows; }
  LargestLoneRoom(const LargestLoneRoom&) = delete;
  LargestLoneRoom& operator=(const LargestLoneRoom&) = delete;
  Rows own_rows[lone_most_contacts];
};

VOLVOX_KERNEL bool same_command(const MotorCommand& a, const MotorCommand& b) {
  return a.control == b.control && a.target == b.target && a.kp == b.kp && a.kd == b.kd &&
         a.max_velocity == b.max_velocity && a.max_torque == b.max_torque;
}

template <class Fields>
VOLVOX_KERNEL void archive_command(Fields& fields, MotorCommand& c) {
  double control = static_cast<double>(static_cast<int>(c.control));
  fields(control), fields(c.target), fields(c.kp), fields(c.kd), fields(c.max_velocity), fields(c.max_torque);
  c.control = static_cast<Control>(static_cast<int>(control));
}

template <class Room, class Words>
class LoneTick {
 public:
  VOLVOX_KERNEL LoneTick(const LonePattern& pattern, Room& room, Words words)
      : pattern_(pattern), room_(room), words_(words), layout_(layout_of(pattern)) {}

  // command(node): what the motor of its joint is told; `count` substeps of `step` are a tick.
  template <class Command>
  VOLVOX_KERNEL LoneEnd run(const Command& command, double tick, int count, bool publish) {
    load();
    hear(command, tick / count);
    if (!awake_) {
      save_commands(command);
      if (publish) writer(layout_.tick())(tick);
      return LoneEnd::moved;
    }
    step_ = tick / count;
    for (int left = count; left > 0; left -= lone_between_looks) {
      const int look = left < lone_between_looks ? left : lone_between_looks;
      for (int now = 0; now < look;) {
        const LoneEnd end = detect(now, look);
        if (end != LoneEnd::moved) return end;
        bool alarmed = false;
        now += run_flock<double, 6 + Room::dofs_room>(flock(), room(), step_, look - now, (look - now) * step_, alarmed,
                                                      &solves_);
        commit_contacts();
      }
    }
    if (!measure(command, tick)) return LoneEnd::runs_away;
    save();
    save_commands(command);
    if (publish || !awake_) save_seen(tick);
    return LoneEnd::moved;
  }

  // How much its sweeps had to do in the tick.
  VOLVOX_KERNEL int effort() const { return solves_; }

 private:
  VOLVOX_KERNEL static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  VOLVOX_KERNEL const LoneLink& link(int i) const { return pattern_.links[at(i)]; }
  VOLVOX_KERNEL const NodeShape& shape(int i) const { return pattern_.plan.shapes[at(i)]; }
  VOLVOX_KERNEL LoneReader<Words> reader(int at) const { return {words_, at}; }
  VOLVOX_KERNEL LoneWriter<Words> writer(int at) const { return {words_, at}; }

  VOLVOX_KERNEL FlockView<double> flock() const {
    const std::size_t nodes = at(layout_.nodes);
    return {pattern_.plan,
            true,
            {room_.bodies, nodes},
            {room_.joints, nodes},
            {room_.drives, at(layout_.dofs)},
            {room_.contacts, at(layout_.nodes * layout_.slots)}};
  }
  VOLVOX_KERNEL FlockRoomView<double> room() const {
    const std::size_t nodes = at(layout_.nodes);
    return {{room_.nodes, nodes},
            {room_.dofs, at(layout_.dofs)},
            room_.root,
            {room_.y, at(6) * pattern_.plan.columns.size()},
            {},
            {room_.coordinates, at(pattern_.plan.total)},
            {room_.touches, nodes},
            {room_.carried, nodes},
            {room_.push, nodes},
            {room_.active, 0},
            {room_.wanted, nodes},
            room_.sweep_rows};
  }

  VOLVOX_KERNEL void load() {
    double awake;
    reader(layout_.awake())(awake);
    awake_ = awake != 0;
    for (int i = 0; i < layout_.nodes; ++i) {
      LoneReader<Words> in = reader(layout_.node(i));
      archive_body(in, room_.bodies[i], room_.still[i]);
    }
    for (int i = 1; i < layout_.nodes; ++i) {
      LoneReader<Words> in = reader(layout_.joint(i));
      in(room_.joints[i].position), in(room_.joints[i].velocity), in(room_.joints[i].tension);
      room_.joints[i].motor = 0, room_.joints[i].load = {};
    }
    for (int i = 0; i < layout_.dofs; ++i) {
      LoneReader<Words> in = reader(layout_.drive(i));
      in(room_.drives[i].slip), in(room_.drives[i].limit), in(room_.drives[i].cap);
    }
    for (int i = 0; i < layout_.nodes * layout_.slots; ++i) {
      LoneReader<Words> in = reader(layout_.contact(i));
      std::uint64_t feature;
      in(feature);
      room_.kept[i].feature = feature;
      if (feature == feature_taken) continue;
      in = reader(layout_.contact(i));
      archive_contact(in, room_.kept[i]);
    }
  }

  // See Simulator::begin_tick: who is told something new wakes.
  template <class Command>
  VOLVOX_KERNEL void hear(const Command& command, double step) {
    bool woken = false;
    for (int i = 0; i < layout_.nodes; ++i) room_.sleeps[i] = !awake_;
    for (int i = 1; i < layout_.nodes; ++i) {
      MotorCommand before, now = command(i);
      LoneReader<Words> in = reader(layout_.joint(i) + 3);
      archive_command(in, before);
      if (!same_command(before, now)) {
        room_.still[link(i).node_a] = room_.still[link(i).node_b] = 0;
        room_.sleeps[link(i).node_a] = room_.sleeps[link(i).node_b] = false;
        woken = true;
      }
      const DriveOrder order(link(i).joint, now, step);
      for (int k = 0; k < shape(i).dofs; ++k) room_.drives[shape(i).first_dof + k].order(0, order);
    }
    if (awake_ || !woken) return;
    awake_ = true;
    for (int i = 0; i < layout_.nodes; ++i) room_.still[i] = 0;
  }
  template <class Command>
  VOLVOX_KERNEL void save_commands(const Command& command) const {
    for (int i = 1; i < layout_.nodes; ++i) {
      MotorCommand now = command(i);
      LoneWriter<Words> out = writer(layout_.joint(i) + 3);
      archive_command(out, now);
    }
  }

  // A body as detection sees it.
  struct Seen {
    Vec3 position, linear, angular;
    Quat rotation;
    M3<double> axes;
  };

  VOLVOX_KERNEL LoneEnd detect(int now, int look) {
    const double horizon = (look - now) * step_;
    count_ = 0;
    for (int i = 0; i < layout_.nodes; ++i) {
      FlockBody<double>& body = room_.bodies[i];
      const LoneLink& own = link(i);
      body.seen = body.v;
      body.weight = lane(own.weight);
      body.outside = {lane(Vec3{} * step_), lane((own.weight + Vec3{}) * step_)};
      body.axle = lane(own.shape.axle);
      body.swing = own.shape.swing;
      body.shaped = own.shape.convexes.size() > 0 ? 1.0 : 0.0;
      const int first = i * layout_.slots;
      if (!first_look_) keep(first);
      for (int k = 0; k < layout_.slots; ++k) {
        room_.points[first + k].feature = feature_taken;
        room_.contacts[first + k].there = room_.contacts[first + k].active = false;
      }
      if (own.shape.convexes.size() == 0) continue;
      if (first_look_ && room_.sleeps[i]) {
        if (!recall_node(i)) return LoneEnd::too_many_contacts;
        continue;
      }
      const Seen seen{plain(body.x), plain(body.v.l), plain(body.v.a), plain(body.q), rotation_matrix(body.q)};
      const LoneEnd end = detect_node(i, seen, now, horizon);
      if (end != LoneEnd::moved) return end;
    }
    first_look_ = false;
    return LoneEnd::moved;
  }

  // What sleeps has the contacts that it had when it fell asleep.
  VOLVOX_KERNEL bool recall_node(int node) {
    for (const LoneGround& ground : pattern_.grounds) {
      const int first = node * layout_.slots + Manifold::most_kept * ground.first_plane;
      int found = 0;
      for (; found < Manifold::most_kept * ground.planes && room_.kept[first + found].feature != feature_taken;
           ++found) {
        ContactPoint& c = room_.points[first + found];
        c = ContactPoint{};
        LoneReader<Words> in = reader(layout_.contact(first + found));
        archive_contact(in, c);
        in = reader(layout_.seen(first + found));
        double active;
        archive_seen(in, c, active);
      }
      if (!take_in(node, ground, first, found)) return false;
    }
    return true;
  }

  VOLVOX_KERNEL void keep(int first) {
    for (int k = first; k < first + layout_.slots; ++k) {
      const ContactPoint& c = room_.points[k];
      room_.kept[k] = {c.feature, c.on_b, c.impulse, c.rebound};
    }
  }

  VOLVOX_KERNEL LoneEnd detect_node(int node, const Seen& body, int now, double horizon) {
    const LoneShape& own = link(node).shape;
    const Vec3 felt = felt_turning(body.angular, body.rotation, own.axle, own.swing);
    const double turning = length(felt) * own.swing;
    const double slack = now == 0 ? detection_slack : detection_slack + bearable_surprise / 2;
    const double widest = slack < lone_hit_speed * step_ ? lone_hit_speed * step_ : slack;
    Box3 box = bounds_in(own.bounds, body.axes, body.position, widest / 2 + horizon * turning);
    box.half += Vec3{std::fabs(body.linear.x), std::fabs(body.linear.y), std::fabs(body.linear.z)} * horizon;
    for (const LoneGround& ground : pattern_.grounds) {
      bool near = false;
      for (int k = 0; k < ground.planes && !near; ++k) {
        const LonePlane& plane = pattern_.planes[at(ground.first_plane + k)];
        const Vec3 n = plain(ground.axes * lane(plane.normal));
        const double height = dot(n, box.centre - ground.position) - plane.offset;
        const double down = std::fabs(n.x) * box.half.x + std::fabs(n.y) * box.half.y + std::fabs(n.z) * box.half.z;
        near = !(height - down > widest + horizon * length(ground.linear));
      }
      if (!near) continue;
      if (length(body.linear - ground.linear) * horizon > own.reach) return LoneEnd::too_fast;
      if (!collide(node, body, ground, felt, turning, horizon)) return LoneEnd::too_many_contacts;
    }
    return LoneEnd::moved;
  }

  // The contacts of a link with a ground, and what it had there before.
  VOLVOX_KERNEL bool collide(int node, const Seen& body, const LoneGround& ground, const Vec3& felt, double turning,
                             double horizon) {
    const LoneShape& own = link(node).shape;
    const Placement place = placement_of(ground, body);
    const int first = node * layout_.slots + Manifold::most_kept * ground.first_plane;
    int found = 0;
    for (int k = 0; k < ground.planes; ++k) {
      const LonePlane& plane = pattern_.planes[at(ground.first_plane + k)];
      const SeenPlane seen = plane_seen(body, ground, place, plane, felt, turning, detection_slack, horizon);
      LoneCandidates candidates(own, seen);
      for (std::size_t c = 0; c < own.convexes.size(); ++c)
        if (own.convexes[c].cylinder()) add_cylinder(own.convexes[c], static_cast<int>(c), seen, candidates);
      Manifold& manifold = room_.manifold;
      int convex[Manifold::most_found];
      choose_points(own, candidates, seen, manifold, convex);
      for (int p = 0; p < manifold.count; ++p) {
        const LoneConvex& c = own.convexes[at(convex[p])];
        ContactPoint& contact = room_.points[first + found++];
        contact = ContactPoint{};
        contact.feature = plane_feature(c.collider, plane.collider) | manifold.points[p].id;
        contact.radius = contact.radius_a = c.radius;
        contact.friction = std::sqrt(c.friction * plane.friction);
        contact.restitution = c.restitution < plane.restitution ? plane.restitution : c.restitution;
        set_contact(contact, manifold.points[p], manifold.normal, manifold.normal_of, place, own.axle);
      }
    }
    keep_impulses(room_.kept + first, at(Manifold::most_kept * ground.planes), room_.points + first, at(found));
    return take_in(node, ground, first, found);
  }

  // Contacts for the substeps to come, in the slots of their points. False: there are too many.
  VOLVOX_KERNEL bool take_in(int node, const LoneGround& ground, int first, int found) {
    count_ += found;
    if (count_ > lone_most_points) return false;
    for (int slot = first; slot < first + found; ++slot) {
      FlockContact<double>& to = room_.contacts[slot];
      clear(to, node);
      load_contact(to, 0, room_.points[slot], ground);
      set_frames(to);
    }
    return true;
  }

  VOLVOX_KERNEL void commit_contacts() {
    for (int i = 0; i < layout_.nodes * layout_.slots; ++i)
      if (room_.contacts[i].there) commit_contact(room_.points[i], room_.contacts[i], 0);
  }

  // See Simulator::end_tick. False: something runs away.
  template <class Command>
  VOLVOX_KERNEL bool measure(const Command& command, double tick) {
    const auto pose = [&](int i) {
      return Body::link_pose(plain(room_.bodies[i].x), plain(room_.bodies[i].q), link(i).from_link);
    };
    bool rests = true, carried = false;
    for (int i = 1; i < layout_.nodes; ++i) {
      const LoneLink& own = link(i);
      double& position = room_.joints[i].position;
      position = joint_position(own.joint, pose(own.node_a), pose(own.node_b), position);
      const MotorCommand motor = command(i);
      rests = rests && !(motor.control == Control::velocity && motor.target != 0);
    }
    for (int i = 0; i < layout_.nodes; ++i) {
      const FlockBody<double>& body = room_.bodies[i];
      room_.still[i] = still_after(room_.still[i], plain(body.v.l), plain(body.v.a), tick);
      rests = rests && room_.still[i] >= time_to_sleep;
      const Twist velocity{plain(body.v.l), Body::turning(plain(body.q), plain(body.spin), shape(i).moments)};
      if (!(excess(pose(i), velocity) <= 1)) return false;
    }
    for (int i = 0; i < layout_.nodes * layout_.slots; ++i) {
      if (!room_.contacts[i].there) continue;
      const V3<double>& impulse = room_.contacts[i].impulse;
      carried = carried || impulse.x != 0 || impulse.y != 0 || impulse.z != 0;
    }
    if (!rests || !carried) return true;
    awake_ = false;
    for (int i = 0; i < layout_.nodes; ++i) {
      room_.bodies[i].v = {}, room_.bodies[i].spin = {};
      room_.joints[i].velocity = 0;
    }
    return true;
  }

  VOLVOX_KERNEL void save() const {
    writer(layout_.awake())(awake_ ? 1.0 : 0.0);
    for (int i = 0; i < layout_.nodes; ++i) {
      LoneWriter<Words> out = writer(layout_.node(i));
      archive_body(out, room_.bodies[i], room_.still[i]);
    }
    for (int i = 1; i < layout_.nodes; ++i) {
      LoneWriter<Words> out = writer(layout_.joint(i));
      out(room_.joints[i].position), out(room_.joints[i].velocity), out(room_.joints[i].tension);
    }
    for (int i = 0; i < layout_.dofs; ++i) {
      LoneWriter<Words> out = writer(layout_.drive(i));
      out(room_.drives[i].slip), out(room_.drives[i].limit), out(room_.drives[i].cap);
    }
    for (int i = 0; i < layout_.nodes * layout_.slots; ++i) {
      LoneWriter<Words> out = writer(layout_.contact(i));
      if (room_.points[i].feature == feature_taken) out(std::uint64_t{feature_taken});
      else archive_contact(out, room_.points[i]);
    }
  }

  VOLVOX_KERNEL void save_seen(double tick) const {
    writer(layout_.tick())(tick), writer(layout_.loaded_tick())(tick);
    for (int i = 1; i < layout_.nodes; ++i) {
      LoneWriter<Words> out = writer(layout_.load(i));
      out(room_.joints[i].motor), archive3(out, room_.joints[i].load.l), archive3(out, room_.joints[i].load.a);
    }
    for (int i = 0; i < layout_.nodes * layout_.slots; ++i) {
      if (room_.points[i].feature == feature_taken) continue;
      LoneWriter<Words> out = writer(layout_.seen(i));
      double active = room_.points[i].active ? 1.0 : 0.0;
      archive_seen(out, room_.points[i], active);
    }
  }

  const LonePattern& pattern_;
  Room& room_;
  Words words_;
  LoneLayout layout_;
  bool awake_ = true;
  bool first_look_ = true;  // of the tick
  int count_ = 0;
  int solves_ = 0;
  double step_ = 0;
};

}  // namespace volvox::physics::native
