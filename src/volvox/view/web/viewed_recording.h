// Shows a recording in the viewer, with a time line. It keeps references to the viewer and the recording; `loop` runs
// on the caller's thread.
#pragma once

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>

#include "volvox/record/recording.h"
#include "volvox/view/web/cloud_sender.h"
#include "volvox/view/web/playback.h"
#include "volvox/view/web/viewer.h"

namespace volvox::view {

class ViewedRecording {
 public:
  // An error: the recording holds no tree.
  static Result<std::unique_ptr<ViewedRecording>> create(Viewer& viewer, record::Recording& recording);
  void loop(const std::atomic<bool>& stop);

 private:
  ViewedRecording(Viewer& viewer, record::Recording& recording)
      : viewer_(viewer), recording_(recording), cloud_(to_clients_of(viewer)) {}
  void handle(const Command& command);
  void show();
  void tell_watched(const record::RecordedTick& tick);
  void add_mind(nlohmann::json& about, const std::string& module);

  Viewer& viewer_;
  record::Recording& recording_;
  Playback playback_;
  std::int64_t tick_ = 0, shown_ = -1;
  std::map<WebServer::ClientId, std::string> watched_;
  Frame frame_;
  CloudSender cloud_;
  bool cloud_late_ = false;  // what has changed of it could not be told yet
};

// What a viewer is told of a recording before the first frame: the message "hello" with the whole of what stands on the
// time line, and the tree as made by encode_tree. An error: the recording holds no tree.
struct Introduction {
  nlohmann::json hello;
  std::string tree;
};
Result<Introduction> introduce(record::Recording& recording);

// What was recorded of a tick, as it is drawn.
void capture(const record::RecordedTick& tick, Frame& frame);

}  // namespace volvox::view
