#include "volvox/scan/polygon.h"

#include <algorithm>
#include <cmath>

namespace volvox::scan {

double length(const Vec2& a) { return std::sqrt(dot(a, a)); }

double signed_area(std::span<const Vec2> loop) {
  double sum = 0;
  for (std::size_t i = 0; i < loop.size(); ++i) sum += cross(loop[i], loop[(i + 1) % loop.size()]);
  return sum / 2;
}

bool contains(std::span<const Vec2> loop, const Vec2& p) {
  bool inside = false;
  for (std::size_t i = 0, j = loop.size() - 1; i < loop.size(); j = i++) {
    const Vec2 &a = loop[i], &b = loop[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

namespace {

// Whether the open segments cross each other; touching does not count.
bool cross_each_other(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const double s = cross(b - a, c - a), t = cross(b - a, d - a), u = cross(d - c, a - c), v = cross(d - c, b - c);
  return ((s > 0 && t < 0) || (s < 0 && t > 0)) && ((u > 0 && v < 0) || (u < 0 && v > 0));
}

struct Corner {
  Vec2 at;
  std::uint32_t number;
};

// Joins a hole with the outline by a slit to the nearest visible corner.
void join_hole(std::vector<Corner>& outline, const std::vector<Corner>& hole,
               const std::vector<std::vector<Corner>>& others) {
  double least = 1e300;
  std::size_t from = 0, to = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    for (std::size_t k = 0; k < hole.size(); ++k) {
      const double distance = length(outline[i].at - hole[k].at);
      if (distance >= least) continue;
      // The slit must start inside of the outline.
      const Vec2 before = outline[(i + outline.size() - 1) % outline.size()].at, here = outline[i].at,
                 after = outline[(i + 1) % outline.size()].at;
      const Vec2 way = hole[k].at - here;
      const bool convex = cross(here - before, after - here) >= 0;
      const bool left_of_next = cross(after - here, way) > 0, left_of_last = cross(here - before, way) > 0;
      if (convex ? !(left_of_next && left_of_last) : !(left_of_next || left_of_last)) continue;
      bool free = true;
      const auto check_against = [&](const std::vector<Corner>& loop) {
        for (std::size_t n = 0; n < loop.size() && free; ++n)
          free = !cross_each_other(here, hole[k].at, loop[n].at, loop[(n + 1) % loop.size()].at);
      };
      check_against(outline);
      check_against(hole);
      for (const auto& other : others) check_against(other);
      if (!free) continue;
      least = distance;
      from = i;
      to = k;
    }
  }
  std::vector<Corner> slit;
  for (std::size_t k = 0; k <= hole.size(); ++k) slit.push_back(hole[(to + k) % hole.size()]);
  slit.push_back(outline[from]);
  outline.insert(outline.begin() + from + 1, slit.begin(), slit.end());
}

bool in_triangle(const Vec2& p, const Vec2& a, const Vec2& b, const Vec2& c) {
  return cross(b - a, p - a) >= 0 && cross(c - b, p - b) >= 0 && cross(a - c, p - c) >= 0;
}

bool is_ear(const std::vector<Corner>& loop, std::size_t i) {
  const std::size_t n = loop.size();
  const Vec2 a = loop[(i + n - 1) % n].at, b = loop[i].at, c = loop[(i + 1) % n].at;
  if (cross(b - a, c - b) <= 1e-14) return false;
  for (const Corner& other : loop) {
    if (other.at == a || other.at == b || other.at == c) continue;
    if (in_triangle(other.at, a, b, c)) return false;
  }
  return true;
}

// About the sine of the smallest angle; small for thin triangles.
double roundness(const Vec2& a, const Vec2& b, const Vec2& c) {
  const double ab = length(b - a), bc = length(c - b), ca = length(a - c);
  const double longest = std::max({ab, bc, ca});
  return longest > 0 ? std::fabs(cross(b - a, c - a)) / (longest * longest) : 0;
}

}  // namespace

std::vector<std::array<std::uint32_t, 3>> triangulate(const std::vector<std::vector<Vec2>>& loops) {
  std::vector<std::vector<Corner>> holes;
  std::vector<Corner> outline;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    std::vector<Corner> loop;
    for (const Vec2& at : loops[i]) loop.push_back({at, number++});
    if (i == 0) outline = std::move(loop);
    else if (!loop.empty()) holes.push_back(std::move(loop));
  }
  // The nearest hole first, so that slits lead from hole to hole if that is shorter.
  while (!holes.empty()) {
    std::size_t next = 0;
    double least = 1e300;
    for (std::size_t h = 0; h < holes.size(); ++h)
      for (const Corner& a : holes[h])
        for (const Corner& b : outline)
          if (const double d = length(a.at - b.at); d < least) least = d, next = h;
    const std::vector<Corner> hole = std::move(holes[next]);
    holes.erase(holes.begin() + next);
    join_hole(outline, hole, holes);
  }
  std::vector<std::array<std::uint32_t, 3>> triangles;
  const bool choose = outline.size() <= 64;  // the roundest ear; for many corners the first ear
  while (outline.size() >= 3) {
    std::size_t best = outline.size();
    double quality = -1;
    const std::size_t n = outline.size();
    for (std::size_t i = 0; i < n && (choose || best == n); ++i) {
      if (!is_ear(outline, i)) continue;
      const double q = roundness(outline[(i + n - 1) % n].at, outline[i].at, outline[(i + 1) % n].at);
      if (q > quality) quality = q, best = i;
    }
    if (best == n) {  // degenerate: removes the corner with the smallest area
      double least = 1e300;
      for (std::size_t i = 0; i < n; ++i) {
        const double a =
            std::fabs(cross(outline[i].at - outline[(i + n - 1) % n].at, outline[(i + 1) % n].at - outline[i].at));
        if (a < least) least = a, best = i;
      }
    } else {
      triangles.push_back({outline[(best + n - 1) % n].number, outline[best].number, outline[(best + 1) % n].number});
    }
    outline.erase(outline.begin() + best);
  }
  return triangles;
}

}  // namespace volvox::scan
