// Writes images to files.
// Files are written completely or not at all. Any thread, for different files.
#pragma once

#include <filesystem>

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

// An error if the name is not that of a PNG or JPEG, or the file cannot be written. To be called before a long run;
// it leaves no file behind.
Result<void> check_image_file(const std::filesystem::path& file);
Result<void> write_image(const Image& image, const std::filesystem::path& file);

// "1280x720", within the limits of PictureSettings.
struct Size {
  int width = 1280, height = 720;
};
Result<Size> parse_size(const std::string& text);

}  // namespace volvox::view::picture
