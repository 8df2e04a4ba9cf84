// A recording as one page that needs no server: the viewer of web/ with its script, its style and the recording inside.
// It can be opened from a disk, sent by mail, or shown inside a notebook.
// Not thread-safe: reads the recording, whose reader keeps a place in the file.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "volvox/record/recording.h"

namespace volvox::view {

struct PageOptions {
  // Shows the ticks first, first + every, ... 0: as often as fits into most_bytes.
  std::int64_t every = 0;
  // Of the recording in the page, before it is written as text (which makes it a third longer): frames, the world's
  // shapes, marks, and points of the plots, which are thinned to a quarter of it. Shapes that fill it alone get a
  // quarter more for frames. Of what `every` asks for, up to four times as much is taken.
  std::size_t most_bytes = 12'000'000;
};

struct Page {
  std::string html;                         // the text of the file
  std::int64_t every = 1;                   // ticks between two that it shows
  std::int64_t shown_ticks = 0, ticks = 0;  // of the recording. The page says so, too
};

// An error: the viewer is not built, the recording holds nothing to show, or is too large.
Result<Page> page_of(record::Recording& recording, const PageOptions& options = {});

// Keeps every second point of the plots, and the last, until their text fits: plots of long runs keep their shape.
void thin_points(nlohmann::json& points, std::size_t most_bytes);

}  // namespace volvox::view
