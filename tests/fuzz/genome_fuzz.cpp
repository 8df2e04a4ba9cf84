// The same bytes as a genome and as a task: one of the two readers takes what the corpus has.
#include "fuzz.h"
#include "volvox/evolve/organism.h"
#include "volvox/evolve/task.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path file = fuzz::file_of(fuzz::text_of(data, size), ".json");
  fuzz::check(volvox::evolve::read_organism(file), [](const volvox::evolve::Organism& organism) {
    fuzz::require(!organism.experiment.empty());
    (void)volvox::evolve::to_json(organism);
  });
  return fuzz::check(volvox::evolve::read_task(file.string()),
                     [](const volvox::evolve::Task& task) { fuzz::require(!task.experiment.empty()); });
}
