#include "volvox/base/help_page.h"

#include <algorithm>
#include <string_view>

namespace volvox {
namespace {

struct Rule {
  std::string_view sign;  // in the file's name or in the text
  std::string_view page;
};

// What the name of the file ends with; the first that fits.
constexpr Rule files[] = {
    {"task.json", "evolve"},
    {"genome.json", "evolve"},
    {"claims.json", "formats#claims"},
    {".sdf", "formats"},
    {".urdf", "formats"},
    {".world", "formats"},
    {".xacro", "python"},
    {".meld", "meld"},
    {".so", "plugins"},
    {".mcap", "howto#record-replay-export"},
    {".volvox", "howto#save-and-go-on"},
    {".log", "scan"},
    {".pcd", "scan"},
    {".ply", "scan"},
};

// Words that are said of one subject only; the first that is found.
constexpr Rule words[] = {
    {"has no option", "reference/commands"},
    {"plugin", "plugins"},
    {"ROS", "ros"},
    {"--real-time", "real_time"},
    {"--isolate", "plugins"},
    {"genome", "evolve"},
    {"task.json", "evolve"},
    {"evolve", "evolve"},
    {"MPI", "cluster"},
    {"Slurm", "cluster"},
    {"--lattice", "meld"},
    {"--cells", "meld"},
    {"magnet", "magnets"},
    {"particles", "particles"},
    {"recording", "howto#record-replay-export"},
    {"snapshot", "howto#save-and-go-on"},
    {"ffmpeg", "howto#make-pictures-and-films"},
    {"camera", "howto#make-pictures-and-films"},
    {"--set", "howto#change-a-parameter-without-a-program"},
    {"has no parameter", "howto#change-a-parameter-without-a-program"},
    {"--pcap", "network"},
    {"radio", "network"},
    {"channel", "network"},
    {"scan", "scan"},
    {"engine", "concepts#engine"},
    {"behavior", "concepts#mind"},
    {"dock", "concepts#dock"},
    {"experiment", "start#2-look-around"},
    {" dt ", "concepts#tick"},
    {"option", "reference/commands"},
    {"no command", "reference/commands"},
    {"--help", "reference/commands"},
};

bool is_of_a_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// The name between two signs: "dock" of "<volvox:dock name=...". Empty: there is none.
std::string name_between(std::string_view text, std::string_view before, std::string_view after) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  const auto end = std::find_if_not(text.begin(), text.end(), is_of_a_name);
  const std::string name(text.begin(), end);
  text.remove_prefix(name.size());
  return text.starts_with(after) ? name : std::string();
}

}  // namespace

std::string help_page(const Diagnostic& diagnostic) {
  const std::string text = diagnostic.what + "\n" + diagnostic.fix;
  if (const std::string named = name_between(text, "docs/", ".md"); !named.empty()) return named;
  if (const std::string element = name_between(text, "<volvox:", ""); !element.empty())
    return "reference/sdf#" + element;
  for (const Rule& rule : files)
    if (diagnostic.file.ends_with(rule.sign)) return std::string(rule.page);
  for (const Rule& rule : words)
    if (text.find(rule.sign) != std::string::npos) return std::string(rule.page);
  return {};
}

std::string help_page(const Error& error) {
  for (const Diagnostic& diagnostic : error.diagnostics())
    if (std::string page = help_page(diagnostic); !page.empty()) return page;
  return {};
}

std::vector<std::string> help_pages() {
  std::vector<std::string> pages{"reference/sdf"};
  for (const Rule& rule : files) pages.emplace_back(rule.page);
  for (const Rule& rule : words) pages.emplace_back(rule.page);
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

}  // namespace volvox
