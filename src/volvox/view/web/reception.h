// Who visits a WebServer, who is let in, and how many: the server's rules, without the protocols. HTTP is in
// http_visitor.cpp and WebSockets in socket_client.cpp, each of which takes seconds to compile (Boost.Beast).
// All of it is used on the server's thread, but for count().
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "volvox/view/web/web_server.h"

namespace volvox::view {

class Visitor;

// Open sockets of one kind, at most so many: a new one pushes out the oldest. So nobody can take all file descriptors,
// which the run needs to write its results, and a client that only keeps sockets open cannot block others.
class Sockets {
 public:
  explicit Sockets(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}
  void add(Visitor& visitor);
  void remove(Visitor& visitor) { std::erase(list_, &visitor); }

 private:
  std::size_t most_;
  std::deque<Visitor*> list_;  // the oldest first
};

// An open socket. It is counted in one of the server's lists from its acceptance to its end.
class Visitor {
 public:
  Visitor() = default;
  virtual ~Visitor() { move_to(nullptr); }
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  void move_to(Sockets* list) {
    if (list_ != nullptr) list_->remove(*this);
    list_ = list;
    if (list_ != nullptr) list_->add(*this);
  }
  virtual void cut() = 0;  // closes the socket at once

 private:
  Sockets* list_ = nullptr;
};

// A visitor whose WebSocket is open.
class Client : public Visitor {
 public:
  virtual void send(Bytes bytes, bool binary) = 0;
  virtual void show(Bytes frame) = 0;  // instead of an older one that has not been sent yet
  virtual void say_goodbye() = 0;      // the run has ended
  WebServer::ClientId id = 0;
};

class Reception {
 public:
  Reception(const WebServerOptions& options, WebServer::Files files, WebServer::Callbacks callbacks);

  // A page of another site must not reach us through a person's browser, neither with our address (seen in Origin)
  // nor with its own name pointing to this machine (DNS rebinding, seen in Host). Any port will do, for tunnels.
  bool is_ours(std::string_view host, std::string_view origin) const;
  bool knows_token(std::string_view target) const;
  void listen_on(const boost::asio::ip::address& address) { loopback_ = address.is_loopback(); }

  bool add(const std::shared_ptr<Client>& client);  // false: there are too many
  void remove(WebServer::ClientId id);
  void greet(Client& client) const;
  void forget_clients() { clients_.clear(); }
  const std::map<WebServer::ClientId, std::shared_ptr<Client>>& clients() const { return clients_; }
  std::size_t count() const { return count_.load(); }  // any thread

  const WebServerOptions options;
  const WebServer::Files files;
  const WebServer::Callbacks callbacks;
  // Sockets that are not clients: those that have not shown the token, and those that have.
  Sockets strangers, guests;

 private:
  bool loopback_ = true;  // only this machine can connect
  std::map<WebServer::ClientId, std::shared_ptr<Client>> clients_;
  WebServer::ClientId last_id_ = 0;
  std::atomic<std::size_t> count_ = 0;
};

// Reads requests from a new socket and answers them. It keeps itself alive until the socket is closed; the reception
// must outlive it.
void receive_visitor(boost::asio::ip::tcp::socket socket, Reception& reception);

// Closes at once, also where a forked companion of the run holds a copy of the descriptor.
void close_now(boost::asio::ip::tcp::socket& socket);

}  // namespace volvox::view
