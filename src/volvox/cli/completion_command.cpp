#include <cstdio>

#include "volvox/cli/commands.h"
#include "volvox/cli/completion.h"

namespace volvox::cli {

int completion_command(const std::string& shell) {
  if (shell != "bash")
    return complain(Error("there is no completion for '" + shell + "'", "use: volvox completion bash"));
  std::fputs(bash_completion, stdout);
  return done;
}

}  // namespace volvox::cli
