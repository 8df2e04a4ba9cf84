#include "scout_pair.h"

#include <algorithm>

namespace volvox::experiments::arenas {

Result<void> add_scout_pair(model::WorldBuilder& builder, model::ModelLibrary& library,
                            const std::vector<model::Sensor>& sensors, const Pose& pose,
                            std::map<std::string, std::string> mind,
                            const std::map<std::string, model::NoiseChainSpec>& noise) {
  auto scout = library.load("scout");
  if (!scout.ok()) return scout.error();
  auto pusher = std::make_shared<model::ModuleModel>(**scout);
  std::erase_if(pusher->sensors, [](const model::Sensor& sensor) { return sensor.type == "proximity"; });
  auto carrier = std::make_shared<model::ModuleModel>(*pusher);
  carrier->sensors.insert(carrier->sensors.end(), sensors.begin(), sensors.end());
  for (const auto& [sensor, disturbances] : noise) carrier->percept_noise[sensor] = disturbances;
  model::PlacementOptions options;
  options.mind = model::Mind{"roll_on", std::move(mind), {}, 0};
  builder.add(carrier, pose, "scout", options);
  builder.add(pusher, std::nullopt, "pusher", options);
  builder.connect("scout.back", "pusher.front");
  return {};
}

}  // namespace volvox::experiments::arenas
