// A small web server for viewers: the files of one bundle, and a WebSocket over which frames go
// out and commands come in. It runs on a thread of its own and knows nothing of robots.
//
// Nobody who connects can slow or stop the run: a client that cannot keep up gets only the newest
// frame; one that sends too much, too fast or nonsense is dropped; there are never more than a few.
#pragma once

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
  std::string host = "127.0.0.1";  // an address; other than of this machine only on request
  std::uint16_t port = 0;          // 0: any that is free
  std::string token;               // asked of every client, unless empty
  std::size_t max_clients = 16;
  std::size_t max_message_bytes = 64 * 1024;  // of what a client sends
  double max_messages_per_second = 200;       // likewise; a burst of as many may come at once
  std::size_t max_backlog_bytes = 64 << 20;   // of messages that a client has not taken yet
};

using Bytes = std::shared_ptr<const std::string>;

class WebServer {
 public:
  using ClientId = std::uint64_t;
  struct Callbacks {
    // On the server's thread: keep them short. What a new client must know, in order.
    std::function<std::vector<std::pair<Bytes, bool>>()> greeting;  // bytes, and whether they are binary
    std::function<void(ClientId, std::string)> message;             // text that a client sent
    std::function<void(ClientId)> left;
  };

  // Files by their path in the address: "/" is index.html. Nothing else is ever served.
  using Files = std::map<std::string, std::string>;
  static Result<Files> read_bundle(const std::filesystem::path& folder);

  // Binds and starts. An error says which address is taken, and what to do.
  static Result<std::unique_ptr<WebServer>> start(const WebServerOptions& options, Files files, Callbacks callbacks);
  virtual ~WebServer() = default;  // disconnects everybody and joins the thread

  virtual std::string address() const = 0;  // to open in a browser, with the token if there is one
  virtual std::uint16_t port() const = 0;
  virtual std::size_t clients() const = 0;

  // The newest frame for every client; one that has not taken the last gets this one instead.
  virtual void publish(Bytes frame) = 0;
  // Text that must arrive, for one client or (client 0) for all.
  virtual void send(ClientId client, Bytes text) = 0;
  // Greets everybody again: there is another scene.
  virtual void greet_all() = 0;
};

}  // namespace volvox::view
