// The engine `picture`: draws on the processor, so that it needs neither a display nor a graphics card, and pictures
// have the same bits with any instruction set and number of threads. An engine may be used by one thread at a time, and
// has threads of its own.
#pragma once

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

enum class DockMarks { hidden, state, load };  // load: whole links are coloured by the load of their docks

struct PictureSettings {
  static constexpr int smallest = 16, largest = 4096;  // pixels per side
  static constexpr int most_threads = 16;

  int width = 1280, height = 720;
  int samples = 4;    // per pixel, against jagged edges; 0: the finished image is smoothed, which is faster
  int threads = 0;    // 0: as many as there are processors
  double detail = 1;  // above 1: finer meshes and shadows, slower
  DockMarks docks = DockMarks::state;
  bool rays = false;      // of range sensors
  bool messages = false;  // on wires, and rings around antennas that send or have just sent
  bool grid = true;       // lines on the ground every 0.1, 1 and 10 m
  bool scale_bar = true;

  // Reads "width", "height", "samples", "threads", "detail", "docks" (none, state, load), "rays", "messages", "grid"
  // and "scale_bar". If "samples" is not given, it is 4 for a picture (detail above 1) and 0 for a video.
  static Result<PictureSettings> read(const Parameters& parameters);
};

std::unique_ptr<RenderEngine> make_picture_engine(const PictureSettings& settings);

}  // namespace volvox::view::picture
