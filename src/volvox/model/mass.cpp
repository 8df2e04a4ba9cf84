#include "volvox/model/mass.h"

#include <array>

namespace volvox::model {
namespace {

Inertia rotated(const Inertia& inertia, const Quat& rotation) {
  const std::array<Vec3, 3> rows{Vec3{inertia.xx, inertia.xy, inertia.xz}, Vec3{inertia.xy, inertia.yy, inertia.yz},
                                 Vec3{inertia.xz, inertia.yz, inertia.zz}};
  // R I R^T: entry (i, j) is e_i . R I R^T e_j.
  const Quat back = rotation.conjugate();
  const std::array<Vec3, 3> axes{back * Vec3{1, 0, 0}, back * Vec3{0, 1, 0}, back * Vec3{0, 0, 1}};
  const auto entry = [&](std::size_t i, std::size_t j) {
    const Vec3 product{dot(rows[0], axes[j]), dot(rows[1], axes[j]), dot(rows[2], axes[j])};
    return dot(axes[i], product);
  };
  return {entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)};
}

// Adds the inertia of a point mass at an offset (parallel axis theorem).
void shift(Inertia& inertia, double mass, const Vec3& d) {
  inertia.xx += mass * (d.y * d.y + d.z * d.z);
  inertia.yy += mass * (d.x * d.x + d.z * d.z);
  inertia.zz += mass * (d.x * d.x + d.y * d.y);
  inertia.xy -= mass * d.x * d.y;
  inertia.xz -= mass * d.x * d.z;
  inertia.yz -= mass * d.y * d.z;
}

Inertia box_inertia(double mass, const Vec3& size) {
  const Vec3 square = multiply(size, size);
  return {mass / 12 * (square.y + square.z), mass / 12 * (square.x + square.z), mass / 12 * (square.x + square.y)};
}

struct SolidOf {
  double mass;

  MassProperties operator()(const Sphere& s) const {
    const double moment = 0.4 * mass * s.radius * s.radius;
    return {mass, {}, {moment, moment, moment}};
  }
  MassProperties operator()(const Box& box) const { return {mass, {}, box_inertia(mass, box.size)}; }
  MassProperties operator()(const Cylinder& c) const {
    const double across = mass * (3 * c.radius * c.radius + c.length * c.length) / 12;
    return {mass, {}, {across, across, 0.5 * mass * c.radius * c.radius}};
  }
  MassProperties operator()(const Capsule& c) const {
    const double r = c.radius, h = c.length;
    // A cylinder and two half spheres; pi r^2 cancels in the ratio of the volumes.
    const double cylinder_mass = mass * h / (h + 4.0 / 3 * r);
    const double caps_mass = mass - cylinder_mass;
    const double along = cylinder_mass * r * r / 2 + caps_mass * 0.4 * r * r;
    const double across =
        cylinder_mass * (3 * r * r + h * h) / 12 + caps_mass * (0.4 * r * r + h * h / 4 + 3.0 / 8 * h * r);
    return {mass, {}, {across, across, along}};
  }
  MassProperties operator()(const Hull& hull) const {
    const Bounds box = bounds(Shape(hull), {});
    return {mass, 0.5 * (box.low + box.high), box_inertia(mass, box.high - box.low)};
  }
  MassProperties operator()(const Plane&) const { return {mass, {}, {}}; }
  MassProperties operator()(const Mesh&) const { return {mass, {}, {}}; }
  MassProperties operator()(const HeightField&) const { return {mass, {}, {}}; }
};

}  // namespace

MassProperties solid(const Shape& shape, double mass) { return std::visit(SolidOf{mass}, shape); }

MassProperties placed(const MassProperties& part, const Pose& pose) {
  return {part.mass, pose * part.center, rotated(part.inertia, pose.rotation)};
}

MassProperties sum(const MassProperties& a, const MassProperties& b) {
  MassProperties total;
  total.mass = a.mass + b.mass;
  total.center = (a.mass * a.center + b.mass * b.center) / total.mass;
  for (const MassProperties* part : {&a, &b}) {
    Inertia inertia = part->inertia;
    shift(inertia, part->mass, part->center - total.center);
    total.inertia.xx += inertia.xx;
    total.inertia.yy += inertia.yy;
    total.inertia.zz += inertia.zz;
    total.inertia.xy += inertia.xy;
    total.inertia.xz += inertia.xz;
    total.inertia.yz += inertia.yz;
  }
  return total;
}

MassProperties mass_properties(const Link& link) {
  return placed({link.mass, {}, {link.moments.x, link.moments.y, link.moments.z}}, link.inertial);
}

void set_mass_properties(Link& link, const MassProperties& properties) {
  const PrincipalInertia principal = principal_axes(properties.inertia);
  link.mass = properties.mass;
  link.inertial = {properties.center, principal.axes};
  link.moments = principal.moments;
}

bool is_physical(const Vec3& m) {
  // Numbers in files are rounded, so a thin plate may violate the inequality in the last digits.
  const double slack = 1e-4 * (m.x + m.y + m.z);
  return finite(m) && m.x > 0 && m.y > 0 && m.z > 0 && m.x + m.y + slack >= m.z && m.x + m.z + slack >= m.y &&
         m.y + m.z + slack >= m.x;
}

}  // namespace volvox::model
