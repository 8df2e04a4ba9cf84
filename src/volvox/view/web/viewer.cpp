#include "volvox/view/web/viewer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>

#include "volvox/base/json_text.h"
#include "volvox/base/platform/desktop.h"
#include "volvox/base/platform/paths.h"

namespace volvox::view {
namespace {

// Of the commands that wait for the loop; further ones are dropped.
constexpr std::size_t most_commands = 4096, most_command_bytes = 1 << 20;
constexpr int deepest_command = 4;  // what is nested deeper is left out: its memory is many times that of its text

Bytes points_message(const std::string& points) {
  return std::make_shared<const std::string>(R"({"type":"metrics","points":)" + points + "}");
}

}  // namespace

std::function<void(std::string, WebServer::ClientId)> to_clients_of(Viewer& viewer) {
  return [&viewer](std::string bytes, WebServer::ClientId client) { viewer.tell_bytes(std::move(bytes), client); };
}

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
    auto folder = root / "web" / "dist";
    if (std::filesystem::exists(folder / "index.html")) return folder;
    if (first.empty() || std::filesystem::exists(root / "web")) first = folder;
  }
  return first;
}

// A secret, so it comes from the system and not from the seed.
std::string make_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

Result<std::unique_ptr<Viewer>> Viewer::start(const ViewerOptions& options) {
  auto files = WebServer::read_bundle(bundle_folder());
  if (!files.ok()) return files.error();
  std::unique_ptr<Viewer> viewer(new Viewer);
  WebServerOptions server = options.server;
  if (options.use_token && server.token.empty()) server.token = make_token();
  Viewer* self = viewer.get();
  WebServer::Callbacks callbacks;
  callbacks.greeting = [self](WebServer::ClientId client) {
    const std::lock_guard lock(self->mutex_);
    self->newcomers_.push_back(client);
    self->wake_.notify_all();
    return self->greeting();
  };
  callbacks.message = [self](WebServer::ClientId client, const std::string& text) { self->take_message(client, text); };
  callbacks.left = [self](WebServer::ClientId client) {
    const std::lock_guard lock(self->mutex_);
    self->left_.push_back(client);
  };
  auto started = WebServer::start(server, std::move(*files), std::move(callbacks));
  if (!started.ok()) return started.error();
  viewer->server_ = std::move(*started);
  if (options.open_browser) platform::open_in_browser(viewer->address());
  return viewer;
}

Viewer::~Viewer() { server_.reset(); }

void Viewer::take_message(WebServer::ClientId client, const std::string& text) {
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    return depth <= deepest_command;
  };
  auto parsed = nlohmann::json::parse(text, shallow, false);
  if (!parsed.is_object() || !parsed.contains("type") || !parsed["type"].is_string())
    return;  // not a command of our page
  const std::lock_guard lock(mutex_);
  if (commands_.size() < most_commands && commands_bytes_ + text.size() <= most_command_bytes) {
    commands_.push_back({client, std::make_shared<const nlohmann::json>(std::move(parsed))});
    commands_bytes_ += text.size();
  }
  wake_.notify_all();
}

void Viewer::set_tree(const nlohmann::json& hello, std::string tree) {
  {
    const std::lock_guard lock(mutex_);
    hello_ = std::make_shared<const std::string>(to_json_text(hello));
    tree_ = std::make_shared<const std::string>(std::move(tree));
    points_.clear();
    told_points_ = nullptr;
  }
  server_->greet_all();
}

void Viewer::publish(std::string frame) { server_->publish(std::make_shared<const std::string>(std::move(frame))); }

void Viewer::tell_bytes(std::string bytes, WebServer::ClientId client) {
  server_->send(client, std::make_shared<const std::string>(std::move(bytes)), true);
}

void Viewer::tell(const nlohmann::json& message, WebServer::ClientId client) {
  server_->send(client, std::make_shared<const std::string>(to_json_text(message)));
}

void Viewer::add_points(const nlohmann::json& points) {
  if (points.empty()) return;
  const std::string text = to_json_text(points);
  {
    const std::lock_guard lock(mutex_);
    if (!points_.empty()) points_ += ',';
    points_.append(text, 1, text.size() - 2);  // without the brackets
    told_points_ = nullptr;
  }
  server_->send(0, points_message(text));
}

void Viewer::keep_points(const nlohmann::json& points) {
  const std::string text = to_json_text(points);
  const std::lock_guard lock(mutex_);
  points_.assign(text, 1, text.size() - 2);  // without the brackets
  told_points_ = nullptr;
}

// Called with the mutex held.
std::vector<std::pair<Bytes, bool>> Viewer::greeting() {
  if (!hello_) return {};
  std::vector<std::pair<Bytes, bool>> messages = {{hello_, false}, {tree_, true}};
  if (!told_points_ && !points_.empty()) told_points_ = points_message("[" + points_ + "]");
  if (told_points_) messages.emplace_back(told_points_, false);
  return messages;
}

std::vector<Command> Viewer::take_commands() {
  const std::lock_guard lock(mutex_);
  commands_bytes_ = 0;
  return std::exchange(commands_, {});
}

std::vector<WebServer::ClientId> Viewer::take_newcomers() {
  const std::lock_guard lock(mutex_);
  return std::exchange(newcomers_, {});
}

std::vector<WebServer::ClientId> Viewer::take_left() {
  const std::lock_guard lock(mutex_);
  return std::exchange(left_, {});
}

void Viewer::wait_until(std::chrono::steady_clock::time_point moment) {
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, moment, [&] { return !commands_.empty() || !newcomers_.empty(); });
}

void Viewer::wait_for_client(std::chrono::steady_clock::time_point latest, const std::atomic<bool>& stop) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  // A signal sets `stop` and wakes nobody.
  while (!stop && newcomers_.empty() && Clock::now() < latest)
    wake_.wait_until(lock, std::min(latest, Clock::now() + std::chrono::milliseconds(50)));
}

}  // namespace volvox::view
