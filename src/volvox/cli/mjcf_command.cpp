#include "volvox/cli/mjcf_command.h"

#include <fmt/format.h>

#include <cstdio>

#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/output_file.h"
#include "volvox/cli/terminal.h"
#include "volvox/model/mjcf.h"
#include "volvox/model/reader.h"
#include "volvox/sim/run.h"

namespace volvox::cli {
namespace {

// A robot by its name stands alone on a ground; all else is what `volvox run` would run.
Result<model::WorldModel> world_of(const std::string& thing, const std::vector<std::string>& set, sim::Library& library,
                                   Log& log) {
  for (const std::string& name : model::ModelLibrary().names()) {
    if (name != thing) continue;
    if (!set.empty()) return Error("a robot has no parameters", "leave --set out, or export an experiment");
    model::ModelLibrary models;
    const auto file = models.find(thing);
    if (!file.ok()) return file.error();
    return model::read_world(*file, {}, models);
  }
  RunArguments arguments;
  arguments.experiment = thing, arguments.set = set;
  const auto options = run_options(arguments);
  if (!options.ok()) return options.error();
  auto run = sim::Run::prepare(*options, library, log);
  if (!run.ok()) return run.error();
  return (*run)->simulation().world().model();
}

}  // namespace

int export_mjcf_command(const std::string& thing, const std::string& file, const std::vector<std::string>& set,
                        sim::Library& library, Log& log) {
  if (auto may = may_be_written(file, ".xml", "<!-- Written by Volvox", "--mjcf"); !may.ok())
    return complain(may.error());
  const auto world = world_of(thing, set, library, log);
  if (!world.ok()) return complain(world.error());
  if (world->placements.empty())
    return complain(Error(fmt::format("'{}' has no bodies that MuJoCo could move", thing),
                          "export a robot, or a world with modules or obstacles"));
  const model::Mjcf mjcf = model::write_mjcf(*world);
  if (const auto written = write_file(file, mjcf.text); !written.ok()) return complain(written.error());
  for (const std::string& each : mjcf.left_out)
    std::fputs(fmt::format("volvox: left out: {}\n", printable(each)).c_str(), stderr);
  fmt::print("{}\n", printable(file));
  return done;
}

}  // namespace volvox::cli
