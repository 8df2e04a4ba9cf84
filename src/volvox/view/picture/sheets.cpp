#include "volvox/view/picture/sheets.h"

namespace volvox::view::picture {
namespace {

constexpr double torn = 1.6;  // times its length at rest: nothing else stretches so far

void add_sheet(const sim::CloudLook::Sheet& sheet, std::span<const sim::CloudItem> items, const Viewpoint& view,
               Mesh& mesh) {
  const std::uint32_t columns = sheet.columns, rows = sheet.rows, base = narrow<std::uint32_t>(mesh.vertices.size());
  const auto item = [&](std::uint32_t c, std::uint32_t r) -> const sim::CloudItem& {
    return items[sheet.first + std::size_t{r} * columns + c];
  };
  const auto place = [&](std::uint32_t c, std::uint32_t r) { return to_vec(item(c, r).position) - view.target; };
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      const Vec3 along = place(std::min(c + 1, columns - 1), r) - place(c > 0 ? c - 1 : 0, r);
      const Vec3 across = place(c, std::min(r + 1, rows - 1)) - place(c, r > 0 ? r - 1 : 0);
      const Vec3 normal = cross(along, across);
      const auto& color = item(c, r).color;
      mesh.vertices.push_back({to_floats(place(c, r)),
                               to_floats(length(normal) > 0 ? normalized(normal) : Vec3{0, 0, 1}),
                               {color[0], color[1], color[2], 255}});
    }
  }
  const auto whole = [&](std::uint32_t c, std::uint32_t r) {
    const auto far = [](const Vec3& a, const Vec3& b, double rest) { return length(a - b) > torn * rest; };
    for (const std::uint32_t k : {0u, 1u})
      for (const std::uint32_t l : {0u, 1u})
        if (item(c + k, r + l).shown == sim::CloudItem::gone) return false;
    return !far(place(c, r), place(c + 1, r), sheet.column_distance) &&
           !far(place(c, r + 1), place(c + 1, r + 1), sheet.column_distance) &&
           !far(place(c, r), place(c, r + 1), sheet.row_distance) &&
           !far(place(c + 1, r), place(c + 1, r + 1), sheet.row_distance);
  };
  for (std::uint32_t r = 0; r + 1 < rows; ++r) {
    for (std::uint32_t c = 0; c + 1 < columns; ++c) {
      if (!whole(c, r)) continue;
      const std::uint32_t a = base + r * columns + c, b = a + 1, d = a + columns, e = d + 1;
      mesh.indices.insert(mesh.indices.end(), {a, b, e, a, e, d});
    }
  }
}

}  // namespace

Mesh sheets_of(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view) {
  Mesh mesh;
  for (const sim::CloudLook::Sheet& sheet : look.sheets)
    if (sheet.first + std::size_t{sheet.columns} * sheet.rows <= items.size()) add_sheet(sheet, items, view, mesh);
  return mesh;
}

}  // namespace volvox::view::picture
