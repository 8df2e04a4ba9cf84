#include <fmt/format.h>
#include <stb_image.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "volvox/base/index.h"
#include "volvox/model/mesh.h"

namespace volvox::model {
namespace {

constexpr std::int64_t max_pixels = 64'000'000;

struct StbFree {
  void operator()(void* pixels) const { stbi_image_free(pixels); }
};

// Gray levels in [0, 1], rows from the top.
struct GrayImage {
  int width = 0, height = 0;
  std::vector<float> levels;
};

// A pixel has `channels` samples: gray, gray and alpha, or red, green, blue and perhaps alpha.
template <class Sample>
bool convert(Sample* pixels, int channels, double white, GrayImage& image) {
  const std::unique_ptr<Sample, StbFree> owner(pixels);
  if (pixels == nullptr) return false;
  image.levels.resize(std::ptrdiff_t{image.width} * image.height);
  for (std::size_t i = 0; i < image.levels.size(); ++i) {
    const Sample* pixel = pixels + i * channels;
    const int gray = channels < 3 ? pixel[0] : (pixel[0] * 77 + pixel[1] * 150 + pixel[2] * 29) >> 8;  // as in stb
    image.levels[i] = to_float(std::min(gray / white, 1.0));
  }
  return true;
}

bool is_pnm(std::string_view bytes) { return bytes.starts_with("P5") || bytes.starts_with("P6"); }

// The level that the head of a PGM or PPM file calls white, which stb does not heed: the third number, where a line
// that begins with # is a remark. stb has read this head before.
double white_of_pnm(std::string_view bytes) {
  std::size_t at = 2;
  int level = 0;
  for (int number = 0; number < 3; ++number) {
    while (at < bytes.size() && !(bytes[at] >= '0' && bytes[at] <= '9'))
      at = bytes[at] == '#' ? std::min(bytes.find_first_of("\r\n", at), bytes.size()) : at + 1;
    const auto [end, error] = std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), level);
    at = narrow<std::size_t>(end - bytes.data());
  }
  return std::max(level, 1);
}

// Whether stb swaps the two bytes of a sample of 16-bit PGM and PPM files, as the version of Debian 12 does.
bool swaps_pnm() {
  constexpr stbi_uc pixel[] = {'P', '5', ' ', '1', ' ', '1', ' ', '6', '5', '5', '3', '5', '\n', 1, 0};
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_us, StbFree> read(
      stbi_load_16_from_memory(pixel, sizeof pixel, &width, &height, &channels, 0));
  return read != nullptr && *read == 1;
}

Result<GrayImage> parse_gray(std::string_view bytes, const std::string& name) {
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = narrow<int>(bytes.size());
  GrayImage image;
  int channels = 0;
  if (stbi_info_from_memory(data, size, &image.width, &image.height, &channels) == 0) {
    return Diagnostic{name, 0, fmt::format("the image cannot be read: {}", stbi_failure_reason()),
                      "give a PNG, JPEG, BMP or PGM image"};
  }
  if (std::int64_t{image.width} * image.height > max_pixels) {
    return Diagnostic{name, 0, fmt::format("the image has {} x {} pixels", image.width, image.height),
                      "give an image of at most 64 million pixels"};
  }
  // stb fills up what a file does not have: a few bytes could become millions of pixels.
  constexpr std::int64_t most_pixels_a_byte = 10'000;  // of one colour and well packed; a PNG has up to 8256
  if (std::int64_t{image.width} * image.height > most_pixels_a_byte * std::ssize(bytes)) {
    return Diagnostic{name, 0,
                      fmt::format("the image has {} x {} pixels in {} bytes", image.width, image.height, bytes.size()),
                      "save it again; it may be truncated"};
  }
  const bool deep = stbi_is_16_bit_from_memory(data, size) != 0;
  bool read = false;
  if (deep) {
    // stb's own conversion to gray reads beyond its memory for 16-bit PPM files; so convert() does it.
    auto* pixels = stbi_load_16_from_memory(data, size, &image.width, &image.height, &channels, 0);
    static const bool swaps = swaps_pnm();
    if (pixels != nullptr && swaps && is_pnm(bytes))
      for (std::ptrdiff_t i = 0, end = std::ptrdiff_t{image.width} * image.height * channels; i < end; ++i)
        pixels[i] = static_cast<stbi_us>(pixels[i] << 8 | pixels[i] >> 8);
    read = convert(pixels, channels, is_pnm(bytes) ? white_of_pnm(bytes) : 65535.0, image);
  } else {
    read = convert(stbi_load_from_memory(data, size, &image.width, &image.height, &channels, 1), 1,
                   is_pnm(bytes) ? white_of_pnm(bytes) : 255.0, image);
  }
  if (!read) {
    return Diagnostic{name, 0, fmt::format("the image cannot be read: {}", stbi_failure_reason()),
                      "save it again; it may be truncated"};
  }
  return image;
}

}  // namespace

Result<HeightField> parse_height_field(std::string_view bytes, const std::string& file, const Vec3& size) {
  Result<GrayImage> image = parse_gray(bytes, file);
  if (!image.ok()) return image.error();
  if (image->width < 1 || image->height < 1)
    return Diagnostic{file, 0, "the image has no pixels", "save it again; it may be damaged"};
  auto field = std::make_shared<HeightFieldData>();
  field->columns = image->width;
  field->rows = image->height;
  field->size_x = size.x;
  field->size_y = size.y;
  field->heights.resize(image->levels.size());
  for (std::uint32_t row = 0; row < field->rows; ++row) {
    // Row 0 of the field lies at -y, the bottom of the image.
    const std::size_t from = std::size_t{field->rows - 1 - row} * field->columns;
    const std::size_t to = std::size_t{row} * field->columns;
    for (std::uint32_t column = 0; column < field->columns; ++column) {
      field->heights[to + column] = to_float(image->levels[from + column] * size.z);
    }
  }
  return HeightField(std::move(field));
}

}  // namespace volvox::model
