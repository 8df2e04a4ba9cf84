// Lines and short texts drawn onto a finished image: the scale bar and its label.
// Only changes the image that it is given: one thread an image. The same on every machine.
#pragma once

#include <string_view>

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

// A line with round ends, smooth at its edges; coordinates in pixels, from the top left.
void draw_line(Image& image, double x0, double y0, double x1, double y1, double width, Rgba color);

// Draws digits, the point and the letters of units, `height` pixels tall; (x, baseline) is the left end of the
// baseline. Returns the width. Characters without a glyph are left blank.
double draw_text(Image& image, std::string_view text, double x, double baseline, double height, Rgba color);
double text_width(std::string_view text, double height);

// The largest length (m) of 1, 2 or 5 times a power of ten that spans at most `pixels`.
double round_length(double pixels, double pixels_per_metre);

// Draws a bar of a round length in the lower left corner. Its scale is that of the camera's target.
void draw_scale_bar(Image& image, double pixels_per_metre);

}  // namespace volvox::view::picture
