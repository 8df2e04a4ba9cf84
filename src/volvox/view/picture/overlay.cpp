#include "volvox/view/picture/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace volvox::view::picture {
namespace {

struct Point {
  double x, y;  // in units of the text's height, y up from the baseline
};
using Stroke = std::vector<Point>;
struct Glyph {
  double advance = 0.5;
  std::vector<Stroke> strokes;
};

Stroke arc(double cx, double cy, double rx, double ry, double from_degrees, double to_degrees) {
  Stroke stroke;
  for (int i = 0; i <= 12; ++i) {
    const double a = radians(from_degrees + (to_degrees - from_degrees) * i / 12);
    stroke.push_back({cx + rx * volvox::cos(a), cy + ry * volvox::sin(a)});
  }
  return stroke;
}

// A stroke font, so that no font file has to be installed.
Glyph glyph(char c) {
  switch (c) {
    case '0': return {0.66, {arc(0.28, 0.5, 0.24, 0.5, 0, 360)}};
    case '1': return {0.5, {{{0.06, 0.8}, {0.26, 1}, {0.26, 0}}}};
    case '2': return {0.64, {arc(0.28, 0.72, 0.24, 0.28, 165, -35), {{0.475, 0.56}, {0.04, 0}, {0.54, 0}}}};
    case '3': return {0.64, {arc(0.27, 0.75, 0.21, 0.25, 150, -90), arc(0.27, 0.25, 0.25, 0.25, 90, -150)}};
    case '4': return {0.66, {{{0.42, 0}, {0.42, 1}, {0.02, 0.3}, {0.58, 0.3}}}};
    case '5': return {0.64, {{{0.48, 1}, {0.12, 1}, {0.08, 0.55}}, arc(0.27, 0.33, 0.25, 0.33, 130, -150)}};
    case '6': return {0.64, {arc(0.29, 0.31, 0.24, 0.31, 0, 360), arc(0.55, 0.36, 0.5, 0.64, 100, 180)}};
    case '7': return {0.6, {{{0.02, 1}, {0.52, 1}, {0.18, 0}}}};
    case '8': return {0.64, {arc(0.28, 0.76, 0.2, 0.24, 0, 360), arc(0.28, 0.26, 0.25, 0.26, 0, 360)}};
    case '9': return {0.64, {arc(0.27, 0.69, 0.24, 0.31, 0, 360), arc(0.01, 0.64, 0.5, 0.64, -80, 0)}};
    case '.': return {0.28, {{{0.1, 0.02}, {0.1, 0.02}}}};
    case '-': return {0.5, {{{0.06, 0.42}, {0.4, 0.42}}}};
    case '=': return {0.62, {{{0.06, 0.54}, {0.5, 0.54}}, {{0.06, 0.28}, {0.5, 0.28}}}};
    case 'm':
      return {0.98,
              {{{0.08, 0}, {0.08, 0.66}},
               arc(0.265, 0.46, 0.185, 0.2, 180, 0),
               {{0.45, 0.46}, {0.45, 0}},
               arc(0.635, 0.46, 0.185, 0.2, 180, 0),
               {{0.82, 0.46}, {0.82, 0}}}};
    case 'c': return {0.56, {arc(0.29, 0.33, 0.24, 0.33, 50, 310)}};
    case 'k': return {0.56, {{{0.08, 0}, {0.08, 1}}, {{0.44, 0.66}, {0.08, 0.28}}, {{0.2, 0.4}, {0.48, 0}}}};
    case 's': return {0.52, {arc(0.25, 0.5, 0.17, 0.16, 30, 270), arc(0.25, 0.17, 0.19, 0.17, 90, -150)}};
    case 't':
      return {0.42,
              {{{0.18, 0.92}, {0.18, 0.14}}, arc(0.31, 0.14, 0.13, 0.14, 180, 280), {{0.02, 0.66}, {0.36, 0.66}}}};
    default: return {0.4, {}};
  }
}

void blend(Image& image, int x, int y, Rgba color, double amount) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  const std::size_t row = y;
  std::uint8_t* pixel = &image.pixels[3 * (row * image.width + x)];
  const std::uint8_t over[3] = {color.r, color.g, color.b};
  for (int k = 0; k < 3; ++k) pixel[k] = to_byte(pixel[k] + (over[k] - pixel[k]) * amount);
}

}  // namespace

void draw_line(Image& image, double x0, double y0, double x1, double y1, double width, Rgba color) {
  const double radius = width / 2, dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
  const int left = truncated(std::floor(std::min(x0, x1) - radius - 1)),
            right = truncated(std::ceil(std::max(x0, x1) + radius + 1));
  const int top = truncated(std::floor(std::min(y0, y1) - radius - 1)),
            bottom = truncated(std::ceil(std::max(y0, y1) + radius + 1));
  for (int y = std::max(top, 0); y <= std::min(bottom, image.height - 1); ++y)
    for (int x = std::max(left, 0); x <= std::min(right, image.width - 1); ++x) {
      const double px = x + 0.5 - x0, py = y + 0.5 - y0;
      const double t = square > 0 ? clamp((px * dx + py * dy) / square, 0, 1) : 0;
      const double cover = clamp(radius + 0.5 - length(Vec3{px - t * dx, py - t * dy, 0}), 0, 1);
      if (cover > 0) blend(image, x, y, color, cover * color.a / 255);
    }
}

double text_width(std::string_view text, double height) {
  double width = 0;
  for (const char c : text) width += glyph(c).advance * height;
  return width;
}

double draw_text(Image& image, std::string_view text, double x, double baseline, double height, Rgba color) {
  const double begin = x;
  for (const char c : text) {
    const Glyph shape = glyph(c);
    for (const Stroke& stroke : shape.strokes)
      for (std::size_t i = 0; i + 1 < stroke.size(); ++i)
        draw_line(image, x + stroke[i].x * height, baseline - stroke[i].y * height, x + stroke[i + 1].x * height,
                  baseline - stroke[i + 1].y * height, height * 0.13, color);
    x += shape.advance * height;
  }
  return x - begin;
}

double round_length(double pixels, double pixels_per_metre) {
  const double longest = pixels / pixels_per_metre;
  double power = 1;  // by products and quotients: the last bits of std::pow and std::log10 depend on the machine
  while (power * 10 <= longest && power < 1e300) power *= 10;
  while (power > longest && power > 1e-300) power /= 10;
  for (const double step : {5.0, 2.0, 1.0})
    if (step * power <= longest) return step * power;
  return power;
}

void draw_scale_bar(Image& image, double pixels_per_metre) {
  const double length = round_length(0.16 * image.width, pixels_per_metre);
  const double unit = image.height / 720.0, bar = length * pixels_per_metre;
  const double x = 28 * unit, y = image.height - 28 * unit, tick = 5 * unit;
  const Rgba ink{46, 50, 56, 255};
  draw_line(image, x, y, x + bar, y, 2.2 * unit, ink);
  draw_line(image, x, y - tick, x, y + tick, 2.2 * unit, ink);
  draw_line(image, x + bar, y - tick, x + bar, y + tick, 2.2 * unit, ink);
  const std::string label = length >= 1000   ? fmt::format("{:g} km", length / 1000)
                            : length >= 0.1  ? fmt::format("{:g} m", length)
                            : length >= 0.01 ? fmt::format("{:g} cm", length * 100)
                                             : fmt::format("{:g} mm", length * 1000);
  const double size = 15 * unit;
  draw_text(image, label, x + (bar - text_width(label, size)) / 2, y - 11 * unit, size, ink);
}

}  // namespace volvox::view::picture
