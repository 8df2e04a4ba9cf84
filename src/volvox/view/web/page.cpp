#include "volvox/view/web/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <optional>

#include "volvox/base/json_text.h"
#include "volvox/view/web/cloud_sender.h"
#include "volvox/view/web/codec.h"
#include "volvox/view/web/viewed_recording.h"
#include "volvox/view/web/viewer.h"
#include "volvox/view/web/web_server.h"

namespace volvox::view {
namespace {

// What the server would send, message by message: u32 bytes, u32 kind (0: text, 1: bytes), the content, padding to 4.
// web/src/embedded.ts reads it.
void append(std::string& messages, std::string_view content, bool is_text) {
  static_assert(std::endian::native == std::endian::little, "written as it is in memory");
  const std::array<std::uint32_t, 2> head = {static_cast<std::uint32_t>(content.size()), is_text ? 0u : 1u};
  messages.append(reinterpret_cast<const char*>(head.data()), sizeof head);
  messages.append(content);
  messages.append((4 - content.size() % 4) % 4, '\0');
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? letters[group >> (18 - 6 * k) & 63u] : '=';
  }
  return text;
}

// Cuts out the one element that begins with `begin` and ends with `end`. False: there is none.
bool cut_element(std::string& page, std::string_view begin, std::string_view end) {
  const std::size_t from = page.find(begin), to = page.find(end, std::min(from, page.size()));
  if (to == std::string::npos) return false;
  page.erase(from, to + end.size() - from);
  return true;
}

// In HTML a script ends at the first "</script", wherever in it that stands.
std::string inside_script(std::string script) {
  for (std::size_t at = 0; (at = script.find("</script", at)) != std::string::npos; at += 3)
    script.insert(at + 1, "\\");
  return script;
}

Result<std::string> page_around(const WebServer::Files& files, const std::string& messages) {
  std::string script, style;
  for (const auto& [name, content] : files) {
    if (name.ends_with(".js")) script += content;
    if (name.ends_with(".css")) style += content;
  }
  std::string page = files.at("/index.html");
  const bool cut =
      cut_element(page, "<script type=\"module\"", "</script>") && cut_element(page, "<link rel=\"stylesheet\"", ">");
  const std::size_t head = page.find("</head>"), body = page.rfind("</body>");
  if (!cut || head == std::string::npos || body == std::string::npos)
    return Diagnostic{bundle_folder().string(), 0, "the page of the viewer is not as it should be",
                      "build it again: npm --prefix web ci && npm --prefix web run build"};
  // From the end, so that the place before stays where it is.
  page.insert(body, "<script type=\"text/plain\" id=\"volvox-recording\">" + base64(messages) +
                        "</script>\n<script type=\"module\">" + inside_script(std::move(script)) + "</script>\n");
  page.insert(head, "<style>" + style + "</style>\n");
  return page;
}

// The ticks first, first + every, ..., and the last, in which runs often end with what matters.
std::vector<std::int64_t> shown_ticks(const record::Recording& recording, std::int64_t every) {
  std::vector<std::int64_t> ticks;
  for (std::int64_t t = recording.first_tick(); t < recording.last_tick(); t += every) ticks.push_back(t);
  ticks.push_back(recording.last_tick());
  return ticks;
}

// The first frame tells how large the others are; what moves in a cloud is not known before.
Result<std::int64_t> fitting_interval(record::Recording& recording, std::size_t most_bytes) {
  auto tick = recording.tick(recording.first_tick());
  if (!tick.ok()) return tick.error();
  Frame frame;
  capture(**tick, frame);
  const std::size_t bytes = encode_frame(frame).size() + (*tick)->cloud.size() * (sizeof(sim::CloudItem) + 4);
  // Less the last tick, which is shown in any case.
  const std::int64_t fitting =
      std::max<std::int64_t>(2, static_cast<std::int64_t>(most_bytes / std::max<std::size_t>(bytes, 1))) - 1;
  return (recording.last_tick() - recording.first_tick()) / fitting + 1;
}

// The frames as messages; nothing if they are longer than most_bytes.
Result<std::optional<std::string>> frames_of(record::Recording& recording, std::int64_t every, std::size_t most_bytes) {
  std::string messages;
  CloudSender cloud([&](std::string bytes, WebServer::ClientId) { append(messages, bytes, false); });
  Frame frame;
  CloudSender::Clock::time_point late{};  // nobody has to be waited for
  for (const std::int64_t t : shown_ticks(recording, every)) {
    auto tick = recording.tick(t);
    if (!tick.ok()) return tick.error();
    capture(**tick, frame);
    cloud.tell((*tick)->cloud, late += std::chrono::minutes(1));
    append(messages, encode_frame(frame), false);
    if (messages.size() > most_bytes) return std::optional<std::string>();
  }
  return std::optional(std::move(messages));
}

// The frames that fit with `begin` bytes before them, and in page.every how often they come.
Result<std::string> fitting_frames(record::Recording& recording, const PageOptions& options, std::size_t begin,
                                   Page& page) {
  const std::size_t limit = 4 * options.most_bytes;
  const auto within = [&](std::size_t most) { return most - std::min(begin, most); };
  const bool asked = options.every > 0;
  // A tree that fills the page alone, with its meshes, leaves a quarter for frames nevertheless.
  const std::size_t most =
      asked ? limit : std::min(limit, std::max(options.most_bytes, begin + options.most_bytes / 4));
  const auto fitting = asked ? Result<std::int64_t>(options.every) : fitting_interval(recording, within(most));
  if (!fitting.ok()) return fitting.error();
  const std::int64_t all = std::max<std::int64_t>(1, page.ticks - 1);
  for (page.every = *fitting;; page.every *= 2) {  // again, where later frames are larger than the first
    auto frames = frames_of(recording, page.every, within(page.every < all ? most : limit));
    if (!frames.ok()) return frames.error();
    if (*frames) return std::move(**frames);
    if (asked || page.every >= all) break;
  }
  return Diagnostic{recording.file().string(), 0,
                    fmt::format("the recording is too large for one page: more than {} MB", limit / 1'000'000),
                    "show fewer ticks (every=N), or use volvox replay, which reads the file as it is needed"};
}

// Everything that the page plays: hello, the tree and the frames.
Result<std::string> messages_of(record::Recording& recording, const PageOptions& options, Page& page) {
  auto introduction = introduce(recording);
  if (!introduction.ok()) return introduction.error();
  nlohmann::json& hello = introduction->hello;
  thin_points(hello["points"], options.most_bytes / 4);
  page.ticks = recording.last_tick() - recording.first_tick() + 1;
  hello["recorded_ticks"] = hello["shown_ticks"] = page.ticks;
  std::string messages;
  append(messages, introduction->tree, false);
  auto frames = fitting_frames(recording, options, messages.size() + to_json_text(hello).size() + 12, page);
  if (!frames.ok()) return frames.error();
  page.shown_ticks = std::ssize(shown_ticks(recording, page.every));
  hello["shown_ticks"] = page.shown_ticks;
  std::string all;
  append(all, to_json_text(hello), true);
  return all + messages + *frames;
}

}  // namespace

void thin_points(nlohmann::json& points, std::size_t most_bytes) {
  while (points.size() > 2 && to_json_text(points).size() > most_bytes) {
    nlohmann::json fewer = nlohmann::json::array();
    for (std::size_t i = 0; i + 1 < points.size(); i += 2) fewer.push_back(std::move(points[i]));
    fewer.push_back(std::move(points.back()));
    points = std::move(fewer);
  }
}

Result<Page> page_of(record::Recording& recording, const PageOptions& options) {
  auto files = WebServer::read_bundle(bundle_folder());
  if (!files.ok()) return files.error();
  Page page;
  const auto messages = messages_of(recording, options, page);
  if (!messages.ok()) return messages.error();
  auto html = page_around(*files, *messages);
  if (!html.ok()) return html.error();
  page.html = std::move(*html);
  return page;
}

}  // namespace volvox::view
