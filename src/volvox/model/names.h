// The names of all of a kind, for messages that say what there is.
// Copies, in the order of the items. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace volvox::model {

template <class T>
std::vector<std::string> names_of(const std::vector<T>& items) {
  std::vector<std::string> names;
  for (const T& item : items) names.push_back(item.name);
  return names;
}

}  // namespace volvox::model
