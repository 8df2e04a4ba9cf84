// A small web server for the viewer: it serves the files of one bundle, and a WebSocket that sends frames
// and receives commands. It runs on a thread of its own and does not depend on the simulation. Its
// functions may be called from any thread.
//
// Nothing is served without the token. No client can slow down or stop the run: a slow client gets only
// the newest frame; a client that sends too much, too fast or nonsense is disconnected; the numbers of clients and of
// all open sockets are limited, and a client that only keeps sockets open cannot block others. tests/attack attacks
// each of these claims.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::view {

struct WebServerOptions {
  std::string host = "127.0.0.1";  // the address to listen on; by default only this machine can connect
  std::uint16_t port = 0;          // 0: any free port
  std::string token;               // every request must contain it, unless it is empty
  std::size_t max_clients = 16;
  // Other open sockets: a new one pushes out the oldest. Strangers have not shown the token; guests have, and get
  // files.
  std::size_t max_strangers = 64, max_guests = 48;
  std::chrono::milliseconds request_timeout{10'000};  // to receive a whole request
  std::chrono::milliseconds answer_timeout{30'000};   // for the client to receive a whole answer
  std::size_t max_message_bytes = 64 * 1024;          // per message of a client
  double max_messages_per_second = 200;               // per client; also the size of a burst
  std::size_t max_backlog_bytes = 64 << 20;           // messages that wait for a client, besides the newest
};

using Bytes = std::shared_ptr<const std::string>;

class WebServer {
 public:
  using ClientId = std::uint64_t;
  struct Callbacks {
    // They are called on the server's thread and must be short.
    std::function<std::vector<std::pair<Bytes, bool>>(ClientId)> greeting;  // messages to a new client; true: binary
    std::function<void(ClientId, std::string)> message;                     // a text from a client
    std::function<void(ClientId)> left;
  };

  // Files by their path in the address; "/" is index.html. No other file is served.
  using Files = std::map<std::string, std::string>;
  static Result<Files> read_bundle(const std::filesystem::path& folder);

  // Binds the address and starts. The error says which address is in use, and what to do.
  static Result<std::unique_ptr<WebServer>> start(const WebServerOptions& options, Files files, Callbacks callbacks);
  virtual ~WebServer() = default;  // disconnects all clients and joins the thread

  virtual std::string address() const = 0;  // to open in a browser; contains the token if there is one
  virtual std::uint16_t port() const = 0;
  virtual std::size_t clients() const = 0;

  // Sends the newest frame to every client. It replaces an older frame that has not been sent yet.
  virtual void publish(Bytes frame) = 0;
  // Sends a message that must arrive, to one client or (client 0) to all.
  virtual void send(ClientId client, Bytes message, bool binary = false) = 0;
  // Sends the greeting to all clients again, after a change of tree.
  virtual void greet_all() = 0;
};

}  // namespace volvox::view
