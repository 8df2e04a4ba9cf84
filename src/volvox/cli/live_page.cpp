#include "volvox/cli/live_page.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "volvox/base/index.h"
#include "volvox/base/platform/desktop.h"
#include "volvox/base/text.h"
#include "volvox/view/web/viewer.h"
#include "volvox/view/web/web_server.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds look{500};
constexpr double longest_start = 30;  // s, on a machine with much else to do

// The server makes this file when it listens.
fs::path sign_of(const fs::path& page) { return page.parent_path() / ".live"; }

// The page that is served: it shows each page that comes, and says when none comes any more.
constexpr const char* frame = R"(<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Volvox</title></head>
<body><p>Waiting for the first generation ...</p><script src="/live.js"></script></body></html>)";
constexpr const char* script = R"(const address = new URL("socket" + location.search, location.href);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
const socket = new WebSocket(address);
socket.binaryType = "arraybuffer";
socket.onmessage = (message) => {
  const page = new DOMParser().parseFromString(new TextDecoder().decode(message.data), "text/html");
  for (const meta of page.querySelectorAll("meta[http-equiv]")) meta.remove();
  const place = scrollY;
  document.title = page.title;
  document.head.replaceChildren(...page.head.childNodes);
  document.body.replaceChildren(...page.body.childNodes);
  scrollTo(0, place);
};
socket.onclose = () => {
  const note = document.createElement("p");
  note.textContent = "The evolution has ended, or cannot be reached; this is its last page.";
  document.body.prepend(note);
};
)";

std::string content_of(const fs::path& file) {
  auto text = read_file(file);
  return text.ok() ? std::move(*text) : std::string();
}

// In the process of the server. It ends when its parent does.
[[noreturn]] void serve(const fs::path& page, const ViewerArguments& arguments) {
  view::WebServerOptions options;
  options.host = arguments.host, options.port = narrow<std::uint16_t>(arguments.port);
  if (!arguments.no_token) options.token = view::make_token();
  std::mutex mutex;
  view::Bytes newest;
  view::WebServer::Callbacks callbacks;
  callbacks.greeting = [&](view::WebServer::ClientId) {
    const std::lock_guard lock(mutex);
    return newest ? std::vector{std::pair{newest, true}} : std::vector<std::pair<view::Bytes, bool>>{};
  };
  callbacks.message = [](view::WebServer::ClientId, const std::string&) {};
  callbacks.left = [](view::WebServer::ClientId) {};
  auto server = view::WebServer::start(options, {{"/index.html", frame}, {"/live.js", script}}, callbacks);
  if (!server.ok()) throw std::runtime_error(server.error().text());
  std::fputs(fmt::format("volvox: the page is live at {}\n", (*server)->address()).c_str(), stderr);
  (void)write_file(sign_of(page), "listening\n");  // not its address: others may read the folder, and it has the token
  if (!arguments.no_browser) platform::open_in_browser((*server)->address());
  fs::file_time_type seen{};
  for (;; std::this_thread::sleep_for(look)) {
    std::error_code error;
    const auto written = fs::last_write_time(page, error);
    if (error || written == seen) continue;
    seen = written;
    auto text = std::make_shared<const std::string>(content_of(page));
    {
      const std::lock_guard lock(mutex);
      newest = text;
    }
    (*server)->publish(text);
  }
}

}  // namespace

Result<std::unique_ptr<LivePage>> LivePage::start(const fs::path& page, const ViewerArguments& arguments) {
  std::error_code error;
  fs::remove(sign_of(page), error);
  auto child = platform::ChildProcess::start([&]() -> std::string { serve(page, arguments); });
  if (!child.ok()) return child.error();
  std::unique_ptr<LivePage> live(new LivePage);
  live->server_ = std::move(*child);
  // A bad address or a port in use must not be lost: whoever asked for the page is told before the work begins.
  for (double waited = 0; !fs::exists(sign_of(page), error) && waited < longest_start; waited += 0.05) {
    platform::ChildProcess::wait_for_any({live->server_.get()}, 0.05);
    if (live->server_->poll()) return Error(live->server_->outcome().failure, "give another --host or --port");
  }
  fs::remove(sign_of(page), error);
  return live;
}

LivePage::~LivePage() { std::this_thread::sleep_for(3 * look); }

}  // namespace volvox::cli
