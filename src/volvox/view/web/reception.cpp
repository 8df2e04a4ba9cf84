#include "volvox/view/web/reception.h"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>

namespace volvox::view {
namespace {

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
WebServer::Files with_token(WebServer::Files files, const std::string& token) {
  const auto page = files.find("/index.html");
  if (token.empty() || page == files.end()) return files;
  std::string& html = page->second;
  for (const auto& [path, content] : files)
    for (std::size_t at = html.find(path); at != std::string::npos; at = html.find(path, at + 1))
      if (const std::size_t end = at + path.size(); end < html.size() && (html[end] == '"' || html[end] == '\''))
        html.insert(end, "?token=" + token);
  return files;
}

// The name or address in a request's Host, without the port and the brackets of IPv6.
std::string_view name_of(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, std::max<std::size_t>(host.find(']'), 1) - 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

void Sockets::add(Visitor& visitor) {
  list_.push_back(&visitor);
  if (list_.size() <= most_) return;
  Visitor* const oldest = list_.front();
  list_.pop_front();
  oldest->cut();
}

Reception::Reception(const WebServerOptions& o, WebServer::Files f, WebServer::Callbacks c)
    : options(o),
      files(with_token(std::move(f), o.token)),
      callbacks(std::move(c)),
      strangers(o.max_strangers),
      guests(o.max_guests) {}

bool Reception::is_ours(std::string_view host, std::string_view origin) const {
  if (!origin.empty() && origin != "http://" + std::string(host)) return false;
  // An address that others reach may have several names; there the token protects us.
  if (!loopback_ && !options.token.empty()) return true;
  boost::system::error_code not_an_address;
  const auto named = boost::asio::ip::make_address(std::string(name_of(host)), not_an_address);
  if (not_an_address) return name_of(host) == "localhost";
  return !loopback_ || named.is_loopback();
}

bool Reception::knows_token(std::string_view target) const {
  return options.token.empty() || same_secret(query_value(target, "token"), options.token);
}

bool Reception::add(const std::shared_ptr<Client>& client) {
  if (clients_.size() >= options.max_clients) return false;
  client->move_to(nullptr);
  client->id = ++last_id_;
  clients_[client->id] = client;
  count_ = clients_.size();
  return true;
}

void Reception::remove(WebServer::ClientId id) {
  if (clients_.erase(id) == 0) return;
  count_ = clients_.size();
  if (callbacks.left) callbacks.left(id);
}

void Reception::greet(Client& client) const {
  if (!callbacks.greeting) return;
  for (auto& [bytes, binary] : callbacks.greeting(client.id)) client.send(bytes, binary);
}

void close_now(boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.shutdown(boost::asio::socket_base::shutdown_both, ignored);
  socket.close(ignored);
}

}  // namespace volvox::view
