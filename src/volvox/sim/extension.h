// Factories of the extensions of a run (mind/extension.h defines extensions).
// Factories are called from the thread of the run, before the first tick; the run owns what they make.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/mind/extension.h"

namespace volvox::sim {

// The input of the factory. When a recording is replayed, an extension must not use anything outside: the hooks of the
// loop are not called then, and init must not open anything.
struct ExtensionSetup {
  const Parameters& parameters;
  std::filesystem::path folder;  // of the world's file
  bool replay = false;
};
using ExtensionFactory = std::function<std::unique_ptr<mind::Extension>(const ExtensionSetup&)>;
using ExtensionRegistry = Registry<ExtensionFactory>;

}  // namespace volvox::sim
