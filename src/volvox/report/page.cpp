#include "volvox/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "volvox/base/letters.h"
#include "volvox/base/text.h"

namespace volvox::report {
namespace fs = std::filesystem;
namespace {

constexpr const char* style = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2530; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.summary { color: #5b6775; margin-top: .2rem; } .failed { color: #b3261e; font-weight: 600; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e3e8ee; vertical-align: top; }
th { color: #5b6775; font-weight: 600; } .number { text-align: right; font-variant-numeric: tabular-nums; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figure.pacing { max-width: 34rem; } figure.picture { margin-bottom: 1rem; } img, video { max-width: 100%; border-radius: 6px; } figcaption { color: #5b6775; font-size: .85rem; }
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
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (i + k < bytes.size() ? byte_value(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// The name that browsers know the kind of a picture by; null: it is none.
const char* media_type(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".png") return "png";
  if (ending == ".svg") return "svg+xml";
  return ending == ".jpg" || ending == ".jpeg" ? "jpeg" : nullptr;
}

}  // namespace

std::vector<fs::path> pictures_in(const fs::path& folder, std::uintmax_t bytes) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (media_type(entry->path())) files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  std::uintmax_t sum = 0;
  const auto too_many = std::find_if(files.begin(), files.end(), [&](const fs::path& file) {
    sum += fs::file_size(file, error);
    return error || sum > bytes;
  });
  files.erase(too_many, files.end());
  return files;
}

std::string html_picture(const fs::path& file, const std::string& caption) {
  const char* type = media_type(file);
  const auto content = read_file(file);
  if (!content.ok() || type == nullptr) return {};
  return fmt::format(
      "<figure class=\"picture\"><img alt=\"{0}\" "
      "src=\"data:image/{1};base64,{2}\"><figcaption>{0}</figcaption></figure>\n",
      xml_escaped(caption), type, base64(*content));
}

std::string html_film(const fs::path& file, const std::string& caption) {
  const auto content = read_file(file);
  if (!content.ok() || content->empty()) return {};
  return fmt::format(
      "<figure class=\"picture\"><video controls loop muted "
      "src=\"data:video/mp4;base64,{1}\"></video><figcaption>{0}</figcaption></figure>\n",
      xml_escaped(caption), base64(*content));
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<meta name=\"viewport\" "
      "content=\"width=device-width\"><style>{1}</style></head><body>\n<h1>{0}</h1>\n{2}</body></html>\n",
      xml_escaped(title), style, body);
}

}  // namespace volvox::report
