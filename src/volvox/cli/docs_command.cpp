#include "volvox/cli/docs_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "volvox/base/platform/desktop.h"
#include "volvox/base/platform/paths.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"

namespace volvox::cli {
namespace fs = std::filesystem;

namespace {

// A page by its name: "formats" is docs/formats.html. Empty: there is none.
fs::path page_of(const fs::path& folder, const std::string& name, const char* ending) {
  if (name.find("..") != std::string::npos || name.starts_with('/')) return {};
  std::error_code ignored;
  for (const fs::path& page : {folder / "docs" / (name + ending), folder / (name + ending)})
    if (fs::is_regular_file(page, ignored)) return page;
  return {};
}

// Where a page that is generated with the site is not there, this one says the same in other words.
std::string written_page(const std::string& name) {
  return name == "reference/sdf" ? "formats" : name == "reference/commands" ? "start" : name;
}

// The names by which the pages of a site can be asked for.
std::vector<std::string> page_names(const fs::path& site) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const std::string prefix : {"", "tutorials/", "reference/"})
    for (const auto& entry :
         fs::directory_iterator(prefix == "reference/" ? site / prefix : site / "docs" / prefix, ignored))
      if (entry.path().extension() == ".html") names.push_back(prefix + entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

int show(const fs::path& page, const std::string& place, bool no_browser) {
  fmt::print("{}\n", page.string() + place);
  if (!no_browser && !platform::open_in_browser("file://" + page.string() + place))
    std::fputs("volvox: there is no desktop here; open this file in a browser\n", stderr);
  return done;
}

}  // namespace

int docs_command(const std::string& page, bool no_browser) {
  const auto mark = std::min(page.find('#'), page.size());
  const std::string name = page.substr(0, mark), place = page.substr(mark);
  std::string builder;  // where the source tree is
  fs::path source;      // the page there, or in the documentation that was installed
  for (const fs::path& folder : platform::resource_path()) {
    std::error_code ignored;
    for (const char* where : {"site", "build/docs/site"}) {
      const fs::path site = folder / where;
      if (!fs::exists(site / "index.html", ignored)) continue;
      if (name.empty()) return show(site / "index.html", place, no_browser);
      if (const fs::path found = page_of(site, name, ".html"); !found.empty()) return show(found, place, no_browser);
      const std::string meant = nearest_name(name, page_names(site));
      return complain(Error(fmt::format("the site has no page '{}'", name),
                            meant.empty() ? "see what there is: volvox docs" : fmt::format("did you mean {}?", meant)));
    }
    for (const fs::path& place_of_docs :
         {folder, folder.parent_path() / "doc/Volvox", folder.parent_path() / "doc/volvox"})
      if (source.empty() && !name.empty()) source = page_of(place_of_docs, written_page(name), ".md");
    if (builder.empty() && fs::exists(folder / "docs/build", ignored)) builder = (folder / "docs/build").string();
  }
  if (!source.empty()) {
    fmt::print("{}\n", source.string());
    return done;
  }
  return complain(Error("the site of Volvox is not built", builder.empty()
                                                               ? "build it in the source tree of Volvox: docs/build"
                                                               : "build it: " + builder));
}

}  // namespace volvox::cli
