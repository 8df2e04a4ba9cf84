#include "fuzz.h"
#include "volvox/meld/programs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // What a program includes is not read: the input is the whole program.
  const auto read = [&](const std::filesystem::path& path) -> volvox::Result<std::string> {
    if (path == "fuzz.meld") return std::string(fuzz::text_of(data, size));
    return volvox::Diagnostic{path.string(), 0, "there is no such file", "check the path"};
  };
  return fuzz::check(volvox::meld::load_program("fuzz.meld", read),
                     [](const auto& program) { fuzz::require(program != nullptr && !program->rules.empty()); });
}
