// The interface of render engines (seed 003's RenderEngine): an engine takes a tree of render
// nodes, once, and then one frame after another. Engines are chosen by name from a registry, to which
// plugins add theirs; the loop and the experiments depend on none of them. An engine is used by one
// thread at a time, which need not be the one that made it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/view/camera.h"
#include "volvox/view/render_tree.h"

namespace volvox::view {

// Rows from the top, three bytes (sRGB) per pixel.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  Rgba at(int x, int y) const {
    const std::size_t row = y, i = 3 * (row * width + x);
    return {pixels[i], pixels[i + 1], pixels[i + 2], 255};
  }
};

struct RenderEngineInfo {
  std::string name;
  std::string description;  // one line
  std::string device;       // what draws: "the processor (avx2, 2 threads)"
  bool makes_images = false;
};

class RenderEngine {
 public:
  virtual ~RenderEngine() = default;
  virtual const RenderEngineInfo& info() const = 0;

  // Replaces the tree.
  virtual Result<void> load(std::shared_ptr<const RenderTree> tree) = 0;
  // Sets the state to show. It is called in the publish phase of the loop, so it must not block, and it copies
  // what it needs of the frame.
  virtual Result<void> show(const Frame& frame) = 0;
  // The image of a camera at the state shown last, for engines that make images. Earlier frames are
  // drawn into it too, the oldest first and palest: a stroboscopic sequence.
  virtual Result<Image> image(const Camera& camera, std::span<const Frame> earlier = {});
};

// Makes an engine from its own settings: "width", "height", "port".
using RenderEngineFactory = std::function<Result<std::unique_ptr<RenderEngine>>(const Parameters&)>;
using RenderEngineRegistry = Registry<RenderEngineFactory>;

// The engines of this build.
RenderEngineRegistry built_in_render_engines();

}  // namespace volvox::view
