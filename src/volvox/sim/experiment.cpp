#include "volvox/sim/experiment.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/platform/paths.h"
#include "volvox/model/cell_population.h"
#include "volvox/model/file_names.h"

namespace volvox::sim {
namespace fs = std::filesystem;

namespace {

// An experiment that consists of a world file only.
class WorldFile final : public Experiment {
 public:
  explicit WorldFile(fs::path file) : file_(std::move(file)) {}
  Result<std::vector<model::ParameterDesc>> parameters(const fs::path&) const override {
    return model::read_parameters(file_);
  }
  Result<model::WorldModel> init(Setup& setup) override {
    return model::read_world(file_, setup.settings, setup.library, &setup.warnings);
  }

 private:
  fs::path file_;
};

}  // namespace

Result<std::vector<model::ParameterDesc>> Experiment::parameters(const fs::path& folder) const {
  return model::read_parameters(folder / "world.sdf");
}

Result<model::WorldModel> Experiment::init(Setup& setup) {
  return model::read_world(setup.folder / "world.sdf", setup.settings, setup.library, &setup.warnings);
}

std::vector<Located> find_experiments(const Library& library) {
  std::map<std::string, Located> found;
  for (const std::string& name : library.experiments.names()) found[name] = {name, {}, {}, true};
  const std::vector<fs::path> path = platform::resource_path();
  for (auto root = path.rbegin(); root != path.rend(); ++root) {  // the first folder of the path has precedence
    const fs::path experiments = *root / "experiments";
    std::error_code error;
    for (fs::recursive_directory_iterator it(experiments, error), end; !error && it != end; it.increment(error)) {
      if (!it->is_directory(error)) continue;
      const std::string name = fs::relative(it->path(), experiments, error).generic_string();
      // A folder without a world of its own may have an organism that was bred for another one's.
      const bool bred = library.experiment_files.contains(".json") && !fs::exists(it->path() / "world.sdf", error);
      const fs::path file = it->path() / (bred ? "genome.json" : "world.sdf");
      const bool has_world = fs::exists(file, error);
      const bool registered = library.experiments.contains(name);
      if (has_world || registered) found[name] = {name, it->path(), has_world ? file : fs::path{}, registered};
    }
  }
  std::vector<Located> experiments;
  for (auto& [name, located] : found) experiments.push_back(std::move(located));
  return experiments;
}

Result<Located> locate_experiment(const std::string& name_or_file, const Library& library) {
  const fs::path file = name_or_file;
  if (model::names_a_model_file(file) || library.experiment_files.contains(file.extension().string())) {
    std::error_code error;
    if (!fs::is_regular_file(file, error))
      return Error(fmt::format("there is no file '{}'", name_or_file), "check the path");
    return Located{file.stem().string(), file.parent_path(), file, false};
  }
  const std::vector<Located> experiments = find_experiments(library);
  std::vector<std::string> names;
  for (const Located& located : experiments) {
    if (located.name == name_or_file) return located;
    names.push_back(located.name);
  }
  if (const auto why = model::why_no_model_file(file)) return *why;
  const std::vector<std::string> robots = model::ModelLibrary(platform::resource_path()).names();
  if (std::ranges::find(robots, name_or_file) != robots.end())
    return Error(fmt::format("'{}' is a robot, not an experiment", name_or_file),
                 fmt::format("look at it with: volvox view {}; or make a world with it, as `volvox new robot` does",
                             name_or_file));
  const std::string nearest = nearest_name(name_or_file, names);
  return Error(fmt::format("there is no experiment named '{}'", name_or_file),
               nearest.empty() ? "see them with: volvox list experiments; or give the path of an .sdf file"
                               : fmt::format("did you mean '{}'? See all with: volvox list experiments", nearest));
}

std::unique_ptr<Experiment> make_experiment(const Located& located, const Library& library) {
  if (located.registered) return (**library.experiments.find(located.name))();
  if (const auto kind = library.experiment_files.find(located.file.extension().string());
      kind != library.experiment_files.end())
    return kind->second(located.file, library);
  // A world of cells is an SDF file, too; who can run it has said so under this name.
  if (const auto cells = library.experiment_files.find("cells.sdf");
      cells != library.experiment_files.end() && model::has_cell_population(located.file))
    return cells->second(located.file, library);
  return std::make_unique<WorldFile>(located.file);
}

}  // namespace volvox::sim
