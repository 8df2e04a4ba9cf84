// What there is to draw: a tree of render nodes with their meshes, taken once from the world and
// never changed, and the frame, what of it changes from tick to tick. Nothing here writes to the
// world, and nothing knows how a render engine draws.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/time.h"
#include "volvox/record/traffic.h"
#include "volvox/sim/simulation.h"
#include "volvox/view/mesh.h"

namespace volvox::view {

inline constexpr std::uint32_t none = 0xffffffffu;

// Seed 003's RenderNode: where something is in its parent, and what is drawn there. Nodes of links
// stand below the root, and a frame moves them; those of docks and sensors are children of their
// link and move with it.
struct RenderNode {
  enum class Kind : std::uint8_t { link, dock, sensor };
  Kind kind = Kind::link;
  std::string name;             // "s3.head", "s3.front"
  std::uint32_t parent = none;  // the node that the pose is in; none: the root
  Pose pose;                    // of a link: at the start
  std::uint32_t mesh = none;    // of Scene::meshes; none: nothing to see
  double scale = 1;             // of the mesh
  std::uint32_t number = 0;     // of the link or dock in the world, or of the sensor in its model
  std::uint32_t placement = 0;
};

// A module or an obstacle.
struct Thing {
  std::string name, model;
  bool is_module = false;
  bool fixed = false;                                                  // it never moves: its links need to be sent once
  std::uint32_t first_link = 0, links = 0, first_dock = 0, docks = 0;  // in the world's numbers
};

// Planes have no end, so that each engine draws them its own way (and with a scale grid).
struct Ground {
  Pose pose;  // z is the normal
  Rgba color;
  std::uint32_t placement = 0;
};

struct Scene {
  std::string name;
  std::vector<std::shared_ptr<const DetailedMesh>> meshes;  // links of one model share one
  std::vector<RenderNode> nodes;  // links first, in the world's order: node i is link i; then docks, then sensors
  std::vector<Thing> things;      // by placement
  std::vector<Ground> grounds;
  std::vector<model::Gender> genders;  // by dock

  std::size_t links() const { return link_count; }
  std::size_t docks() const { return genders.size(); }
  const RenderNode& dock_node(std::uint32_t dock) const { return nodes[link_count + dock]; }
  std::size_t link_count = 0;

  static Scene of(const world::World& world);
};

// The pose of a link as it goes to a GPU or a socket. Floats: 0.1 mm is still resolved a
// kilometre from the origin.
struct LinkPose {
  std::array<float, 3> position{};            // m
  std::array<float, 4> rotation{0, 0, 0, 1};  // x, y, z, w
};
static_assert(sizeof(LinkPose) == 28);

struct DockView {
  enum Flag : std::uint8_t { enabled = 1, latching = 2, engaged = 4, broken = 8 };
  std::uint8_t flags = 0;
  float load = 0;  // 1: as much as it bears; see world::DockLoad::utilisation
};

// A ray of a range sensor or camera, as it was cast in the last tick.
struct RayView {
  std::array<float, 3> from{}, to{};  // to: where it hit, or the end of its range
  std::uint32_t placement = 0;
  bool hit = false;
};

// What changes from tick to tick. Kept and filled again, it allocates nothing.
struct Frame {
  std::int64_t tick = 0;
  Time time;
  std::vector<LinkPose> links;  // by link
  std::vector<DockView> docks;  // by dock
  std::vector<Rgba> colors;     // by placement, instead of its own: alpha 0 keeps those. Empty: all keep theirs
  std::vector<RayView> rays;    // empty unless asked for
  record::Traffic traffic;      // likewise: messages on wires, rings around antennas
};

void capture(const world::World& world, Frame& frame);          // links and docks
void capture(const sim::Simulation& simulation, Frame& frame);  // tick and time too
void capture_rays(const mind::Minds& minds, Frame& frame);      // as the last sense phase cast them

// The colour of a dock that a person should see: male blue, female white, genderless light grey;
// engaged green, latching amber, broken red, disabled dark.
Rgba dock_color(model::Gender gender, const DockView& dock);
// From blue (no load) over green and yellow to red (about to break).
Rgba load_color(double utilisation);

// The box around all links as a frame has them, of modules only or of all that has an end.
model::Bounds bounds(const Scene& scene, const Frame& frame, bool modules_only);

Pose to_pose(const LinkPose& pose);

}  // namespace volvox::view
