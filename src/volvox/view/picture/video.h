// Video: frames go as raw bytes to ffmpeg, which runs as a child process. It writes beside the file
// (NAME.PROCESS.part.mp4), which is replaced when the film is complete: a full disk leaves the last good one, and so
// does a kill. Owns the child. For one thread; write waits while ffmpeg is behind.
#pragma once

#include <filesystem>
#include <memory>

#include "volvox/base/platform/child_program.h"
#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

class VideoWriter {
 public:
  // The name chooses the format: .mp4, .mkv, .mov (H.264) or .webm (VP9). Width and height must be even.
  static Result<std::unique_ptr<VideoWriter>> create(const std::filesystem::path& file, int width, int height,
                                                     int frames_per_second);
  ~VideoWriter();  // without finish() before it, nothing is left
  VideoWriter(const VideoWriter&) = delete;
  VideoWriter& operator=(const VideoWriter&) = delete;

  Result<void> write(const Image& image);
  Result<void> finish();  // completes and replaces the file; write must not be called after it

 private:
  VideoWriter() = default;
  Error failure();

  std::filesystem::path file_, part_;  // the same for a pipe or device
  int width_ = 0, height_ = 0;
  std::unique_ptr<platform::ChildProgram> ffmpeg_;
};

}  // namespace volvox::view::picture
