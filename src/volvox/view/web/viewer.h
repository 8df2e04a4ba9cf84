// What people look at in a browser: holds the scene for those who come, passes frames on to all of
// them, and keeps what they ask for until the loop takes it, between two ticks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "volvox/sim/input.h"
#include "volvox/view/web/codec.h"
#include "volvox/view/web/web_server.h"

namespace volvox::view {

struct ViewerOptions {
  WebServerOptions server;
  bool open_browser = true;  // where there is a desktop
};

// One thing that a person did: {"type": "pause"}.
struct Command {
  WebServer::ClientId client = 0;
  std::shared_ptr<const nlohmann::json> what;
};

class Viewer {
 public:
  // Starts to serve. A host other than of this machine gets a token of its own making.
  static Result<std::unique_ptr<Viewer>> start(const ViewerOptions& options);
  ~Viewer();

  std::string address() const { return server_->address(); }
  bool watched() const { return server_->clients() > 0; }

  // What everybody is told first, and the scene, as encode_scene made it.
  void set_scene(const nlohmann::json& hello, std::string scene);
  void publish(std::string frame);
  void tell(const nlohmann::json& message, WebServer::ClientId client = 0);

  // What has come since the last time. Whether anyone new has come, who has seen no frame yet.
  std::vector<Command> take_commands();
  bool take_newcomers();
  // Clients that have left since the last time.
  std::vector<WebServer::ClientId> take_left();
  // Until a command comes, or this moment.
  void wait_until(std::chrono::steady_clock::time_point moment);

 private:
  Viewer() = default;
  void take_message(WebServer::ClientId client, const std::string& text);

  std::mutex mutex_;  // guards all that follows, up to the server
  std::condition_variable wake_;
  std::vector<Command> commands_;
  std::vector<WebServer::ClientId> left_;
  bool newcomers_ = false;
  Bytes hello_, scene_;

  std::unique_ptr<WebServer> server_;  // ends first: its thread uses what stands above
};

// What a person did, as it stands on the time line.
std::string mark_of(const sim::Input& input);

// Where the bundle of web/ is: beside robots/ and experiments/.
std::filesystem::path bundle_folder();

}  // namespace volvox::view
