// Drawing of SVG for the charts. Lengths are in px, y points downwards, as in SVG. Numbers are written with a fixed
// number of decimals, so that the same chart gives the same bytes.
// A Svg owns what was drawn and is for one thread.
#pragma once

#include <string>
#include <string_view>

namespace volvox::report {

// Colours that colour-blind readers can distinguish (Okabe and Ito, 2008).
namespace color {
inline constexpr std::string_view black = "#000000", gray = "#999999", orange = "#e69f00", sky = "#56b4e9",
                                  green = "#009e73", blue = "#0072b2", vermilion = "#d55e00", purple = "#cc79a7";
inline constexpr std::string_view ink = "#222222", faint_ink = "#555555", grid = "#e4e4e4", empty_cell = "#d4d4d4";
}  // namespace color

struct TextStyle {
  double size = 11;
  std::string_view anchor = "start";
  bool bold = false;
  std::string_view color = color::ink;
};

struct Stroke {
  std::string_view color = color::ink;
  double width = 1;
  std::string_view dash = {};  // "6 4"; empty: none
};

class Svg {
 public:
  void text(double x, double y, std::string_view words, const TextStyle& style = {}, double turn_degrees = 0);
  void line(double x1, double y1, double x2, double y2, const Stroke& stroke = {});
  // `points` in SVG's syntax: "x,y x,y ..."
  void polyline(std::string_view points, const Stroke& stroke);
  void polygon(std::string_view points, std::string_view fill, double opacity);
  void rect(double x, double y, double width, double height, std::string_view fill, std::string_view outline = "none");
  void circle(double x, double y, double radius, std::string_view fill, const Stroke& outline = {"none", 0});

  // The whole picture on white. `inside_html`: without the XML namespace, which a page does not need.
  std::string document(double width, double height, std::string_view title, bool inside_html) const;

 private:
  std::string body_;
};

// An upper estimate for the usual fonts.
double text_width(std::string_view words, double size);

}  // namespace volvox::report
