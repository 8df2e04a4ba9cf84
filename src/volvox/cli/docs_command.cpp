#include "volvox/cli/docs_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "volvox/base/platform/desktop.h"
#include "volvox/base/platform/paths.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"

namespace volvox::cli {
namespace fs = std::filesystem;

int docs_command(bool no_browser) {
  std::string builder;  // where the source tree is
  for (const fs::path& folder : platform::resource_path()) {
    std::error_code ignored;
    for (const char* place : {"site/index.html", "build/docs/site/index.html"}) {
      const fs::path page = folder / place;
      if (!fs::exists(page, ignored)) continue;
      fmt::print("{}\n", page.string());
      if (!no_browser && !platform::open_in_browser("file://" + page.string()))
        std::fputs("volvox: there is no desktop here; open this file in a browser\n", stderr);
      return done;
    }
    if (builder.empty() && fs::exists(folder / "docs/build", ignored)) builder = (folder / "docs/build").string();
  }
  return complain(Error("the site of Volvox is not built", builder.empty()
                                                               ? "build it in the source tree of Volvox: docs/build"
                                                               : "build it: " + builder));
}

}  // namespace volvox::cli
