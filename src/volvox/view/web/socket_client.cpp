#include "volvox/view/web/socket_client.h"

#include <chrono>
#include <deque>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

namespace volvox::view {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using Request = beast::http::request<beast::http::string_body>;
using Clock = std::chrono::steady_clock;

class SocketClient final : public Client, public std::enable_shared_from_this<SocketClient> {
 public:
  SocketClient(tcp::socket socket, Reception& reception)
      : stream_(std::move(socket)), close_timer_(stream_.get_executor()), reception_(reception) {}
  void start(Request request);
  void cut() override { close_now(stream_.next_layer()); }
  void send(Bytes bytes, bool binary) override;
  void show(Bytes frame) override;
  void say_goodbye() override { close(websocket::close_code::going_away, "the run has ended"); }

 private:
  void read();
  bool spend_allowance();
  void write_next();
  void close(websocket::close_code code, const char* why);
  void leave();

  websocket::stream<tcp::socket, false> stream_;  // nothing is compressed
  asio::steady_timer close_timer_;                // cuts off a client that does not answer the close
  Reception& reception_;
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

void SocketClient::start(Request request) {
  websocket::stream_base::timeout timeouts{};
  timeouts.handshake_timeout = reception_.options.request_timeout;
  timeouts.idle_timeout = std::chrono::seconds(30);
  timeouts.keep_alive_pings = true;
  stream_.set_option(timeouts);
  stream_.auto_fragment(false);  // one message, one WebSocket frame
  stream_.read_message_max(reception_.options.max_message_bytes);
  allowance_ = reception_.options.max_messages_per_second;
  auto kept = std::make_shared<Request>(std::move(request));
  stream_.async_accept(*kept, [self = shared_from_this(), kept](beast::error_code error) {
    if (error) return;
    self->open_ = true;
    if (!self->reception_.add(self))
      return self->close(websocket::close_code::try_again_later, "too many viewers are connected");
    self->stream_.next_layer().set_option(tcp::no_delay(true), error);
    self->reception_.greet(*self);
    self->read();
  });
}

// A token bucket that holds the messages of one second. False if the client sends too fast.
bool SocketClient::spend_allowance() {
  const auto now = Clock::now();
  const double most = reception_.options.max_messages_per_second;
  allowance_ = std::min(most, allowance_ + most * std::chrono::duration<double>(now - last_message_).count());
  last_message_ = now;
  allowance_ -= 1;
  return allowance_ >= 0;
}

void SocketClient::read() {
  stream_.async_read(incoming_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return self->leave();
    if (!self->spend_allowance()) return self->close(websocket::close_code::policy_error, "too many messages");
    if (!self->stream_.got_text()) return self->close(websocket::close_code::unknown_data, "commands are text");
    if (self->reception_.callbacks.message)
      self->reception_.callbacks.message(self->id, beast::buffers_to_string(self->incoming_.data()));
    self->incoming_.consume(self->incoming_.size());
    self->read();
  });
}

void SocketClient::send(Bytes bytes, bool binary) {
  if (closing_ || !open_) return;
  // A single message may be larger than the limit: the tree of a large world is.
  if (waiting_bytes_ > reception_.options.max_backlog_bytes)
    return close(websocket::close_code::policy_error, "too slow");
  waiting_bytes_ += bytes->size();
  waiting_.push_back({std::move(bytes), binary});
  if (!writing_) write_next();
}

void SocketClient::show(Bytes frame) {
  if (closing_ || !open_) return;
  frame_ = std::move(frame);
  if (!writing_) write_next();
}

void SocketClient::write_next() {
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

void SocketClient::close(websocket::close_code code, const char* why) {
  if (std::exchange(closing_, true)) return;
  reception_.remove(id);
  move_to(&reception_.guests);
  stream_.async_close({code, why}, [self = shared_from_this()](beast::error_code) { self->close_timer_.cancel(); });
  // Cut off a client that does not answer, or does not read.
  close_timer_.expires_after(std::chrono::seconds(1));
  close_timer_.async_wait([self = shared_from_this()](beast::error_code error) {
    if (!error) self->cut();
  });
}

void SocketClient::leave() {
  closing_ = true;
  reception_.remove(id);
}

}  // namespace

void accept_client(tcp::socket socket, const Request& request, Reception& reception) {
  const auto client = std::make_shared<SocketClient>(std::move(socket), reception);
  client->move_to(&reception.guests);
  client->start(request);
}

}  // namespace volvox::view
