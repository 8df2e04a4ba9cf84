// Writes a file whole or not at all: neither a reader nor a crash meets half of it.
#pragma once

#include <filesystem>
#include <string>

#include "volvox/base/result.h"

namespace volvox {

// The text goes into a file beside it first, which then takes its name.
Result<void> write_whole(const std::filesystem::path& file, const std::string& text);

}  // namespace volvox
