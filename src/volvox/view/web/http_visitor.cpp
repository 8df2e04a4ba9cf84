#include "volvox/view/web/socket_client.h"

#include <optional>
#include <utility>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

namespace volvox::view {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;
using Request = http::request<http::string_body>;

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

// One HTTP request: for a file, or for the upgrade to a WebSocket.
class Connection final : public Visitor, public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Reception& reception) : stream_(std::move(socket)), reception_(reception) {}
  void start();
  void cut() override { close_now(stream_.socket()); }

 private:
  void answer(const Request& request);
  void respond(http::status status, std::string body, const std::string& type, bool head_only, bool keep_alive);

  beast::tcp_stream stream_;
  Reception& reception_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
};

void Connection::start() {
  parser_.emplace();
  parser_->header_limit(max_request_header);
  parser_->body_limit(0);  // there are no uploads
  stream_.expires_after(reception_.options.request_timeout);
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
  stream_.expires_after(reception_.options.answer_timeout);
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
  if (!reception_.is_ours(text(request[http::field::host]), text(request[http::field::origin])))
    return refuse(http::status::forbidden, "This page does not belong to this viewer.");
  if (!reception_.knows_token(text(request.target())))
    return refuse(http::status::forbidden, "The token is missing or wrong: open the address that volvox printed.");
  move_to(&reception_.guests);
  const std::string_view target = text(request.target());
  const std::string_view path = target.substr(0, target.find('?'));
  if (beast::websocket::is_upgrade(request)) {
    if (path != "/socket") return refuse(http::status::not_found, "There is nothing here.");
    stream_.expires_never();
    move_to(nullptr);
    return accept_client(stream_.release_socket(), request, reception_);
  }
  if (request.method() != http::verb::get && !head)
    return refuse(http::status::method_not_allowed, "Only GET is answered.");
  const auto file = reception_.files.find(std::string(path == "/" ? "/index.html" : path));
  if (file == reception_.files.end()) return refuse(http::status::not_found, "There is nothing here.");
  respond(http::status::ok, file->second, media_type(file->first), head, request.keep_alive());
}

}  // namespace

void receive_visitor(tcp::socket socket, Reception& reception) {
  const auto visitor = std::make_shared<Connection>(std::move(socket), reception);
  visitor->move_to(&reception.strangers);
  visitor->start();
}

}  // namespace volvox::view
