#include "volvox/view/picture/video.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "volvox/base/platform/file_sync.h"

namespace volvox::view::picture {
namespace {

std::vector<std::string> codec_for(const std::string& suffix) {
  if (suffix == ".mp4" || suffix == ".mov")
    return {"-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-movflags", "+faststart"};
  if (suffix == ".mkv") return {"-c:v", "libx264", "-preset", "veryfast", "-crf", "18"};
  if (suffix == ".webm")
    return {"-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "28", "-deadline", "realtime", "-cpu-used", "6"};
  return {};
}

// Where the film stands until it is complete: beside the last good one. It ends like the file, which tells ffmpeg the
// format, and lets players show what a killed run has left. A pipe or device is written itself.
std::filesystem::path part_of(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error)) return file;
  std::filesystem::path part = file;
  return part.replace_filename(
      fmt::format("{}.{}.part{}", file.stem().string(), platform::process_number(), file.extension().string()));
}

}  // namespace

Result<std::unique_ptr<VideoWriter>> VideoWriter::create(const std::filesystem::path& file, int width, int height,
                                                         int frames_per_second) {
  const std::vector<std::string> codec = codec_for(file.extension().string());
  if (codec.empty())
    return Diagnostic{file.string(), 0, "the name does not end like that of a known video format",
                      "give a name that ends in .mp4, .mkv, .mov or .webm"};
  if (width % 2 != 0 || height % 2 != 0)
    return Error(fmt::format("a video cannot have {} x {} pixels", width, height),
                 "give even numbers, such as 1280x720");
  std::error_code ignored;
  if (std::filesystem::is_fifo(file, ignored))  // to open it would wait for somebody who reads it
    return Diagnostic{file.string(), 0, "the video cannot be written into a pipe", "give the name of a file"};
  const std::filesystem::path part = part_of(file);
  if (std::filesystem::is_directory(file, ignored) || !std::ofstream(part, std::ios::binary | std::ios::app))
    return Diagnostic{file.string(), 0, "the video cannot be written", "give a path that can be written"};

  std::vector<std::string> arguments = {"ffmpeg",    "-y",
                                        "-loglevel", "error",
                                        "-f",        "rawvideo",
                                        "-pix_fmt",  "rgb24",
                                        "-s",        fmt::format("{}x{}", width, height),
                                        "-r",        std::to_string(frames_per_second),
                                        "-i",        "pipe:0",
                                        "-an"};
  arguments.insert(arguments.end(), codec.begin(), codec.end());
  // "file:" makes ffmpeg read names such as -a.mp4 or tcp:a.mp4 as file names.
  for (const std::string& last : {std::string("-pix_fmt"), std::string("yuv420p"), "file:" + part.string()})
    arguments.push_back(last);
  auto ffmpeg = platform::ChildProgram::start(arguments);
  if (!ffmpeg.ok()) {
    if (part != file) std::filesystem::remove(part, ignored);
    Error error("a video needs ffmpeg, which cannot be run on this machine", "install ffmpeg, or leave --video out");
    error.add(ffmpeg.error());
    return error;
  }
  std::unique_ptr<VideoWriter> writer(new VideoWriter);
  writer->file_ = file, writer->part_ = part;
  writer->width_ = width, writer->height_ = height;
  writer->ffmpeg_ = std::move(*ffmpeg);
  return writer;
}

VideoWriter::~VideoWriter() {
  if (part_ == file_) return;
  ffmpeg_->finish();  // it writes until then
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

Error VideoWriter::failure() {
  ffmpeg_->finish();
  std::string why = ffmpeg_->error_output();
  while (!why.empty() && why.back() == '\n') why.pop_back();
  return Error(Diagnostic{file_.string(), 0,
                          "ffmpeg could not write the video" + (why.empty() ? std::string() : ": " + why),
                          "check whether the disk is full, and whether ffmpeg has this codec"});
}

Result<void> VideoWriter::write(const Image& image) {
  if (image.width != width_ || image.height != height_)
    return Error("a frame of the video differs in size from the first frame", "draw all frames with one engine");
  if (!ffmpeg_->write(std::as_bytes(std::span(image.pixels)))) return failure();
  return {};
}

Result<void> VideoWriter::finish() {
  if (ffmpeg_->finish() != 0) return failure();
  if (part_ == file_) return {};
  std::error_code error;
  if (platform::sync_file(part_)) std::filesystem::rename(part_, file_, error);
  if (error || std::filesystem::exists(part_, error))
    return Diagnostic{file_.string(), 0, "the video cannot be written",
                      "check that its folder can be written, and that the disk is not full"};
  platform::sync_folder_of(file_);
  return {};
}

}  // namespace volvox::view::picture
