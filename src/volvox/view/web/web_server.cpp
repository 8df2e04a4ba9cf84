// The only file that includes Boost.Beast, which takes half a minute to compile.
#include "volvox/view/web/web_server.h"

#include <fmt/format.h>

#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <fstream>
#include <thread>

#include "volvox/base/platform/descriptors.h"

namespace volvox::view {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_request_header = 8 * 1024;

std::string_view text(beast::string_view view) { return {view.data(), view.size()}; }

std::string media_type(std::string_view path) {
  for (const auto& [ending, type] : {std::pair{".html", "text/html; charset=utf-8"},
                                     {".js", "text/javascript; charset=utf-8"},
                                     {".css", "text/css; charset=utf-8"},
                                     {".svg", "image/svg+xml"},
                                     {".json", "application/json"},
                                     {".png", "image/png"},
                                     {".ico", "image/x-icon"}})
    if (path.ends_with(ending)) return type;
  return "application/octet-stream";
}

// Compares in a time that does not depend on the content, so that a client cannot guess the token step by step.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

std::string_view query_value(std::string_view target, std::string_view key) {
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return {};
  for (std::string_view query = target.substr(mark + 1); !query.empty();) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.starts_with(key) && pair.size() > key.size() && pair[key.size()] == '=')
      return pair.substr(key.size() + 1);
  }
  return {};
}

// Adds the token to the addresses of the script and the style in the page, which are not served without it.
void add_token(WebServer::Files& files, const std::string& token) {
  const auto page = files.find("/index.html");
  if (token.empty() || page == files.end()) return;
  std::string& html = page->second;
  for (const auto& [path, content] : files)
    for (std::size_t at = html.find(path); at != std::string::npos; at = html.find(path, at + 1))
      if (const std::size_t end = at + path.size(); end < html.size() && (html[end] == '"' || html[end] == '\''))
        html.insert(end, "?token=" + token);
}

// The name or address in a request's Host, without the port and the brackets of IPv6.
std::string_view name_of(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, std::max<std::size_t>(host.find(']'), 1) - 1);
  return host.substr(0, host.find(':'));
}

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

void Sockets::add(Visitor& visitor) {
  list_.push_back(&visitor);
  if (list_.size() <= most_) return;
  Visitor* const oldest = list_.front();
  list_.pop_front();
  oldest->cut();
}

void close_now(tcp::socket& socket) {
  beast::error_code ignored;
  // Also where a forked companion of the run holds a copy of the descriptor.
  socket.shutdown(tcp::socket::shutdown_both, ignored);
  socket.close(ignored);
}

class Server;

class Client final : public Visitor, public std::enable_shared_from_this<Client> {
 public:
  Client(tcp::socket socket, Server& server)
      : stream_(std::move(socket)), close_timer_(stream_.get_executor()), server_(server) {}
  void start(Request request);
  void cut() override { close_now(beast::get_lowest_layer(stream_).socket()); }
  void send(Bytes bytes, bool binary);
  void show(Bytes frame);
  void close(websocket::close_code code, const char* why);
  WebServer::ClientId id = 0;

 private:
  void read();
  bool spend_allowance();
  void write_next();
  void leave();

  websocket::stream<beast::tcp_stream> stream_;
  asio::steady_timer close_timer_;  // cuts off a client that does not answer the close
  Server& server_;
  beast::flat_buffer incoming_;
  struct Outgoing {
    Bytes bytes;
    bool binary;
  };
  std::deque<Outgoing> waiting_;
  std::size_t waiting_bytes_ = 0;
  Bytes frame_;    // the newest frame, not sent yet
  Bytes writing_;  // kept alive while it is sent
  bool open_ = false, closing_ = false;
  double allowance_ = 0;
  Clock::time_point last_message_ = Clock::now();
};

// One HTTP request: for a file, or for the upgrade to a WebSocket.
class Connection final : public Visitor, public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Server& server) : stream_(std::move(socket)), server_(server) {}
  void start();
  void cut() override { close_now(stream_.socket()); }

 private:
  void answer(const Request& request);
  void respond(http::status status, std::string body, const std::string& type, bool head_only, bool keep_alive);

  beast::tcp_stream stream_;
  Server& server_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
};

class Server final : public WebServer {
 public:
  Server(const WebServerOptions& o, Files f, Callbacks c)
      : options(o),
        files(with_token(std::move(f), o.token)),
        callbacks(std::move(c)),
        strangers(o.max_strangers),
        guests(o.max_guests),
        acceptor_(context_) {}
  ~Server() override {
    asio::post(context_, [this] {
      beast::error_code ignored;
      acceptor_.close(ignored);
      accept_again_.cancel();
      const auto everybody = clients_;
      for (const auto& [id, client] : everybody) client->close(websocket::close_code::going_away, "the run has ended");
    });
    work_.reset();
    // Clients have 0.3 s to receive the close.
    if (thread_.joinable()) {
      context_end_.expires_after(std::chrono::milliseconds(300));
      context_end_.async_wait([this](beast::error_code) { context_.stop(); });
      thread_.join();
    }
  }

  Result<void> bind() {
    const auto trouble = [&](const beast::error_code& error) {
      return Error(
          fmt::format("the viewer cannot listen on {} port {}: {}", options.host, options.port, error.message()),
          "give another --port, or none for any that is free; --host takes an address of this machine");
    };
    beast::error_code error;
    const auto address = asio::ip::make_address(options.host == "localhost" ? "127.0.0.1" : options.host, error);
    if (error) return trouble(error);
    address_ = address;
    const tcp::endpoint endpoint(address, options.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) platform::close_on_exec(acceptor_.native_handle());
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return trouble(error);
    port_ = acceptor_.local_endpoint().port();
    accept();
    thread_ = std::thread([this] { work(); });
    return {};
  }

  // Made from the parsed address: --host may hold other text, as in "::1%$(rm *)".
  std::string address() const override {
    const std::string host = address_.is_v6()
                                 ? fmt::format("[{}]", address_.is_unspecified() ? "::1" : address_.to_string())
                             : address_.is_unspecified() ? "127.0.0.1"
                                                         : address_.to_string();
    return fmt::format("http://{}:{}/{}", host, port_, options.token.empty() ? "" : "?token=" + options.token);
  }
  std::uint16_t port() const override { return port_; }
  std::size_t clients() const override { return count_.load(); }

  void publish(Bytes frame) override {
    asio::post(context_, [this, frame = std::move(frame)] {
      for (const auto& [id, client] : clients_) client->show(frame);
    });
  }
  void send(ClientId wanted, Bytes bytes, bool binary) override {
    asio::post(context_, [this, wanted, bytes = std::move(bytes), binary] {
      const auto everybody = clients_;  // a copy, because sending may remove a client
      for (const auto& [id, client] : everybody)
        if (wanted == 0 || wanted == id) client->send(bytes, binary);
    });
  }
  void greet_all() override {
    asio::post(context_, [this] {
      const auto everybody = clients_;
      for (const auto& [id, client] : everybody) greet(*client);
    });
  }

  // The functions below run on the server's thread.
  void greet(Client& client) {
    if (!callbacks.greeting) return;
    for (auto& [bytes, binary] : callbacks.greeting(client.id)) client.send(bytes, binary);
  }
  bool add(const std::shared_ptr<Client>& client) {
    if (clients_.size() >= options.max_clients) return false;
    client->move_to(nullptr);
    client->id = ++last_id_;
    clients_[client->id] = client;
    count_ = clients_.size();
    return true;
  }
  void remove(ClientId id) {
    if (clients_.erase(id) == 0) return;
    count_ = clients_.size();
    if (callbacks.left) callbacks.left(id);
  }

  // A page of another site must not reach us through a person's browser, neither with our address (seen in Origin)
  // nor with its own name pointing to this machine (DNS rebinding, seen in Host). Any port will do, for tunnels.
  bool is_ours(const Request& request) const {
    const std::string_view host = text(request[http::field::host]), origin = text(request[http::field::origin]);
    if (!origin.empty() && origin != "http://" + std::string(host)) return false;
    // An address that others reach may have several names; there the token protects us.
    if (!address_.is_loopback() && !options.token.empty()) return true;
    beast::error_code not_an_address;
    const auto named = asio::ip::make_address(std::string(name_of(host)), not_an_address);
    if (not_an_address) return name_of(host) == "localhost";
    return !address_.is_loopback() || named.is_loopback();
  }
  bool knows_token(const Request& request) const {
    return options.token.empty() || same_secret(query_value(text(request.target()), "token"), options.token);
  }

  const WebServerOptions options;
  const Files files;
  const Callbacks callbacks;
  // Sockets that are not clients: those that have not shown the token, and those that have.
  Sockets strangers, guests;

 private:
  static Files with_token(Files files, const std::string& token) {
    add_token(files, token);
    return files;
  }
  void work() {
    while (!context_.stopped()) try {
        context_.run();
      } catch (const std::exception&) {
        // Memory may be short for one visitor; the others stay.
      }
  }
  void accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {  // mostly because there are no file descriptors left: wait instead of asking at once again
        accept_again_.expires_after(std::chrono::milliseconds(100));
        accept_again_.async_wait([this](beast::error_code) {
          if (acceptor_.is_open()) accept();
        });
        return;
      }
      accept();
      platform::close_on_exec(socket.native_handle());
      if (platform::few_descriptors_left(socket.native_handle())) return;
      const auto visitor = std::make_shared<Connection>(std::move(socket), *this);
      visitor->move_to(&strangers);
      visitor->start();
    });
  }

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  tcp::acceptor acceptor_;
  asio::steady_timer context_end_{context_}, accept_again_{context_};
  std::thread thread_;
  std::uint16_t port_ = 0;
  asio::ip::address address_;
  std::map<ClientId, std::shared_ptr<Client>> clients_;
  ClientId last_id_ = 0;
  std::atomic<std::size_t> count_ = 0;
};

// --- A request -----------------------------------------------------------------------------

void Connection::start() {
  parser_.emplace();
  parser_->header_limit(max_request_header);
  parser_->body_limit(0);  // there are no uploads
  stream_.expires_after(server_.options.request_timeout);
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return;  // a closed, slow or invalid connection
    self->answer(self->parser_->get());
  });
}

void Connection::respond(http::status status, std::string body, const std::string& type, bool head_only,
                         bool keep_alive) {
  response_.emplace(status, 11);
  response_->set(http::field::content_type, type);
  response_->set(http::field::cache_control, "no-store");
  response_->set("X-Content-Type-Options", "nosniff");
  response_->set("Referrer-Policy", "no-referrer");
  response_->set("Content-Security-Policy",
                 "default-src 'self'; img-src 'self' data: blob:; media-src 'self' data:; style-src 'self' "
                 "'unsafe-inline'; base-uri 'none'; "
                 "form-action 'none'; frame-ancestors 'none'");
  response_->set("Cross-Origin-Resource-Policy", "same-origin");
  response_->keep_alive(keep_alive);
  response_->content_length(body.size());
  if (!head_only) response_->body() = std::move(body);
  stream_.expires_after(server_.options.answer_timeout);
  http::async_write(stream_, *response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return;
    if (self->response_->keep_alive()) return self->start();
    self->stream_.socket().shutdown(tcp::socket::shutdown_send, error);
  });
}

void Connection::answer(const Request& request) {
  const bool head = request.method() == http::verb::head;
  const auto refuse = [&](http::status status, const char* why) {
    respond(status, std::string(why) + "\n", "text/plain; charset=utf-8", head, false);
  };
  if (!server_.is_ours(request)) return refuse(http::status::forbidden, "This page does not belong to this viewer.");
  if (!server_.knows_token(request))
    return refuse(http::status::forbidden, "The token is missing or wrong: open the address that volvox printed.");
  move_to(&server_.guests);
  const std::string_view target = text(request.target());
  const std::string_view path = target.substr(0, target.find('?'));
  if (websocket::is_upgrade(request)) {
    if (path != "/socket") return refuse(http::status::not_found, "There is nothing here.");
    stream_.expires_never();
    move_to(nullptr);
    const auto client = std::make_shared<Client>(stream_.release_socket(), server_);
    client->move_to(&server_.guests);
    return client->start(request);
  }
  if (request.method() != http::verb::get && !head)
    return refuse(http::status::method_not_allowed, "Only GET is answered.");
  const auto file = server_.files.find(std::string(path == "/" ? "/index.html" : path));
  if (file == server_.files.end()) return refuse(http::status::not_found, "There is nothing here.");
  respond(http::status::ok, file->second, media_type(file->first), head, request.keep_alive());
}

// --- A client ------------------------------------------------------------------------------

void Client::start(Request request) {
  websocket::stream_base::timeout timeouts{};
  timeouts.handshake_timeout = server_.options.request_timeout;
  timeouts.idle_timeout = std::chrono::seconds(30);
  timeouts.keep_alive_pings = true;
  stream_.set_option(timeouts);
  stream_.auto_fragment(false);  // one message, one WebSocket frame
  stream_.read_message_max(server_.options.max_message_bytes);
  allowance_ = server_.options.max_messages_per_second;
  auto kept = std::make_shared<Request>(std::move(request));
  stream_.async_accept(*kept, [self = shared_from_this(), kept](beast::error_code error) {
    if (error) return;
    self->open_ = true;
    if (!self->server_.add(self))
      return self->close(websocket::close_code::try_again_later, "too many viewers are connected");
    beast::get_lowest_layer(self->stream_).socket().set_option(tcp::no_delay(true), error);
    self->server_.greet(*self);
    self->read();
  });
}

// A token bucket that holds the messages of one second. False if the client sends too fast.
bool Client::spend_allowance() {
  const auto now = Clock::now();
  const double most = server_.options.max_messages_per_second;
  allowance_ = std::min(most, allowance_ + most * std::chrono::duration<double>(now - last_message_).count());
  last_message_ = now;
  allowance_ -= 1;
  return allowance_ >= 0;
}

void Client::read() {
  stream_.async_read(incoming_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return self->leave();
    if (!self->spend_allowance()) return self->close(websocket::close_code::policy_error, "too many messages");
    if (!self->stream_.got_text()) return self->close(websocket::close_code::unknown_data, "commands are text");
    if (self->server_.callbacks.message)
      self->server_.callbacks.message(self->id, beast::buffers_to_string(self->incoming_.data()));
    self->incoming_.consume(self->incoming_.size());
    self->read();
  });
}

void Client::send(Bytes bytes, bool binary) {
  if (closing_ || !open_) return;
  // A single message may be larger than the limit: the tree of a large world is.
  if (waiting_bytes_ > server_.options.max_backlog_bytes) return close(websocket::close_code::policy_error, "too slow");
  waiting_bytes_ += bytes->size();
  waiting_.push_back({std::move(bytes), binary});
  if (!writing_) write_next();
}

void Client::show(Bytes frame) {
  if (closing_ || !open_) return;
  frame_ = std::move(frame);
  if (!writing_) write_next();
}

void Client::write_next() {
  bool binary = true;
  if (!waiting_.empty()) {
    writing_ = std::move(waiting_.front().bytes);
    binary = waiting_.front().binary;
    waiting_bytes_ -= writing_->size();
    waiting_.pop_front();
  } else if (frame_) {
    writing_ = std::exchange(frame_, nullptr);
  } else {
    return;
  }
  stream_.binary(binary);
  stream_.async_write(asio::buffer(*writing_), [self = shared_from_this()](beast::error_code error, std::size_t) {
    self->writing_ = nullptr;
    if (error) return self->leave();
    if (!self->closing_) self->write_next();
  });
}

void Client::close(websocket::close_code code, const char* why) {
  if (std::exchange(closing_, true)) return;
  server_.remove(id);
  move_to(&server_.guests);
  stream_.async_close({code, why}, [self = shared_from_this()](beast::error_code) { self->close_timer_.cancel(); });
  // Cut off a client that does not answer, or does not read.
  close_timer_.expires_after(std::chrono::seconds(1));
  close_timer_.async_wait([self = shared_from_this()](beast::error_code error) {
    if (!error) self->cut();
  });
}

void Client::leave() {
  closing_ = true;
  server_.remove(id);
}

}  // namespace

Result<WebServer::Files> WebServer::read_bundle(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  Files files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file()) continue;
    std::ifstream in(entry->path(), std::ios::binary);
    files["/" + entry->path().lexically_relative(folder).generic_string()].assign(std::istreambuf_iterator<char>(in),
                                                                                  {});
  }
  if (!files.contains("/index.html"))
    return Diagnostic{folder.string(), 0, "the viewer has not been built",
                      "install Node.js 18 or later with npm, then run ./start once, or: npm --prefix web ci && npm "
                      "--prefix web run build"};
  return files;
}

Result<std::unique_ptr<WebServer>> WebServer::start(const WebServerOptions& options, Files files, Callbacks callbacks) {
  auto server = std::make_unique<Server>(options, std::move(files), std::move(callbacks));
  if (auto bound = server->bind(); !bound.ok()) return bound.error();
  return std::unique_ptr<WebServer>(std::move(server));
}

}  // namespace volvox::view
