// Sorts the visible objects of a picture into batches: instances of one mesh at one level of detail. Lengths in m,
// in world axes, relative to the camera's target.
// Only reads tree and frame. One thread; the same frame gives the same batches.
#pragma once

#include <vector>

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

struct Instance {
  std::array<float, 4> place{};  // position relative to the camera's target; w: scale
  std::array<float, 4> turn{};   // quaternion x, y, z, w
  Rgba tint{0, 0, 0, 0};         // a: its share in the colour
  float pale = 0;                // 1: the colour of the background
};

struct Batch {
  std::uint32_t mesh = 0, level = 0;
  bool translucent = false, marker = false;
  bool inside = false;               // a marker between two modules, drawn through them
  std::size_t first = 0, count = 0;  // range in Instances::all
};

// A camera with its derived axes and scales.
struct Viewpoint {
  Viewpoint(const Camera& camera, int width, int height);

  Vec3 target;  // everything is drawn relative to it
  Vec3 eye;     // relative to the target
  Vec3 right, up, forward;
  Vec3 sun;             // unit vector towards the light
  double distance = 1;  // from the eye to the target
  double tan_x = 1, tan_y = 1;
  double near = 0.01, far = 100;
  double pixels_per_tangent = 1;

  bool sees(const Vec3& centre, double radius) const;      // a sphere, relative to the target
  double pixels(const Vec3& centre, double radius) const;  // diameter of a sphere in the picture
};

// Colours by link: the load of its most loaded dock; gray if none of its docks is engaged or latching.
// Obstacles keep their own colours.
std::vector<Rgba> load_tints(const RenderTree& tree, const Frame& frame);

class Instances {
 public:
  // Adds a frame. `detail` multiplies the size that chooses the level of detail; `pale` 1 is the colour of the
  // background. Of an earlier frame of a strobe `later` is the next one; what stands there as it stood here is left
  // out, so that its pale image does not cover it. `tints`, if not empty, are colours by link and replace the frame's
  // colours by module.
  void add(const RenderTree& tree, const Frame& frame, const Viewpoint& view, double detail, double pale,
           const Frame* later, std::span<const Rgba> tints = {});
  void add_cloud(const RenderTree& tree, const Frame& frame, const Viewpoint& view, double detail, double pale,
                 const Frame* later);
  void add_docks(const RenderTree& tree, const Frame& frame, const Viewpoint& view);
  void finish();  // after all frames: fills `all` and `batches`

  struct Caster {
    Vec3 centre;
    double radius = 0;
  };
  std::vector<Instance> all;
  std::vector<Batch> batches, shadow_batches;
  std::vector<Caster> casters;  // bounding spheres of what may cast a shadow

 private:
  struct Sorted {
    std::uint64_t key = 0;
    Instance instance;
  };
  static void pack(std::vector<Sorted>& sorted, std::vector<Instance>& all, std::vector<Batch>& batches);
  std::vector<Sorted> bodies_, shadows_;
};

}  // namespace volvox::view::picture
