// Commands of the viewer's page, as they come out of a WebSocket: JSON, from which inputs are made.
#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "volvox/sim/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto what = nlohmann::json::parse(fuzz::text_of(data, size), nullptr, false);
  if (!what.is_object()) return 0;
  const auto text = [&](const char* key) {
    return what.contains(key) && what[key].is_string() ? what[key].get<std::string>() : std::string();
  };
  const auto number = [&](const char* key) {
    return what.contains(key) && what[key].is_number() ? what[key].get<double>() : 0.0;
  };
  const auto input =
      volvox::sim::input_of({text("kind"), text("module"), text("name"), text("text"), number("value"), {}});
  return fuzz::check(input, [](const volvox::sim::Input& given) {
    fuzz::require(volvox::sim::input_of(volvox::sim::record_of(given)).ok());
  });
}
