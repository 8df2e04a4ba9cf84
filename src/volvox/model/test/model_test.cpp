// Models that are read from correct files.
#include <algorithm>

#include "volvox/model/hull.h"
#include "volvox/model/mass.h"
#include "volvox/model/mesh.h"
#include "volvox/model/test/test_files.h"

namespace volvox::model::test {
namespace {

TEST_F(ReaderTest, ReadsAModule) {
  const Result<Model> result = library.load("hinge");
  ASSERT_TRUE(result.ok()) << result.error().text();
  const ModuleModel& m = **result;
  EXPECT_EQ(m.name, "hinge");
  ASSERT_EQ(m.links.size(), 2u);
  EXPECT_EQ(m.links[0].name, "tail");
  EXPECT_EQ(m.links[0].mass, 0.25);
  EXPECT_EQ(m.links[0].moments, (Vec3{0.0003, 0.0003, 0.0003}));
  EXPECT_EQ(m.links[1].pose, (Pose{{0.05, 0, 0}, {}}));  // the very decimal numbers of the file
  ASSERT_EQ(m.links[0].geometry->colliders.size(), 1u);
  EXPECT_EQ(std::get<Box>(m.links[0].geometry->colliders[0].shape).size, (Vec3{0.1, 0.1, 0.1}));
  EXPECT_DOUBLE_EQ(m.links[0].visuals[0].color.r, 0.9f);
  ASSERT_EQ(m.joints.size(), 1u);
  const Joint& joint = m.joints[0];
  EXPECT_EQ(joint.type, JointType::revolute);
  EXPECT_EQ(joint.lower, -1.6);
  EXPECT_EQ(joint.effort, 6);
  EXPECT_EQ(joint.velocity, 4);
  EXPECT_EQ(joint.damping, 0.02);
  EXPECT_EQ(joint.friction, 0.05);
  ASSERT_TRUE(joint.motor);
  EXPECT_EQ(joint.motor->kp, 40);
  expect_near(joint.parent_frame.position, {0.05, 0, 0});
  expect_near(joint.child_frame.position, {-0.05, 0, 0});
  expect_near(joint.child_frame.rotation * Vec3{0, 0, 1}, {0, 1, 0});
  ASSERT_EQ(m.docks.size(), 4u);
  expect_near(m.docks[1].pose.rotation * Vec3{1, 0, 0}, {-1, 0, 0});
  EXPECT_TRUE(m.mind);
  EXPECT_EQ(m.mind->parameters.at("period"), "1");
  EXPECT_DOUBLE_EQ(m.mass(), 0.5);
  EXPECT_FALSE(m.self_collide);
}

TEST_F(ReaderTest, ForwardKinematicsTurnsWhatHangsOnTheJoint) {
  const Model m = *library.load("hinge");
  EXPECT_EQ(forward_kinematics(*m, {})[1], m->links[1].pose);
  EXPECT_EQ(forward_kinematics(*m, {0.0})[1], m->links[1].pose);
  // About +y a quarter turn takes +x to -z.
  const std::vector<Pose> bent = forward_kinematics(*m, {pi / 2});
  EXPECT_EQ(bent[0], m->links[0].pose);
  expect_near(bent[1].position, {0, 0, -0.05});
  expect_near(bent[1].rotation * Vec3{1, 0, 0}, {0, 0, -1});
}

TEST(Kinematics, FollowsChainsAndLeavesLoopsAlone) {
  ModuleModel m;
  for (int i = 0; i < 3; ++i) {
    Link link;
    link.name = "l" + std::to_string(i);
    link.pose.position.x = i;
    link.geometry = std::make_shared<Geometry>();
    m.links.push_back(link);
  }
  // Listed child first; and a joint that closes the loop.
  const auto joint = [](int parent, int child, JointType type) {
    Joint j;
    j.type = type;
    j.parent = parent;
    j.child = child;
    j.parent_frame.position.x = child - parent;
    return j;
  };
  m.joints = {joint(1, 2, JointType::prismatic), joint(0, 1, JointType::revolute), joint(0, 2, JointType::ball)};
  const std::vector<Pose> poses = forward_kinematics(m, {0.5, pi / 2, 7});
  expect_near(poses[1].position, {1, 0, 0});
  expect_near(poses[1].rotation * Vec3{1, 0, 0}, {0, 1, 0});
  // Link 2 is placed by the first of its joints whose parent stands: the ball, which stays at zero.
  expect_near(poses[2].position, {2, 0, 0});
}

TEST(Docks, EngagedIsItsOwnInverse) {
  for (const int symmetry : {0, 1, 2, 3, 4, 6}) {
    for (int turn = 0; turn < std::max(1, symmetry); ++turn) {
      const Pose pose = engaged_dock(symmetry, turn);
      expect_near(pose.position, {});
      expect_near(pose.rotation * Vec3{1, 0, 0}, {-1, 0, 0}, 1e-12);
      EXPECT_NEAR(angle((pose * pose).rotation), 0, 1e-7);
      EXPECT_EQ(engaged_dock(symmetry, turn + symmetry), pose);
    }
  }
  EXPECT_EQ(engaged_dock(4, 0).rotation * (Vec3{0, 0, 1}), (Vec3{0, 0, 1}));
  // Turned about b's own x by a quarter: b's z points along its old -y, which is a's +y.
  expect_near(engaged_dock(4, 1).rotation * Vec3{0, 0, 1}, {0, 1, 0}, 1e-12);
  EXPECT_EQ(engaged_dock(4, -1), engaged_dock(4, 3));
}

TEST(Docks, FitByKindAndGender) {
  Dock male, female, both;
  male.gender = Gender::male;
  female.gender = Gender::female;
  EXPECT_TRUE(fit(male, female));
  EXPECT_TRUE(fit(male, both));
  EXPECT_TRUE(fit(both, female));
  EXPECT_TRUE(fit(both, both));
  EXPECT_FALSE(fit(male, male));
  EXPECT_FALSE(fit(female, female));
  both.kind = "other";
  EXPECT_FALSE(fit(male, both));
}

TEST_F(ReaderTest, KeepsTheFixedJointsOfAUrdf) {
  const auto link = [](const std::string& name, const std::string& mass) {
    return "<link name='" + name + "'><inertial><origin xyz='0 0 0.1' rpy='0 0 0'/><mass value='" + mass +
           "'/><inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>"
           "<collision><origin xyz='0 0 0.123456789'/><geometry><box size='0.1 0.2 "
           "0.3'/></geometry></collision></link>\n";
  };
  const std::string text = "<robot name='arm' xmlns:volvox='https://volvox.sim/sdf'>\n<link name='footprint'/>\n" +
                           link("base", "2") + link("upper", "1") + link("hand", "0.5") +
                           R"(<link name="tool"/>
<joint name="foot" type="fixed"><parent link="footprint"/><child link="base"/></joint>
<joint name="shoulder" type="revolute"><origin xyz="0 0 0.3333333333333" rpy="0 0 1.2345678901"/><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="5" velocity="3"/><dynamics damping="0.1" friction="0.2"/></joint>
<joint name="wrist" type="fixed"><origin xyz="0 0 0.2"/><parent link="upper"/><child link="hand"/></joint>
<joint name="flange" type="fixed"><origin xyz="0 0 0.05"/><parent link="hand"/><child link="tool"/></joint>
<gazebo><volvox:motor joint="shoulder" kp="10" kd="1"/>
<volvox:dock name="grip" link="tool" pose="0.01 0 0 0 0 0"/><volvox:dock name="foot" link="base" pose="0 0 0 0 0 0"/>
<volvox:mind behavior="idle"/></gazebo>
</robot>)";
  const Result<Model> result = read_model(text, "arm.urdf");
  ASSERT_TRUE(result.ok()) << result.error().text();
  const ModuleModel& m = **result;
  EXPECT_EQ(m.name, "arm");
  EXPECT_EQ(m.links.size(), 3u);
  EXPECT_NEAR(m.mass(), 3.5, 1e-12);
  ASSERT_GE(m.joint_index("wrist"), 0);
  EXPECT_EQ(m.joints.size(), 2u);
  const Joint& wrist = m.joints[m.joint_index("wrist")];
  EXPECT_EQ(wrist.type, JointType::fixed);
  expect_near(wrist.parent_frame.position, {0, 0, 0.2});
  const Joint& shoulder = m.joints[m.joint_index("shoulder")];
  EXPECT_EQ(shoulder.lower, -1);
  EXPECT_EQ(shoulder.upper, 2);
  EXPECT_EQ(shoulder.effort, 5);
  EXPECT_EQ(shoulder.friction, 0.2);
  EXPECT_TRUE(shoulder.motor);
  EXPECT_NEAR(shoulder.parent_frame.position.z, 0.3333333333333, 1e-6);
  const Link& upper = m.links[m.link_index("upper")];
  EXPECT_NEAR(upper.mass, 1, 1e-12);
  expect_near(upper.inertial.position, {0, 0, 0.1});
  // The dock on a link without mass moved to the link that bears it.
  ASSERT_EQ(m.docks.size(), 2u);
  EXPECT_EQ(m.docks[0].link, m.link_index("hand"));
  expect_near(m.docks[0].pose.position, {0.01, 0, 0.05});
  EXPECT_EQ(m.docks[1].link, m.link_index("footprint"));
  EXPECT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(m.mind);
}

TEST_F(ReaderTest, ElongatedDocksAddABar) {
  const std::string box = std::string("<link name=\"a\">") + inertial + "</link>\n";
  const Model plain = *read_model(model(box + "<volvox:dock name=\"d\" link=\"a\" pose=\"0.05 0 0 0 0 0\"/>"));
  const Result<Model> result =
      read_model(model(box + "<volvox:dock name=\"d\" link=\"a\" pose=\"0.05 0 0 0 0 0\" extension=\"0.1\" "
                             "extension_mass=\"0.25\" extension_radius=\"0.01\"/>"));
  ASSERT_TRUE(result.ok()) << result.error().text();
  const Link& link = (*result)->links[0];
  expect_near((*result)->docks[0].pose.position, {0.15, 0, 0});
  EXPECT_DOUBLE_EQ(link.mass, 0.5);
  expect_near(link.inertial.position, {0.05, 0, 0});
  ASSERT_EQ(link.geometry->colliders.size(), 1u);
  const Bounds bar = bounds(link.geometry->colliders[0].shape, link.geometry->colliders[0].pose);
  EXPECT_NEAR(bar.low.x, 0.05, 1e-9);
  EXPECT_NEAR(bar.high.x, 0.15, 1e-9);
  EXPECT_NEAR(bar.high.y, 0.01, 1e-6);
  // About x: the two add up. About z: bar of its own, and both shifted by 0.05 m.
  const MassProperties whole = mass_properties(link);
  EXPECT_NEAR(whole.inertia.xx, 0.0003 + 0.5 * 0.25 * 0.0001, 1e-9);
  EXPECT_NEAR(whole.inertia.zz, 0.0003 + 0.25 * (3 * 0.0001 + 0.01) / 12 + 0.5 * 0.0025, 1e-9);
}

TEST_F(ReaderTest, ReadsStandardSensorsMaterialsAndShapes) {
  const Result<Model> result = read_model(
      model(std::string("<self_collide>true</self_collide><link name=\"a\"><gravity>false</gravity>") + inertial + R"(
<collision name="ball"><geometry><sphere><radius>0.1</radius></sphere></geometry><surface><friction><ode><mu>0.3</mu></ode></friction>
<bounce><restitution_coefficient>0.5</restitution_coefficient></bounce></surface></collision>
<collision name="can"><pose>0 0 1 0 0 0</pose><geometry><cylinder><radius>0.1</radius><length>0.4</length></cylinder></geometry></collision>
<collision name="pill"><geometry><capsule><radius>0.1</radius><length>0.4</length></capsule></geometry></collision>
<collision name="egg"><geometry><ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid></geometry></collision>
<collision name="hull"><geometry><empty/><volvox:hull>0 0 0  1 0 0  0 1 0
  0 0 1</volvox:hull></geometry></collision>
<collision name="nothing"><geometry><empty/></geometry></collision>
<sensor name="imu" type="imu"><imu><linear_acceleration><x><noise type="gaussian"><mean>0</mean><stddev>0.02</stddev></noise></x></linear_acceleration></imu></sensor>
<sensor name="scan" type="lidar"><lidar><scan><horizontal><samples>9</samples><min_angle>-1</min_angle><max_angle>1</max_angle></horizontal><vertical><samples>3</samples><min_angle>-0.2</min_angle><max_angle>0.3</max_angle></vertical></scan><range><min>0.1</min><max>4</max></range><noise><type>gaussian</type><mean>0</mean><stddev>0.007</stddev></noise></lidar></sensor>
<sensor name="ping" type="sonar"><sonar><min>0.02</min><max>3</max><radius>0.8</radius></sonar></sensor>
<sensor name="bump" type="contact"><contact><collision>ball</collision></contact></sensor>
<sensor name="eye" type="camera"><camera><horizontal_fov>1</horizontal_fov><image><width>4</width><height>4</height></image><clip><near>0.1</near><far>9</far></clip></camera></sensor>
<sensor name="hd" type="depth_camera"><camera><horizontal_fov>1</horizontal_fov><image><width>1280</width><height>720</height></image><clip><near>0.1</near><far>9</far></clip></camera></sensor>
<sensor name="compass" type="magnetometer"/>
</link>)"));
  ASSERT_TRUE(result.ok()) << result.error().text();
  const ModuleModel& m = **result;
  EXPECT_TRUE(m.self_collide);
  EXPECT_FALSE(m.links[0].gravity);
  const std::vector<Collider>& c = m.links[0].geometry->colliders;
  ASSERT_EQ(c.size(), 5u);
  EXPECT_EQ(c[0].material.friction, 0.3);
  EXPECT_EQ(c[0].material.restitution, 0.5);
  EXPECT_EQ(c[1].material.friction, Material{}.friction);
  EXPECT_EQ(std::get<Capsule>(c[2].shape).length, 0.4);
  const Bounds egg = bounds(c[3].shape, {});
  EXPECT_NEAR(egg.high.z, 0.3, 1e-12);
  EXPECT_EQ(std::get<Hull>(c[4].shape)->points.size(), 4u);
  ASSERT_EQ(m.sensors.size(), 7u);
  EXPECT_EQ(m.sensors[0].type, "accelerometer");
  EXPECT_EQ(m.sensors[1].name, "imu_gyroscope");
  EXPECT_EQ(m.sensors[2].parameters.at("rays"), "9");
  EXPECT_EQ(m.sensors[2].parameters.at("field_of_view"), "2");
  EXPECT_EQ(m.sensors[2].type, "laser");
  EXPECT_EQ(m.sensors[2].parameters.at("rows"), "3");
  EXPECT_EQ(m.sensors[2].parameters.at("min_range"), "0.1");
  EXPECT_NEAR((m.sensors[2].pose.rotation * Vec3{1, 0, 0}).z, std::sin(0.05), 1e-12);  // the middle of the rows
  EXPECT_EQ(m.percept_noise.at("scan")[0].type, "ranging");
  EXPECT_EQ(m.sensors[3].type, "sonar");
  EXPECT_EQ(m.sensors[3].parameters.at("max_range"), "3");
  EXPECT_NEAR(std::stod(m.sensors[3].parameters.at("cone")), 2 * std::atan2(0.8, 3), 1e-6);
  EXPECT_EQ(m.sensors[4].type, "contact");
  EXPECT_EQ(m.percept_noise.at("imu")[0].parameters.at("deviation"), "0.02");
  EXPECT_EQ(m.sensors[5].type, "camera");
  EXPECT_EQ(m.sensors[5].parameters.at("width"), "4");
  EXPECT_EQ(m.sensors[6].parameters.at("width"), "64");
  EXPECT_EQ(m.sensors[6].parameters.at("height"), "36");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].what.find("hd"), std::string::npos);
  EXPECT_NE(warnings[1].what.find("compass"), std::string::npos);
}

TEST_F(ReaderTest, JointsWithoutLimitsAreUnlimited) {
  const std::string links =
      std::string("<link name=\"a\">") + inertial + "</link><link name=\"b\">" + inertial + "</link>";
  const Model m = *read_model(model(
      links +
      R"(<joint name="j" type="continuous"><parent>a</parent><child>b</child><axis><xyz>0 0 -1</xyz></axis></joint>
<joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>)"));
  const Joint& j = m->joints[m->joint_index("j")];
  EXPECT_EQ(j.lower, -unlimited);
  EXPECT_EQ(j.upper, unlimited);
  EXPECT_EQ(j.effort, unlimited);
  EXPECT_EQ(j.velocity, unlimited);
  expect_near(j.child_frame.rotation * Vec3{0, 0, 1}, {0, 0, -1});
  EXPECT_EQ(m->joints[m->joint_index("w")].parent, -1);
}

TEST_F(ReaderTest, MeshesBecomeHullsWhereTheyMove) {
  folder.write("part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::string shape = "<geometry><mesh><uri>part.obj</uri><scale>0.5 0.5 0.5</scale></mesh></geometry>";
  const std::string link = std::string("<link name=\"a\">") + inertial + "<collision name=\"c\">" + shape +
                           "</collision><visual name=\"v\">" + shape + "</visual></link>";
  const Result<Model> moving = read_model(model(link));
  ASSERT_TRUE(moving.ok()) << moving.error().text();
  const Hull hull = std::get<Hull>((*moving)->links[0].geometry->colliders[0].shape);
  EXPECT_EQ(hull->points.size(), 4u);
  EXPECT_NEAR(bounds(hull, {}).high.x, 0.5, 1e-9);
  EXPECT_EQ(std::get<Mesh>((*moving)->links[0].visuals[0].shape)->triangles.size(), 4u);
  const Result<Model> fixed = read_model(model("<static>true</static>" + link));
  ASSERT_TRUE(fixed.ok()) << fixed.error().text();
  EXPECT_TRUE(std::holds_alternative<Mesh>((*fixed)->links[0].geometry->colliders[0].shape));
}

TEST(Hulls, LargeOnesKeepTheirOuterPoints) {
  std::vector<Vec3> points = ellipsoid_points({1, 1, 1});
  const std::size_t outer = points.size();
  for (int i = 0; i < 20; ++i) {
    for (std::size_t k = 0; k < outer; ++k) points.push_back(points[k] * (0.04 * i));
  }
  const std::vector<Vec3> kept = outer_points(points, max_hull_points);
  EXPECT_LE(kept.size(), max_hull_points);
  EXPECT_GE(kept.size(), 100u);
  for (const Vec3& p : kept) EXPECT_NEAR(length(p), 1, 1e-9);
}

// The high byte comes first; of colours, gray is made. stb alone does neither right, and reads beyond the end (found by
// fuzzing).
TEST(HeightFields, OfSixteenBitsInPgmAndPpm) {
  using namespace std::string_literals;
  const auto heights = [](const std::string& bytes) {
    const auto field = parse_height_field(bytes, "image", {1, 1, 1});
    return field.ok() ? (*field)->heights : std::vector<float>{};
  };
  EXPECT_EQ(heights("P5 2 1 65535\n\x01\0\xff\xff"s), (std::vector<float>{256 / 65535.f, 1}));
  EXPECT_EQ(heights("P6 2 1 65535\n\xff\xff\xff\xff\xff\xff\x01\0\x01\0\x01\0"s),
            (std::vector<float>{1, 256 / 65535.f}));
}

// White is what the head of the file calls so; stb takes it to be 255 or 65535.
TEST(HeightFields, OfAnyWhiteInPgm) {
  using namespace std::string_literals;
  const auto heights = [](const std::string& bytes) {
    const auto field = parse_height_field(bytes, "image", {1, 1, 1});
    return field.ok() ? (*field)->heights : std::vector<float>{};
  };
  EXPECT_EQ(heights("P5\n# of 9 meters\n3 1\n100\n\x32\x64\xc8"s), (std::vector<float>{0.5f, 1, 1}));
  EXPECT_EQ(heights("P5 2 1 1000\n\x01\xf4\x03\xe8"s), (std::vector<float>{0.5f, 1}));
}

TEST(HeightFields, FollowTheTwoTrianglesOfACell) {
  HeightFieldData field{2, 2, 2, 2, {0, 1, 0, 3}};
  EXPECT_DOUBLE_EQ(field.height_at(-1, -1), 0);
  EXPECT_DOUBLE_EQ(field.height_at(1, -1), 1);
  EXPECT_DOUBLE_EQ(field.height_at(1, 1), 3);
  EXPECT_DOUBLE_EQ(field.height_at(0, 0), 1.5);        // on the diagonal
  EXPECT_DOUBLE_EQ(field.height_at(0.5, -0.5), 1.25);  // below it: 0 + 0.75 * 1 + 0.25 * 2
  EXPECT_DOUBLE_EQ(field.height_at(-0.5, 0.5), 0.75);  // above it: 0 + 0.75 * 0 + 0.25 * 3
  EXPECT_DOUBLE_EQ(field.height_at(50, 50), 3);
  EXPECT_EQ(field.lowest(), 0);
  EXPECT_EQ(field.highest(), 3);
}

TEST(Mass, SolidsAndSums) {
  const MassProperties half = solid(Box{{0.1, 0.2, 0.3}}, 1);
  const MassProperties left = placed(half, {{-0.05, 0, 0}, {}}), right = placed(half, {{0.05, 0, 0}, {}});
  const MassProperties whole = sum(left, right), expected = solid(Box{{0.2, 0.2, 0.3}}, 2);
  EXPECT_NEAR(whole.inertia.xx, expected.inertia.xx, 1e-15);
  EXPECT_NEAR(whole.inertia.yy, expected.inertia.yy, 1e-15);
  EXPECT_NEAR(whole.inertia.zz, expected.inertia.zz, 1e-15);
  // A quarter turn about z swaps x and y.
  const MassProperties turned = placed(half, {{}, Quat::axis_angle({0, 0, 1}, pi / 2)});
  EXPECT_NEAR(turned.inertia.xx, half.inertia.yy, 1e-15);
  // A capsule without a cylinder is a sphere.
  EXPECT_NEAR(solid(Capsule{0.1, 0}, 1).inertia.xx, solid(Sphere{0.1}, 1).inertia.xx, 1e-15);
  EXPECT_FALSE(is_physical({1, 1, 2.1}));
  EXPECT_TRUE(is_physical({1, 1, 2}));
}

}  // namespace
}  // namespace volvox::model::test
