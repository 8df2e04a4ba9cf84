// The arithmetic of grains and points of cloth, once for the processor and for a GPU (see fluid_kernels.h for
// `Number`).
// SI units, world frame. Pure functions of one particle and its list: who computes it, and when within a phase, changes
// no bit.
#pragma once

#include "volvox/particles/fluid_kernels.h"
#include "volvox/particles/solids.h"

namespace volvox::particles {

// What a substep corrects of an overlap. All contacts of a grain correct at once; with more than this, those of twelve
// neighbours would overshoot.
inline constexpr float contact_stiffness = 0.2f;
inline constexpr float contact_damping = 0.5f;  // and of the approach, times the stiffness
inline constexpr float shape_stiffness = 0.5f;  // a shape is one contact
// A sphere that may roll gives way along its surface by 1 + 5/2 of its inverse mass.
inline constexpr float tangent_share = 2.0f / 7;
inline constexpr float tiny_number = 1e-12f;

// A solid in a substep: where it is (w: 1 / mass), how far it came (w: radius) and its spin (w: friction).
struct Solid {
  Point at, move, spin;
};

template <class Number>
struct TouchSums {
  Number push[3], turn[3], rolling[3], load;
};
template <class Number>
struct Shift {
  Number x, y, z;
};

// The contacts of a solid with others: `other` has the members of PointLanes or Point, `offset` is from it. Adds what
// they do, and returns how far they are shifted along each other after.
template <class Number, class Four>
VOLVOX_KERNEL Shift<Number> touch(const Solid& own, const Four& other, const Four& moved, const Four& spin,
                                  const Shift<Number>& offset, const Number& distance, const Number& overlap,
                                  const Shift<Number>& before, float dt, TouchSums<Number>& sums) {
  const auto all = [](float a) { return a - Number{}; };
  const Point &p = own.at, &m = own.move, &s = own.spin;
  const Number inverse = 1 / larger(distance, all(tiny_number));
  const Number nx = offset.x * inverse, ny = offset.y * inverse, nz = offset.z * inverse;
  const Number mx = m.x - moved.x, my = m.y - moved.y, mz = m.z - moved.z;
  const Number apart = nx * mx + ny * my + nz * mz;
  const Number mass = contact_stiffness / larger(p.w + other.w, all(tiny_number));
  const Number normal = overlap > 0 ? positive(mass * (overlap - contact_damping * apart)) : Number{};
  // How the two surfaces moved along each other in this substep.
  const Number rx = (s.x * m.w + spin.x * moved.w) * dt, ry = (s.y * m.w + spin.y * moved.w) * dt,
               rz = (s.z * m.w + spin.z * moved.w) * dt;
  const Number tx = mx - apart * nx - (ry * nz - rz * ny), ty = my - apart * ny - (rz * nx - rx * nz),
               tz = mz - apart * nz - (rx * ny - ry * nx);
  Number hx = before.x, hy = before.y, hz = before.z;
  const Number along = nx * hx + ny * hy + nz * hz;
  hx += tx - along * nx, hy += ty - along * ny, hz += tz - along * nz;
  const Number share = mass * tangent_share, cap = square_root(s.w * spin.w) * normal;
  Number fx = share * (hx + contact_damping * tx), fy = share * (hy + contact_damping * ty),
         fz = share * (hz + contact_damping * tz);
  const Number force = square_root(fx * fx + fy * fy + fz * fz);
  const auto slips = force > cap;
  const Number keep = slips ? cap / larger(force, all(1e-30f)) : all(1);
  fx *= keep, fy *= keep, fz *= keep;
  const auto touching = overlap > 0;
  const Number unload = 1 / share;
  sums.push[0] += normal * nx - fx, sums.push[1] += normal * ny - fy, sums.push[2] += normal * nz - fz;
  // The arm is -radius n, the force on this one -f: n x f, times the radius.
  sums.turn[0] += ny * fz - nz * fy, sums.turn[1] += nz * fx - nx * fz, sums.turn[2] += nx * fy - ny * fx;
  sums.rolling[0] += normal * spin.x, sums.rolling[1] += normal * spin.y, sums.rolling[2] += normal * spin.z;
  sums.load += normal;
  return {touching ? (slips ? fx * unload : hx) : Number{}, touching ? (slips ? fy * unload : hy) : Number{},
          touching ? (slips ? fz * unload : hz) : Number{}};
}

// What the contacts of one come to.
struct Push {
  Point push, turn;  // w of `push`: the sum of normal corrections, times mass
  Vector other_spin;
};
VOLVOX_KERNEL Push push_of(const Solid& own, bool rolls, float dt, const TouchSums<float>& sums) {
  const float w = own.at.w;
  // The moment of inertia is 2/5 m r^2.
  const float give = rolls ? 2.5f * w / (own.move.w * dt) : 0;
  return {{sums.push[0] * w, sums.push[1] * w, sums.push[2] * w, sums.load},
          {sums.turn[0] * give, sums.turn[1] * give, sums.turn[2] * give, 0},
          {sums.rolling[0], sums.rolling[1], sums.rolling[2]}};
}

VOLVOX_KERNEL void apply(const Point& push, const Point& turn, Solid& own) {
  own.at.x += push.x, own.at.y += push.y, own.at.z += push.z;
  own.move.x += push.x, own.move.y += push.y, own.move.z += push.z;
  own.spin.x += turn.x, own.spin.y += turn.y, own.spin.z += turn.z;
}

// Friction that holds: the shift along the surface since they touched pulls back, up to the cap.
struct Held {
  Vector shift, force;
  bool slips = false;
};
VOLVOX_KERNEL Held hold(const Vector& before, const Vector& slid, float share, float cap) {
  Vector force = (before + slid * (1 + contact_damping)) * share;
  const float size = length(force);
  if (size <= cap) return {before, force, false};
  force = force * (cap / larger(size, 1e-30f));
  return {force * (1 / share), force, true};
}
VOLVOX_KERNEL Vector slide(const Point& move, const Point& spin, const Vector& normal, const Vector& carried,
                           float dt) {
  const Vector relative = xyz(move) - carried;
  return relative - normal * dot(relative, normal) - cross(xyz(spin), normal) * (move.w * dt);
}

// What a solid has on its way past the shapes near it.
struct ShapeContacts {
  Solid own;
  bool rolls;
  float load;
  Vector others;                      // spin of what it touches, weighted by load
  ShapeTouch touches[shape_touches];  // by the order in which they began
  // Which of them hold by friction. Their shift grows by how far the surfaces slide on each other in the substep,
  // measured after all corrections: the predicted slide is mostly undone by them, and on a slope it would add up for
  // ever.
  bool holds[shape_touches] = {};
  Vector normal[shape_touches], carried[shape_touches];  // by the shape
};

VOLVOX_KERNEL void forget(ShapeContacts& c, std::uint32_t shape) {
  for (ShapeTouch& touch : c.touches)
    if (touch.shape == shape) touch = {};
}

// Which of its touches is that of a shape, or becomes it; -1: it has others already.
VOLVOX_KERNEL int touch_of(ShapeContacts& c, std::uint32_t shape) {
  for (int k = 0; k < shape_touches; ++k)
    if (c.touches[k].shape == shape) return k;
  for (int k = 0; k < shape_touches; ++k) {
    if (c.touches[k].shape != no_shape) continue;
    c.touches[k] = {shape, 0, 0, 0};
    return k;
  }
  return -1;
}

// What a solid gets of a shape that it touches: `got` (kg m, an impulse times the substep) at the point `foot`.
struct Given {
  bool touches = false;
  Vector foot, got;
};
VOLVOX_KERNEL Given touch_shape(ShapeContacts& c, const ShapeView& shape, std::uint32_t number, const Distance& d,
                                float dt) {
  Point &at = c.own.at, &move = c.own.move, &spin = c.own.spin;
  const float radius = move.w, overlap = radius - d.distance;
  if (overlap <= 0) {
    forget(c, number);
    return {};
  }
  const float mass = 1 / (at.w + shape.inverse_mass), normal = shape_stiffness * mass * overlap;
  const Vector foot = xyz(at) - d.normal * radius, carried = velocity_at(shape, foot) * dt;
  Held held;
  if (const int k = touch_of(c, number); k >= 0) {
    ShapeTouch& touch = c.touches[k];
    const Vector before{touch.x, touch.y, touch.z};
    held = hold(before - d.normal * dot(before, d.normal), slide(move, spin, d.normal, carried, dt),
                shape_stiffness * tangent_share * mass, square_root(spin.w * shape.friction) * normal);
    touch = {number, held.shift.x, held.shift.y, held.shift.z};
    c.holds[k] = !held.slips;
    c.normal[k] = d.normal, c.carried[k] = carried;
  }
  const Vector got = d.normal * normal - held.force, moved = got * at.w;
  at.x += moved.x, at.y += moved.y, at.z += moved.z;
  move.x += moved.x, move.y += moved.y, move.z += moved.z;
  if (c.rolls) {
    const Vector turned = cross(d.normal, held.force) * (2.5f * at.w / (radius * dt));
    spin.x += turned.x, spin.y += turned.y, spin.z += turned.z;
  }
  c.load += normal;
  c.others = c.others + vector_of(shape.spin) * normal;
  return {true, foot, got};
}

// A grain that rolls is braked towards what it touches, and stops if the torque that would take is small.
VOLVOX_KERNEL void brake(ShapeContacts& c, float rolling, float dt) {
  if (c.load <= 0) return;
  Point& spin = c.own.spin;
  const Vector mean = c.others * (1 / c.load), relative = xyz(spin) - mean;
  const float size = length(relative), most = rolling * c.load * 2.5f * c.own.at.w / (c.own.move.w * dt);
  const float keep = size <= most ? 0 : 1 - most / size;
  const Vector kept = mean + relative * keep;
  spin = {kept.x, kept.y, kept.z, spin.w};
}

// Once a solid has met all shapes.
VOLVOX_KERNEL void end_contacts(ShapeContacts& c, float rolling, float dt) {
  if (rolling > 0 && c.rolls) brake(c, rolling, dt);
  for (int k = 0; k < shape_touches; ++k) {
    if (!c.holds[k]) continue;
    const Vector slid = slide(c.own.move, c.own.spin, c.normal[k], c.carried[k], dt);
    ShapeTouch& touch = c.touches[k];
    touch = {touch.shape, touch.x + slid.x, touch.y + slid.y, touch.z + slid.z};
  }
}

// Predicts a solid; `time`: dt, less what the air takes.
VOLVOX_KERNEL void advance_solid(const Point& position, const Point& velocity, const Vector& g, float time, Point& at,
                                 Point& move) {
  if (position.w != 0) {
    advance(position, velocity, g, time, at, move);
  } else {  // pinned
    at = position;
    move = {0, 0, 0, velocity.w};
  }
}

VOLVOX_KERNEL float skin_of(const SkinRule& rule, const Point& velocity, const Vector& drift) {
  return smaller(rule.most, rule.least + length(xyz(velocity) - drift) * rule.time);
}
// The largest of them, where all velocities are between two.
VOLVOX_KERNEL float largest_skin(const SkinRule& rule, const Vector& low, const Vector& high, const Vector& drift) {
  const Point most{larger(high.x - drift.x, drift.x - low.x), larger(high.y - drift.y, drift.y - low.y),
                   larger(high.z - drift.z, drift.z - low.z), 0};
  return skin_of(rule, most, {});
}
// The size of cells with which all neighbours of a point lie in its own cell and those next to it, m.
VOLVOX_KERNEL double size_of_cells(bool fluid, bool solids, float reach_of_fluid, float largest_radius, float skin) {
  float size = solids ? 2 * largest_radius + 2 * skin : 0;
  if (fluid) size = larger(size, reach_of_fluid + (solids ? largest_radius : 0));
  return larger(size, 1e-5f) * 1.0001;
}
// For the mean velocity, as integers: a sum whose order does not matter.
VOLVOX_KERNEL std::int64_t drift_units(float velocity) {
  const float most = 1e4f;  // m/s
  return static_cast<std::int64_t>(smaller(larger(velocity, -most), most) * 65536.0);
}
VOLVOX_KERNEL float drift_of(std::int64_t units, std::size_t count) {
  return static_cast<float>(static_cast<double>(units) / (65536.0 * static_cast<double>(count)));
}
// Whether one will be farther than its skin at the end of a substep; `age` of the lists, that substep included.
VOLVOX_KERNEL bool strays(const Point& position, const Point& velocity, const Vector& listed_at, const Vector& drift,
                          float skin, float age, float dt) {
  const Vector way = xyz(position) - listed_at + xyz(velocity) * dt - drift * age;
  return dot(way, way) > skin * skin;
}

}  // namespace volvox::particles
