// The shadow map of a picture: what is nearest to the sun, over a square around all that casts shadows.
// Lengths in m, in world axes, relative to the camera's target. One call at a time; the same map at any number of
// threads.
#pragma once

#include "volvox/view/picture/triangles.h"

namespace volvox::view::picture {

class ShadowMaker {
 public:
  // `fine`: soft shadows, for pictures; a film has harder ones.
  ShadowMaker(int size, bool fine);

  // `drawn`: what casts shadows; `casters`: around all of it.
  void make(std::span<const Drawn> drawn, std::span<const Instances::Caster> casters, const Viewpoint& view,
            ThreadPool* threads);
  const ShadowMap& map() const { return map_; }

 private:
  void spread_blocks(ThreadPool* threads);

  ShadowMap map_;
  TriangleList triangles_;
  std::vector<ShadowMap::Block> own_blocks_;
};

}  // namespace volvox::view::picture
