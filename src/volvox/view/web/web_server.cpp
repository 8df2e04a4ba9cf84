#include "volvox/view/web/web_server.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "volvox/base/platform/descriptors.h"
#include "volvox/view/web/reception.h"

namespace volvox::view {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class Server final : public WebServer {
 public:
  Server(const WebServerOptions& options, Files files, Callbacks callbacks)
      : reception_(options, std::move(files), std::move(callbacks)), acceptor_(context_) {}
  ~Server() override {
    asio::post(context_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      accept_again_.cancel();
      const auto everybody = reception_.clients();
      for (const auto& [id, client] : everybody) client->say_goodbye();
    });
    work_.reset();
    // Clients have 0.3 s to receive the close.
    if (thread_.joinable()) {
      context_end_.expires_after(std::chrono::milliseconds(300));
      context_end_.async_wait([this](boost::system::error_code) { context_.stop(); });
      thread_.join();
    }
    reception_.forget_clients();  // their sockets belong to the context
  }

  Result<void> bind() {
    const WebServerOptions& options = reception_.options;
    const auto trouble = [&](const boost::system::error_code& error) {
      return Error(
          fmt::format("the viewer cannot listen on {} port {}: {}", options.host, options.port, error.message()),
          "give another --port, or none for any that is free; --host takes an address of this machine");
    };
    boost::system::error_code error;
    const auto address = asio::ip::make_address(options.host == "localhost" ? "127.0.0.1" : options.host, error);
    if (error) return trouble(error);
    address_ = address;
    reception_.listen_on(address);
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
    const std::string& token = reception_.options.token;
    return fmt::format("http://{}:{}/{}", host, port_, token.empty() ? "" : "?token=" + token);
  }
  std::uint16_t port() const override { return port_; }
  std::size_t clients() const override { return reception_.count(); }

  void publish(Bytes frame) override {
    asio::post(context_, [this, frame = std::move(frame)] {
      for (const auto& [id, client] : reception_.clients()) client->show(frame);
    });
  }
  void send(ClientId wanted, Bytes bytes, bool binary) override {
    asio::post(context_, [this, wanted, bytes = std::move(bytes), binary] {
      const auto everybody = reception_.clients();  // a copy, because sending may remove a client
      for (const auto& [id, client] : everybody)
        if (wanted == 0 || wanted == id) client->send(bytes, binary);
    });
  }
  void greet_all() override {
    asio::post(context_, [this] {
      const auto everybody = reception_.clients();
      for (const auto& [id, client] : everybody) reception_.greet(*client);
    });
  }

 private:
  void work() {
    while (!context_.stopped()) try {
        context_.run();
      } catch (const std::exception&) {
        // Memory may be short for one visitor; the others stay.
      }
  }
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {  // mostly because there are no file descriptors left: wait instead of asking at once again
        accept_again_.expires_after(std::chrono::milliseconds(100));
        accept_again_.async_wait([this](boost::system::error_code) {
          if (acceptor_.is_open()) accept();
        });
        return;
      }
      accept();
      platform::close_on_exec(socket.native_handle());
      if (platform::few_descriptors_left(socket.native_handle())) return;
      receive_visitor(std::move(socket), reception_);
    });
  }

  Reception reception_;  // outlives the visitors, whose handlers the context holds
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  tcp::acceptor acceptor_;
  asio::steady_timer context_end_{context_}, accept_again_{context_};
  std::thread thread_;
  std::uint16_t port_ = 0;
  asio::ip::address address_;
};

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
