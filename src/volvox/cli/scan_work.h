// What the files of `volvox scan` share. Internal to cli/.
// For the first thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/known_object.h"
#include "volvox/scan/scan_log.h"

namespace volvox::cli {

// One line on standard error, unless --quiet.
void note(const ScanArguments& arguments, const std::string& line);
// A result that may be wrong: said even with --quiet.
void warn(const std::string& what, const std::string& fix);

// Reads a cloud from a cloud file, or from a scan log; a log without poses is located first.
Result<scan::Cloud> cloud_from(const ScanArguments& arguments, const std::string& file);

// Those of --objects.
Result<std::vector<scan::KnownObject>> objects_of(const ScanArguments& arguments);

// An object that stands, or was found, at a pose: for JSON and for people.
nlohmann::json json_of_object(const std::string& object, const Pose& pose);
std::string place_of(const Pose& pose);

int scan_simulate(const ScanArguments& arguments);
int scan_locate(const ScanArguments& arguments);

}  // namespace volvox::cli
