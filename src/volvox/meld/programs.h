// Programs of our own, which are part of the command: gradient, leader, tree and line.
// Constant: any thread may read them.
#pragma once

#include <string>
#include <vector>

#include "volvox/meld/program.h"

namespace volvox::meld {

struct OwnProgram {
  std::string name, text;
};
const std::vector<OwnProgram>& own_programs();

// One of our own by its name, or a file.
Result<std::shared_ptr<const Program>> find_program(const std::string& name_or_file, const ReadFile& read);

}  // namespace volvox::meld
