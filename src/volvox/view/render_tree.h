// What render engines draw. A render tree holds render nodes with their meshes, taken once from the
// world and then constant; a frame holds what changes from tick to tick. Poses of links are in the world
// frame (m), poses of docks and sensors in the frame of their link. Nothing here writes to the world or
// depends on a render engine. Plain values: any thread may read them; the same world gives the same tree.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/time.h"
#include "volvox/record/traffic.h"
#include "volvox/sim/run.h"
#include "volvox/view/mesh.h"

namespace volvox::view {

inline constexpr std::uint32_t none = 0xffffffffu;

// Seed 003's RenderNode: a pose in the parent node, and the mesh that is drawn there. Nodes of links
// are children of the root, and a frame moves them; nodes of docks and sensors are children of their
// link and move with it.
struct RenderNode {
  enum class Kind : std::uint8_t { link, dock, sensor };
  Kind kind = Kind::link;
  std::string name;             // "s3.head", "s3.front"
  std::uint32_t parent = none;  // the node in whose frame the pose is; none: the root
  Pose pose;                    // of a link: when the tree was made
  std::uint32_t mesh = none;    // index in RenderTree::meshes; none: nothing is drawn
  double scale = 1;             // of the mesh
  std::uint32_t number = 0;     // index of the link or dock in the world, or of the sensor in its model
  world::PlacementIndex placement = 0;
};

// A module or an obstacle.
struct Thing {
  std::string name, model;
  bool is_module = false;
  bool fixed = false;  // it never moves, so its links are sent once
  world::LinkIndex first_link = 0;
  std::uint32_t links = 0;
  world::DockIndex first_dock = 0;
  std::uint32_t docks = 0;
};

// An infinite plane. Each engine draws it in its own way (and with a grid that shows the scale).
struct Ground {
  Pose pose;  // z is the normal
  Rgba color;
  world::PlacementIndex placement = 0;
};

struct RenderTree {
  std::string name;
  std::vector<std::shared_ptr<const DetailedMesh>> meshes;  // equal links share one mesh
  std::vector<RenderNode> nodes;  // links first, in the world's order: node i is link i; then docks, then sensors
  std::vector<Thing> things;      // by placement
  std::vector<Ground> grounds;
  std::vector<model::Gender> genders;  // by dock
  // What the experiment simulates beside the world.
  struct Cloud {
    sim::CloudLook look;
    std::uint32_t mesh = none;  // of an item, without a colour of its own
  };
  std::optional<Cloud> cloud{};

  std::size_t links() const { return link_count; }
  std::size_t docks() const { return genders.size(); }
  const RenderNode& dock_node(world::DockIndex dock) const { return nodes[link_count + dock]; }
  std::size_t link_count = 0;

  static RenderTree of(const world::World& world);
  static RenderTree of(const sim::Run& run);  // with its cloud
};

// The pose of a link as it goes to a GPU or a socket, in the world frame. A float still resolves 0.1 mm
// at one kilometre from the origin.
struct LinkPose {
  std::array<float, 3> position{};            // m
  std::array<float, 4> rotation{0, 0, 0, 1};  // x, y, z, w
};
static_assert(sizeof(LinkPose) == 28);

struct DockView {
  enum Flag : std::uint8_t { enabled = 1, latching = 2, engaged = 4, broken = 8 };
  std::uint8_t flags = 0;
  float load = 0;  // 1: at its strength; see world::DockLoad::utilisation
};

// A ray of a range sensor or camera, as it was cast in the last tick.
struct RayView {
  std::array<float, 3> from{}, to{};  // to: where it hit, or the end of its range
  world::PlacementIndex placement = 0;
  bool hit = false;
};

// What changes from tick to tick. A frame that is filled again reuses its memory and allocates nothing.
struct Frame {
  std::int64_t tick = 0;
  Time time;
  std::vector<LinkPose> links;        // by link
  std::vector<DockView> docks;        // by dock
  std::vector<Rgba> colors;           // by placement, instead of its own: alpha 0 keeps those. Empty: all keep theirs
  std::vector<RayView> rays;          // empty unless asked for
  record::Traffic traffic;            // likewise: messages on wires, rings around antennas
  std::vector<sim::CloudItem> cloud;  // by item
};

void capture(const world::World& world, Frame& frame);          // links and docks
void capture(const sim::Simulation& simulation, Frame& frame);  // tick and time too
void capture(const sim::Run& run, Frame& frame);                // and its cloud
void capture_rays(const mind::Minds& minds, Frame& frame);      // the rays of the last sense phase

// The colour of a dock: male blue, female white, genderless light grey; engaged green, latching amber,
// broken red, disabled dark.
Rgba dock_color(model::Gender gender, const DockView& dock);
// From blue (no load) through green and yellow to red (about to break).
Rgba load_color(double utilisation);

// The axis-aligned box around all links in a frame, or around those of modules only. Planes do not count.
model::Bounds bounds(const RenderTree& tree, const Frame& frame, bool modules_only);

Pose to_pose(const LinkPose& pose);
LinkPose to_link_pose(const Pose& pose);

}  // namespace volvox::view
