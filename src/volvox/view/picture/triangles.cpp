#include "volvox/view/picture/triangles.h"

#include <algorithm>
#include <cmath>

namespace volvox::view::picture {
namespace {

typedef float Four __attribute__((vector_size(16)));

constexpr std::size_t most_chunks = 48;
constexpr float guard =
    12000.0f * subsamples;  // steps from the centre: raster_kernel.h counts on whole numbers up to there

std::uint32_t packed_color(Rgba c) {
  return std::uint32_t{c.r} | std::uint32_t{c.g} << 8 | std::uint32_t{c.b} << 16 | std::uint32_t{c.a} << 24;
}

Rgba mixed(Rgba own, Rgba tint, float opacity) {
  const auto mix = [&](int a, int b) { return narrow<std::uint8_t>((a * (255 - tint.a) + b * tint.a + 127) / 255); };
  return {mix(own.r, tint.r), mix(own.g, tint.g), mix(own.b, tint.b),
          opacity == 1 ? own.a : truncated<std::uint8_t>(static_cast<float>(own.a) * opacity + 0.5f)};
}

// Rounds to the nearest whole number, the same in every build.
std::int32_t nearest(double x) { return static_cast<std::int32_t>(x + (1 << 30) + 0.5) - (1 << 30); }

// A corner before it is divided by w.
struct Projected {
  Four at;  // x, y, depth, w
  Corner corner;
};

class ChunkMaker {
 public:
  ChunkMaker(const Projection& projection, TileGrid grid, TriangleChunk& chunk)
      : projection_(projection), grid_(grid), columns_(grid.columns()), chunk_(chunk) {
    chunk_.corners.clear(), chunk_.triangles.clear(), chunk_.pairs.clear();
  }

  void add(const Drawn& drawn, const Instance& instance) {
    const Mesh& mesh = *drawn.mesh;
    flags_ = drawn.flags;
    const std::size_t base = chunk_.corners.size();
    chunk_.corners.resize(base + mesh.vertices.size());
    const bool whole = project(drawn, instance, chunk_.corners.data() + base);
    const std::uint32_t first = narrow<std::uint32_t>(base);
    for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
      const std::uint32_t a = mesh.indices[i], b = mesh.indices[i + 1], c = mesh.indices[i + 2];
      if (whole) add(first + a, first + b, first + c, drawn.one_sided);
      else add_cut({a, b, c}, first, drawn.one_sided);
    }
  }

  // By tile, in the order in which they were added.
  void sort() {
    const std::size_t tiles = std::size_t(grid_.tiles());
    chunk_.first.assign(tiles + 1, 0);
    for (const TriangleChunk::InTile& pair : chunk_.pairs) ++chunk_.first[pair.tile + 1];
    for (std::size_t t = 0; t < tiles; ++t) chunk_.first[t + 1] += chunk_.first[t];
    chunk_.sorted.resize(chunk_.pairs.size());
    next_.assign(chunk_.first.begin(), chunk_.first.end() - 1);
    for (const TriangleChunk::InTile& pair : chunk_.pairs) chunk_.sorted[next_[pair.tile]++] = pair.triangle;
  }

 private:
  // Whether nothing of it has to be cut.
  bool project(const Drawn& drawn, const Instance& instance, Corner* to) {
    const auto& [qx, qy, qz, qw] = instance.turn;
    const float scale = instance.place[3];
    const float turn[3][3] = {{1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy + qz * qw), 2 * (qx * qz - qy * qw)},
                              {2 * (qx * qy - qz * qw), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + qx * qw)},
                              {2 * (qx * qz + qy * qw), 2 * (qy * qz - qx * qw), 1 - 2 * (qx * qx + qy * qy)}};
    Four given[4], columns[4];
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < 4; ++i) given[k][i] = projection_.columns[k][i];
    for (int k = 0; k < 3; ++k)
      columns[k] = (given[0] * turn[k][0] + given[1] * turn[k][1] + given[2] * turn[k][2]) * scale;
    columns[3] = given[0] * instance.place[0] + given[1] * instance.place[1] + given[2] * instance.place[2] + given[3];
    Four axes[3];
    for (int k = 0; k < 3; ++k) axes[k] = Four{turn[k][0], turn[k][1], turn[k][2], 0};

    const float raised = drawn.nearer == 0 ? 1 : raised_by(drawn.nearer * scale, columns[3]);
    const float upright = (drawn.flags & Triangle::marker) != 0 ? 1.00015f : raised;
    const double centre_x = projection_.centre_x, centre_y = projection_.centre_y;
    bool whole = true;
    const std::vector<Vertex>& vertices = drawn.mesh->vertices;
    projected_.resize(vertices.size());
    Rgba last_color{1, 2, 3, 4};
    std::uint32_t last_packed = 0;
    bool colored = false;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const Vertex& vertex = vertices[i];
      const Four at = columns[0] * vertex.position[0] + columns[1] * vertex.position[1] +
                      columns[2] * vertex.position[2] + columns[3];
      const Four normal = axes[0] * vertex.normal[0] + axes[1] * vertex.normal[1] + axes[2] * vertex.normal[2];
      if (!colored || !(vertex.color == last_color)) {
        colored = true, last_color = vertex.color;
        last_packed = packed_color(mixed(vertex.color, instance.tint, drawn.opacity));
      }
      Corner& corner = to[i];
      corner.normal = {normal[0], normal[1], normal[2]};
      corner.color = last_packed;
      corner.pale = instance.pale;
      projected_[i] = at;
      if (is_outside(at)) {
        whole = false;
        continue;
      }
      const float by_w = 1 / at[3];
      corner.x = nearest(centre_x + at[0] * by_w);
      corner.y = nearest(centre_y + at[1] * by_w);
      corner.depth = projection_.perspective ? by_w * upright : at[2];
    }
    upright_ = upright;
    return whole;
  }

  // A point that is `nearer` to the eye lies at so much greater a depth.
  float raised_by(float nearer, const Four& centre) const {
    return 1 / (1 - std::min(nearer / std::max(centre[3], projection_.near), 0.5f));
  }

  bool is_outside(const Four& at) const {
    const float most = guard * at[3];
    return !(at[3] >= projection_.near) || !(std::fabs(at[0]) <= most) || !(std::fabs(at[1]) <= most);
  }

  void add(std::uint32_t ia, std::uint32_t ib, std::uint32_t ic, bool one_sided) {
    const Corner *corners = chunk_.corners.data(), *a = corners + ia, *b = corners + ib, *c = corners + ic;
    const std::int64_t area = std::int64_t{b->x - a->x} * (c->y - a->y) - std::int64_t{b->y - a->y} * (c->x - a->x);
    if (area == 0 || (one_sided && area > 0)) return;  // y points down, so what is counter-clockwise is negative
    const auto first = [](std::int32_t low) { return (low + subsamples / 2 - 1) >> 8; };
    const auto last = [](std::int32_t high) { return (high - subsamples / 2) >> 8; };
    const int x0 = std::max(first(std::min({a->x, b->x, c->x})), 0),
              x1 = std::min(last(std::max({a->x, b->x, c->x})), grid_.width - 1),
              y0 = std::max(first(std::min({a->y, b->y, c->y})), 0),
              y1 = std::min(last(std::max({a->y, b->y, c->y})), grid_.height - 1);
    if (x0 > x1 || y0 > y1) return;
    const std::uint32_t number = narrow<std::uint32_t>(chunk_.triangles.size());
    if (area < 0) chunk_.triangles.push_back({{ia, ic, ib}, flags_});
    else chunk_.triangles.push_back({{ia, ib, ic}, flags_ | Triangle::back});
    for (int row = y0 / tile_side; row <= y1 / tile_side; ++row)
      for (int column = x0 / tile_side; column <= x1 / tile_side; ++column)
        chunk_.pairs.push_back({narrow<std::uint32_t>(row * columns_ + column), number});
  }

  // Cut along the near plane and the guard band (Sutherland and Hodgman 1974).
  void add_cut(const std::array<std::uint32_t, 3>& indices, std::uint32_t first, bool one_sided) {
    bool whole = true;
    for (const std::uint32_t i : indices) whole = whole && !is_outside(projected_[i]);
    if (whole) return add(first + indices[0], first + indices[1], first + indices[2], one_sided);
    std::vector<Projected> polygon, cut;
    for (const std::uint32_t i : indices) polygon.push_back({projected_[i], chunk_.corners[first + i]});
    for (int side = 0; side < 5 && polygon.size() >= 3; ++side) {
      const auto inside_by = [&](const Four& at) {
        return side == 0 ? at[3] - projection_.near
                         : guard * at[3] + (side % 2 == 1 ? 1.0f : -1.0f) * at[side <= 2 ? 0 : 1];
      };
      cut.clear();
      for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Projected &here = polygon[i], &next = polygon[(i + 1) % polygon.size()];
        const float own = inside_by(here.at), other = inside_by(next.at);
        if (own >= 0) cut.push_back(here);
        if ((own >= 0) != (other >= 0)) cut.push_back(between(here, next, own / (own - other)));
      }
      polygon.swap(cut);
    }
    if (polygon.size() < 3) return;
    const std::uint32_t base = narrow<std::uint32_t>(chunk_.corners.size());
    for (Projected& p : polygon) {
      const float by_w = 1 / std::max(p.at[3], projection_.near);
      const auto bounded = [](double x) { return clamp(x, -double{guard}, double{guard}); };
      p.corner.x = nearest(bounded(p.at[0] * by_w) + projection_.centre_x);
      p.corner.y = nearest(bounded(p.at[1] * by_w) + projection_.centre_y);
      p.corner.depth = projection_.perspective ? by_w * upright_ : p.at[2];
      chunk_.corners.push_back(p.corner);
    }
    for (std::uint32_t i = 2; i < polygon.size(); ++i) add(base, base + i - 1, base + i, one_sided);
  }

  static Projected between(const Projected& a, const Projected& b, float part) {
    Projected made = a;
    made.at = a.at + (b.at - a.at) * part;
    for (int k = 0; k < 3; ++k) made.corner.normal[k] += (b.corner.normal[k] - a.corner.normal[k]) * part;
    return made;  // its colour is that of the nearer end: of corners of different colours, nobody sees it so close
  }

  const Projection& projection_;
  const TileGrid grid_;
  const int columns_;
  TriangleChunk& chunk_;
  std::uint32_t flags_ = 0;
  float upright_ = 1;
  std::vector<Four> projected_;  // of the instance
  std::vector<std::uint32_t> next_;
};

// A run of instances of one batch.
struct Piece {
  const Drawn* drawn;
  std::size_t first, count;
};

}  // namespace

Projection camera_projection(const Viewpoint& view, int width, int height) {
  Projection projection;
  const double x = subsamples * width / (2 * view.tan_x), y = -subsamples * height / (2 * view.tan_y);
  const Vec3 across = view.right * x, down = view.up * y;
  for (int k = 0; k < 3; ++k)
    projection.columns[k] = {to_float(across[k]), to_float(down[k]), 0, to_float(view.forward[k])};
  projection.columns[3] = {to_float(-dot(across, view.eye)), to_float(-dot(down, view.eye)), 0,
                           to_float(-dot(view.forward, view.eye))};
  projection.centre_x = subsamples * width / 2.0;
  projection.centre_y = subsamples * height / 2.0;
  projection.near = to_float(view.near);
  return projection;
}

void make_triangles(std::span<const Drawn> drawn, const Projection& projection, TileGrid grid, ThreadPool* threads,
                    TriangleList& list) {
  list.grid = grid;
  std::size_t work = 0;  // triangles
  for (const Drawn& batch : drawn) work += batch.instances.size() * (batch.mesh->triangles() + 4);
  const std::size_t wanted = std::clamp<std::size_t>(work / 2000, 1, most_chunks), share = work / wanted + 1;
  std::vector<std::vector<Piece>> pieces(1);
  std::size_t full = 0;
  for (const Drawn& batch : drawn) {
    const std::size_t each = batch.mesh->triangles() + 4;
    for (std::size_t i = 0; i < batch.instances.size();) {
      if (full >= share) pieces.emplace_back(), full = 0;
      const std::size_t count = std::min(batch.instances.size() - i, std::max<std::size_t>(1, (share - full) / each));
      pieces.back().push_back({&batch, i, count});
      full += count * each;
      i += count;
    }
  }
  if (list.chunks.size() > pieces.size()) list.chunks.resize(pieces.size());
  while (list.chunks.size() < pieces.size()) list.chunks.emplace_back();
  parallel_for(threads, pieces.size(), 1, [&](std::size_t chunk) {
    ChunkMaker maker(projection, grid, list.chunks[chunk]);
    for (const Piece& piece : pieces[chunk])
      for (std::size_t i = 0; i < piece.count; ++i) maker.add(*piece.drawn, piece.drawn->instances[piece.first + i]);
    maker.sort();
  });
}

Mesh mesh_of(std::span<const LineVertex> ribbons) {
  Mesh mesh;
  for (const LineVertex& vertex : ribbons) {
    mesh.indices.push_back(narrow<std::uint32_t>(mesh.vertices.size()));
    mesh.vertices.push_back({vertex.position, {0, 0, 1}, vertex.color});
  }
  return mesh;
}

}  // namespace volvox::view::picture
