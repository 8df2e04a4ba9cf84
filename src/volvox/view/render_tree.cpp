#include "volvox/view/render_tree.h"

#include <algorithm>
#include <map>

#include "volvox/base/hash.h"

namespace volvox::view {
namespace {

Pose plane_pose(const model::Plane& plane, const Pose& pose) {
  return pose * Pose{{}, Quat::between({0, 0, 1}, normalized(plane.normal))};
}

// The visuals of a link or, if it has none, its colliders.
Mesh mesh_of(const model::Link& link) {
  Mesh mesh;
  for (const model::Visual& visual : link.visuals) append(mesh, visual.shape, visual.pose, to_rgba(visual.color));
  if (!link.visuals.empty()) return mesh;
  for (const model::Collider& collider : link.geometry->colliders)
    append(mesh, collider.shape, collider.pose, to_rgba({}));
  return mesh;
}

// A flat ring of radius 1 around x, facing along x. It marks docks.
Mesh ring() {
  constexpr int around = 32;
  constexpr float inner = 0.7f;
  Mesh mesh;
  for (std::uint32_t i = 0; i < around; ++i) {
    const double angle = 2 * pi * i / around;
    const float y = to_float(volvox::cos(angle)), z = to_float(volvox::sin(angle));
    for (const float radius : {inner, 1.0f})
      mesh.vertices.push_back({{0, radius * y, radius * z}, {1, 0, 0}, {255, 255, 255, 255}});
    const std::uint32_t a = 2 * i, b = 2 * ((i + 1) % around);
    for (const std::uint32_t corner : {a, a + 1, b + 1, a, b + 1, b}) mesh.indices.push_back(corner);
  }
  return mesh;
}

class RenderTreeMaker {
 public:
  explicit RenderTreeMaker(const world::World& world) : world_(world) {}

  RenderTree make() {
    tree_.name = world_.model().name;
    tree_.link_count = world_.links();
    tree_.meshes.push_back(std::make_shared<const DetailedMesh>(with_levels(ring())));
    for (world::PlacementIndex p = 0; p < world_.placements(); ++p) add_thing(p);
    for (world::PlacementIndex p = 0; p < world_.placements(); ++p) add_links(p);
    for (world::PlacementIndex p = 0; p < world_.placements(); ++p) add_docks(p);
    for (world::PlacementIndex p = 0; p < world_.placements(); ++p) add_sensors(p);
    return std::move(tree_);
  }

 private:
  static constexpr std::uint32_t ring_mesh = 0;

  void add_thing(world::PlacementIndex p) {
    const model::Placement& placement = world_.model().placements[p];
    const model::ModuleModel& model = *placement.model;
    tree_.things.push_back({placement.name, model.name, placement.is_module(), model.fixed_in_place,
                            world_.part(p).first_link, narrow<std::uint32_t>(model.links.size()),
                            world_.part(p).first_dock, narrow<std::uint32_t>(model.docks.size())});
  }

  void add_links(world::PlacementIndex p) {
    const model::ModuleModel& model = world_.module_model(p);
    for (std::uint32_t l = 0; l < model.links.size(); ++l) {
      const world::LinkIndex number = world_.part(p).first_link + l;
      const Pose pose = world_.link_pose(number);
      tree_.nodes.push_back({RenderNode::Kind::link, world_.name(p) + "." + model.links[l].name, none, pose,
                             mesh_number(model.links[l]), 1, number, p});
      add_grounds(model.links[l], pose, p);
    }
  }

  void add_grounds(const model::Link& link, const Pose& pose, world::PlacementIndex p) {
    const auto add = [&](const model::Shape& shape, const Pose& place, Rgba color) {
      if (const auto* plane = std::get_if<model::Plane>(&shape))
        tree_.grounds.push_back({plane_pose(*plane, pose * place), color, p});
    };
    for (const model::Visual& visual : link.visuals) add(visual.shape, visual.pose, to_rgba(visual.color));
    if (!link.visuals.empty()) return;
    for (const model::Collider& collider : link.geometry->colliders)
      add(collider.shape, collider.pose, to_rgba(model::ground_color));
  }

  std::uint32_t mesh_number(const model::Link& link) {
    if (const auto known = by_link_.find(&link); known != by_link_.end()) return known->second;
    Mesh mesh = mesh_of(link);
    std::uint32_t number = none;
    if (!mesh.indices.empty()) number = shared_mesh(std::move(mesh));
    by_link_[&link] = number;
    return number;
  }

  // Meshes are shared by content, because a wall of a thousand equal bricks may have a thousand models.
  std::uint32_t shared_mesh(Mesh mesh) {
    Hasher hasher;
    hasher.add(mesh.vertices.data(), mesh.vertices.size() * sizeof(Vertex));
    hasher.add(mesh.indices.data(), mesh.indices.size() * sizeof(std::uint32_t));
    std::vector<std::uint32_t>& candidates = by_content_[hasher.value()];
    for (const std::uint32_t number : candidates)
      if (tree_.meshes[number]->full().vertices == mesh.vertices &&
          tree_.meshes[number]->full().indices == mesh.indices)
        return number;
    candidates.push_back(narrow<std::uint32_t>(tree_.meshes.size()));
    tree_.meshes.push_back(std::make_shared<const DetailedMesh>(with_levels(std::move(mesh))));
    return candidates.back();
  }

  void add_docks(world::PlacementIndex p) {
    const model::ModuleModel& model = world_.module_model(p);
    for (std::uint32_t d = 0; d < model.docks.size(); ++d) {
      const model::Dock& dock = model.docks[d];
      const world::DockIndex number = world_.part(p).first_dock + d;
      const world::LinkIndex link = world_.part(p).first_link + dock.link;
      const Marker& marker = marker_of(dock, link);
      tree_.nodes.push_back(
          {RenderNode::Kind::dock, world_.dock_name(number), link, dock.pose, ring_mesh, marker.radius, number, p});
      tree_.nodes.back().pose.position -= dock.pose.rotation * Vec3{marker.sunk, 0, 0};
      tree_.genders.push_back(dock.gender);
    }
  }

  // The marker of a dock: its radius, and its depth below the dock's frame, which may lie outside the surface
  // (6 mm for ATRON). In m.
  struct Marker {
    double radius = 0.01, sunk = 0;
  };

  const Marker& marker_of(const model::Dock& dock, world::LinkIndex link) {
    const auto [found, is_new] = markers_.try_emplace(&dock);
    const std::uint32_t mesh = tree_.nodes[link].mesh;
    if (!is_new || mesh == none) return found->second;
    const Vec3 size = tree_.meshes[mesh]->bounds.high - tree_.meshes[mesh]->bounds.low;
    const double middle = std::max(std::min(size.x, size.y), std::min(std::max(size.x, size.y), size.z));
    found->second.radius = 0.15 * middle;
    found->second.sunk = depth_below(tree_.meshes[mesh]->full(), dock.pose, found->second.radius, 0.2 * middle);
    return found->second;
  }

  // The depth of the surface below a dock's frame, along the ring; 0 if there is no surface within `deepest`.
  static double depth_below(const Mesh& mesh, const Pose& dock, double radius, double deepest) {
    const Pose to_dock = dock.inverse();
    const auto corner = [&](std::size_t i) { return to_dock * to_vec(mesh.vertices[mesh.indices[i]].position); };
    double highest = -deepest;
    for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
      const Vec3 a = corner(i), b = corner(i + 1), c = corner(i + 2);
      if (std::max({a.x, b.x, c.x}) <= highest) continue;
      for (int k = 0; k < 12; ++k) {
        const double y = radius * volvox::cos(k * pi / 6), z = radius * volvox::sin(k * pi / 6);
        const double area = (b.y - a.y) * (c.z - a.z) - (c.y - a.y) * (b.z - a.z);
        if (area == 0) break;
        const double u = ((y - a.y) * (c.z - a.z) - (c.y - a.y) * (z - a.z)) / area,
                     v = ((b.y - a.y) * (z - a.z) - (y - a.y) * (b.z - a.z)) / area;
        if (u < 0 || v < 0 || u + v > 1) continue;
        const double x = a.x + u * (b.x - a.x) + v * (c.x - a.x);
        if (x <= 1e-4) highest = std::max(highest, x);
      }
    }
    return highest > -deepest ? -highest : 0;
  }

  void add_sensors(world::PlacementIndex p) {
    const model::ModuleModel& model = world_.module_model(p);
    for (std::uint32_t s = 0; s < model.sensors.size(); ++s) {
      const model::Sensor& sensor = model.sensors[s];
      tree_.nodes.push_back({RenderNode::Kind::sensor, world_.name(p) + "." + sensor.name,
                             world_.part(p).first_link + sensor.link, sensor.pose, none, 1, s, p});
    }
  }

  const world::World& world_;
  RenderTree tree_;
  std::map<const model::Link*, std::uint32_t> by_link_;  // for look-up only
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_content_;
  std::map<const model::Dock*, Marker> markers_;  // for look-up only
};

}  // namespace

RenderTree RenderTree::of(const world::World& world) { return RenderTreeMaker(world).make(); }

namespace {

// A stone: a ball with dents, as large as it on the whole.
Mesh stone(double radius) {
  Mesh mesh;
  append(mesh, model::Sphere{radius}, {}, {255, 255, 255, 255});
  const auto bumps = [](const Vec3& n) {
    return 0.96 + 0.09 * std::sin(5.1 * n.x + 2.3 * n.y + 0.7) * std::cos(4.3 * n.z - 1.1) +
           0.06 * std::sin(7.7 * n.y - 3.1 * n.z + 2) + 0.05 * std::cos(9.1 * n.x + 6.3 * n.z);
  };
  for (Vertex& vertex : mesh.vertices) {
    const Vec3 n = normalized(to_vec(vertex.position)), a = normalized(perpendicular(n)), b = cross(n, a);
    const auto at = [&](const Vec3& way) {
      const Vec3 m = normalized(way);
      return Vec3{m.x, 0.92 * m.y, 0.8 * m.z} * (radius * bumps(m));
    };
    const double step = 0.02;
    vertex.position = to_floats(at(n));
    vertex.normal =
        to_floats(normalized(cross(at(n + a * step) - at(n - a * step), at(n + b * step) - at(n - b * step))));
  }
  return mesh;
}

Mesh mesh_of(const sim::CloudLook& look) {
  const auto& [x, y, z] = look.size;
  Mesh mesh;
  const Rgba white{255, 255, 255, 255};
  switch (look.shape) {
    case sim::CloudLook::Shape::box: append(mesh, model::Box{{x, y, z}}, {}, white); break;
    case sim::CloudLook::Shape::ball: append(mesh, model::Sphere{x / 2}, {}, white); break;
    case sim::CloudLook::Shape::stone: return stone(x / 2);
    case sim::CloudLook::Shape::cylinder: append(mesh, model::Cylinder{x / 2, z}, {}, white); break;
  }
  return mesh;
}

}  // namespace

RenderTree RenderTree::of(const sim::Run& run) {
  RenderTree tree = of(run.simulation().world());
  if (run.cloud() == nullptr) return tree;
  tree.cloud = {run.cloud()->cloud_look(), narrow<std::uint32_t>(tree.meshes.size())};
  tree.meshes.push_back(std::make_shared<const DetailedMesh>(with_levels(mesh_of(tree.cloud->look))));
  if (!tree.grounds.empty()) return tree;
  // Without a ground nothing would show where it is: one under all that is there now. (Not under the lowest item, which
  // may lie on the floor of a tank: two faces in one plane.)
  Frame frame;
  capture(run.simulation().world(), frame);
  run.cloud()->cloud_items(frame.cloud);
  const model::Bounds all = bounds(tree, frame, false);
  if (!all.empty()) tree.grounds.push_back({{{0, 0, all.low.z}, {}}, to_rgba(model::ground_color), 0});
  return tree;
}

void capture(const world::World& world, Frame& frame) {
  frame.links.resize(world.links());
  for (world::LinkIndex l = 0; l < frame.links.size(); ++l) frame.links[l] = to_link_pose(world.link_pose(l));
  frame.docks.resize(world.docks());
  for (world::DockIndex d = 0; d < frame.docks.size(); ++d) {
    const world::DockStatus& status = world.dock_status(d);
    DockView& dock = frame.docks[d];
    dock.flags = narrow<std::uint8_t>((status.enabled ? DockView::enabled : 0) |
                                      (status.phase == world::DockPhase::latching ? DockView::latching : 0) |
                                      (status.phase == world::DockPhase::engaged ? DockView::engaged : 0) |
                                      (status.broken ? DockView::broken : 0));
    dock.load = status.phase == world::DockPhase::free
                    ? 0
                    : to_float(std::max(0.0, world.dock_load(d).utilisation(world.dock_model(d).strength)));
  }
  frame.colors.assign(world.placements(), Rgba{0, 0, 0, 0});
  for (world::PlacementIndex p = 0; p < world.placements(); ++p) {
    if (const auto color = world.color(p)) frame.colors[p] = to_rgba(*color);
  }
}

void capture(const sim::Simulation& simulation, Frame& frame) {
  frame.tick = simulation.tick();
  frame.time = simulation.now();
  capture(simulation.world(), frame);
}

void capture(const sim::Run& run, Frame& frame) {
  capture(run.simulation(), frame);
  if (run.cloud() != nullptr) run.cloud()->cloud_items(frame.cloud);
}

void capture_rays(const mind::Minds& minds, Frame& frame) {
  frame.rays.clear();
  for (std::size_t i = 0; i < minds.rays().size(); ++i) {
    const mind::Ray& ray = minds.rays()[i];
    const mind::RayHit& hit = minds.ray_hits()[i];
    frame.rays.push_back({to_floats(ray.origin),
                          to_floats(ray.origin + ray.direction * (hit.hit() ? hit.distance : ray.range)),
                          ray.ignore_owner - 1, hit.hit()});
  }
}

Rgba dock_color(model::Gender gender, const DockView& dock) {
  if (dock.flags & DockView::broken) return {214, 40, 40, 255};
  if (dock.flags & DockView::latching) return {245, 166, 35, 255};
  if (dock.flags & DockView::engaged) return {46, 160, 67, 255};
  if (!(dock.flags & DockView::enabled)) return {70, 72, 76, 255};
  switch (gender) {
    case model::Gender::male: return {38, 98, 217, 255};
    case model::Gender::female: return {250, 250, 250, 255};
    case model::Gender::both: break;
  }
  return {176, 190, 204, 255};
}

Rgba load_color(double utilisation) {
  static constexpr double stops[5][3] = {{49, 83, 160}, {52, 152, 176}, {96, 178, 92}, {240, 190, 60}, {205, 45, 40}};
  const double x = utilisation > 0 ? std::min(utilisation, 1.0) * 4 : 0;  // NaN counts as no load
  const int i = std::min(3, truncated(x));
  const auto mix = [&](int k) { return to_byte(stops[i][k] + (x - i) * (stops[i + 1][k] - stops[i][k])); };
  return {mix(0), mix(1), mix(2), 255};
}

model::Bounds bounds(const RenderTree& tree, const Frame& frame, bool modules_only) {
  model::Bounds all;
  for (std::size_t i = 0; i < tree.links(); ++i) {
    const RenderNode& node = tree.nodes[i];
    if (node.mesh == none || (modules_only && !tree.things[node.placement].is_module)) continue;
    const Pose pose = to_pose(frame.links[i]);
    const model::Bounds& own = tree.meshes[node.mesh]->bounds;
    for (int corner = 0; corner < 8; ++corner)
      all.add(pose * Vec3{corner & 1 ? own.high.x : own.low.x, corner & 2 ? own.high.y : own.low.y,
                          corner & 4 ? own.high.z : own.low.z});
  }
  if (!tree.cloud) return all;
  const auto& [x, y, z] = tree.cloud->look.size;
  const Vec3 half = Vec3{x, y, z} / 2;
  for (const sim::CloudItem& item : frame.cloud) {
    if (item.shown == sim::CloudItem::gone) continue;
    all.add(to_vec(item.position) - half);
    all.add(to_vec(item.position) + half);
  }
  return all;
}

Pose to_pose(const LinkPose& pose) {
  return {to_vec(pose.position), {pose.rotation[3], pose.rotation[0], pose.rotation[1], pose.rotation[2]}};
}

LinkPose to_link_pose(const Pose& pose) {
  const Quat& q = pose.rotation;
  return {to_floats(pose.position), {to_float(q.x), to_float(q.y), to_float(q.z), to_float(q.w)}};
}

}  // namespace volvox::view
