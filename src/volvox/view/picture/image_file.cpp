#include "volvox/view/picture/image_file.h"

#include <fmt/format.h>
#include <stb_image_write.h>

#include <algorithm>
#include <charconv>

#include "volvox/base/file_ending.h"
#include "volvox/base/text.h"
#include "volvox/view/picture/picture_engine.h"

namespace volvox::view::picture {
namespace {

enum class Format { png, jpeg, unknown };

Format format_of(const std::filesystem::path& file) {
  const std::string ending = file_ending(file);
  return ending == ".png" ? Format::png : ending == ".jpg" || ending == ".jpeg" ? Format::jpeg : Format::unknown;
}

void append_bytes(void* out, void* data, int size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
}

}  // namespace

Result<void> check_image_file(const std::filesystem::path& file) {
  if (format_of(file) == Format::unknown)
    return Diagnostic{file.string(), 0, "the name of a picture must end in .png, .jpg or .jpeg",
                      "give a name that ends in .png or .jpg"};
  if (!can_write_file(file))
    return Diagnostic{file.string(), 0, "the picture cannot be written", "give a path that can be written"};
  return {};
}

Result<void> write_image(const Image& image, const std::filesystem::path& file) {
  if (auto good = check_image_file(file); !good.ok()) return good;
  std::string bytes;
  const int written =
      format_of(file) == Format::png
          ? stbi_write_png_to_func(append_bytes, &bytes, image.width, image.height, 3, image.pixels.data(),
                                   3 * image.width)
          : stbi_write_jpg_to_func(append_bytes, &bytes, image.width, image.height, 3, image.pixels.data(), 92);
  if (written == 0)
    return Diagnostic{file.string(), 0, "the picture cannot be encoded", "give a smaller --size, or the other format"};
  return write_file(file, bytes);
}

Result<Size> parse_size(const std::string& text) {
  Size size;
  const char* end = text.data() + text.size();
  const auto [x, first] = std::from_chars(text.data(), end, size.width);
  const bool separated = first == std::errc{} && x != end && *x == 'x';
  const auto [rest, second] =
      separated ? std::from_chars(x + 1, end, size.height) : std::from_chars_result{x, std::errc::invalid_argument};
  const auto allowed = [](int side) { return side >= PictureSettings::smallest && side <= PictureSettings::largest; };
  if (second == std::errc{} && rest == end && allowed(size.width) && allowed(size.height)) return size;
  return Error(fmt::format("'{}' is not the size of a picture", text),
               fmt::format("give WIDTHxHEIGHT in pixels, {} to {} each, such as 1280x720", PictureSettings::smallest,
                           PictureSettings::largest));
}

}  // namespace volvox::view::picture
