// Which page of the site (docs/build) explains what an error is about: errors name it, and `volvox docs PAGE` opens it.
// A pure function of the error's text; any thread may call it. Nothing that is simulated depends on it.
#pragma once

#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox {

// "formats", or "reference/sdf#dock" with a place on the page; empty: no page has more to say than the error itself.
std::string help_page(const Diagnostic& diagnostic);
// Of the first error that has one.
std::string help_page(const Error& error);

// Every page, without its place, that help_page() may name by itself; for the test that each is there.
std::vector<std::string> help_pages();

}  // namespace volvox
