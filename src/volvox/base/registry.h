// Factories by name. Every layer has its own registry; plugins and users add to them.
// Filled by one thread before a run, and then only read, by any thread. Owns the factories. Names come in alphabetical
// order.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox {

template <class Factory>
class Registry {
 public:
  // `kind` is used in messages: "behavior", "sensor".
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  // Replaces an earlier entry of the same name.
  void add(const std::string& name, Factory factory, std::string description = {}) {
    entries_[name] = {std::move(factory), std::move(description)};
  }

  // The factory of that name; the error lists all names.
  Result<const Factory*> find(const std::string& name, const std::string& file = {}, int line = 0) const {
    if (const auto it = entries_.find(name); it != entries_.end()) return &it->second.factory;
    const std::string nearest = nearest_name(name, names());
    std::string all;
    for (const auto& [known, entry] : entries_) all += (all.empty() ? "" : ", ") + known;
    return Diagnostic{file, line, "there is no " + kind_ + " named '" + name + "'",
                      (nearest.empty() ? "use one of: " : "did you mean '" + nearest + "'? There are: ") + all};
  }

  bool contains(const std::string& name) const { return entries_.contains(name); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }
  const std::string& description(const std::string& name) const { return entries_.at(name).description; }

 private:
  struct Entry {
    Factory factory;
    std::string description;
  };
  std::string kind_;
  std::map<std::string, Entry> entries_;
};

}  // namespace volvox
