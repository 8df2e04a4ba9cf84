// What every render engine offers (seed 003's RenderEngine): it takes a scene, a tree of render
// nodes, once, and then one frame after another. Engines are chosen by name and made by a
// registry, which plugins fill; the loop and the experiments know none of them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/view/camera.h"
#include "volvox/view/scene.h"

namespace volvox::view {

// Rows from the top, three bytes (sRGB) a pixel.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  Rgba at(int x, int y) const {
    const std::size_t i =
        3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
    return {pixels[i], pixels[i + 1], pixels[i + 2], 255};
  }
};

struct RenderEngineInfo {
  std::string name;
  std::string description;  // one line
  std::string device;       // what draws: "llvmpipe (LLVM 15.0.6, 256 bits)"
  bool makes_images = false;
};

class RenderEngine {
 public:
  virtual ~RenderEngine() = default;
  virtual const RenderEngineInfo& info() const = 0;

  // Takes a scene in, instead of the one before.
  virtual Result<void> load(std::shared_ptr<const Scene> scene) = 0;
  // The state to show from now on. Called in the publish phase of the loop: must not keep it
  // waiting, and copies what it needs.
  virtual Result<void> show(const Frame& frame) = 0;
  // What a camera sees of the state shown last, for engines that make images. Earlier frames are
  // drawn with it, the oldest first and palest: a stroboscopic sequence.
  virtual Result<Image> image(const Camera& camera, std::span<const Frame> earlier = {});
};

// Makes an engine. Its settings are those of the engine: "width", "height", "port".
using RenderEngineFactory = std::function<Result<std::unique_ptr<RenderEngine>>(const Parameters&)>;
using RenderEngineRegistry = Registry<RenderEngineFactory>;

// Those that this build has.
RenderEngineRegistry built_in_render_engines();

}  // namespace volvox::view
