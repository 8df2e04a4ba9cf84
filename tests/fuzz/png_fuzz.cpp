#include "fuzz.h"
#include "volvox/model/mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::check(
      volvox::model::parse_height_field(fuzz::text_of(data, size), "fuzz", {1, 1, 1}), [](const auto& field) {
        fuzz::require(field->heights.size() == std::size_t{field->columns} * field->rows && field->columns >= 1);
        for (const float height : field->heights) fuzz::require(height >= 0 && height <= 1);
      });
}
