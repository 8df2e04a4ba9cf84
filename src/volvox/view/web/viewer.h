// The viewer in the browser, as the loop sees it: it keeps the tree for new clients, sends frames to all
// clients, and queues their commands until the loop takes them between two ticks. Thread-safe; the server
// runs on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "volvox/sim/input.h"
#include "volvox/view/web/codec.h"
#include "volvox/view/web/web_server.h"

namespace volvox::view {

struct ViewerOptions {
  WebServerOptions server;
  bool open_browser = true;  // if there is a desktop
  bool use_token = true;     // makes a token where the server's options have none
};

// One command of a person: {"type": "pause"}.
struct Command {
  WebServer::ClientId client = 0;
  std::shared_ptr<const nlohmann::json> what;
};

// 128 random bits, for WebServerOptions.
std::string make_token();

class Viewer {
 public:
  // Starts the server.
  static Result<std::unique_ptr<Viewer>> start(const ViewerOptions& options);
  ~Viewer();

  std::string address() const { return server_->address(); }
  bool watched() const { return server_->clients() > 0; }

  // Sets the first message to every client, and the tree as made by encode_tree.
  void set_tree(const nlohmann::json& hello, std::string tree);
  void publish(std::string frame);
  // Like publish, but it arrives, whatever comes after it.
  void tell_bytes(std::string bytes, WebServer::ClientId client = 0);
  void tell(const nlohmann::json& message, WebServer::ClientId client = 0);
  // Tells everybody these points of the metrics' history, and keeps their text for clients that come later: a newcomer
  // costs the caller's thread nothing.
  void add_points(const nlohmann::json& points);
  // Keeps these instead, for those who come later.
  void keep_points(const nlohmann::json& points);

  // The commands, the new clients, which have seen no frame yet, and the clients that have left, each
  // since the last call.
  std::vector<Command> take_commands();
  std::vector<WebServer::ClientId> take_newcomers();
  std::vector<WebServer::ClientId> take_left();
  // What the server calls with each message of a client: keeps it if it is a command.
  void take_message(WebServer::ClientId client, const std::string& text);
  // Waits until a command or a new client comes, or until this moment.
  void wait_until(std::chrono::steady_clock::time_point moment);
  // Waits for the first client, until this moment or `stop`.
  void wait_for_client(std::chrono::steady_clock::time_point latest, const std::atomic<bool>& stop);

 private:
  Viewer() = default;
  std::vector<std::pair<Bytes, bool>> greeting();

  std::mutex mutex_;  // guards the members below, up to told_points_
  std::condition_variable wake_;
  std::vector<Command> commands_;
  std::vector<WebServer::ClientId> left_, newcomers_;
  std::size_t commands_bytes_ = 0;    // of their texts
  std::string points_;                // of JSON, all so far
  Bytes hello_, tree_, told_points_;  // told_points_: the message with all points; null: not made since the last

  std::unique_ptr<WebServer> server_;  // destroyed first, because its thread uses the members above
};

// Calls Viewer::tell_bytes.
std::function<void(std::string, WebServer::ClientId)> to_clients_of(Viewer& viewer);

// The text of an input on the time line.
std::string mark_of(const sim::Input& input);

// The folder of the built page of web/, beside robots/ and experiments/.
std::filesystem::path bundle_folder();

}  // namespace volvox::view
