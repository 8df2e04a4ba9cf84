#include "volvox/cli/output_file.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "volvox/base/index.h"

namespace volvox::cli {
namespace fs = std::filesystem;

Result<void> may_be_written(const fs::path& file, std::string_view ending, std::string_view mark,
                            std::string_view option) {
  if (file.extension() != ending)
    return Diagnostic{file.string(), 0, fmt::format("the name does not end in {}", ending),
                      fmt::format("give {} a name such as run{}", option, ending)};
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return {};
  std::string beginning(4096, '\0');
  if (fs::is_regular_file(status)) {  // not a pipe, which would wait
    std::ifstream in(file, std::ios::binary);
    in.read(beginning.data(), narrow<std::streamsize>(beginning.size()));
    beginning.resize(narrow<std::size_t>(in.gcount()));
    if (beginning.empty() || beginning.find(mark) != std::string::npos) return {};
  }
  return Diagnostic{file.string(), 0,
                    fmt::format("there is something else of this name, and {} would replace it", option),
                    fmt::format("give {} another name, or remove the file", option)};
}

}  // namespace volvox::cli
