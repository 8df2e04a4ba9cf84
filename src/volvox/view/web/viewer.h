// The viewer in the browser, as the loop sees it: it keeps the tree for new clients, sends frames to all
// clients, and queues their commands until the loop takes them between two ticks. Thread-safe; the server
// runs on a thread of its own.
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
  bool open_browser = true;  // if there is a desktop
};

// One command of a person: {"type": "pause"}.
struct Command {
  WebServer::ClientId client = 0;
  std::shared_ptr<const nlohmann::json> what;
};

class Viewer {
 public:
  // Starts the server. If the host is not a loopback address and no token is given, it makes one.
  static Result<std::unique_ptr<Viewer>> start(const ViewerOptions& options);
  ~Viewer();

  std::string address() const { return server_->address(); }
  bool watched() const { return server_->clients() > 0; }

  // Sets the first message to every client, and the tree as made by encode_tree.
  void set_tree(const nlohmann::json& hello, std::string tree);
  void publish(std::string frame);
  void tell(const nlohmann::json& message, WebServer::ClientId client = 0);

  // The commands, whether there are new clients that have seen no frame yet, and the clients that have left, each
  // since the last call.
  std::vector<Command> take_commands();
  bool take_newcomers();
  std::vector<WebServer::ClientId> take_left();
  // Waits until a command or a new client comes, or until this moment.
  void wait_until(std::chrono::steady_clock::time_point moment);

 private:
  Viewer() = default;
  void take_message(WebServer::ClientId client, const std::string& text);

  std::mutex mutex_;  // guards the members below, up to tree_
  std::condition_variable wake_;
  std::vector<Command> commands_;
  std::vector<WebServer::ClientId> left_;
  bool newcomers_ = false;
  Bytes hello_, tree_;

  std::unique_ptr<WebServer> server_;  // destroyed first, because its thread uses the members above
};

// The text of an input on the time line.
std::string mark_of(const sim::Input& input);

// The folder of the built page of web/, beside robots/ and experiments/.
std::filesystem::path bundle_folder();

}  // namespace volvox::view
