// The drops of a fluid as one surface that refracts what is behind it: their depths are drawn as balls, smoothed where
// they belong together, and the finished picture behind is bent, dyed by how much fluid it is seen through, and
// mirrors the sky (screen-space fluid: van der Laan, Green and Sainz 2009; the filter: Truong and Yuksel 2018).
// Lengths in m. For the thread that owns the context of OpenGL. Only pictures depend on it, no state.
#pragma once

#include "volvox/view/picture/gl_objects.h"
#include "volvox/view/picture/instances.h"

namespace volvox::view::picture {

class Water {
 public:
  // For a canvas of this size. `fine`: smoother and slower.
  Result<void> start(int width, int height, bool fine);
  // Over what is in the canvas, with its depths.
  void draw(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view,
            const Canvas& canvas, const std::array<float, 3>& horizon, const std::array<float, 3>& zenith);

 private:
  struct Layer {
    Framebuffer framebuffer;
    Texture color, depth;
  };
  Result<Layer> make_layer(GLint format, GLenum parts, bool with_depth) const;
  GLsizei gather(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view);
  void set_view(GLuint program, const Viewpoint& view) const;

  int width_ = 0, height_ = 0;
  bool fine_ = false;
  Layer behind_, near_[2], hue_;
  Program drops_, hues_, smooth_, finish_;
  VertexArray array_, empty_;
  Buffer buffer_;
};

}  // namespace volvox::view::picture
