#include "volvox/view/picture/instances.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace volvox::view::picture {
namespace {

// Below this diameter in pixels, so many triangles are enough.
struct DetailLimit {
  double pixels;
  std::size_t triangles;
};
constexpr DetailLimit detail_limits[] = {{70, 600}, {34, 120}, {18, 24}, {11, 12}};
constexpr double shadow_detail = 0.35;  // shadows have soft edges, so a coarser mesh is enough
constexpr double smallest_marker = 4;   // pixels; smaller markers are not drawn

std::uint32_t level_for(const DetailedMesh& mesh, double pixels) {
  std::size_t triangles = std::numeric_limits<std::size_t>::max();
  for (const DetailLimit& limit : detail_limits)
    if (pixels < limit.pixels) triangles = limit.triangles;
  std::uint32_t level = 0;
  while (level + 1 < mesh.levels.size() && mesh.levels[level].triangles() > triangles) ++level;
  return level;
}

std::uint64_t key_of(std::uint32_t mesh, std::uint32_t level, bool translucent, bool marker, bool inside = false) {
  return (std::uint64_t{inside} << 63) | (std::uint64_t{marker} << 62) | (std::uint64_t{translucent} << 61) |
         (std::uint64_t{mesh} << 8) | level;
}

Instance instance_at(const Pose& pose, double scale) {
  const LinkPose at = to_link_pose(pose);
  Instance instance;
  instance.place = {at.position[0], at.position[1], at.position[2], to_float(scale)};
  instance.turn = at.rotation;
  return instance;
}

}  // namespace

Viewpoint::Viewpoint(const Camera& camera, int width, int height)
    : target(camera.target), eye(camera.eye - camera.target), sun(normalized(camera.sun)) {
  distance = std::max(length(eye), 1e-6);
  forward = -eye / distance;
  right = cross(forward, normalized(camera.up));
  right = length(right) > 1e-6 ? normalized(right) : Vec3{1, 0, 0};  // looking straight down: x points to the right
  up = cross(right, forward);
  tan_y = std::tan(camera.field_of_view / 2);
  tan_x = tan_y * width / height;
  near = std::max(0.004, 0.02 * distance);
  far = 80 * distance + 20;
  pixels_per_tangent = height / (2 * tan_y);
}

bool Viewpoint::sees(const Vec3& centre, double radius) const {
  const Vec3 p = centre - eye;
  const double depth = dot(p, forward);
  if (depth < near - radius || depth > far + radius) return false;
  const double slack_x = radius * std::sqrt(1 + tan_x * tan_x), slack_y = radius * std::sqrt(1 + tan_y * tan_y);
  return std::fabs(dot(p, right)) <= depth * tan_x + slack_x && std::fabs(dot(p, up)) <= depth * tan_y + slack_y;
}

double Viewpoint::pixels(const Vec3& centre, double radius) const {
  return 2 * radius / std::max(dot(centre - eye, forward), near) * pixels_per_tangent;
}

std::vector<Rgba> load_tints(const RenderTree& tree, const Frame& frame) {
  std::vector<float> loads(tree.links(), -1);  // -1: none of its docks is engaged or latching
  for (world::DockIndex d = 0; d < tree.docks(); ++d) {
    float& load = loads[tree.dock_node(d).parent];
    if (frame.docks[d].flags & (DockView::engaged | DockView::latching)) load = std::max(load, frame.docks[d].load);
  }
  std::vector<Rgba> tints(tree.links(), Rgba{0, 0, 0, 0});
  for (std::size_t i = 0; i < tints.size(); ++i) {
    if (!tree.things[tree.nodes[i].placement].is_module) continue;
    tints[i] = loads[i] < 0 ? Rgba{205, 208, 212, 0} : load_color(loads[i]);
    tints[i].a = 225;  // keeps a little of its own colour
  }
  return tints;
}

namespace {

constexpr double least_way = 3;  // pixels, between two instants of a strobe that are both shown

// How far the surface of a thing moves between two poses, at most, m.
double way_between(const Pose& from, const Pose& to, double radius) {
  const Quat &a = from.rotation, &b = to.rotation;
  const double cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;  // of half the angle
  return length(to.position - from.position) + 2 * radius * std::sqrt(std::max(0.0, 1 - cosine * cosine));
}

}  // namespace

void Instances::add(const RenderTree& tree, const Frame& frame, const Viewpoint& view, double detail, double pale,
                    const Frame* later, std::span<const Rgba> tints) {
  const double shadow_reach = 3 * view.distance;
  for (world::LinkIndex i = 0; i < tree.links(); ++i) {
    const RenderNode& node = tree.nodes[i];
    if (node.mesh == none || (later != nullptr && tree.things[node.placement].fixed)) continue;
    const DetailedMesh& mesh = *tree.meshes[node.mesh];
    Pose pose = to_pose(frame.links[i]);
    pose.position -= view.target;
    const Vec3 centre = pose * ((mesh.bounds.low + mesh.bounds.high) / 2);
    const double radius = length(mesh.bounds.high - mesh.bounds.low) / 2;
    if (later != nullptr) {
      const double way = way_between(to_pose(frame.links[i]), to_pose(later->links[i]), radius);
      if (view.pixels(centre, way / 2) < least_way) continue;
    }
    const double pixels = view.pixels(centre, radius) * detail;
    Instance instance = instance_at(pose, node.scale);
    if (!frame.colors.empty() && frame.colors[node.placement].a > 0) instance.tint = frame.colors[node.placement];
    if (!tints.empty()) instance.tint = tints[i];
    instance.pale = to_float(pale);
    if (view.sees(centre, radius))
      bodies_.push_back({key_of(node.mesh, level_for(mesh, pixels), mesh.translucent, false), instance});
    if (!mesh.translucent && length(centre) - radius < shadow_reach) {
      shadows_.push_back({key_of(node.mesh, level_for(mesh, pixels * shadow_detail), false, false), instance});
      casters.push_back({centre, radius});
    }
  }
}

namespace {

// Which way a stone lies: by its number, so that it stays.
Quat turn_of(std::size_t number) {
  const auto mixed = static_cast<std::uint32_t>(number) * 2654435761u;
  const double a = (mixed >> 22) / 1023.0, b = (mixed >> 12 & 1023) / 1023.0, c = (mixed >> 2 & 1023) / 1023.0;
  return normalized(Quat::axis_angle({0, 0, 1}, 2 * pi * a) * Quat::axis_angle({1, 0, 0}, pi * b) *
                    Quat::axis_angle({0, 0, 1}, 2 * pi * c));
}

}  // namespace

void Instances::add_cloud(const RenderTree& tree, const Frame& frame, const Viewpoint& view, double detail, double pale,
                          const Frame* later) {
  if (!tree.cloud) return;
  const std::uint32_t number = tree.cloud->mesh;
  const DetailedMesh& mesh = *tree.meshes[number];
  const double shadow_reach = 3 * view.distance;
  const sim::CloudLook& look = tree.cloud->look;
  for (std::size_t k = look.drops; k < frame.cloud.size(); ++k) {
    const sim::CloudItem& item = frame.cloud[k];
    if (item.shown <= sim::CloudItem::covered || look.in_sheet(k)) continue;
    const double scale = item.shown / 255.0, radius = scale * mesh.radius();
    const Vec3 centre = to_vec(item.position) - view.target;
    if (later != nullptr && k < later->cloud.size() && later->cloud[k].shown > sim::CloudItem::covered &&
        view.pixels(centre, length(to_vec(later->cloud[k].position) - to_vec(item.position)) / 2) < least_way)
      continue;
    const double pixels = view.pixels(centre, radius) * detail;
    Instance instance = instance_at({centre, look.shape == sim::CloudLook::Shape::stone ? turn_of(k) : Quat{}}, scale);
    instance.tint = {item.color[0], item.color[1], item.color[2], 255};
    instance.pale = to_float(pale);
    if (view.sees(centre, radius)) bodies_.push_back({key_of(number, level_for(mesh, pixels), false, false), instance});
    if (length(centre) - radius >= shadow_reach) continue;
    shadows_.push_back({key_of(number, level_for(mesh, pixels * shadow_detail), false, false), instance});
    casters.push_back({centre, radius});
  }
}

void Instances::add_docks(const RenderTree& tree, const Frame& frame, const Viewpoint& view) {
  for (world::DockIndex d = 0; d < tree.docks(); ++d) {
    const RenderNode& node = tree.dock_node(d);
    const DockView& dock = frame.docks[d];
    const bool holds = (dock.flags & (DockView::engaged | DockView::latching)) != 0;
    Pose pose = to_pose(frame.links[node.parent]) * node.pose;
    pose.position -= view.target;
    if (!view.sees(pose.position, node.scale) || view.pixels(pose.position, node.scale) < smallest_marker) continue;
    Instance instance = instance_at(pose, holds ? 1.3 * node.scale : node.scale);
    instance.tint = dock_color(tree.genders[d], dock);
    bodies_.push_back({key_of(node.mesh, 0, false, true, holds), instance});
  }
}

void Instances::pack(std::vector<Sorted>& sorted, std::vector<Instance>& all, std::vector<Batch>& batches) {
  std::stable_sort(sorted.begin(), sorted.end(), [](const Sorted& a, const Sorted& b) { return a.key < b.key; });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::uint64_t key = sorted[i].key;
    if (i == 0 || key != sorted[i - 1].key)
      batches.push_back({narrow<std::uint32_t>(key >> 8 & 0xffffffff), narrow<std::uint32_t>(key & 0xff),
                         (key >> 61 & 1) != 0, (key >> 62 & 1) != 0, (key >> 63 & 1) != 0, all.size(), 0});
    all.push_back(sorted[i].instance);
    ++batches.back().count;
  }
  sorted.clear();
}

void Instances::finish() {
  pack(bodies_, all, batches);
  pack(shadows_, all, shadow_batches);
}

}  // namespace volvox::view::picture
