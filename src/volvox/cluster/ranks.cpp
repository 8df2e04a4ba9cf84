#include "volvox/cluster/ranks.h"
#include "volvox/base/parse.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace volvox::cluster {
namespace {

constexpr double usual_patience = 60;  // s: file systems of clusters show changes late

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<int> number(const char* name) { return to_number<int>(variable(name)); }

std::optional<Place> place_of(const char* rank, const char* size, const std::string& job) {
  const auto own = number(rank), all = number(size);
  if (!own || !all || *own < 0 || *own >= *all) return std::nullopt;
  return Place{*own, *all, job};
}

std::optional<Place> place_in_array() {
  const auto task = number("SLURM_ARRAY_TASK_ID"), first = number("SLURM_ARRAY_TASK_MIN"),
             last = number("SLURM_ARRAY_TASK_MAX"), step = number("SLURM_ARRAY_TASK_STEP");
  if (!task || !first || !last || *task < *first || *task > *last) return std::nullopt;
  const int by = step.value_or(1) > 0 ? step.value_or(1) : 1;
  return Place{(*task - *first) / by, (*last - *first) / by + 1, variable("SLURM_ARRAY_JOB_ID")};
}

std::optional<Place> place_in_step() {
  // Within a batch script there is no step: it is one process, whatever its job has asked for.
  if (variable("SLURM_STEP_ID").empty()) return std::nullopt;
  return place_of("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", variable("SLURM_JOB_ID") + "." + variable("SLURM_STEP_ID"));
}

}  // namespace

std::optional<Place> place_in_mpi() {
  if (auto place = place_of("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {})) return place;
  if (auto place = place_of("PMI_RANK", "PMI_SIZE", {})) return place;
  if (!variable("PMIX_RANK").empty()) return place_of("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", {});
  return std::nullopt;
}

std::optional<Place> place_in_slurm() {
  if (auto place = place_in_array()) return place;
  return place_in_step();
}

Result<std::unique_ptr<Ranks>> join(const std::string& how, const std::filesystem::path& shared) {
  const auto alone = [] { return Result<std::unique_ptr<Ranks>>(std::unique_ptr<Ranks>()); };
  if (how == "none") return alone();
  if (how != "auto" && how != "mpi" && how != "slurm")
    return Error(fmt::format("there are no ranks by '{}'", how), "use one of: auto, mpi, slurm, none");
  if (const auto mpi = place_in_mpi(); how == "mpi" || (how == "auto" && mpi)) {
    if (!mpi)
      return Error("this process was not started by mpirun, nor by srun --mpi=pmix",
                   "start it as: mpirun -n 4 volvox ..., or leave out --ranks mpi");
    if (mpi->size == 1) return alone();
    return join_by_mpi();
  }
  const auto slurm = how == "slurm" ? place_in_slurm() : place_in_step();
  if (how == "slurm" && !slurm)
    return Error("this process is no task of Slurm",
                 "start it by srun -n 4, or in a job array (sbatch --array=0-3), or leave out --ranks slurm");
  if (!slurm || slurm->size == 1) return alone();
  if (shared.empty())
    return Error("tasks of Slurm find each other in the folder of results",
                 "give --out DIR, a folder that all of them see");
  double patience = usual_patience;
  if (const auto given = number("VOLVOX_RANKS_PATIENCE"); given && *given > 0) patience = *given;
  return join_by_files(*slurm, shared / "ranks", patience);
}

}  // namespace volvox::cluster
