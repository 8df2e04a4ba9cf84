// The one place that knows which render engines there are.
#include "volvox/view/render_engine.h"

namespace volvox::view {

RenderEngineRegistry built_in_render_engines() { return RenderEngineRegistry("render engine"); }

}  // namespace volvox::view
