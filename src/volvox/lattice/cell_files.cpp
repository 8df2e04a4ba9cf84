#include "volvox/lattice/cell_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "volvox/base/file_ending.h"
#include "volvox/base/index.h"
#include "volvox/base/lines.h"
#include "volvox/base/text.h"
#include "volvox/model/mesh.h"
#include "volvox/model/xml.h"

namespace volvox::lattice {
namespace {

bool is_heading(std::string_view line) {
  Words words(line);
  const std::string_view x = words.next(), y = words.next();
  return (x == "x" && y == "y") || (x == "X" && y == "Y");
}

// A comma or semicolon with nothing before it, or nothing behind it: the numbers would move up.
bool has_empty_field(std::string_view line) {
  bool number = false, separated = true;
  for (const char c : line) {
    if (c == ' ' || c == '\t' || c == '\r') continue;
    separated = c == ',' || c == ';';
    if (separated && !number) return true;
    number = !separated;
  }
  return separated;
}

// The first two lines that name the same cell.
Result<void> each_once(const std::vector<Cell>& cells, const std::vector<int>& lines, const std::string& file) {
  std::vector<std::uint32_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return cells[a] < cells[b]; });
  int again = 0, first = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (cells[order[i]] == cells[order[i - 1]] && (again == 0 || lines[order[i]] < again))
      again = lines[order[i]], first = lines[order[i - 1]];
  if (again == 0) return {};
  return Diagnostic{file, again, fmt::format("two modules are in one cell: line {} has it, too", first),
                    "give every module a cell of its own"};
}

}  // namespace

Result<std::vector<Cell>> parse_cell_list(std::string_view text, const std::string& file, const Lattice& lattice) {
  std::vector<Cell> cells;
  std::vector<int> numbers;                                     // of the lines
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // as spreadsheets begin a file
  Lines lines(text);
  bool first = true;
  for (std::string_view line; next_content(lines, line); first = false) {
    if (first && is_heading(line)) continue;
    Words words(line);
    const auto x = words.number<std::int32_t>(), y = words.number<std::int32_t>();
    const auto z = words.at_end() ? std::optional<std::int32_t>(0) : words.number<std::int32_t>();
    if (!x || !y || !z || !words.at_end() || has_empty_field(line))
      return Diagnostic{file, lines.number(), fmt::format("'{}' is no cell", printable(line.substr(0, 60))),
                        "write two or three whole numbers, such as 3,-1,0; a heading is x,y or x,y,z"};
    const Cell cell{*x, *y, *z};
    if (!in_range(cell))
      return Diagnostic{file, lines.number(),
                        fmt::format("the cell {} is too far from the origin", lattice::text(cell)),
                        fmt::format("keep coordinates within {}", farthest_cell)};
    if (lattice.flat() && cell.z != 0)
      return Diagnostic{
          file, lines.number(),
          fmt::format("the cell {} is not in the plane of a {} lattice", lattice::text(cell), name(lattice.kind())),
          "use z = 0, or a cubic, bcc or fcc lattice"};
    cells.push_back(cell);
    numbers.push_back(lines.number());
  }
  if (cells.empty()) return Diagnostic{file, 0, "the list has no cell", "write a cell a line, such as 3,-1,0"};
  if (const auto good = each_once(cells, numbers, file); !good.ok()) return good.error();
  return cells;
}

Result<std::vector<Cell>> cells_of_image(const model::HeightFieldData& image, const std::string& file) {
  std::vector<Cell> cells;
  for (std::uint32_t row = 0; row < image.rows; ++row)
    for (std::uint32_t column = 0; column < image.columns; ++column)
      if (image.heights[std::size_t{row} * image.columns + column] < 0.5f)
        cells.push_back({narrow<std::int32_t>(column), narrow<std::int32_t>(row), 0});
  if (cells.empty()) return Diagnostic{file, 0, "the image has no dark pixel", "draw modules dark on a light ground"};
  return cells;
}

Result<std::vector<Cell>> cells_of(const std::string& bytes, const std::filesystem::path& file,
                                   const Lattice& lattice) {
  const std::string ending = file_ending(file);
  const auto is = [&](std::initializer_list<std::string_view> endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  if (is({".csv", ".txt"})) return parse_cell_list(bytes, file.string(), lattice);
  if (is({".png", ".jpg", ".jpeg", ".bmp", ".pgm"})) {
    const auto image = model::parse_height_field(bytes, file.string(), {1, 1, 1});
    if (!image.ok()) return image.error();
    return cells_of_image(**image, file.string());
  }
  if (is({".stl", ".obj", ".ply", ".off"})) {
    const auto mesh = model::mesh_of(bytes, file, {1, 1, 1});
    if (!mesh.ok()) return mesh.error();
    return fill_mesh(**mesh, file.string(), lattice);
  }
  return Diagnostic{file.string(), 0, fmt::format("cells cannot be read from a file with the ending '{}'", ending),
                    "give a list (.csv), an image (.png) or a closed mesh (.stl, .obj, .ply)"};
}

}  // namespace volvox::lattice
