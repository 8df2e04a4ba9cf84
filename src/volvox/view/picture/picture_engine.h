// The engine `picture`: draws off-screen with OpenGL 3.3 by EGL, so that it needs neither a
// display nor a graphics card. Not thread-safe: one engine, one thread at a time.
#pragma once

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

enum class DockMarks { hidden, state, load };  // load: whole links are coloured by what their docks bear

struct PictureSettings {
  static constexpr int smallest = 16, largest = 4096;  // pixels a side

  int width = 1280, height = 720;
  int samples = 4;    // a pixel, against jagged edges; 0: the finished image is smoothed, which is faster
  double detail = 1;  // above 1, coarse meshes and shadows come later: finer and slower
  DockMarks docks = DockMarks::state;
  bool rays = false;      // of range sensors
  bool messages = false;  // on wires, and rings around antennas: full on the air, paler after
  bool grid = true;       // lines on the ground every 0.1, 1 and 10 m
  bool scale_bar = true;

  // Out of "width", "height", "samples", "detail", "docks" (none, state, load), "rays", "messages", "grid" and
  // "scale_bar". Without "samples", 4 for a picture and 0 for a video (detail up to 1).
  static Result<PictureSettings> read(const Parameters& parameters);
};

// The error says what this machine lacks.
Result<std::unique_ptr<RenderEngine>> make_picture_engine(const PictureSettings& settings);

}  // namespace volvox::view::picture
