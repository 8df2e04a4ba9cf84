// `volvox docs`: the site that docs/build has made.
// For the thread of main.
#pragma once

#include <string>

namespace volvox::cli {

// Opens it in a browser where there is a desktop, and prints its path. page: such as "formats" or "reference/sdf#dock",
// as errors name it (base/help_page.h); empty: the front page. Where the site is not built, the path of the page
// in the source tree, or of what was installed, is printed. Returns the exit status.
int docs_command(const std::string& page, bool no_browser);

}  // namespace volvox::cli
