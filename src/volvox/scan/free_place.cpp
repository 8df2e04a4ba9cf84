#include "volvox/scan/free_place.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/rays/ray_caster.h"

namespace volvox::scan {
namespace {

constexpr double robot = 0.15;  // m: half the width of a typical robot

struct Place {
  Vec3 at;
  bool free = false;
  double clearance = 0;
};

// Places on a grid, seen from above.
struct Floor {
  model::Bounds box;
  double step = 0;  // m
  long columns = 0, rows = 0;
  std::vector<Place> places;

  // The numbers of connected places that are wanted, beginning with one of them.
  template <class Wanted>
  std::vector<std::size_t> connected(std::size_t first, std::vector<bool>& reached, Wanted wanted) const {
    std::vector<std::size_t> all = {first};
    reached[first] = true;
    for (std::size_t done = 0; done < all.size(); ++done) {
      const auto at = narrow<long>(all[done]);
      for (const auto& [right, up] : {std::pair{1L, 0L}, {-1L, 0L}, {0L, 1L}, {0L, -1L}}) {
        const long column = at % columns + right, row = at / columns + up;
        if (column < 0 || row < 0 || column >= columns || row >= rows) continue;
        const auto next = narrow<std::size_t>(row * columns + column);
        if (reached[next] || !wanted(places[next])) continue;
        reached[next] = true;
        all.push_back(next);
      }
    }
    return all;
  }
  double clearance_at(double x, double y) const {
    const long column = std::lround((x - box.low.x) / step - 0.5), row = std::lround((y - box.low.y) / step - 0.5);
    if (column < 0 || row < 0 || column >= columns || row >= rows) return 0.0;
    return places[row * columns + column].clearance;
  }
};

// Looks down on the arena, and finds what is at the height of its floor.
Floor floor_of(const TriangleMesh& mesh) {
  Floor floor;
  floor.box = bounds(mesh);
  const model::Bounds& box = floor.box;
  const rays::RayCaster caster(std::make_shared<const model::MeshData>(mesh));
  const double middle = (box.low.z + box.high.z) / 2;
  const double step = floor.step = std::max({0.05, (box.high.x - box.low.x) / 150, (box.high.y - box.low.y) / 150});
  std::map<long, int> levels;
  floor.columns = std::max(1L, std::lround((box.high.x - box.low.x) / step));
  floor.rows = std::max(1L, std::lround((box.high.y - box.low.y) / step));
  for (long row = 0; row < floor.rows; ++row) {
    for (long column = 0; column < floor.columns; ++column) {
      const double x = box.low.x + step * (real(column) + 0.5), y = box.low.y + step * (real(row) + 0.5);
      const rays::Ray down{{x, y, middle}, {0, 0, -1}, box.high.z - box.low.z + 1, 0};
      rays::Hit hit;
      caster.cast({&down, 1}, {&hit, 1});
      floor.places.push_back({.at = {x, y, hit.hit() ? middle - hit.distance : -1e9}});
      if (hit.hit()) ++levels[std::lround(floor.places.back().at.z / 0.04)];
    }
  }
  long level = 0;
  int most = 0;
  for (const auto& [each, count] : levels)
    if (count > most) most = count, level = each;
  for (Place& place : floor.places) place.free = std::fabs(place.at.z - 0.04 * real(level)) < 0.05;
  for (Place& place : floor.places) {
    if (!place.free) continue;
    double near =
        std::min({place.at.x - box.low.x, box.high.x - place.at.x, place.at.y - box.low.y, box.high.y - place.at.y});
    for (const Place& other : floor.places)
      if (!other.free) near = std::min(near, length(other.at.x - place.at.x, other.at.y - place.at.y));
    place.clearance = near;
  }
  return floor;
}

}  // namespace

Result<FreePlace> free_place(const TriangleMesh& mesh) {
  const Floor floor = floor_of(mesh);
  const std::vector<Place>& places = floor.places;
  // The largest floor over which a robot can drive; of two, that with the first place.
  const auto wide = [](const Place& place) { return place.free && place.clearance >= robot; };
  std::vector<bool> reached(places.size());
  std::vector<std::size_t> largest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (reached[i] || !wide(places[i])) continue;
    const std::vector<std::size_t> piece = floor.connected(i, reached, wide);
    if (piece.size() > largest.size()) largest = piece;
  }
  if (largest.empty())
    return Error("the arena has no free floor for a robot", "look at the mesh: volvox scan build -o arena.ply");
  const std::size_t best = *std::min_element(largest.begin(), largest.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-places[a].clearance, a) < std::pair(-places[b].clearance, b);
  });
  FreePlace result{places[best].at, places[best].clearance};
  constexpr int headings = 32;
  for (int i = 0; i < headings; ++i) {
    const double heading = 2 * pi * i / headings, x = volvox::cos(heading), y = volvox::sin(heading);
    double way = 0;
    while (way < 100 &&
           floor.clearance_at(result.at.x + x * (way + floor.step), result.at.y + y * (way + floor.step)) >= robot)
      way += floor.step;
    if (way > result.way) result.way = way, result.heading = heading;
  }
  const auto free = [](const Place& place) { return place.free; };
  reached.assign(places.size(), false);
  const std::size_t count = floor.connected(best, reached, free).size();
  result.floor = real(count) * floor.step * floor.step;
  result.part = real(count) / real(std::count_if(places.begin(), places.end(), free));
  return result;
}

}  // namespace volvox::scan
