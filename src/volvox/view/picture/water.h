// The drops of a fluid as one surface that refracts what is behind it: their distances are drawn as balls, smoothed
// where they belong together, and the finished picture behind is bent, dyed by how much fluid it is seen through, and
// mirrors the sky (screen-space fluid: van der Laan, Green and Sainz 2009; the filter: Truong and Yuksel 2018).
// Lengths in m, world frame. One call at a time; the same at any number of threads.
#pragma once

#include "volvox/base/thread_pool.h"
#include "volvox/view/picture/instances.h"
#include "volvox/view/picture/water_layers.h"

namespace volvox::view::picture {

class Water {
 public:
  // Over what is in the scene's colours and depths. `fine`: smoother and slower.
  void draw(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view,
            const Scene& scene, bool fine, ThreadPool* threads);

 private:
  void gather(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view);

  WaterLayers layers_;  // its memory is used again
  std::vector<std::uint32_t> behind_;
  std::vector<float> walls_;
};

}  // namespace volvox::view::picture
