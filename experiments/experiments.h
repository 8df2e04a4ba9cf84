// The experiments that come with Volvox. Each family (the experiments of one paper) registers its own in the .cpp file
// of its name.
#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments {

using ExperimentRegistry = Registry<sim::ExperimentFactory>;

void register_experiments(ExperimentRegistry& registry);

namespace arenas {
void register_experiments(ExperimentRegistry& registry);
}
namespace dprsim {
void register_experiments(ExperimentRegistry& registry);
// For Library::experiment_files["cells.sdf"]: an SDF world with a population of cells.
std::unique_ptr<sim::Experiment> cell_world_file(const std::filesystem::path& file, const sim::Library& library);
}  // namespace dprsim
namespace remod3d {
void register_experiments(ExperimentRegistry& registry);
}
namespace swarmsimx {
void register_experiments(ExperimentRegistry& registry);
}
namespace roles {
void register_experiments(ExperimentRegistry& registry);
}
namespace vouivre {
void register_experiments(ExperimentRegistry& registry);
}

template <class E>
sim::ExperimentFactory make() {
  return [] { return std::unique_ptr<sim::Experiment>(std::make_unique<E>()); };
}

}  // namespace volvox::experiments
