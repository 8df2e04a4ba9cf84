#include "volvox/report/page.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>

#include "volvox/base/text.h"

namespace volvox::report {
namespace {

constexpr const char* style = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2530; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.summary { color: #5b6775; margin-top: .2rem; } .failed { color: #b3261e; font-weight: 600; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e3e8ee; vertical-align: top; }
th { color: #5b6775; font-weight: 600; } .number { text-align: right; font-variant-numeric: tabular-nums; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figure.pacing { max-width: 34rem; } figure.picture { margin-bottom: 1rem; } img { max-width: 100%; border-radius: 6px; } figcaption { color: #5b6775; font-size: .85rem; }
svg { width: 100%; height: auto; }
.warning { white-space: pre-line; }
@media print { body { margin: 0; } }
)";

std::string base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

const char* media_type(const std::filesystem::path& picture) {
  const std::string ending = picture.extension().string();
  return ending == ".png" ? "png" : ending == ".svg" ? "svg+xml" : "jpeg";
}

}  // namespace

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<meta name=\"viewport\" "
      "content=\"width=device-width\"><style>{1}</style></head><body>\n<h1>{0}</h1>\n{2}</body></html>\n",
      xml_escaped(title), style, body);
}

std::string html_picture(const std::filesystem::path& file, const std::string& caption) {
  std::ifstream in(file, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(in)), {});
  if (content.empty()) return {};
  return fmt::format(
      "<figure class=\"picture\"><img alt=\"{0}\" "
      "src=\"data:image/{1};base64,{2}\"><figcaption>{0}</figcaption></figure>\n",
      xml_escaped(caption), media_type(file), base64(content));
}

}  // namespace volvox::report
