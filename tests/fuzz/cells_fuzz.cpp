#include <set>

#include "fuzz.h"
#include "volvox/lattice/cell_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const volvox::lattice::Lattice lattice(volvox::lattice::Kind::cubic);
  return fuzz::check(volvox::lattice::parse_cell_list(fuzz::text_of(data, size), "fuzz.csv", lattice),
                     [](const std::vector<volvox::lattice::Cell>& cells) {
                       std::set<volvox::lattice::Cell> seen;
                       for (const auto& cell : cells) fuzz::require(seen.insert(cell).second);
                     });
}
