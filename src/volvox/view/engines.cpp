// The only file that names the render engines of this build.
#include "volvox/view/render_engine.h"

#include "volvox/view/picture/picture_engine.h"

namespace volvox::view {

RenderEngineRegistry built_in_render_engines() {
  RenderEngineRegistry registry("render engine");
  registry.add(
      "picture",
      [](const Parameters& parameters) -> Result<std::unique_ptr<RenderEngine>> {
        auto settings = picture::PictureSettings::read(parameters);
        if (!settings.ok()) return settings.error();
        return Result<std::unique_ptr<RenderEngine>>(picture::make_picture_engine(*settings));
      },
      "pictures and video, drawn by the processor: no display, no graphics card");
  return registry;
}

}  // namespace volvox::view
