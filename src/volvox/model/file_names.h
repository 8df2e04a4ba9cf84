// The files that hold worlds and robots, by their names.
// They look at the disk and keep nothing.
// Any thread may call them.
#pragma once

#include <filesystem>
#include <optional>

#include "volvox/base/result.h"

namespace volvox::model {

// .sdf, .world, .urdf or .xml; which of them it is, its first element says.
bool names_a_model_file(const std::filesystem::path& file);

// Why this file or folder, which exists, is no world and no robot, and what to do; nothing if it may be one, or if it
// does not exist.
std::optional<Diagnostic> why_no_model_file(const std::filesystem::path& file);

}  // namespace volvox::model
