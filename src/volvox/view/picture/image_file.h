// Images as files.
#pragma once

#include <filesystem>

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

// Whether the name says PNG or JPEG and the file can be written; asked before a long run.
Result<void> check_image_file(const std::filesystem::path& file);
Result<void> write_image(const Image& image, const std::filesystem::path& file);

// "1280x720", within the limits of PictureSettings.
struct Size {
  int width = 1280, height = 720;
};
Result<Size> parse_size(const std::string& text);

}  // namespace volvox::view::picture
