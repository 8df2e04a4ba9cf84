#include "volvox/particles/solids.h"

#include <algorithm>
#include <cmath>

namespace volvox::particles {
namespace {

constexpr float far_away = -1e15f;
// What a substep corrects of an overlap. All contacts of a grain correct at once; with more than this, those of twelve
// neighbours would overshoot.
constexpr float stiffness = 0.2f;
constexpr float damping = 0.5f;          // and of the approach, times the stiffness
constexpr float shape_stiffness = 0.5f;  // a shape is one contact
// A sphere that may roll gives way along its surface by 1 + 5/2 of its inverse mass.
constexpr float tangent_share = 2.0f / 7;
constexpr float tiny = 1e-12f;

struct TouchJob {
  const Point *at, *move, *spin;
  const std::uint8_t* grain;
  const std::uint32_t *first, *count, *lists;
  float *shift_x, *shift_y, *shift_z;
  float dt;
  Point *push, *turn;
  Vector* other_spin;
};

VOLVOX_FOR_EACH_ISA(void, touch_block, (const TouchJob& job, std::size_t begin, std::size_t end), (job, begin, end)) {
  for (std::size_t i = begin; i < end; ++i) {
    const Point p = job.at[i], m = job.move[i], s = job.spin[i];
    Lanes push[3] = {}, turn[3] = {}, rolling[3] = {}, load_sum = {};
    for (std::uint32_t k = job.first[i]; k < job.first[i] + job.count[i]; k += lanes) {
      PointLanes at;
      gather(at, job.at, job.lists + k);
      PointLanes moved;
      gather(moved, job.move, job.lists + k);
      const Lanes ex = p.x - at.x, ey = p.y - at.y, ez = p.z - at.z;
      const Lanes distance = square_root(ex * ex + ey * ey + ez * ez);
      const Lanes overlap = positive(m.w + moved.w - distance);
      if (bits_of(overlap > 0) == 0) {
        const Lanes none = {};
        store(job.shift_x + k, none), store(job.shift_y + k, none), store(job.shift_z + k, none);
        continue;
      }
      PointLanes spin;
      gather(spin, job.spin, job.lists + k);
      const Lanes inverse = 1 / larger(distance, all_lanes(tiny));
      const Lanes nx = ex * inverse, ny = ey * inverse, nz = ez * inverse;
      const Lanes mx = m.x - moved.x, my = m.y - moved.y, mz = m.z - moved.z;
      const Lanes apart = nx * mx + ny * my + nz * mz;
      const Lanes mass = stiffness / larger(p.w + at.w, all_lanes(tiny));
      const Lanes normal = overlap > 0 ? positive(mass * (overlap - damping * apart)) : Lanes{};
      // How the two surfaces moved along each other in this substep.
      const Lanes rx = (s.x * m.w + spin.x * moved.w) * job.dt, ry = (s.y * m.w + spin.y * moved.w) * job.dt,
                  rz = (s.z * m.w + spin.z * moved.w) * job.dt;
      const Lanes tx = mx - apart * nx - (ry * nz - rz * ny), ty = my - apart * ny - (rz * nx - rx * nz),
                  tz = mz - apart * nz - (rx * ny - ry * nx);
      Lanes hx = load(job.shift_x + k), hy = load(job.shift_y + k), hz = load(job.shift_z + k);
      const Lanes along = nx * hx + ny * hy + nz * hz;
      hx += tx - along * nx, hy += ty - along * ny, hz += tz - along * nz;
      const Lanes share = mass * tangent_share, cap = square_root(s.w * spin.w) * normal;
      Lanes fx = share * (hx + damping * tx), fy = share * (hy + damping * ty), fz = share * (hz + damping * tz);
      const Lanes force = square_root(fx * fx + fy * fy + fz * fz);
      const LaneMask slips = force > cap;
      const Lanes keep = slips ? cap / larger(force, all_lanes(1e-30f)) : all_lanes(1);
      fx *= keep, fy *= keep, fz *= keep;
      const LaneMask touching = overlap > 0;
      const Lanes unload = 1 / share;
      store(job.shift_x + k, touching ? (slips ? fx * unload : hx) : Lanes{});
      store(job.shift_y + k, touching ? (slips ? fy * unload : hy) : Lanes{});
      store(job.shift_z + k, touching ? (slips ? fz * unload : hz) : Lanes{});
      push[0] += normal * nx - fx, push[1] += normal * ny - fy, push[2] += normal * nz - fz;
      // The arm is -radius n, the force on this one -f: n x f, times the radius.
      turn[0] += ny * fz - nz * fy, turn[1] += nz * fx - nx * fz, turn[2] += nx * fy - ny * fx;
      rolling[0] += normal * spin.x, rolling[1] += normal * spin.y, rolling[2] += normal * spin.z;
      load_sum += normal;
    }
    job.push[i] = {sum(push[0]) * p.w, sum(push[1]) * p.w, sum(push[2]) * p.w, sum(load_sum)};
    // The moment of inertia is 2/5 m r^2.
    const float give = job.grain[i] != 0 ? 2.5f * p.w / (m.w * job.dt) : 0;
    job.turn[i] = {sum(turn[0]) * give, sum(turn[1]) * give, sum(turn[2]) * give, 0};
    job.other_spin[i] = {sum(rolling[0]), sum(rolling[1]), sum(rolling[2])};
  }
}

// Friction that holds: the shift along the surface since they touched pulls back, up to the cap.
struct Held {
  Vector shift, force;
  bool slips = false;
};
Held hold(const Vector& before, const Vector& slid, float share, float cap) {
  Vector force = (before + slid * (1 + damping)) * share;
  const float size = length(force);
  if (size <= cap) return {before, force, false};
  force = force * (cap / larger(size, 1e-30f));
  return {force * (1 / share), force, true};
}

// A touch that holds: its shift grows by what the surfaces really slide in the substep, once all has been corrected.
// (What it was predicted to slide and does not is no shift: the weight would add to it in every substep.)
struct Holding {
  ShapeTouch* touch;
  Vector normal, carried;  // by the shape
};
Vector slide(const Point& move, const Point& spin, const Vector& normal, const Vector& carried, float dt) {
  const Vector relative = xyz(move) - carried;
  return relative - normal * dot(relative, normal) - cross(xyz(spin), normal) * (move.w * dt);
}

ShapeTouch* touch_of(std::array<ShapeTouch, shape_touches>& touches, std::uint32_t shape) {
  for (ShapeTouch& touch : touches)
    if (touch.shape == shape) return &touch;
  for (ShapeTouch& touch : touches) {
    if (touch.shape != no_shape) continue;
    touch = {shape, 0, 0, 0};
    return &touch;
  }
  return nullptr;
}

void forget(std::array<ShapeTouch, shape_touches>& touches, std::uint32_t shape) {
  for (ShapeTouch& touch : touches)
    if (touch.shape == shape) touch = {};
}

// Touches of shapes that are not near any longer.
void forget_far(std::array<ShapeTouch, shape_touches>& touches, std::span<const NearShape> near_shapes, std::size_t k) {
  for (ShapeTouch& touch : touches) {
    if (touch.shape == no_shape) continue;
    const auto near = std::find_if(near_shapes.begin(), near_shapes.end(),
                                   [&](const NearShape& n) { return n.shape == touch.shape; });
    if (near == near_shapes.end() || !near->has(k)) touch = {};
  }
}

// A grain that rolls is braked towards what it touches, and stops if the torque that would take is small.
void brake(Point& spin, const Vector& others, float load, float radius, float inverse_mass, float rolling, float dt) {
  if (load <= 0) return;
  const Vector relative = xyz(spin) - others * (1 / load);
  const float size = length(relative), most = rolling * load * 2.5f * inverse_mass / (radius * dt);
  const float keep = size <= most ? 0 : 1 - most / size;
  const Vector kept = others * (1 / load) + relative * keep;
  spin = {kept.x, kept.y, kept.z, spin.w};
}

}  // namespace

void SolidArrays::resize(std::size_t size) {
  count = size;
  for (auto* array : {&position, &velocity, &spin, &at, &move, &push, &turn}) array->resize(size + 1);
  position[size] = at[size] = {far_away, far_away, far_away, 0};
  velocity[size] = spin[size] = move[size] = {};
  id.resize(size);
  grain.resize(size);
  on_shapes.resize(size);
  other_spin.resize(size);
  touch_first.resize(size);
  touch_count.resize(size);
}

void SolidArrays::reorder(const std::vector<std::uint32_t>& order, ThreadPool* threads) {
  particles::reorder(position, order, 1, threads);
  particles::reorder(velocity, order, 1, threads);
  particles::reorder(spin, order, 1, threads);
  particles::reorder(id, order, 0, threads);
  particles::reorder(grain, order, 0, threads);
  particles::reorder(on_shapes, order, 0, threads);
  particles::reorder(touch_first, order, 0, threads);
  particles::reorder(touch_count, order, 0, threads);
  resize(order.size());
  for (std::size_t i = 0; i < count; ++i) index[id[i]] = static_cast<std::uint32_t>(i);
}

void touch_solids(SolidArrays& solid, const Neighbours& solids, Touches& touches, float dt, std::size_t begin,
                  std::size_t end) {
  Touches::Block& block = touches.blocks[begin / block_size];
  touch_block({solid.at.data(), solid.move.data(), solid.spin.data(), solid.grain.data(), solids.first.data(),
               solids.count.data(), solids.blocks[begin / block_size].data(), block.x.data(), block.y.data(),
               block.z.data(), dt, solid.push.data(), solid.turn.data(), solid.other_spin.data()},
              begin, end);
}

void apply_pushes(SolidArrays& solid, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const Point push = solid.push[i], turn = solid.turn[i];
    Point &at = solid.at[i], &move = solid.move[i], &spin = solid.spin[i];
    at.x += push.x, at.y += push.y, at.z += push.z;
    move.x += push.x, move.y += push.y, move.z += push.z;
    spin.x += turn.x, spin.y += turn.y, spin.z += turn.z;
  }
}

void touch_shapes(SolidArrays& solid, const ShapesView& shapes, float rolling, float dt, std::size_t begin,
                  std::size_t end) {
  float largest = 0;
  for (std::size_t i = begin; i < end; ++i) largest = larger(largest, solid.move[i].w);
  // Whatever the other shapes do to one, it comes no nearer to the next than another radius.
  const auto near_shapes =
      find_near({shapes.shapes, shapes.count}, {solid.at.data() + begin, end - begin}, 2 * largest);
  for (std::size_t i = begin; i < end; ++i) {
    Point &at = solid.at[i], &move = solid.move[i], &spin = solid.spin[i];
    if (at.w == 0) continue;
    const float radius = move.w;
    float load = solid.push[i].w;
    Vector others = solid.other_spin[i];
    Holding holding[shape_touches];
    int holdings = 0;
    forget_far(solid.on_shapes[i], near_shapes, i - begin);
    for (const NearShape& near : near_shapes) {
      if (!near.has(i - begin)) continue;
      const std::uint32_t s = near.shape;
      const ShapeView& shape = shapes.shapes[s];
      const Distance d = distance_to(shape, xyz(at));
      const float overlap = radius - d.distance;
      if (overlap <= 0) {
        forget(solid.on_shapes[i], s);
        continue;
      }
      const float mass = 1 / (at.w + shape.inverse_mass), normal = shape_stiffness * mass * overlap;
      const Vector foot = xyz(at) - d.normal * radius, carried = velocity_at(shape, foot) * dt;
      Held held;
      if (ShapeTouch* touch = touch_of(solid.on_shapes[i], s)) {
        const Vector before{touch->x, touch->y, touch->z};
        held = hold(before - d.normal * dot(before, d.normal), slide(move, spin, d.normal, carried, dt),
                    shape_stiffness * tangent_share * mass, square_root(spin.w * shape.friction) * normal);
        *touch = {s, held.shift.x, held.shift.y, held.shift.z};
        if (!held.slips) holding[holdings++] = {touch, d.normal, carried};
      }
      const Vector got = d.normal * normal - held.force;
      give(shapes.parts[begin / block_size * shapes.count + s], shape, foot, got);
      const Vector moved = got * at.w;
      at.x += moved.x, at.y += moved.y, at.z += moved.z;
      move.x += moved.x, move.y += moved.y, move.z += moved.z;
      if (solid.grain[i] != 0) {
        const Vector turned = cross(d.normal, held.force) * (2.5f * at.w / (radius * dt));
        spin.x += turned.x, spin.y += turned.y, spin.z += turned.z;
      }
      load += normal;
      others = others + vector_of(shape.spin) * normal;
    }
    if (rolling > 0 && solid.grain[i] != 0) brake(spin, others, load, radius, at.w, rolling, dt);
    for (int k = 0; k < holdings; ++k) {
      const Vector slid = slide(move, spin, holding[k].normal, holding[k].carried, dt);
      ShapeTouch& touch = *holding[k].touch;
      touch = {touch.shape, touch.x + slid.x, touch.y + slid.y, touch.z + slid.z};
    }
  }
}

}  // namespace volvox::particles
