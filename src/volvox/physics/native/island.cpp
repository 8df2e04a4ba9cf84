#include "volvox/physics/native/island.h"

namespace volvox::physics::native {
namespace {

int dof_count(JointType type) {
  switch (type) {
    case JointType::revolute:
    case JointType::prismatic: return 1;
    case JointType::ball: return 3;
    case JointType::fixed:
    case JointType::dock: return 0;
  }
  return 0;
}

}  // namespace

JointFrames joint_frames(const World& world, std::size_t joint) {
  const JointDesc& desc = world.system.joint_descs[joint];
  const auto in_principal = [&](BodyId id, const Pose& frame) {
    return id.valid() ? world.bodies[id.index].from_link.inverse() * frame : frame;
  };
  return {in_principal(desc.a, desc.frame_a), in_principal(desc.b, desc.frame_b)};
}

NodeShape body_shape(const World& world, int body) {
  const Body& own = world.bodies[static_cast<std::size_t>(body)];
  NodeShape shape;
  shape.mass = own.mass;
  shape.moments = own.moments;
  return shape;
}

NodeShape node_shape(const World& world, int body, int joint) {
  NodeShape shape = body_shape(world, body);
  const JointDesc& desc = world.system.joint_descs[static_cast<std::size_t>(joint)];
  const JointFrames& frames = world.frames[static_cast<std::size_t>(joint)];
  shape.type = desc.type;
  shape.flipped = desc.b.index != static_cast<std::uint32_t>(body);
  const Pose &on_parent = shape.flipped ? frames.b : frames.a, &on_child = shape.flipped ? frames.a : frames.b;
  shape.anchor_parent = on_parent.position;
  shape.anchor_child = on_child.position;
  // Turning a about -z against b is turning b about z against a.
  const Vec3 axis{0, 0, shape.flipped ? -1.0 : 1.0};
  shape.axis_parent = on_parent.rotation * axis;
  shape.axis_child = on_child.rotation * axis;
  shape.closed = on_parent.rotation * on_child.rotation.conjugate();
  shape.dofs = dof_count(desc.type);
  return shape;
}

Pose support_pose(const World& world, BodyId id) {
  if (!id.valid()) return {};
  const Body& body = world.bodies[id.index];
  return {body.position, body.rotation};
}

void Ground::load(const World& world) {
  const Pose pose = support_pose(world, body);
  state = {lane(pose.position), lane(pose.rotation), rotation_matrix(lane(pose.rotation)), {}};
  if (!body.valid()) return;
  const Body& own = world.bodies[body.index];
  state.v = {lane(own.angular), lane(own.linear)};
}

void Island::load_state(const World& world, int index, double step, Node<double>& n) {
  const Body& body = world.bodies[static_cast<std::size_t>(index)];
  const Wrench& force = world.system.forces[static_cast<std::size_t>(index)];
  n.x = lane(body.position);
  n.q = lane(body.rotation);
  n.axes = body.axes;
  n.v = {lane(body.angular), lane(body.linear)};
  n.own = Spatial<double>{lane(body.spin + force.torque * step),
                          lane(body.linear * body.mass + (body.weight + force.force) * step)} +
          body.push;
}

// All bodies of an island by as much, so that no joint feels it.
Vec3 Island::outer_fall(const World& world, double step) const {
  Vec3 force;
  double mass = 0;
  for (int index : bodies_) {
    const Body& body = world.bodies[static_cast<std::size_t>(index)];
    if (body.held) return {};
    force += body.weight + world.system.forces[static_cast<std::size_t>(index)].force;
    mass += body.mass;
  }
  return force * (step * step / 2 / mass);
}

void Island::advance(Body& body, const Spatial<double>& velocity, const S3<double>& inertia, double step,
                     const Vec3& fall) {
  body.linear = plain(velocity.l);
  body.angular = plain(velocity.a);
  body.spin = plain(inertia * velocity.a);
  body.position += body.linear * step - fall;
  body.rotation = plain(turned(lane(body.rotation), velocity.a * step));
}

void Island::book_load(World& world, int joint, const Spatial<double>& passed, const V3<double>& at, const Holder& a,
                       double step) {
  const std::size_t index = static_cast<std::size_t>(joint);
  const V3<double> anchor = a.x + a.axes * lane(a.anchor);
  world.tensions[index] = length(passed.l) / step;
  world.load_impulses[index] += Wrench{plain(transposed_times(a.axes, passed.l)),
                                       plain(transposed_times(a.axes, passed.a + cross(at - anchor, passed.l)))};
}

}  // namespace volvox::physics::native
