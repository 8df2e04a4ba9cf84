// The render engine `web`: a browser that opens its address shows the tree and its frames. It ignores
// commands; viewed_run.h adds pause, picking and the rest.
// The engine is for one thread; its server has one of its own (web_server.h).
#pragma once

#include "volvox/view/render_engine.h"
#include "volvox/view/web/viewer.h"

namespace volvox::view {

// Settings: "host" (127.0.0.1), "port" (0: any free port). info().device is the address to open.
Result<std::unique_ptr<RenderEngine>> make_web_engine(const Parameters& parameters);
void add_web_engine(RenderEngineRegistry& registry);

}  // namespace volvox::view
