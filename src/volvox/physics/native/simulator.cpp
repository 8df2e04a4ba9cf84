#include "volvox/physics/native/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>

#include "volvox/base/archive_plain.h"
#include "volvox/base/platform/clock.h"

namespace volvox::physics::native {
namespace {

bool same(const MotorCommand& a, const MotorCommand& b) {
  return a.control == b.control && a.target == b.target && a.kp == b.kp && a.kd == b.kd &&
         a.max_velocity == b.max_velocity && a.max_torque == b.max_torque;
}

// Most are zero already, and what is not written need not go back to memory.
void set_zero(Wrench& wrench) {
  static constexpr Wrench zero{};
  if (std::memcmp(&wrench, &zero, sizeof zero) != 0) wrench = zero;  // to the bit: zeros have signs
}

}  // namespace

// One tick: detect, then, for every substep and every group of islands that touch, predict
// the islands without new contact impulses, sweep the contacts, and let the islands take up
// what the sweep found (ContactSolver::advance_group).
StepStatus Simulator::advance(double tick) {
  const int count = substep_count(tick, max_substep_);
  step_ = tick / count;
  begin_tick(step_);
  for (int left = count; left > 0; left -= most_between_looks) {
    const int look = std::min(left, most_between_looks);
    for (int now = 0; now < look;) now += substeps(step_, now, look, left == look ? tick : 0, left == count);
  }
  end_tick(tick);
  if (StepStatus status = problem_with_state(world_.system); !status.ok()) return status;
  return problem_with_contacts();
}

// Whether a motor of its joints is far stiffer than its inertia: what it gives in a substep would stop a thousand of
// it.
bool Simulator::driven_stiffly(std::size_t body) const {
  const BodyDesc& desc = world_.system.bodies[body];
  return std::ranges::any_of(world_.system.joints_of[body], [&](JointId joint) {
    const MotorCommand& motor = world_.system.motors[joint.index];
    if (motor.control == Control::off) return false;
    const bool slides = world_.system.joint_descs[joint.index].type == JointType::prismatic;
    const double inertia = slides ? desc.mass : std::max({desc.moments.x, desc.moments.y, desc.moments.z});
    return std::max(motor.kp * step_ * step_, motor.kd * step_) > 1000 * inertia;
  });
}

// A motor of endless stiffness pushes its body into whatever is in the way: no contact can move what it holds.
StepStatus Simulator::problem_with_contacts() const {
  constexpr double too_deep = 5e-3, closing = 1e-3;  // m, m/s
  for (const ContactPoint& c : contacts_.points()) {
    if (!c.active || !c.powerless || c.separation > -too_deep || c.approach > -closing) continue;
    if (!driven_stiffly(static_cast<std::size_t>(c.a)) && !(c.b >= 0 && driven_stiffly(static_cast<std::size_t>(c.b))))
      continue;
    return {
        world_.system.body_ids.at(static_cast<std::size_t>(c.a)),
        fmt::format("it is driven {:.1f} mm into another body, and no contact can push it back: a motor holds it too "
                    "stiffly for its mass; lower the gains of that motor",
                    -1e3 * c.separation)};
  }
  return {};
}

template <class Work>
void Simulator::for_each(std::size_t count, const Work& work) {
  parallel_for(threads_, count, 500, work);
}

void Simulator::begin_tick(double step) {
  ++world_.tick;
  topology_.update(world_);
  const System& system = world_.system;
  if (bodies_changed_ || weighed_ != system.gravity) list_bodies();
  body_ended_.assign(world_.bodies.size(), 0), joint_ended_.assign(system.joints.size(), 0);
  wake_commanded();
  for_each(world_.drives.size(), [&](std::size_t i) {
    set_zero(world_.load_impulses[i]), world_.motor_impulses[i] = 0;
    if (!system.joint_ids.alive_index(i)) return;
    const DriveOrder order(system.joint_descs[i], system.motors[i], step);
    world_.drives[i][0].order(0, order);
    if (system.joint_descs[i].type != JointType::ball) return;  // it has one axis at most
    world_.drives[i][1].order(0, order), world_.drives[i][2].order(0, order);
  });
}

// What follows from the descriptions of bodies.
void Simulator::list_bodies() {
  const System& system = world_.system;
  kinematic_.clear();
  moves_.assign(world_.bodies.size(), 0);
  for (std::size_t i = 0; i < world_.bodies.size(); ++i) {
    world_.bodies[i].weight = system.bodies[i].gravity ? system.gravity * system.bodies[i].mass : Vec3{};
    if (!system.body_ids.alive_index(i)) continue;
    moves_[i] = system.bodies[i].motion != Motion::fixed;
    if (system.bodies[i].motion == Motion::kinematic) kinematic_.push_back(i);
  }
  weighed_ = system.gravity;
  bodies_changed_ = false;
}

// From one detection to the next, at most to the end of the look (most_between_looks). Contacts found at its start
// hold that long, but for those of bodies that are hit so hard that they may get where nobody
// looked. What is alone (Flocks) goes ahead, and the rest follows, to where the first of them is
// alarmed. Returns how many substeps that were.
// `tick`: its length, if it ends with this look; else zero. `begins`: it does with this look.
int Simulator::substeps(double step, int now, int count, double tick, bool begins) {
  const Flocks::EndOfTick end{tick, body_ended_, joint_ended_};
  const double began = platform::monotonic_seconds();
  detect_contacts(step, now, count, end);
  collision_s_ += platform::monotonic_seconds() - began;
  const int calm =
      flocks_.run(world_, contacts_.points(), planes_, shapes_, seen_, {step, now, count, begins}, end, threads_);
  const int done = advance_groups(step, calm - now, count - now);
  judged_.assign(world_.bodies.size(), Flocks::Judged::no);
  flocks_.commit(world_, contacts_.points(), planes_, now + done, judged_, threads_);
  raise_alarms((count - now - done) * step);
  judged_.clear();
  return done;
}

void Simulator::detect_contacts(double step, int now, int count, const Flocks::EndOfTick& end) {
  const double time_left = (count - now) * step;
  if (now > 0) {
    detect_contacts_of_alarmed(step, now, time_left, end);
  } else {
    for_each(world_.bodies.size(),
             [&](std::size_t i) { world_.bodies[i].axes = rotation_matrix(lane(world_.bodies[i].rotation)); });
    flocks_.clear();
    planes_.begin(world_, topology_.islands(), topology_.version(), threads_);
    detector_.detect({world_.system, world_.bodies, shapes_}, time_left, step, threads_, contacts_.points(), &planes_);
  }
  contacts_.regroup(world_, topology_.islands(), planes_);
  contacts_.wake_groups(world_, topology_.islands(), threads_);
  flocks_.gather(world_, topology_.islands(), contacts_, detector_, planes_,
                 now > 0 ? std::span<const std::uint8_t>(alarmed_) : std::span<const std::uint8_t>());
  contacts_.line_up();
  seen_.resize(world_.bodies.size());
  contacts_.for_each_in_groups(topology_.islands(), [&](int body) {
    const std::size_t i = static_cast<std::size_t>(body);
    if (now == 0 || alarmed_[i]) seen_[i] = {world_.bodies[i].linear, world_.bodies[i].angular};
  });
}

// Trees that went ahead stay where they are, but for those that an alarmed body may reach: these are called back.
void Simulator::detect_contacts_of_alarmed(double step, int now, double time_left, const Flocks::EndOfTick& end) {
  Work::add(work_.alarmed_bodies, static_cast<std::uint64_t>(std::ranges::count(alarmed_, 1)));
  const std::span<const std::uint8_t> ahead = flocks_.ahead();
  for_each(world_.bodies.size(), [&](std::size_t i) {
    if (!ahead[i]) world_.bodies[i].axes = rotation_matrix(lane(world_.bodies[i].rotation));
  });
  const auto lag = [&](int body) {
    return (now - flocks_.since(world_.bodies[static_cast<std::size_t>(body)].island)) * step;
  };
  const auto before = [&](int body) { return flocks_.before(world_.bodies[static_cast<std::size_t>(body)]); };
  const Detector::View view{world_.system, world_.bodies, shapes_, ahead};
  detector_.find_laggards_near(view, alarmed_, {flocks_.late(), std::ref(lag), before}, time_left, step, near_);
  for (const int body : near_)
    flocks_.call_back(world_, contacts_.points(), planes_, seen_, end,
                      world_.bodies[static_cast<std::size_t>(body)].island, step, now);
  planes_.begin_again(world_.bodies, alarmed_);
  detector_.detect_again(view, alarmed_, time_left, step, threads_, contacts_.points(), planes_);
}

// Hasty pairs, in the substeps between: the rest of the contacts stay as they are, and so do
// the flocks, which are in no hasty pair.
void Simulator::detect_hasty_contacts(double step) {
  const double began = platform::monotonic_seconds();
  detector_.for_each_in_hasty_pairs([&](int i) {
    Body& body = world_.bodies[static_cast<std::size_t>(i)];
    if (body.dynamic && body.awake) body.axes = rotation_matrix(lane(body.rotation));
  });
  detector_.detect_hasty({world_.system, world_.bodies, shapes_}, step, threads_, contacts_.points());
  contacts_.regroup(world_, topology_.islands(), planes_);
  contacts_.wake_groups(world_, topology_.islands(), threads_);
  contacts_.line_up();
  collision_s_ += platform::monotonic_seconds() - began;
}

// Moves the groups that are not in flocks until somebody is alarmed.
int Simulator::advance_groups(double step, int substeps, int left) {
  for (int done = 1; done <= substeps; ++done) {
    if (done > 1 && detector_.any_hasty()) detect_hasty_contacts(step);
    advance_groups(step);
    move_kinematic_bodies(step);
    if (done == substeps) break;
    if (contacts_.groups().empty()) continue;
    raise_alarms((left - done) * step);
    if (alarm_) return done;
  }
  return substeps;
}

// Of those that have just been moved: groups, and flocks that have just been committed.
void Simulator::raise_alarms(double time_left) {
  alarm_ = false;
  alarmed_.assign(world_.bodies.size(), 0);
  if (time_left <= 0) return;
  contacts_.for_each_moved(topology_.islands(), [&](int body) {
    const std::size_t i = static_cast<std::size_t>(body);
    const Body& own = world_.bodies[i];
    if (!shapes_[i]) return;
    const Vec3 turning = shapes_[i]->felt(own.angular - seen_[i].angular, own.rotation);
    const double surprise = length(own.linear - seen_[i].linear) + length(turning) * shapes_[i]->swing;
    // Two may surprise each other.
    if (2 * surprise * time_left <= Detector::bearable_surprise) return;
    alarmed_[i] = 1;
    alarm_ = true;
  });
  for (std::size_t i = 0; i < judged_.size(); ++i) {
    if (judged_[i] != Flocks::Judged::alarmed || !shapes_[i]) continue;
    alarmed_[i] = 1;
    alarm_ = true;
  }
}

// Large groups one after the other, each with all threads; then the small ones side by side.
void Simulator::advance_groups(double step) {
  const std::span<const std::size_t> groups = contacts_.groups();
  std::size_t first = 0;
  for (; first < groups.size() && contacts_.large(groups[first]); ++first)
    contacts_.advance_group(world_, topology_.islands(), groups[first], step, threads_);
  parallel_for(threads_, groups.size() - first, 1, [&](std::size_t i) {
    contacts_.advance_group(world_, topology_.islands(), groups[first + i], step, nullptr);
  });
}

void Simulator::move_kinematic_bodies(double step) {
  for (std::size_t i : kinematic_) {
    Body& body = world_.bodies[i];
    body.position += body.linear * step;
    body.rotation = plain(turned(lane(body.rotation), lane(body.angular * step)));
    body.axes = rotation_matrix(lane(body.rotation));
  }
}

void Simulator::end_tick(double tick) {
  System& system = world_.system;
  for (const std::unique_ptr<Island>& island : topology_.islands())
    if (island) island->commit_joints(world_, threads_);
  for_each(world_.bodies.size(), [&](std::size_t i) {
    if (moves_[i] && !body_ended_[i] && world_.bodies[i].awake) system.poses[i] = world_.bodies[i].link_pose();
  });
  for_each(system.joints.size(), [&](std::size_t i) {
    // What sleeps bears what it bore.
    if (joint_ended_[i] || !system.joint_ids.alive_index(i) || !joint_awake(i)) return;
    system.measure_position(i);
    book_joint(i, tick);
  });
  contacts_.let_sleep(world_, topology_.islands(), tick, threads_);
  for_each(world_.bodies.size(), [&](std::size_t i) {
    if (moves_[i] && !body_ended_[i]) system.velocities[i] = world_.bodies[i].velocity();
  });
  for_each(system.forces.size(), [&](std::size_t i) { set_zero(system.forces[i]); });
}

// What a joint did in a tick, for who asks.
void Simulator::book_joint(std::size_t joint, double tick) {
  System& system = world_.system;
  system.joints[joint].torque = world_.motor_impulses[joint] / tick;
  const Quat to_frame = world_.frames[joint].a.rotation.conjugate();
  system.loads[joint] =
      Wrench{to_frame * world_.load_impulses[joint].force, to_frame * world_.load_impulses[joint].torque} * (1 / tick);
  system.latched[joint] = system.latches[joint].closed();
}

bool Simulator::joint_awake(std::size_t joint) const {
  const JointDesc& desc = world_.system.joint_descs[joint];
  const auto awake = [&](BodyId id) { return world_.system.moves(id) && world_.bodies[id.index].awake; };
  return awake(desc.a) || awake(desc.b);
}

void Simulator::read_contacts(std::vector<Contact>& out) const {
  const System& system = world_.system;
  out.clear();
  const auto add = [&](std::size_t a, std::size_t b, const auto& c, const Vec3& normal) {
    const double force = dot(c.impulse, normal) / step_;
    if (force <= 0 && c.separation > 0) return;
    out.push_back({system.body_ids.at(a), system.body_ids.at(b), world_.bodies[a].position + c.arm_a, normal,
                   -c.separation, force});
  };
  planes_.for_each(
      contacts_.points(), detector_.calm_count(),
      [&](const ContactPoint& c) {
        if (c.active) add(static_cast<std::size_t>(c.a), static_cast<std::size_t>(c.b), c, c.frame[0]);
      },
      [&](std::size_t body, const PlanePoint& c) {
        if (c.active)
          add(body, static_cast<std::size_t>(planes_.ground(body)), c, planes_.normal(world_.bodies, body, c));
      });
}

void Simulator::add_body(std::size_t index) {
  bodies_changed_ = true;
  const std::size_t size = world_.system.bodies.size();
  world_.bodies.resize(size);
  shapes_.resize(size);
  const BodyDesc& desc = world_.system.bodies[index];
  Body body;
  body.dynamic = desc.motion == Motion::dynamic;
  body.from_link = body.dynamic ? Pose{desc.inertial.position, normalized(desc.inertial.rotation)} : desc.inertial;
  body.mass = desc.mass;
  body.moments = desc.moments;
  body.island = body.node = -1;
  body.owner = desc.owner, body.quiet = desc.quiet;
  world_.bodies[index] = body;
  shapes_[index] = desc.geometry ? shape_cache_.shape(desc.geometry, body.from_link) : nullptr;
  if (const Shape* shape = shapes_[index].get()) {
    world_.bodies[index].axle = shape->axle, world_.bodies[index].swing = shape->swing;
    world_.bodies[index].shaped = 1;
  }
  place_body(index);
  topology_.touch(world_, index);
  if (!body.dynamic) wake_all();  // it may stand where somebody sleeps
}

// From here on all contacts are in one list: somebody outside asks for them, or changes what they lie between.
void Simulator::write_out_plane_contacts() {
  const std::size_t more = planes_.hand_over_all(world_.bodies, contacts_.points(), detector_.calm_count());
  detector_.set_calm_count(detector_.calm_count() + more);
}

void Simulator::place_body(std::size_t index) {
  write_out_plane_contacts();
  Body& body = world_.bodies[index];
  const System& system = world_.system;
  body.place(system.poses[index], system.velocities[index]);
  wake_touching(index);
  for (ContactPoint& c : contacts_.points()) {
    if (c.a == static_cast<int>(index) || c.b == static_cast<int>(index)) c.impulse = {};
  }
}

void Simulator::remove_body(std::size_t index) {
  bodies_changed_ = true;
  write_out_plane_contacts();
  wake_touching(index);
  topology_.touch(world_, index);
  shapes_[index] = nullptr;
  world_.bodies[index].dynamic = false;
  std::erase_if(contacts_.points(), [&](const ContactPoint& c) {
    return c.a == static_cast<int>(index) || c.b == static_cast<int>(index);
  });
}

void Simulator::wake(std::size_t index) {
  Body& body = world_.bodies[index];
  body.awake = true;
  body.still = 0;
}

void Simulator::wake_all() {
  for (std::size_t i = 0; i < world_.bodies.size(); ++i) wake(i);
}

void Simulator::wake_touching(std::size_t index) {
  wake(index);
  planes_.for_each_on(index, [&](std::size_t body) { wake(body); });
  for (const ContactPoint& c : contacts_.points()) {
    if (c.a == static_cast<int>(index)) wake(static_cast<std::size_t>(c.b));
    if (c.b == static_cast<int>(index)) wake(static_cast<std::size_t>(c.a));
  }
}

// Whoever is pushed or told something new wakes; a change of gravity wakes everybody.
void Simulator::wake_commanded() {
  const System& system = world_.system;
  if (system.gravity != gravity_) wake_all();
  gravity_ = system.gravity;
  for_each(world_.bodies.size(), [&](std::size_t i) {
    if (!world_.bodies[i].awake && system.forces[i] != Wrench{}) wake(i);
  });
  for (std::size_t i : kinematic_) {
    if (world_.bodies[i].linear != Vec3{} || world_.bodies[i].angular != Vec3{}) wake_touching(i);
  }
  // Two joints of a body may wake it at once.
  const auto wake_shared = [&](BodyId id) {
    Body& body = world_.bodies[id.index];
    std::atomic_ref(body.awake).store(true, std::memory_order_relaxed);
    std::atomic_ref(body.still).store(0.0, std::memory_order_relaxed);
  };
  for_each(commands_.size(), [&](std::size_t i) {
    if (same(system.motors[i], commands_[i])) return;
    commands_[i] = system.motors[i];
    if (!system.joint_ids.alive_index(i)) return;
    wake_shared(system.joint_descs[i].b);
    if (system.joint_descs[i].a.valid()) wake_shared(system.joint_descs[i].a);
  });
}

void Simulator::touch_joint(std::size_t index) {
  const JointDesc& desc = world_.system.joint_descs[index];
  for (BodyId id : {desc.a, desc.b}) {
    if (!id.valid()) continue;
    topology_.touch(world_, id.index);
    wake(id.index);
  }
}

void Simulator::add_joint(std::size_t index) {
  const std::size_t size = world_.system.joint_descs.size();
  world_.frames.resize(size);
  world_.frames[index] = joint_frames(world_, index);
  world_.drives.resize(size);
  world_.tensions.resize(size);
  world_.tensions[index] = 0;
  world_.load_impulses.resize(size);
  world_.motor_impulses.resize(size);
  world_.drives[index] = {};
  commands_.resize(size);
  commands_[index] = {};
  touch_joint(index);
}

void Simulator::before_joint_removed(std::size_t index) { touch_joint(index); }

// A snapshot may have other joints than there are here: everything that follows from them is
// made anew, and islands are laid out at the next step.
void Simulator::take_over_joints() {
  const std::size_t size = world_.system.joint_descs.size();
  world_.frames.assign(size, {});
  world_.drives.assign(size, {});
  world_.tensions.assign(size, 0.0);
  world_.load_impulses.assign(size, {});
  world_.motor_impulses.assign(size, 0.0);
  commands_.assign(size, {});
  for (std::size_t i = 0; i < size; ++i) {
    if (world_.system.joint_ids.alive_index(i)) world_.frames[i] = joint_frames(world_, i);
  }
  for (std::size_t i = 0; i < world_.bodies.size(); ++i) topology_.touch(world_, i);
}

void Simulator::begin_from_system() {
  take_over_joints();
  contacts_.points().clear();
  planes_.clear();
  for (std::size_t i = 0; i < world_.bodies.size(); ++i)
    if (world_.system.body_ids.alive_index(i)) place_body(i);
  wake_all();
}

bool Simulator::sound(const ContactPoint& c) const {
  const auto there = [&](int body) {
    return body >= 0 && static_cast<std::size_t>(body) < world_.bodies.size() &&
           world_.system.body_ids.alive_index(static_cast<std::size_t>(body));
  };
  return there(c.a) && there(c.b) && c.a != c.b && world_.bodies[static_cast<std::size_t>(c.a)].dynamic &&
         c.normal_of <= ContactPoint::NormalOf::centres;
}

void Simulator::archive(Archive& ar) {
  if (ar.loading()) take_over_joints(), planes_.clear();
  else write_out_plane_contacts();
  archive_plain(ar, world_.bodies, [](auto& fields, Body& body) {
    fields("position", body.position), fields("rotation", body.rotation);
    fields("linear", body.linear), fields("angular", body.angular), fields("spin", body.spin);
    fields("awake", body.awake), fields("still", body.still);
  });
  archive_plain(ar, world_.drives, [](auto& fields, std::array<Drive<double>, 3>& joint) {
    for (Drive<double>& drive : joint) fields("drive", drive);
  });
  ar("tensions", world_.tensions);
  if (ar.loading() && world_.tensions.size() != world_.drives.size()) {
    ar.fail("the snapshot is damaged");
    world_.tensions.resize(world_.drives.size());
  }
  ar("gravity", gravity_);
  for (MotorCommand& c : commands_) {
    if (ar.hashing()) break;  // the system has them too
    ar("control", c.control), ar("target", c.target), ar("kp", c.kp), ar("kd", c.kd), ar("velocity", c.max_velocity),
        ar("torque", c.max_torque);
  }
  if (ar.loading() && !std::all_of(world_.bodies.begin(), world_.bodies.end(), [](const Body& body) {
        return length(body.position) < 1e12 && is_rotation(body.rotation) && finite(body.linear) &&
               finite(body.angular) && finite(body.spin) && std::isfinite(body.still);
      }))
    ar.fail("the snapshot is damaged: the state of a body is not a number");
  if (ar.loading() && !std::all_of(commands_.begin(), commands_.end(),
                                   [](const MotorCommand& c) { return c.control <= Control::torque; }))
    ar.fail("the snapshot is damaged: a motor has a command that does not exist");
  std::uint64_t count = contacts_.points().size();
  ar("contacts", count);
  if (ar.loading()) contacts_.points().assign(count <= ar.remaining() / 256 ? static_cast<std::size_t>(count) : 0, {});
  archive_plain(ar, contacts_.points(), [](auto& fields, ContactPoint& c) { fields("contact", c); });
  if (!ar.loading()) return;
  if (!std::all_of(contacts_.points().begin(), contacts_.points().end(),
                   [&](const ContactPoint& c) { return sound(c); })) {
    ar.fail("the snapshot is damaged");
    contacts_.points().clear();
  }
}

}  // namespace volvox::physics::native
