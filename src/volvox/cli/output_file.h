// Files that a command writes by the name that its user gives.
// For the thread of the command. Nothing here changes a file.
#pragma once

#include <filesystem>
#include <string_view>

#include "volvox/base/result.h"

namespace volvox::cli {

// Whether the file may be written: its name ends so, and if it is there, it is one of ours, which has the mark in its
// first lines. What is somebody's work is not replaced because a name was mistyped.
Result<void> may_be_written(const std::filesystem::path& file, std::string_view ending, std::string_view mark,
                            std::string_view option);

}  // namespace volvox::cli
