#include "volvox/view/web/viewer.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "volvox/base/json_text.h"
#include "volvox/base/platform/paths.h"

namespace volvox::view {
namespace {

constexpr std::size_t most_commands = 4096;  // waiting for the loop; further commands are dropped

// A secret, so it comes from the system and not from the seed.
std::string make_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

// Opens the address in a browser if there is a desktop.
void open_in_browser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  // We made the address ourselves, so it contains no shell syntax.
  const std::string command = "command -v xdg-open >/dev/null 2>&1 && xdg-open '" + address + "' >/dev/null 2>&1 &";
  if (std::system(command.c_str()) != 0) return;
}

}  // namespace

std::string mark_of(const sim::Input& given) {
  const sim::InputRecord input = sim::record_of(given);
  const bool is_text = input.kind == "parameter" || input.kind == "pose", is_push = input.kind == "push";
  return fmt::format("input: {} {}{}{}", input.kind, input.name, input.name.empty() ? "" : " ",
                     is_push   ? fmt::format("{:g} {:g} {:g} N", input.force.x, input.force.y, input.force.z)
                     : is_text ? input.text
                               : fmt::format("{:g}", input.value));
}

std::filesystem::path bundle_folder() {
  std::filesystem::path first;
  for (const auto& root : platform::resource_path()) {
    const auto folder = root / "web" / "dist";
    if (std::filesystem::exists(folder / "index.html")) return folder;
    if (first.empty() || std::filesystem::exists(root / "web")) first = folder;
  }
  return first;
}

Result<std::unique_ptr<Viewer>> Viewer::start(const ViewerOptions& options) {
  auto files = WebServer::read_bundle(bundle_folder());
  if (!files.ok()) return files.error();
  std::unique_ptr<Viewer> viewer(new Viewer);
  WebServerOptions server = options.server;
  if (!is_loopback(server.host) && server.token.empty()) server.token = make_token();
  Viewer* self = viewer.get();
  WebServer::Callbacks callbacks;
  callbacks.greeting = [self] {
    const std::lock_guard lock(self->mutex_);
    std::vector<std::pair<Bytes, bool>> greeting;
    if (self->hello_) greeting = {{self->hello_, false}, {self->tree_, true}};
    self->newcomers_ = true;
    self->wake_.notify_all();
    return greeting;
  };
  callbacks.message = [self](WebServer::ClientId client, const std::string& text) { self->take_message(client, text); };
  callbacks.left = [self](WebServer::ClientId client) {
    const std::lock_guard lock(self->mutex_);
    self->left_.push_back(client);
  };
  auto started = WebServer::start(server, std::move(*files), std::move(callbacks));
  if (!started.ok()) return started.error();
  viewer->server_ = std::move(*started);
  if (options.open_browser) open_in_browser(viewer->address());
  return viewer;
}

Viewer::~Viewer() { server_.reset(); }

void Viewer::take_message(WebServer::ClientId client, const std::string& text) {
  auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("type") || !parsed["type"].is_string())
    return;  // not a command of our page
  const std::lock_guard lock(mutex_);
  if (commands_.size() < most_commands)
    commands_.push_back({client, std::make_shared<const nlohmann::json>(std::move(parsed))});
  wake_.notify_all();
}

void Viewer::set_tree(const nlohmann::json& hello, std::string tree) {
  {
    const std::lock_guard lock(mutex_);
    hello_ = std::make_shared<const std::string>(to_json_text(hello));
    tree_ = std::make_shared<const std::string>(std::move(tree));
  }
  server_->greet_all();
}

void Viewer::publish(std::string frame) { server_->publish(std::make_shared<const std::string>(std::move(frame))); }

void Viewer::tell(const nlohmann::json& message, WebServer::ClientId client) {
  server_->send(client, std::make_shared<const std::string>(to_json_text(message)));
}

std::vector<Command> Viewer::take_commands() {
  const std::lock_guard lock(mutex_);
  return std::exchange(commands_, {});
}

bool Viewer::take_newcomers() {
  const std::lock_guard lock(mutex_);
  return std::exchange(newcomers_, false);
}

std::vector<WebServer::ClientId> Viewer::take_left() {
  const std::lock_guard lock(mutex_);
  return std::exchange(left_, {});
}

void Viewer::wait_until(std::chrono::steady_clock::time_point moment) {
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, moment, [&] { return !commands_.empty() || newcomers_; });
}

}  // namespace volvox::view
