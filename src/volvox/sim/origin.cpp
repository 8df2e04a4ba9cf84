#include "volvox/sim/origin.h"

#include <fmt/format.h>

namespace volvox::sim {

std::vector<std::string> differences(const Origin& then, const Origin& now) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& what, const auto& a, const auto& b) {
    if (a != b) found.push_back(fmt::format("{} was {}, now it is {}", what, a, b));
  };
  if (!then.experiment.empty() && !now.experiment.empty()) compare("the experiment", then.experiment, now.experiment);
  compare("the seed", then.seed, now.seed);
  compare("dt", then.dt, now.dt);
  compare("the substep", then.max_substep, now.max_substep);
  if (then.engine == now.engine)  // another engine takes the state over in its own
    compare("the precision", then.precision, now.precision);
  for (const auto& [key, value] : then.settings)
    if (const auto other = now.settings.find(key); other != now.settings.end()) compare(key, value, other->second);
    else found.push_back(fmt::format("{} was {}, now there is no such parameter", key, value));
  for (const auto& [key, value] : now.settings)
    if (!then.settings.contains(key))
      found.push_back(fmt::format("{} is {}, then there was no such parameter", key, value));
  for (std::string& change : model::changes(then.files, now.files)) found.push_back(std::move(change));
  return found;
}

}  // namespace volvox::sim
