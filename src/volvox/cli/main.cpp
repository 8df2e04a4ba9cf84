#include "volvox/cli/cli.h"

int main(int argc, char** argv) {
  volvox::sim::Library library = volvox::cli::standard_library();
  return volvox::cli::main(argc, argv, library);
}
