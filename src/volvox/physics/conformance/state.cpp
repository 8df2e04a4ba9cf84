// The interface itself: ids, removal, snapshots, determinism, bad input.
#include <cmath>
#include <limits>

#include "volvox/physics/conformance/suite.h"
#include "volvox/physics/joint_friction.h"

namespace volvox::physics::conformance {

class State : public Conformance {
 protected:
  // Some of everything: a floor, boxes that fall on it, an arm with a motor, a dock that
  // latches, a wheel that turns many times.
  void build(Engine& e) {
    const auto put = [&](const Solid& solid) { return *e.add_body(describe(solid)); };
    Solid floor{model::Plane{}};
    floor.motion = Motion::fixed;
    put(floor);
    for (int i = 0; i < 12; ++i) {
      Solid box{model::Box{{0.2, 0.15, 0.1}}, 0.5};
      box.pose = {{0.1 * i, 0.03 * (i % 3), 0.3 + 0.12 * i}, Quat::rpy(0.3 * i, 0.2, 0.1 * i)};
      if (i % 3 == 1) box.shape = box_hull({0.2, 0.15, 0.1});
      if (i % 3 == 2) box.shape = model::Cylinder{0.08, 0.1};
      put(box);
    }
    JointDesc hinge;
    hinge.a = put({model::Box{{0.2, 0.1, 0.1}}, 1, {{0, 2, 0.06}, {}}});
    hinge.b = put({model::Box{{0.2, 0.1, 0.1}}, 1, {{0.22, 2, 0.06}, {}}});
    hinge.frame_a = {{0.11, 0, 0}, Quat::between({0, 0, 1}, {0, 1, 0})};
    hinge.frame_b = {{-0.11, 0, 0}, hinge.frame_a.rotation};
    hinge.friction = 0.01, hinge.damping = 0.01, hinge.lower = -1, hinge.upper = 1;
    const JointId arm = e.add_joint(hinge);
    e.motors()[arm.index] = {Control::position, -0.8, 30, 1, 2, 4};
    JointDesc dock;
    dock.type = JointType::dock;
    dock.latch_time = 2;
    dock.a = hinge.b;
    dock.b = put({model::Box{{0.1, 0.1, 0.1}}, 0.3, {{0.4, 2.01, 0.06}, {}}});
    dock.frame_a.position = {0.1, 0, 0}, dock.frame_b.position = {-0.05, 0, 0};
    e.add_joint(dock);
    JointDesc axle;
    axle.b = put({model::Cylinder{0.1, 0.05}, 1, {{0, -3, 1}, {}}, {{}, {0, 0, 15}}});
    axle.frame_a.position = {0, -3, 1};
    const JointId wheel = e.add_joint(axle);
    e.motors()[wheel.index] = {Control::velocity, 15, 0, 0.5};
  }
  static void run(Engine& e, std::int64_t first, std::int64_t count) {
    const TickLength dt{1, 60};
    for (std::int64_t i = first; i < first + count; ++i) {
      ASSERT_TRUE(e.advance(dt.start_of(i), dt.start_of(i + 1)).ok());
    }
  }
  static std::uint64_t hash_of(Engine& e) {
    HashArchive ar;
    e.archive(ar);
    return ar.value();
  }
};

VOLVOX_FOR_EVERY_ENGINE(State);

TEST_P(State, same_calls_give_the_same_bits) {
  const auto first = new_engine({}), second = new_engine({});
  build(*first), build(*second);
  for (int i = 0; i < 10; ++i) {
    run(*first, 30 * i, 30), run(*second, 30 * i, 30);
    ASSERT_EQ(hash_of(*first), hash_of(*second)) << "after " << 30 * (i + 1) << " ticks";
  }
}

TEST_P(State, same_bits_with_any_number_of_threads) {
  ThreadPool pool(3);
  const auto first = new_engine({}), second = new_engine({.threads = &pool});
  build(*first), build(*second);
  run(*first, 0, 100), run(*second, 0, 100);
  EXPECT_EQ(hash_of(*first), hash_of(*second));
}

TEST_P(State, restored_run_goes_on_with_the_same_bits) {
  for (const int at : {0, 37, 90}) {
    const auto first = new_engine({}), second = new_engine({});
    build(*first), build(*second);
    run(*first, 0, at);
    const std::uint64_t hash = hash_of(*first);
    SaveArchive saved;
    first->archive(saved);
    EXPECT_EQ(hash_of(*first), hash) << "saving changed the state";
    run(*second, 0, 11);  // its history must not matter
    LoadArchive loaded(saved.bytes());
    second->archive(loaded);
    ASSERT_TRUE(loaded.ok()) << loaded.failure();
    EXPECT_EQ(loaded.remaining(), 0u);
    EXPECT_EQ(hash_of(*second), hash);
    for (int i = 0; i < 10; ++i) {
      run(*first, at + 20 * i, 20), run(*second, at + 20 * i, 20);
      ASSERT_EQ(hash_of(*first), hash_of(*second)) << "saved at " << at << ", " << 20 * (i + 1) << " ticks later";
    }
  }
}

// Sensors read them before the next tick.
TEST_P(State, restored_contacts_are_those_that_were_saved) {
  const auto first = new_engine({}), second = new_engine({});
  build(*first), build(*second);
  run(*first, 0, 90);
  std::vector<Contact> saved, restored;
  first->contacts(saved);
  SaveArchive bytes;
  first->archive(bytes);
  LoadArchive loaded(bytes.bytes());
  second->archive(loaded);
  ASSERT_TRUE(loaded.ok()) << loaded.failure();
  second->contacts(restored);
  ASSERT_EQ(saved.empty(), !moves());
  ASSERT_EQ(restored.size(), saved.size());
  double force = 0;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    EXPECT_TRUE(restored[i].a == saved[i].a && restored[i].b == saved[i].b);
    EXPECT_TRUE(restored[i].point == saved[i].point && restored[i].normal == saved[i].normal);
    EXPECT_EQ(restored[i].depth, saved[i].depth);
    EXPECT_EQ(restored[i].force, saved[i].force);
    force += saved[i].force;
  }
  EXPECT_EQ(force > 0, moves());
}

// Docks are made and removed during a run; loading a snapshot restores its docks.
TEST_P(State, restore_brings_joints_that_came_and_forgets_those_that_went) {
  const auto other = new_engine({});
  const auto begin = [&](Engine& e) {
    Solid floor{model::Plane{}};
    floor.motion = Motion::fixed;
    (void)*e.add_body(describe(floor));
    std::vector<BodyId> boxes;
    for (int i = 0; i < 4; ++i)
      boxes.push_back(*e.add_body(describe({model::Box{{0.1, 0.1, 0.1}}, 1, {{0.1 * i, 0, 0.2}, {}}})));
    return boxes;
  };
  const auto hinge = [](BodyId a, BodyId b) {
    JointDesc desc;
    desc.a = a, desc.b = b;
    desc.frame_a = {{0.05, 0, 0}, Quat::between({0, 0, 1}, {0, 1, 0})},
    desc.frame_b = {{-0.05, 0, 0}, desc.frame_a.rotation};
    return desc;
  };
  const std::vector<BodyId> boxes = begin(engine()), copies = begin(*other);
  const JointId first = engine().add_joint(hinge(boxes[0], boxes[1]));
  (void)other->add_joint(hinge(copies[0], copies[1]));
  run(engine(), 0, 5);
  engine().remove_joint(first);
  const JointId middle = engine().add_joint(hinge(boxes[1], boxes[2])),
                last = engine().add_joint(hinge(boxes[2], boxes[3]));
  engine().motors()[middle.index] = {Control::position, 0.5, 30, 1, 2, 4};
  engine().motors()[last.index] = {Control::position, -0.5, 30, 1, 2, 4};
  run(engine(), 5, 20);
  SaveArchive saved;
  engine().archive(saved);
  LoadArchive loaded(saved.bytes());
  other->archive(loaded);
  ASSERT_TRUE(loaded.ok()) << loaded.failure();
  EXPECT_EQ(hash_of(engine()), hash_of(*other));
  run(engine(), 25, 60);
  run(*other, 25, 60);
  EXPECT_EQ(hash_of(engine()), hash_of(*other));
}

// What all engines have in common is carried exactly, and the other goes on from there, in the same way every time.
TEST_P(State, another_engine_goes_on_from_its_state) {
  build(engine());
  run(engine(), 0, 90);
  SaveArchive saved;
  ASSERT_TRUE(engine().archive_common(saved));
  const EngineRegistry registry = built_in_engines();
  for (const std::string& name : registry.names()) {
    if (name == "none") continue;
    std::uint64_t hashes[2];
    for (std::uint64_t& hash : hashes) {
      const auto made = registry.make(name, {});
      ASSERT_TRUE(made.ok());
      Engine& other = **made;
      build(other);
      run(other, 0, 7);  // its history must not matter
      LoadArchive loaded(saved.bytes());
      ASSERT_TRUE(other.archive_common(loaded)) << name;
      ASSERT_TRUE(loaded.ok()) << name << ": " << loaded.failure();
      EXPECT_EQ(loaded.remaining(), 0u) << name;
      for (std::size_t i = 0; i < engine().poses().size(); ++i) {
        EXPECT_EQ(other.poses()[i].position, engine().poses()[i].position) << name;
        EXPECT_EQ(other.velocities()[i].linear, engine().velocities()[i].linear) << name;
      }
      for (std::size_t i = 0; i < engine().joints().size(); ++i)
        EXPECT_EQ(other.joints()[i].position, engine().joints()[i].position) << name;
      run(other, 90, 60);
      hash = hash_of(other);
    }
    EXPECT_EQ(hashes[0], hashes[1]) << name;
  }
}

TEST_P(State, hashing_changes_nothing) {
  const auto first = new_engine({}), second = new_engine({});
  build(*first), build(*second);
  for (int i = 0; i < 60; ++i) {
    run(*first, i, 1), run(*second, i, 1);
    hash_of(*first);
  }
  EXPECT_EQ(hash_of(*first), hash_of(*second));
}

TEST_P(State, an_exact_restore_does_not_disturb_the_run_it_saves) {
  if (!engine().info().exact_restore) return;  // "restore: cold"
  const auto first = new_engine({}), second = new_engine({});
  build(*first), build(*second);
  run(*first, 0, 50), run(*second, 0, 50);
  SaveArchive saved;
  first->archive(saved);
  run(*first, 50, 50), run(*second, 50, 50);
  EXPECT_EQ(hash_of(*first), hash_of(*second));
}

TEST_P(State, snapshot_of_another_scene_is_refused) {
  const auto first = new_engine({}), second = new_engine({});
  build(*first);
  SaveArchive saved;
  first->archive(saved);
  LoadArchive loaded(saved.bytes());
  second->archive(loaded);
  EXPECT_FALSE(loaded.ok());
  build(*second);
  const std::vector<std::byte> half(saved.bytes().begin(), saved.bytes().begin() + saved.bytes().size() / 2);
  LoadArchive cut(half);
  second->archive(cut);
  EXPECT_FALSE(cut.ok());
}

TEST_P(State, ids_of_removed_bodies_are_not_valid_for_those_that_follow) {
  const BodyId first = add({model::Sphere{0.1}});
  const BodyId second = add({model::Sphere{0.1}, 1, {{1, 0, 0}, {}}});
  engine().remove_body(first);
  const BodyId third = add({model::Sphere{0.1}, 1, {{2, 0, 0}, {}}});
  EXPECT_EQ(third.index, first.index);
  EXPECT_NE(third.generation, first.generation);
  EXPECT_EQ(pose(third).position.x, 2);
  EXPECT_EQ(pose(second).position.x, 1);
}

TEST_P(State, bodies_and_joints_come_and_go_while_it_runs) {
  add_ground();
  std::vector<BodyId> bodies;
  std::vector<JointId> joints;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 3; ++i) {
      bodies.push_back(add({model::Box{{0.1, 0.1, 0.1}}, 1, {{0.12 * i, 0, 0.5 + 0.11 * round}, {}}}));
    }
    JointDesc joint;
    joint.type = round % 2 ? JointType::ball : JointType::fixed;
    joint.a = bodies[bodies.size() - 2], joint.b = bodies.back();
    joint.frame_a.position = {0.06, 0, 0}, joint.frame_b.position = {-0.06, 0, 0};
    joints.push_back(engine().add_joint(joint));
    Conformance::run(0.1);
    if (round % 3 == 2) {
      engine().remove_body(bodies[bodies.size() - 2]);  // also removes its joint
      bodies.erase(bodies.end() - 2);
      joints.pop_back();
    } else if (round % 3 == 1) {
      engine().remove_joint(joints.back());
      joints.pop_back();
    }
    Conformance::run(0.1);
  }
  for (BodyId id : bodies) EXPECT_TRUE(finite(pose(id)));
  JointDesc again;
  again.type = JointType::ball;
  again.b = bodies.front();
  EXPECT_TRUE(engine().add_joint(again).valid());
  Conformance::run(0.1);
}

TEST_P(State, removing_a_body_frees_what_it_held) {
  VOLVOX_NEEDS_MOTION();
  JointDesc joint;
  joint.type = JointType::fixed;
  joint.a = add({model::Box{{0.1, 0.1, 0.1}}, 1, {}, {}, Motion::fixed});
  joint.b = add({model::Box{{0.1, 0.1, 0.1}}, 1, {{0.2, 0, 0}, {}}});
  joint.frame_a.position = {0.1, 0, 0}, joint.frame_b.position = {-0.1, 0, 0};
  engine().add_joint(joint);
  Conformance::run(1);
  EXPECT_NEAR(pose(joint.b).position.z, 0, 1e-3);
  engine().remove_body(joint.a);
  Conformance::run(1);
  EXPECT_NEAR(velocity(joint.b).linear.z, -g, 1e-6);
}

TEST_P(State, joints_are_measured_where_bodies_are_placed) {
  JointDesc hinge;
  hinge.a = add({model::Box{{0.1, 0.1, 0.1}}});
  hinge.b = add({model::Box{{0.1, 0.1, 0.1}}, 1, {{0.2, 0, 0}, {}}});
  hinge.frame_a.position = {0.1, 0, 0}, hinge.frame_b.position = {-0.1, 0, 0};
  const JointId id = engine().add_joint(hinge);
  EXPECT_NEAR(joint(id).position, 0, 1e-12);
  const Quat turned = Quat::axis_angle({0, 0, 1}, 0.7);
  engine().set_body(hinge.b, {Vec3{0.1, 0, 0} + turned * Vec3{0.1, 0, 0}, turned}, {{}, {0, 0, 2}});
  EXPECT_NEAR(joint(id).position, 0.7, 1e-12);
  EXPECT_NEAR(joint(id).velocity, 2, 1e-12);
}

TEST_P(State, what_does_not_move_stays) {
  Solid solid{model::Box{{0.1, 0.1, 0.1}}, 1, {{1, 2, 3}, Quat::rpy(0.1, 0.2, 0.3)}};
  solid.motion = Motion::fixed;
  const BodyId body = add(solid);
  Conformance::run(0.5);
  EXPECT_EQ(pose(body), solid.pose);
  EXPECT_EQ(velocity(body), Twist{});
}

TEST_P(State, engine_that_does_not_move_says_so) {
  const BodyId body = add({model::Sphere{0.1}, 1, {{0, 0, 5}, {}}});
  Conformance::run(0.5);
  EXPECT_EQ(pose(body).position.z < 5, moves());
  EXPECT_FALSE(engine().info().description.empty());
  EXPECT_FALSE(engine().info().settings.empty());
}

TEST_P(State, nan_command_is_caught_and_names_the_body) {
  JointDesc hinge;
  add({model::Sphere{0.1}});
  hinge.b = add({model::Sphere{0.1}, 1, {{1, 0, 0}, {}}});
  const JointId id = engine().add_joint(hinge);
  engine().motors()[id.index] = {Control::velocity, std::nan(""), 0, 1};
  const StepStatus status = tick();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.body, hinge.b);
  engine().motors()[id.index] = {};
  EXPECT_TRUE(tick().ok());
}

TEST_P(State, nan_force_is_caught_and_names_the_body) {
  add({model::Sphere{0.1}});
  const BodyId body = add({model::Sphere{0.1}, 1, {{1, 0, 0}, {}}});
  engine().forces()[body.index].force.x = std::numeric_limits<double>::infinity();
  const StepStatus status = tick();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.body, body);
}

TEST_P(State, runaway_is_caught_and_names_the_body) {
  const BodyId body = add({model::Sphere{0.1}, 1, {}, {{2e4, 0, 0}, {}}});
  const StepStatus status = tick();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.body, body);
}

// World warns by this word where a world has flush faces.
TEST_P(State, an_engine_whose_joints_keep_their_friction_says_so) {
  if (!engine().info().moves) return;
  EXPECT_EQ(can(friction_by_load), dynamic_cast<JointFriction*>(&engine()) != nullptr);
}

TEST_P(State, shapes_that_cannot_be_held_are_refused_with_a_remedy) {
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh->triangles = {{0, 1, 2}};
  const std::vector<Solid> bad{{model::Mesh(mesh)}, {make_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}})}, {model::Plane{}}};
  for (const Solid& solid : bad) {
    BodyDesc desc = describe(solid);
    const auto result = engine().add_body(desc);
    ASSERT_FALSE(result.ok());
    EXPECT_FALSE(result.error().diagnostics().front().fix.empty());
  }
  BodyDesc weightless = describe({model::Sphere{0.1}, 0});
  EXPECT_FALSE(engine().add_body(weightless).ok());
}

TEST_P(State, body_without_geometry_touches_nothing) {
  BodyDesc ghost;
  ghost.pose.position = {0, 0, 0.1};
  const BodyId body = add(ghost);
  add_ground();
  Conformance::run(1);
  if (moves()) {
    EXPECT_LT(pose(body).position.z, -4);
  }
}

// Its moments are a billionth of what a box of this mass and size has. Either nothing comes of it, or it is named.
TEST_P(Conformance, body_without_inertia_is_harmless_or_named) {
  VOLVOX_NEEDS_MOTION();
  add_ground();
  BodyDesc box = describe({model::Box{{0.1, 0.1, 0.1}}, 1, {{0, 0, 0.5}, Quat::rpy(0.2, 0.3, 0)}});
  box.moments = {1e-12, 1e-12, 1e-12};
  const BodyId body = add(box);
  StepStatus status;
  double most = 0;
  for (int i = 0; i < 180 && status.ok(); ++i) {
    status = tick();
    if (status.ok()) most = std::max(most, totals({body}).kinetic + g * pose(body).position.z);
  }
  EXPECT_LT(most, 2 * g * 0.5);
  if (status.ok()) return;
  EXPECT_EQ(status.body, body);
  EXPECT_FALSE(status.what.empty());
}

}  // namespace volvox::physics::conformance
