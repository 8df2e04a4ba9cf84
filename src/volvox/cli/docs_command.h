// `volvox docs`: the site that docs/build has made.
// For the thread of main.
#pragma once

namespace volvox::cli {

// Opens it in a browser where there is a desktop, and prints its path. Returns the exit status.
int docs_command(bool no_browser);

}  // namespace volvox::cli
