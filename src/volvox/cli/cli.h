// The volvox command. A user's program becomes one by adding to the library and calling
// main: int main(int argc, char** argv) { auto library = volvox::cli::standard_library();
//   library.minds.behaviors.add("mine", ...); return volvox::cli::main(argc, argv, library); }
// main belongs to the first thread of the process; the library must outlive it.
#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::cli {

// All behaviors, experiments, engines and sensors of Volvox.
sim::Library standard_library();

// Exit status: 0 done; 1 the run failed; 2 bad input.
int main(int argc, char** argv, sim::Library& library);

}  // namespace volvox::cli
