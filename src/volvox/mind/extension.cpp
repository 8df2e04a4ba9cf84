#include "volvox/mind/extension.h"

#include <fmt/format.h>

namespace volvox::mind {

Result<void> Extensions::add(const std::string& name, std::unique_ptr<Extension> extension) {
  if (find(name) != nullptr) return Error(fmt::format("there are two extensions named '{}'", name), "keep one of them");
  try {
    if (auto ready = extension->init(); !ready.ok()) return ready;
  } catch (const std::exception& error) {
    return Error(fmt::format("extension '{}' failed in init: {}", name, error.what()),
                 "correct the extension, or leave it out");
  } catch (...) {
    return Error(fmt::format("extension '{}' failed in init with an exception of an unknown type", name),
                 "correct the extension, or leave it out");
  }
  all_.emplace_back(name, std::move(extension));
  return {};
}

void Extensions::shut_down() {
  while (!all_.empty()) {
    try {
      all_.back().second->shutdown();
    } catch (...) {
      // The run is over, so the error cannot be reported; the other extensions must still be shut down.
    }
    all_.pop_back();
  }
}

Extension* Extensions::find(std::string_view name) const {
  for (const auto& [known, extension] : all_)
    if (known == name) return extension.get();
  return nullptr;
}

std::vector<std::string> Extensions::names() const {
  std::vector<std::string> names;
  for (const auto& [name, extension] : all_) names.push_back(name);
  return names;
}

}  // namespace volvox::mind
