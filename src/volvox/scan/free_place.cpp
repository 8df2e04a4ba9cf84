#include "volvox/scan/free_place.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/rays/ray_caster.h"

namespace volvox::scan {

Result<FreePlace> free_place(const TriangleMesh& mesh) {
  const model::Bounds box = bounds(mesh);
  const rays::RayCaster caster(std::make_shared<const model::MeshData>(mesh));
  const double middle = (box.low.z + box.high.z) / 2;
  const double step = std::max({0.05, (box.high.x - box.low.x) / 150, (box.high.y - box.low.y) / 150});
  struct Place {
    Vec3 at;
    bool free = false;
    double clearance = 0;
  };
  std::vector<Place> places;
  std::map<long, int> levels;
  const auto columns = std::max(1L, std::lround((box.high.x - box.low.x) / step)),
             rows = std::max(1L, std::lround((box.high.y - box.low.y) / step));
  for (long row = 0; row < rows; ++row) {
    for (long column = 0; column < columns; ++column) {
      const double x = box.low.x + step * (real(column) + 0.5), y = box.low.y + step * (real(row) + 0.5);
      const rays::Ray down{{x, y, middle}, {0, 0, -1}, box.high.z - box.low.z + 1, 0};
      rays::Hit hit;
      caster.cast({&down, 1}, {&hit, 1});
      places.push_back({{x, y, hit.hit() ? middle - hit.distance : -1e9}});
      if (hit.hit()) ++levels[std::lround(places.back().at.z / 0.04)];
    }
  }
  long floor = 0;
  int most = 0;
  for (const auto& [level, count] : levels)
    if (count > most) most = count, floor = level;
  for (Place& place : places) place.free = std::fabs(place.at.z - 0.04 * real(floor)) < 0.05;
  const Place* best = nullptr;
  for (Place& place : places) {
    if (!place.free) continue;
    double near =
        std::min({place.at.x - box.low.x, box.high.x - place.at.x, place.at.y - box.low.y, box.high.y - place.at.y});
    for (const Place& other : places)
      if (!other.free) near = std::min(near, length(other.at.x - place.at.x, other.at.y - place.at.y));
    place.clearance = near;
    if (best == nullptr || near > best->clearance) best = &place;
  }
  constexpr double robot = 0.15;  // m: half the width of a typical robot
  if (best == nullptr || best->clearance < robot)
    return Error("the arena has no free floor for a robot", "look at the mesh: volvox scan build -o arena.ply");
  FreePlace result{best->at, best->clearance};
  const auto clearance_at = [&](double x, double y) {
    const long column = std::lround((x - box.low.x) / step - 0.5), row = std::lround((y - box.low.y) / step - 0.5);
    if (column < 0 || row < 0 || column >= columns || row >= rows) return 0.0;
    return places[row * columns + column].clearance;
  };
  constexpr int headings = 32;
  for (int i = 0; i < headings; ++i) {
    const double heading = 2 * pi * i / headings, x = volvox::cos(heading), y = volvox::sin(heading);
    double way = 0;
    while (way < 100 && clearance_at(result.at.x + x * (way + step), result.at.y + y * (way + step)) >= robot)
      way += step;
    if (way > result.way) result.way = way, result.heading = heading;
  }
  std::vector<bool> reached(places.size());
  std::vector<std::size_t> open = {narrow<std::size_t>(best - places.data())};
  reached[open[0]] = true;
  std::size_t count = 0;
  while (!open.empty()) {
    const auto at = narrow<long>(open.back());
    open.pop_back();
    ++count;
    for (const auto& [right, up] : {std::pair{1L, 0L}, {-1L, 0L}, {0L, 1L}, {0L, -1L}}) {
      const long column = at % columns + right, row = at / columns + up;
      if (column < 0 || row < 0 || column >= columns || row >= rows) continue;
      const auto next = narrow<std::size_t>(row * columns + column);
      if (reached[next] || !places[next].free) continue;
      reached[next] = true;
      open.push_back(next);
    }
  }
  result.floor = real(count) * step * step;
  result.part =
      real(count) / real(std::count_if(places.begin(), places.end(), [](const Place& place) { return place.free; }));
  return result;
}

}  // namespace volvox::scan
