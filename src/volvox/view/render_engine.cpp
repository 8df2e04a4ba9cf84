#include "volvox/view/render_engine.h"

namespace volvox::view {

Result<Image> RenderEngine::image(const Camera&, std::span<const Frame>) {
  return Error("the render engine '" + info().name + "' makes no images", "use the engine 'picture'");
}

}  // namespace volvox::view
