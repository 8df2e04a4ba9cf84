// Sorts what a picture shows into batches: instances of one mesh at one level of detail.
#pragma once

#include <vector>

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

// As it goes to the graphics card.
struct Instance {
  std::array<float, 4> place{};  // relative to the camera's target; the scale last
  std::array<float, 4> turn{};   // x, y, z, w
  Rgba tint{0, 0, 0, 0};         // a: how much of it
  float pale = 0;
};
static_assert(sizeof(Instance) == 40);

struct Batch {
  std::uint32_t mesh = 0, level = 0;
  bool translucent = false, marker = false, tiny = false;  // tiny: a few pixels large
  bool inside = false;                                     // a marker between two modules: seen through them
  std::size_t first = 0, count = 0;                        // of Instances::all
};

// A camera, ready for arithmetic.
struct Viewpoint {
  Viewpoint(const Camera& camera, int width, int height);

  Vec3 target;  // everything is drawn relative to it
  Vec3 eye;     // relative to the target
  Vec3 right, up, forward;
  Vec3 sun;             // towards it
  double distance = 1;  // from the eye to the target
  double tan_x = 1, tan_y = 1;
  double near = 0.01, far = 100;
  double pixels_per_tangent = 1;

  bool sees(const Vec3& centre, double radius) const;      // a sphere, relative to the target
  double pixels(const Vec3& centre, double radius) const;  // its diameter in the picture
  std::array<float, 16> to_clip() const;
};

// Colours by link: how much the most loaded of its docks bears; gray where none holds anything.
// What is no module keeps its own.
std::vector<Rgba> load_tints(const Scene& scene, const Frame& frame);

class Instances {
 public:
  // A frame; `pale` 1 is as pale as the paper. Things that never move are left out if told so.
  // `tints`, if not empty, are colours by link instead of the frame's by module.
  void add(const Scene& scene, const Frame& frame, const Viewpoint& view, double detail, double pale, bool moving_only,
           std::span<const Rgba> tints = {});
  void add_docks(const Scene& scene, const Frame& frame, const Viewpoint& view);
  void finish();  // after all frames: fills `all` and `batches`

  struct Caster {
    Vec3 centre;
    double radius = 0;
  };
  std::vector<Instance> all;
  std::vector<Batch> batches, shadow_batches;
  std::vector<Caster> casters;  // relative to the target: what may throw a shadow

 private:
  struct Sorted {
    std::uint64_t key = 0;
    Instance instance;
  };
  static void pack(std::vector<Sorted>& sorted, std::vector<Instance>& all, std::vector<Batch>& batches);
  std::vector<Sorted> bodies_, shadows_;
};

}  // namespace volvox::view::picture
