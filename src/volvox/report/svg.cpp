#include "volvox/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "volvox/base/index.h"
#include "volvox/base/text.h"

namespace volvox::report {
namespace {

std::string dashes(const Stroke& stroke) {
  return stroke.dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", stroke.dash);
}

}  // namespace

void Svg::text(double x, double y, std::string_view words, const TextStyle& style, double turn_degrees) {
  if (words.empty()) return;
  fmt::format_to(
      std::back_inserter(body_),
      R"(<text x="{:.1f}" y="{:.1f}" font-size="{:g}" text-anchor="{}" fill="{}"{}{}>{}</text>)"
      "\n",
      x, y, style.size, style.anchor, style.color, style.bold ? R"( font-weight="bold")" : "",
      turn_degrees != 0 ? fmt::format(R"x( transform="rotate({:.0f} {:.1f} {:.1f})")x", turn_degrees, x, y) : "",
      xml_escaped(words));
}

void Svg::line(double x1, double y1, double x2, double y2, const Stroke& stroke) {
  fmt::format_to(std::back_inserter(body_),
                 R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{:g}"{}/>)"
                 "\n",
                 x1, y1, x2, y2, stroke.color, stroke.width, dashes(stroke));
}

void Svg::polyline(std::string_view points, const Stroke& stroke) {
  fmt::format_to(std::back_inserter(body_),
                 R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="{:g}" stroke-linejoin="round"{}/>)"
                 "\n",
                 points, stroke.color, stroke.width, dashes(stroke));
}

void Svg::polygon(std::string_view points, std::string_view fill, double opacity) {
  fmt::format_to(std::back_inserter(body_),
                 R"(<polygon points="{}" fill="{}" fill-opacity="{:g}"/>)"
                 "\n",
                 points, fill, opacity);
}

void Svg::rect(double x, double y, double width, double height, std::string_view fill, std::string_view outline) {
  fmt::format_to(std::back_inserter(body_),
                 R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" stroke="{}"/>)"
                 "\n",
                 x, y, width, height, fill, outline);
}

void Svg::circle(double x, double y, double radius, std::string_view fill, const Stroke& outline) {
  const std::string edge =
      outline.width > 0 ? fmt::format(R"( stroke="{}" stroke-width="{:.3g}")", outline.color, outline.width) : "";
  fmt::format_to(std::back_inserter(body_),
                 R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.3g}" fill="{}"{}/>)"
                 "\n",
                 x, y, radius, fill, edge);
}

std::string Svg::document(double width, double height, std::string_view title, bool inside_html) const {
  return fmt::format(R"(<svg{} width="{:.0f}" height="{:.0f}" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}" )"
                     R"(font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">)"
                     "\n"
                     R"(<rect width="100%" height="100%" fill="#ffffff"/>)"
                     "\n{}</svg>\n",
                     inside_html ? "" : R"( xmlns="http://www.w3.org/2000/svg")", width, height, width, height,
                     xml_escaped(title), body_);
}

double text_width(std::string_view words, double size) {
  const auto letters = std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return 0.6 * size * real(letters);
}

}  // namespace volvox::report
