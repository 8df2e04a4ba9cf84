#include "volvox/view/web/web_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "volvox/view/web/playback.h"

namespace volvox::view {
namespace {

// A client on a bare socket, which can also send what no browser would send.
class Socket {
 public:
  explicit Socket(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    timeval patience{5, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool send(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += n;
    }
    return true;
  }
  // Waits until the text has been received, the other side closes, or five seconds have passed.
  std::string read_until(const std::string& text) {
    while (received_.find(text) == std::string::npos && read_some()) {}
    return received_;
  }
  bool closed() {
    while (read_some()) {}
    return closed_;
  }
  std::string take(std::size_t size) {
    while (received_.size() < size && read_some()) {}
    std::string taken = received_.substr(0, size);
    received_.erase(0, size);
    return taken;
  }
  void forget(std::size_t size) { received_.erase(0, size); }

 private:
  bool read_some() {
    char bytes[65536];
    const ssize_t n = ::recv(descriptor_, bytes, sizeof bytes, 0);
    if (n <= 0) {
      closed_ = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
      return false;
    }
    received_.append(bytes, n);
    return true;
  }
  int descriptor_;
  bool connected_ = false, closed_ = false;
  std::string received_;
};

// A WebSocket frame, masked as the standard demands of clients.
std::string websocket_frame(const std::string& payload, int opcode = 1) {
  std::string frame;
  const auto put = [&](std::uint64_t low_byte) { frame += static_cast<char>(low_byte); };
  const std::uint64_t size = payload.size();
  put(0x80 | opcode);
  if (size < 126) put(0x80 | size);
  else {
    put(0x80 | (size < 65536 ? 126 : 127));
    for (int shift = size < 65536 ? 8 : 56; shift >= 0; shift -= 8) put(size >> shift);
  }
  return frame + std::string(4, '\0') + payload;  // a mask of zeros
}

class WebServerTest : public testing::Test {
 protected:
  void serve(const WebServerOptions& options = {}) {
    WebServer::Callbacks callbacks;
    callbacks.greeting = [this](WebServer::ClientId) {
      return std::vector<std::pair<Bytes, bool>>{{std::make_shared<const std::string>(greeting_), false}};
    };
    callbacks.message = [this](WebServer::ClientId, const std::string& text) {
      const std::lock_guard lock(mutex_);
      heard_.push_back(text);
    };
    auto started = WebServer::start(options, files_, callbacks);
    ASSERT_TRUE(started.ok()) << started.error().text();
    server_ = std::move(*started);
  }
  std::string host() { return "127.0.0.1:" + std::to_string(server_->port()); }
  std::string get(const std::string& target, const std::string& more = "", const std::string& as = "") {
    Socket socket(server_->port());
    socket.send("GET " + target + " HTTP/1.1\r\nHost: " + (as.empty() ? host() : as) + "\r\nConnection: close\r\n" +
                more + "\r\n");
    std::string answer = socket.read_until("\r\n\r\n");
    socket.closed();
    return answer + socket.take(1 << 20).substr(answer.size());
  }
  std::string upgrade(const std::string& target, const std::string& more, const std::string& as = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: " + (as.empty() ? host() : as) +
           "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
           "dGhlIHNhbXBsZSBub25jZQ==\r\n" +
           more + "\r\n";
  }
  std::unique_ptr<Socket> join(const std::string& target = "/socket") {
    auto socket = std::make_unique<Socket>(server_->port());
    socket->send(upgrade(target, "Origin: http://" + host() + "\r\n"));
    const std::string answer = socket->read_until("\r\n\r\n");
    EXPECT_NE(answer.find("101 Switching"), std::string::npos) << answer;
    socket->forget(answer.find("\r\n\r\n") + 4);
    return socket;
  }
  bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 500; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  std::size_t heard() {
    const std::lock_guard lock(mutex_);
    return heard_.size();
  }

  WebServer::Files files_ = {{"/index.html", "<p>page</p><script src=\"./assets/a.js\"></script>"},
                             {"/assets/a.js", "script"}};
  std::string greeting_ = "hello";
  std::mutex mutex_;
  std::vector<std::string> heard_;
  std::unique_ptr<WebServer> server_;
};

TEST_F(WebServerTest, ServesItsBundleAndNothingElse) {
  serve();
  EXPECT_NE(get("/").find("<p>page</p>"), std::string::npos);
  EXPECT_NE(get("/assets/a.js?v=1").find("text/javascript"), std::string::npos);
  for (const char* path : {"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../../../etc/passwd",
                           "//etc/passwd", "/etc/passwd", "/assets/", "/index.html/..", "/.git/config",
                           "/..%2f..%2fetc/passwd", "http://127.0.0.1/etc/passwd", "/\\..\\..\\etc\\passwd"}) {
    const std::string answer = get(path);
    EXPECT_NE(answer.find("404"), std::string::npos) << path << "\n" << answer;
    EXPECT_EQ(answer.find("root:"), std::string::npos) << path;
  }
  Socket post(server_->port());
  post.send("POST / HTTP/1.1\r\nHost: " + host() + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_NE(post.read_until("\r\n\r\n").find("405"), std::string::npos);
}

TEST_F(WebServerTest, OtherSitesAreRefused) {
  serve();
  // A page of another site that opens a socket to us, and a name of another site that points to this machine.
  for (const auto& [origin, as] : {std::pair<std::string, std::string>{"http://evil.example", ""},
                                   {"null", ""},
                                   {"http://evil.example", "evil.example"},
                                   {"http://" + host() + ".evil.example", ""}}) {
    Socket socket(server_->port());
    socket.send(upgrade("/socket", "Origin: " + origin + "\r\n", as));
    EXPECT_NE(socket.read_until("\r\n\r\n").find("403"), std::string::npos) << origin;
  }
  for (const char* name :
       {"evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "[", "[]"})
    EXPECT_NE(get("/", "", name).find(*name == '\0' ? "200" : "403"), std::string::npos) << name;
  // Our own names, at any port: a tunnel has another one.
  for (const char* name : {"localhost", "localhost:9", "127.0.0.1:9", "127.9.9.9", "[::1]:9"})
    EXPECT_NE(get("/", "", name).find("200"), std::string::npos) << name;
  EXPECT_EQ(server_->clients(), 0u);
}

// Without a token, an address that others can reach is open to whoever connects, but not to the page of another site
// that a person looks at: it could only come with a name.
TEST_F(WebServerTest, OtherSitesAreRefusedAtEveryAddress) {
  WebServerOptions options;
  options.host = "0.0.0.0";
  serve(options);
  EXPECT_NE(get("/", "", "evil.example").find("403"), std::string::npos);
  EXPECT_NE(get("/", "", "192.0.2.1:80").find("200"), std::string::npos);
  options.token = "0123456789abcdef";
  serve(options);
  EXPECT_NE(get("/?token=0123456789abcdef", "", "our.machine:80").find("200"), std::string::npos);
}

TEST_F(WebServerTest, WithoutTheTokenNobodyComesIn) {
  WebServerOptions options;
  options.token = "0123456789abcdef";  // on the loopback address, too, which all users of a machine reach
  serve(options);
  EXPECT_NE(server_->address().find("?token=0123456789abcdef"), std::string::npos);
  for (const char* target : {"/", "/index.html", "/assets/a.js", "/nothing", "/?token=", "/?token=0123456789ABCDEF",
                             "/?x=0123456789abcdef", "/0123456789abcdef", "/?token=0123456789abcde"}) {
    const std::string answer = get(target);
    EXPECT_NE(answer.find("403"), std::string::npos) << target << "\n" << answer;
    EXPECT_EQ(answer.find("page"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("0123456789abcdef"), std::string::npos) << answer;
  }
  // The page asks for its script with the token.
  EXPECT_NE(get("/?token=0123456789abcdef").find("./assets/a.js?token=0123456789abcdef\""), std::string::npos);
  EXPECT_NE(get("/assets/a.js?token=0123456789abcdef").find("script"), std::string::npos);
  for (const char* target : {"/socket", "/socket?token=", "/socket?token=0123456789abcdeg",
                             "/socket?token=0123456789abcdef0", "/socket?tokens=0123456789abcdef"}) {
    Socket socket(server_->port());
    socket.send(upgrade(target, "Origin: http://" + host() + "\r\n"));
    EXPECT_NE(socket.read_until("\r\n\r\n").find("403"), std::string::npos) << target;
  }
  auto in = join("/socket?token=0123456789abcdef");
  EXPECT_TRUE(eventually([&] { return server_->clients() == 1; }));
}

TEST_F(WebServerTest, AClientIsGreetedHeardAndShownFrames) {
  serve();
  auto client = join();
  EXPECT_EQ(client->take(7), std::string("\x81\x05hello"));
  client->send(websocket_frame("{\"type\": \"pause\"}"));
  EXPECT_TRUE(eventually([&] { return heard() == 1; }));
  server_->publish(std::make_shared<const std::string>("frame"));
  EXPECT_EQ(client->take(7), std::string("\x82\x05"
                                         "frame"));
  server_->send(0, std::make_shared<const std::string>("text"));
  EXPECT_EQ(client->take(6), std::string("\x81\x04text"));
}

TEST_F(WebServerTest, GarbageNeitherCrashesNorStays) {
  serve();
  for (const std::string& garbage :
       {std::string(100'000, 'x'), std::string("\x16\x03\x01\x02\x00\x01", 6), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string(50, '\0'), "GET / HTTP/1.1\r\n" + std::string(20'000, 'h') + ": 1\r\n\r\n"}) {
    Socket socket(server_->port());
    socket.send(garbage);
    // The server waits for the rest of an incomplete request, and closes an invalid one at once.
    const bool hopeless = garbage.size() > 60 || garbage.find("HTTP/9") != std::string::npos;
    EXPECT_TRUE(!hopeless || socket.closed());
  }
  auto binary = join();
  binary->send(websocket_frame("\x01\x02\x03", 2));
  EXPECT_TRUE(binary->closed());
  auto broken = join();
  broken->send(std::string(64, '\xff'));
  EXPECT_TRUE(broken->closed());
  auto large = join();
  large->send(websocket_frame(std::string(200'000, 'a')));
  EXPECT_TRUE(large->closed());
  binary.reset(), broken.reset(), large.reset();
  EXPECT_TRUE(eventually([&] { return server_->clients() == 0; }));
  EXPECT_NE(get("/").find("200"), std::string::npos);
  EXPECT_EQ(heard(), 0u);
}

TEST_F(WebServerTest, WhoSendsTooFastIsDropped) {
  serve();
  auto client = join();
  std::string flood;
  for (int i = 0; i < 2000; ++i) flood += websocket_frame("{}");
  client->send(flood);
  EXPECT_TRUE(client->closed());
  EXPECT_LT(heard(), 400u);
  EXPECT_TRUE(eventually([&] { return server_->clients() == 0; }));
}

TEST_F(WebServerTest, NoMoreThanAFewMayWatch) {
  WebServerOptions options;
  options.max_clients = 2;
  serve(options);
  auto a = join(), b = join();
  EXPECT_TRUE(eventually([&] { return server_->clients() == 2; }));
  auto c = join();
  EXPECT_TRUE(c->closed());
  EXPECT_EQ(server_->clients(), 2u);
}

// A client that does not read delays no other client, and gets the newest frame when it reads again.
TEST_F(WebServerTest, ASlowClientGetsTheNewestFrameOnly) {
  serve();
  auto slow = join(), fast = join();
  slow->take(7), fast->take(7);
  const std::string large(1 << 20, '.');
  for (int i = 0; i < 200; ++i) {
    server_->publish(std::make_shared<const std::string>(large + std::to_string(1000 + i)));
    const std::string frame = fast->take(10 + large.size() + 4);
    ASSERT_EQ(frame.substr(frame.size() - 4), std::to_string(1000 + i)) << "who reads gets every one";
  }
  // Of 200 MB the slow client receives what was already sent, and then the last frame.
  std::size_t frames = 0;
  std::string last;
  while (last != "1199") {
    const std::string frame = slow->take(10 + large.size() + 4);
    ASSERT_EQ(frame.size(), 10 + large.size() + 4);
    last = frame.substr(frame.size() - 4);
    ++frames;
  }
  EXPECT_LT(frames, 100u);
}

// Whoever only holds sockets open is pushed out by the next.
TEST_F(WebServerTest, HalfOpenSocketsLockNobodyOut) {
  WebServerOptions options;
  options.max_strangers = 8;
  serve(options);
  std::vector<std::unique_ptr<Socket>> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(std::make_unique<Socket>(server_->port()));
    idle.back()->send(i % 2 == 0 ? "" : "GET / HTTP/1.1\r\nHo");
  }
  EXPECT_NE(get("/").find("200"), std::string::npos);
  auto client = join();
  EXPECT_EQ(client->take(7), std::string("\x81\x05hello"));
  for (int i = 0; i < 90; ++i) EXPECT_TRUE(idle[i]->closed()) << i;
}

std::size_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// Who asks for files and does not read them holds a few sockets, and not those of clients.
TEST_F(WebServerTest, SlowReadersTakeFewDescriptors) {
  WebServerOptions options;
  options.max_guests = 6;
  files_["/large"] = std::string(32 << 20, '.');  // more than the system takes for the reader
  serve(options);
  auto watching = join();
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<Socket>> slow;
  for (int i = 0; i < 60; ++i) {
    slow.push_back(std::make_unique<Socket>(server_->port()));
    slow.back()->send("GET /large HTTP/1.1\r\nHost: " + host() + "\r\n\r\n");
  }
  EXPECT_NE(get("/").find("200"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before + 60 + 6; })) << open_descriptors() - before;
  server_->publish(std::make_shared<const std::string>("frame"));
  EXPECT_EQ(watching->take(14).substr(7), std::string("\x82\x05"
                                                      "frame"));
  slow.clear();
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before; })) << "nothing leaks";
}

// Too many viewers, each of which does not answer the close.
TEST_F(WebServerTest, RefusedClientsTakeFewDescriptors) {
  WebServerOptions options;
  options.max_clients = 1;
  options.max_guests = 6;
  serve(options);
  auto first = join();
  EXPECT_TRUE(eventually([&] { return server_->clients() == 1; }));
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<Socket>> refused;
  for (int i = 0; i < 60; ++i) {
    refused.push_back(std::make_unique<Socket>(server_->port()));
    refused.back()->send(upgrade("/socket", "Origin: http://" + host() + "\r\n"));
  }
  EXPECT_NE(get("/").find("200"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= before + 60 + 6; })) << open_descriptors() - before;
  EXPECT_EQ(server_->clients(), 1u);
}

// Bytes that trickle in do not keep a request alive.
TEST_F(WebServerTest, ARequestHasALimitedTime) {
  WebServerOptions options;
  options.request_timeout = std::chrono::milliseconds(200);
  serve(options);
  Socket slow(server_->port());
  bool cut = false;
  for (int i = 0; i < 500 && !cut; ++i) {
    cut = !slow.send("G");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(cut);
}

// The tree of a large world is one message, which may be larger than all that may wait for a client.
TEST_F(WebServerTest, AMessageMayBeLargerThanTheBacklog) {
  WebServerOptions options;
  options.max_backlog_bytes = 1 << 20;
  greeting_ = std::string(8 << 20, '.');
  serve(options);
  auto client = join();
  EXPECT_EQ(client->take(10 + greeting_.size()).size(), 10 + greeting_.size());
}

// Texts that must arrive do not pile up for a client that does not read.
TEST_F(WebServerTest, WhoDoesNotReadTextsIsDropped) {
  WebServerOptions options;
  options.max_backlog_bytes = 1 << 20;
  serve(options);
  auto client = join();
  const auto text = std::make_shared<const std::string>(std::string(1 << 16, '.'));
  EXPECT_TRUE(eventually([&] { return server_->clients() == 1; }));
  for (int i = 0; i < 1000; ++i) server_->send(0, text);
  EXPECT_TRUE(eventually([&] { return server_->clients() == 0; }));
}

// The address is made of what was understood of the host, not of its text.
TEST_F(WebServerTest, TheAddressHasNoShellSyntaxAndNoEscapes) {
  for (const char* host : {"::1%'; touch volvox_was_here; '", "::1%\x1b[2J", "::1"}) {
    WebServerOptions options;
    options.host = host;
    auto started = WebServer::start(options, {}, {});
    if (!started.ok()) continue;  // a machine without IPv6
    EXPECT_EQ((*started)->address(), "http://[::1]:" + std::to_string((*started)->port()) + "/");
  }
  for (const char* host : {"127.0.0.1; ls", "$(ls)", "127.0.0.1\n", ""}) {
    WebServerOptions options;
    options.host = host;
    EXPECT_FALSE(WebServer::start(options, {}, {}).ok()) << host;
  }
}

TEST_F(WebServerTest, ATakenPortIsExplained) {
  serve();
  WebServerOptions same;
  same.port = server_->port();
  auto second = WebServer::start(same, {}, {});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().text().find("--port"), std::string::npos);
  WebServerOptions nowhere;
  nowhere.host = "example.invalid";
  EXPECT_FALSE(WebServer::start(nowhere, {}, {}).ok());
  auto bundle = WebServer::read_bundle("/nowhere");
  ASSERT_FALSE(bundle.ok());
  EXPECT_NE(bundle.error().text().find("npm"), std::string::npos);
}

TEST(Playback, RunsPausesAndSteps) {
  Playback playback;
  using Clock = Playback::Clock;
  playback.play(0);
  EXPECT_LE(playback.schedule(0), Clock::now());
  EXPECT_GT(playback.schedule(10), Clock::now());
  playback.pause();
  EXPECT_EQ(playback.schedule(0), Clock::time_point::max());
  playback.step(2);
  EXPECT_LE(playback.schedule(100), Clock::now());
  playback.count_tick(), playback.count_tick();
  EXPECT_EQ(playback.schedule(100), Clock::time_point::max());
  playback.play(100);
  playback.set_speed(0, 100);
  EXPECT_LE(playback.schedule(1e6), Clock::now());
  playback.set_speed(1e-9, 0);
  EXPECT_EQ(playback.speed(), Playback::slowest);
}

}  // namespace
}  // namespace volvox::view
