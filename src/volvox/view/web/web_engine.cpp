#include "volvox/view/web/web_engine.h"

#include <nlohmann/json.hpp>

namespace volvox::view {
namespace {

class WebEngine final : public RenderEngine {
 public:
  explicit WebEngine(std::unique_ptr<Viewer> viewer) : viewer_(std::move(viewer)) {
    info_ = {"web", "in a browser, by WebGL", viewer_->address(), false};
  }
  const RenderEngineInfo& info() const override { return info_; }

  Result<void> load(std::shared_ptr<const RenderTree> tree) override {
    std::size_t modules = 0;
    for (const Thing& thing : tree->things) modules += thing.is_module;
    viewer_->set_tree(
        {{"type", "hello"}, {"mode", "run"}, {"name", tree->name}, {"dt", 0}, {"ticks", 0}, {"modules", modules}},
        encode_tree(*tree));
    return {};
  }
  Result<void> show(const Frame& frame) override {
    viewer_->take_commands();  // discarded: this engine only shows
    viewer_->take_left();
    if (viewer_->watched()) viewer_->publish(encode_frame(frame));
    return {};
  }

 private:
  std::unique_ptr<Viewer> viewer_;
  RenderEngineInfo info_;
};

}  // namespace

Result<std::unique_ptr<RenderEngine>> make_web_engine(const Parameters& parameters) {
  ViewerOptions options;
  options.open_browser = false;
  options.server.host = parameters.text("host", options.server.host);
  options.server.port = narrow<std::uint16_t>(parameters.integer("port", 0, 0, 65535));
  if (auto checked = parameters.check(); !checked.ok()) return checked.error();
  auto viewer = Viewer::start(options);
  if (!viewer.ok()) return viewer.error();
  return std::unique_ptr<RenderEngine>(std::make_unique<WebEngine>(std::move(*viewer)));
}

void add_web_engine(RenderEngineRegistry& registry) { registry.add("web", make_web_engine, "in a browser, by WebGL"); }

}  // namespace volvox::view
