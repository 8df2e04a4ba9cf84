#include "world_pictures.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include "volvox/plugin/plugins.h"

namespace volvox::python {

nb::object WorldHandle::picture(const std::string& camera, int width, int height, const std::string& docks) {
  const Use use(*this, "picture");
  auto* pixels = new std::vector<std::uint8_t>;
  const nb::capsule owner(pixels, [](void* held) noexcept { delete static_cast<std::vector<std::uint8_t>*>(held); });
  Result<view::Image> image = [&]() -> Result<view::Image> {
    const nb::gil_scoped_release release;
    cli::ViewArguments arguments;
    arguments.size = fmt::format("{}x{}", width, height);
    arguments.docks = docks;
    const std::string wanted = arguments.size + " " + docks;
    if (!pictures_ || pictures_->made_for != wanted || pictures_->thread != std::this_thread::get_id()) {
      pictures_.reset();
      auto studio = cli::Studio::create(arguments, cli::render_engines(standard_library()), *run_, 1);
      if (!studio.ok()) return studio.error();
      pictures_.reset(new Pictures{std::move(*studio), wanted, std::this_thread::get_id()});
    }
    cli::Studio& studio = pictures_->studio;
    view::Frame frame;
    view::capture(*run_, frame);
    const auto where = view::parse_camera(camera.empty() ? run_->camera() : camera, studio.subject(frame),
                                          studio.aspect, run_->simulation().world(), frame);
    if (!where.ok()) return where.error();
    if (auto shown = studio.engine->show(frame); !shown.ok()) return shown.error();
    return studio.engine->image(*where);
  }();
  if (!image.ok()) throw Failure(Kind::input, image.error());
  *pixels = std::move(image->pixels);
  const std::size_t rows = image->height, columns = image->width;
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<3>>(pixels->data(), {rows, columns, 3}, owner));
}

}  // namespace volvox::python
