// How the extensions of a run are made (mind/extension.h says what one is).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/mind/extension.h"

namespace volvox::sim {

// What an extension is made with. When a recording is replayed nothing outside may be touched: the
// hooks of the loop are not called then, and init must open nothing.
struct ExtensionSetup {
  const Parameters& parameters;
  std::filesystem::path folder;  // of the world's file
  bool replay = false;
};
using ExtensionFactory = std::function<std::unique_ptr<mind::Extension>(const ExtensionSetup&)>;
using ExtensionRegistry = Registry<ExtensionFactory>;

}  // namespace volvox::sim
