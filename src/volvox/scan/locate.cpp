#include "volvox/scan/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/scan/fit_path.h"
#include "volvox/scan/sweep_match.h"

namespace volvox::scan {
namespace {

constexpr double tolerance = 10;     // squared deviations from which a measurement counts less
constexpr double less_crisp = 1.02;  // times as many cells: a map that is worse, and not by chance

// How well the odometry is known, for a way (m) and a turn (rad): wheels of indoor robots, before their log says more.
struct Deviation {
  double position = 0, heading = 0;
};
Deviation odometry_deviation(double way, double turn) {
  return {0.005 + 0.05 * way + 0.02 * turn, 0.002 + 0.02 * way + 0.05 * turn};
}

Matrix3 information_of(const Deviation& d, double position_factor = 1, double heading_factor = 1) {
  const double p = 1 / (d.position * d.position * position_factor * position_factor),
               h = 1 / (d.heading * d.heading * heading_factor * heading_factor);
  return {{{p, 0, 0}, {0, p, 0}, {0, 0, h}}};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + narrow<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A sweep that is part of the map.
struct Keyframe {
  std::size_t sweep = 0;
  View view;
  Pose2 step;                                          // from the keyframe before, by odometry
  Deviation deviation;                                 // of the step
  double way = 0;                                      // from the beginning, m
  int directions = 0;                                  // that the walls determine, relative to the keyframe before
  double position_variance = 0, heading_variance = 0;  // since the beginning, or since the last loop
};

// Points beyond are too few to search with.
std::vector<Vec2> near_points(const View& view) {
  constexpr double farthest = 20;
  std::vector<Vec2> result;
  std::copy_if(view.points.begin(), view.points.end(), std::back_inserter(result),
               [](const Vec2& p) { return length(p) < farthest; });
  return result;
}

class Locator {
 public:
  explicit Locator(const ScanLog& log) : log_(log) {}

  Located run(const Progress& progress) {
    choose_keyframes();
    survey();
    for (std::size_t k = 0; k < frames_.size(); ++k) {
      follow(k);
      close_loops(k);
      if (progress && k % 16 == 0) progress(0.7 * real(k) / real(frames_.size()));
    }
    for (int round = 0; round < 3; ++round) {
      if (round > 0) link_neighbours();
      weigh_odometry();
      optimise(poses_, edges(), 20);
      if (progress) progress(0.75 + 0.05 * round);
    }
    settle();
    return result();
  }

 private:
  void choose_keyframes();
  void survey();
  void follow(std::size_t k);
  void close_loops(std::size_t k);
  void weigh_odometry();
  std::vector<std::size_t> neighbours(std::size_t k, const std::vector<Vec2>& middles) const;
  // Matches every keyframe with others that see the same walls.
  void link_neighbours();
  std::vector<PoseEdge> edges() const;
  std::vector<std::size_t> around(std::size_t k, const std::vector<Vec2>& middles) const;
  void settle();
  void fit(ScanLog& log) const;
  Located result();
  void note_doubts(Located& result) const;
  void place_sweeps(ScanLog& log) const;

  Pose2 relative(std::size_t from, std::size_t to) const { return poses_[from].inverse() * poses_[to]; }
  Vec2 middle(std::size_t k) const { return poses_[k] * frames_[k].view.middle; }
  std::vector<Vec2> all_middles() const {
    std::vector<Vec2> result;
    for (std::size_t k = 0; k < frames_.size(); ++k) result.push_back(middle(k));
    return result;
  }
  // The walls of some keyframes in the frame of one of them.
  WallMap walls_of(const std::vector<std::size_t>& some, std::size_t frame) const {
    WallMap map;
    for (const std::size_t i : some) map.add(relative(frame, i), frames_[i].view.walls);
    return map;
  }
  PointField field_of(const std::vector<std::size_t>& some, std::size_t frame) const {
    std::vector<Vec2> points;
    for (const std::size_t i : some) {
      const Pose2 pose = relative(frame, i);
      for (const Vec2& p : near_points(frames_[i].view)) points.push_back(pose * p);
    }
    return PointField(points);
  }

  struct Loop {
    PoseEdge edge;
    Pose2 place;  // where the loop puts its keyframe
    bool taken = false;
  };
  bool find_loop(std::size_t k, std::size_t j, double radius, double turn, Loop& loop) const;

  const ScanLog& log_;
  std::vector<Keyframe> frames_;
  std::vector<Pose2> poses_;
  // Measurements between keyframes: by odometry and by the map of those before (of each keyframe but the first), by
  // places that were recognized, and between two views.
  std::vector<PoseEdge> odometry_edges_, chain_, loop_edges_, links_;
  std::size_t passed_again_ = 0,
              agreed_ = 0;  // pairs of views of places that were passed twice; of these, those that fit
  std::vector<Loop> pending_;
  double noise_ = 0.03;
  Deviation surveyed_{1, 1},
      odometry_{1, 1};  // of the odometry, as multiples of the usual ones: first and last estimate
};

void Locator::choose_keyframes() {
  Keyframe next;
  double way = 0, turn = 0, all = 0;
  for (std::size_t i = 0; i < log_.forward.size(); ++i) {
    if (i > 0) {
      const Pose2 step = log_.forward[i - 1].odometry.inverse() * log_.forward[i].odometry;
      way += length(step.position), turn += std::fabs(step.heading);
      if (way < 0.25 && turn < 0.25) continue;
      next.step = log_.forward[frames_.back().sweep].odometry.inverse() * log_.forward[i].odometry;
    }
    all += way;
    next.sweep = i;
    next.way = all;
    next.deviation = odometry_deviation(way, turn);
    next.view = view_of(log_.forward[i], log_.mounting);
    frames_.push_back(next);
    way = turn = 0;
  }
}

// Matches keyframes all over the log with the one before each, to see how far points are from walls and how far the
// odometry is from the matches.
void Locator::survey() {
  constexpr std::size_t most = 150;
  constexpr double doubt = 4;  // until then, the odometry may be so much worse than usual
  std::vector<double> rms, position, heading;
  const std::size_t count = std::min(most, frames_.size() - 1);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t k = 1 + n * (frames_.size() - 1) / count;
    const Keyframe& frame = frames_[k];
    WallMap map;
    map.add({}, frames_[k - 1].view.walls);
    const Deviation d{doubt * frame.deviation.position, doubt * frame.deviation.heading};
    const Pose2 start =
        PointField(near_points(frames_[k - 1].view))
            .search(frame.view.points, frame.step,
                    {std::min(0.5, 2 * d.position), std::min(radians(25), 2 * d.heading), d.position, d.heading})
            .pose;
    const Match m = match(map, frame.view.walls, start, {.expected = frame.step, .prior = information_of(d)});
    if (m.directions < 3 || m.inliers < 0.5) continue;
    rms.push_back(m.rms);
    const Pose2 off = frame.step.inverse() * m.pose;
    position.push_back(length(off.position) / frame.deviation.position);
    heading.push_back(std::fabs(off.heading) / frame.deviation.heading);
  }
  if (rms.size() < 10) return;
  noise_ = clamp(2 * median(rms), 0.006, 0.05);
  // Medians of a Rayleigh and of a half-normal distribution of deviation 1.
  const double p = clamp(median(position) / 1.1774, 0.3, doubt), h = clamp(median(heading) / 0.6745, 0.3, doubt);
  for (Keyframe& frame : frames_) frame.deviation.position *= p, frame.deviation.heading *= h;
  surveyed_ = odometry_ = {p, h};
}

// Places a keyframe relative to those before it.
void Locator::follow(std::size_t k) {
  if (k == 0) {
    poses_.push_back(log_.forward[0].odometry);
    return;
  }
  Keyframe& frame = frames_[k];
  poses_.push_back(poses_[k - 1] * frame.step);
  odometry_edges_.push_back({k - 1, k, frame.step, information_of(frame.deviation), tolerance});
  chain_.push_back({k - 1, k, frame.step, {}, tolerance});
  std::vector<std::size_t> recent;
  for (std::size_t i = k; i-- > 0 && recent.size() < 20 && frame.way - frames_[i].way < 6;) recent.push_back(i);
  std::reverse(recent.begin(),
               recent.end());  // a full cell of the map keeps its oldest points: these have drifted least
  const WallMap map = walls_of(recent, k - 1);
  Match m;
  PointField::Found sought;
  if (frame.deviation.position > 0.03 || frame.deviation.heading > radians(1.5)) {
    // The odometry may lead to a wrong wall: first the places that it finds likely, then, where these do not fit, all
    // that wheels which slipped may lead to.
    const PointField field = field_of(recent, k - 1);
    const Deviation &likely = frame.deviation, slipped{4 * likely.position, 4 * likely.heading};
    for (const Deviation& d : {likely, slipped}) {
      if (m.inliers > 0.75) break;
      const PointField::Window window{std::min(1.0, 3 * d.position + 0.1),
                                      std::min(radians(35), 3 * d.heading + radians(2)), d.position, d.heading};
      const PointField::Found found = field.search(frame.view.points, frame.step, window);
      if (found.score > sought.score + 0.05) sought = found;
      const Match other = match(map, frame.view.walls, found.pose,
                                {.noise = noise_, .expected = frame.step, .prior = information_of(d)});
      if (other.inliers > m.inliers + 0.05) m = other;
    }
  } else {
    m = match(map, frame.view.walls, frame.step,
              {.noise = noise_, .expected = frame.step, .prior = information_of(frame.deviation)});
  }
  Deviation drift = frame.deviation;
  if (m.inliers > 0.3) {
    frame.directions = m.directions;
    chain_.back() = {k - 1, k, m.pose, m.information, tolerance};
    poses_[k] = poses_[k - 1] * m.pose;
    if (m.directions == 3) drift = {0.01, 0.003};
  } else if (sought.score > 0.5) {
    // Furniture has no walls to match, but its points lie where others lay.
    drift = {0.07, radians(1.5)};
    chain_.back() = {k - 1, k, sought.pose, information_of(drift), tolerance};
    poses_[k] = poses_[k - 1] * sought.pose;
  }
  frame.position_variance = frames_[k - 1].position_variance + drift.position * drift.position;
  frame.heading_variance = frames_[k - 1].heading_variance + drift.heading * drift.heading;
}

bool Locator::find_loop(std::size_t k, std::size_t j, double radius, double turn, Loop& loop) const {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < k; ++i)
    if (std::fabs(frames_[i].way - frames_[j].way) < 3 && length(middle(i) - middle(j)) < 5) there.push_back(i);
  const Pose2 guess = relative(j, k);
  const PointField::Found found =
      field_of(there, j).search(frames_[k].view.points, guess, {radius, turn, radius / 2, turn / 2});
  if (found.score < 0.5) return false;
  const Match m = match(walls_of(there, j), frames_[k].view.walls, found.pose, {.noise = noise_});
  if (m.inliers < 0.55) return false;
  // A corridor fits anywhere along it: there a loop is closed only across, and only if the way says that it is there.
  if ((m.directions < 3 || found.rival > 0.9 * found.score) && radius > 1) return false;
  loop = {{j, k, m.pose, m.information, tolerance}, poses_[j] * m.pose};
  return true;
}

// Looks for an earlier keyframe that saw what this one sees. A loop that moves the path counts when three keyframes
// agree on it.
void Locator::close_loops(std::size_t k) {
  constexpr double apart = 8;  // m of way between the two: what is nearer was matched by follow()
  std::size_t best = k;
  double least = 1e9, best_radius = 0, best_turn = 0;
  for (std::size_t j = 0; j < k && frames_[k].way - frames_[j].way > apart; ++j) {
    const double position = std::sqrt(std::max(0.0, frames_[k].position_variance - frames_[j].position_variance)),
                 heading = std::sqrt(std::max(0.0, frames_[k].heading_variance - frames_[j].heading_variance));
    const double span = std::min(30.0, frames_[k].way - frames_[j].way) / 2;
    const double radius = std::min(6.0, 0.3 + 2 * (position + heading * span));
    const double distance = length(middle(k) - middle(j));
    if (distance > radius + 1.5 || distance > least) continue;
    least = distance, best = j, best_radius = radius, best_turn = std::min(radians(30), radians(4) + 3 * heading);
  }
  Loop loop;
  if (best == k || frames_[k].view.walls.size() < 20 || !find_loop(k, best, best_radius, best_turn, loop)) return;
  const auto off = [&](const Pose2& place) {
    const Pose2 d = poses_[k].inverse() * place;
    return length(d.position) + 3 * std::fabs(d.heading);
  };
  std::erase_if(pending_, [&](const Loop& old) { return old.edge.to + 8 < k; });
  const Pose2 moved = loop.place * poses_[k].inverse();  // in the world: what the loop does to the path
  std::size_t agree = 0;
  for (const Loop& old : pending_) {
    const Pose2 other = old.place * poses_[old.edge.to].inverse() * poses_[k], here = moved * poses_[k];
    agree +=
        length(other.position - here.position) < 0.3 && std::fabs(wrapped(other.heading - here.heading)) < radians(4);
  }
  pending_.push_back(loop);
  const bool small = off(loop.place) < 0.25;
  if (!small && agree < 2) return;
  bool large = false;
  for (Loop& each : pending_) {
    if (each.taken) continue;
    const Pose2 other = each.place * poses_[each.edge.to].inverse() * poses_[k], here = moved * poses_[k];
    if (length(other.position - here.position) > 0.3 || std::fabs(wrapped(other.heading - here.heading)) > radians(4))
      continue;
    each.taken = true;
    loop_edges_.push_back(each.edge);
    large = large || off(each.place) > 0.05;
  }
  if (large) {
    optimise(poses_, edges(), 5);
    pending_.clear();  // their places are from before
  }
  frames_[k].position_variance = std::min(frames_[k].position_variance, frames_[best].position_variance + 0.01);
  frames_[k].heading_variance = std::min(frames_[k].heading_variance, frames_[best].heading_variance + 1e-4);
}

// Compares the odometry with the matches where these determine everything: from then on its weight is what this log
// says, not what robots usually have.
void Locator::weigh_odometry() {
  std::vector<double> position, heading;
  for (std::size_t k = 1; k < frames_.size(); ++k) {
    if (frames_[k].directions < 3) continue;
    const Pose2 off = frames_[k].step.inverse() * relative(k - 1, k);
    position.push_back(length(off.position) / frames_[k].deviation.position);
    heading.push_back(std::fabs(off.heading) / frames_[k].deviation.heading);
  }
  if (position.size() < 10) return;
  // Medians of a Rayleigh and of a half-normal distribution of deviation 1.
  const double p = clamp(median(position) / 1.1774, 0.05, 5), h = clamp(median(heading) / 0.6745, 0.05, 5);
  odometry_ = {surveyed_.position * p, surveyed_.heading * h};
  for (std::size_t k = 1; k < frames_.size(); ++k) {
    PoseEdge& edge = odometry_edges_[k - 1];
    edge.information = information_of(frames_[k].deviation, p, h);
    edge.tolerance = tolerance / std::min(1.0, p * h);  // wheels that slip do so by more than usual deviations
  }
}

// Earlier keyframes to match one with: the nearest ones of other passes, and some before it on its own way, each twice
// as far as the last, because a wall far ahead is seen all along a corridor.
std::vector<std::size_t> Locator::neighbours(std::size_t k, const std::vector<Vec2>& middles) const {
  std::vector<std::pair<double, std::size_t>> near;
  std::vector<std::size_t> chosen;
  double apart = 1;
  for (std::size_t j = k; j-- > 0;) {
    const double way = frames_[k].way - frames_[j].way, distance = length(middles[k] - middles[j]);
    if (way < 20) {
      if (way < apart && j + 1 < k) continue;
      chosen.push_back(j);
      if (j + 1 < k) apart = 2 * way;
    } else if (distance < 3) {
      near.push_back({distance, j});
    }
  }
  std::sort(near.begin(), near.end());
  const std::size_t own = chosen.size();
  for (const auto& [distance, j] : near) {
    const bool new_place = std::all_of(chosen.begin(), chosen.end(), [&, j = j](std::size_t other) {
      return std::fabs(frames_[other].way - frames_[j].way) > 1;
    });
    if (new_place) chosen.push_back(j);
    if (chosen.size() == own + 4) break;
  }
  return chosen;
}

void Locator::link_neighbours() {
  const std::vector<Vec2> middles = all_middles();
  links_.clear();
  passed_again_ = agreed_ = 0;
  for (std::size_t k = 1; k < frames_.size(); ++k) {
    for (const std::size_t j : neighbours(k, middles)) {
      const Match m = match(walls_of({j}, j), frames_[k].view.walls, relative(j, k), {.noise = noise_});
      const Pose2 off = relative(j, k).inverse() * m.pose;
      const bool again = frames_[k].way - frames_[j].way > 20 && std::fabs(relative(j, k).heading) < radians(45);
      passed_again_ += again;
      if (m.inliers < 0.3 || length(off.position) > 0.2 || std::fabs(off.heading) > radians(4)) continue;
      agreed_ += again;
      links_.push_back({j, k, m.pose, m.information, tolerance});
    }
  }
}

// All measurements. A match with a map of several views is as good as the poses of these were then: where there are
// matches between two views, it gives way to them.
std::vector<PoseEdge> Locator::edges() const {
  constexpr double certain = 1 / (0.05 * 0.05);  // 1/m2
  std::vector<PoseEdge> all = odometry_edges_;
  std::vector<bool> linked(frames_.size());
  for (const PoseEdge& link : links_)
    if (link.from + 1 == link.to) linked[link.to] = true;
  for (const PoseEdge& edge : chain_)
    if (!linked[edge.to]) all.push_back(edge);
  for (PoseEdge edge : loop_edges_) {
    const double factor = std::min(1.0, certain / std::max(edge.information[0][0], edge.information[1][1]));
    for (auto& row : edge.information)
      for (double& value : row) value *= links_.empty() ? 1 : factor;
    all.push_back(edge);
  }
  all.insert(all.end(), links_.begin(), links_.end());
  return all;
}

// Other keyframes that see what this one sees, at most 24 of them.
std::vector<std::size_t> Locator::around(std::size_t k, const std::vector<Vec2>& middles) const {
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i < frames_.size(); ++i)
    if (i != k && length(middles[i] - middles[k]) < 2) near.push_back(i);
  std::vector<std::size_t> some;
  const std::size_t count = std::min<std::size_t>(24, near.size());
  for (std::size_t i = 0; i < count; ++i) some.push_back(near[i * near.size() / count]);
  return some;
}

// The graph weighs pairs of views; here each keyframe is laid on the walls of all others around it.
void Locator::settle() {
  const std::vector<Vec2> middles = all_middles();
  const Matrix3 prior = information_of({0.01, 0.003});
  for (std::size_t k = 1; k < frames_.size(); ++k) {
    const Match m =
        match(walls_of(around(k, middles), k), frames_[k].view.walls, {}, {.noise = noise_, .prior = prior});
    if (m.inliers > 0.5) poses_[k] = poses_[k] * m.pose;
  }
}

// The sweeps between two keyframes: by odometry, with its error spread over the way, then matched.
void Locator::place_sweeps(ScanLog& log) const {
  const std::vector<Vec2> middles = all_middles();
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    const std::size_t first = frames_[k].sweep,
                      last = k + 1 < frames_.size() ? frames_[k + 1].sweep : log.forward.size();
    log.forward[first].pose = poses_[k];
    if (last == first + 1) continue;
    std::vector<std::size_t> near = around(k, middles);
    near.push_back(k);
    const WallMap map = walls_of(near, k);
    Pose2 error;
    double way = 0, all = 1e-9;
    for (std::size_t i = first; i + 1 < std::min(last + 1, log.forward.size()); ++i) {
      const Pose2 step = log.forward[i].odometry.inverse() * log.forward[i + 1].odometry;
      all += length(step.position) + std::fabs(step.heading);
    }
    if (k + 1 < frames_.size()) {
      const Pose2 expected = frames_[k + 1].step, is = relative(k, k + 1);
      error = {is.position - expected.position, wrapped(is.heading - expected.heading)};
    }
    for (std::size_t i = first + 1; i < last; ++i) {
      const Pose2 step = log.forward[i - 1].odometry.inverse() * log.forward[i].odometry;
      way += length(step.position) + std::fabs(step.heading);
      Pose2 pose = log.forward[first].odometry.inverse() * log.forward[i].odometry;
      pose.position = pose.position + error.position * (way / all);
      pose.heading = wrapped(pose.heading + error.heading * (way / all));
      const Deviation usual = odometry_deviation(length(pose.position), std::fabs(pose.heading));
      const Deviation deviation{usual.position * odometry_.position, usual.heading * odometry_.heading};
      // Few points may all be wrong: what only they determine is left to the keyframes before and after.
      const Match m = match(map, view_of(log.forward[i], log.mounting).walls, pose,
                            {.noise = noise_, .least = 8, .expected = pose, .prior = information_of(deviation)});
      if (m.inliers > 0.3) pose = m.pose;
      log.forward[i].pose = poses_[k] * pose;
    }
  }
}

// Lays all sweeps on one map. Its pieces of wall are better than single points only if many sweeps see them: where
// nearly every sweep is a keyframe, or if the map becomes less crisp, the path stays as it was.
void Locator::fit(ScanLog& log) const {
  if (real(log.forward.size()) < 1.5 * real(frames_.size())) return;
  const ScanLog before = log;
  fit_path(log, noise_);
  if (real(map_cells(log, false)) > less_crisp * real(map_cells(before, false))) log = before;
}

Located Locator::result() {
  Located result;
  result.log = log_;
  result.keyframes = frames_.size();
  result.loops = loop_edges_.size();
  place_sweeps(result.log);
  fit(result.log);
  double way = 1e-9;
  for (std::size_t k = 1; k < frames_.size(); ++k) {
    const double step = frames_[k].way - frames_[k - 1].way;
    way += step;
    result.matched += frames_[k].directions > 0 ? step : 0;
    result.determined += frames_[k].directions == 3 ? step : 0;
  }
  result.matched /= way;
  result.determined /= way;
  result.cells_by_odometry = map_cells(result.log, true);
  result.cells = map_cells(result.log, false);
  note_doubts(result);
  return result;
}

void Locator::note_doubts(Located& result) const {
  const auto percent = [](double part) { return fmt::format("{:.0f} %", 100 * part); };
  // In a small room a few cells more say nothing: walls beside the border of cells fill one or two by chance.
  constexpr double by_chance = 10;
  if (real(result.cells) > less_crisp * real(result.cells_by_odometry) + by_chance) {
    result.doubts.push_back(
        fmt::format("the map is less crisp than by odometry alone ({} cells of 10 cm, not {}): the odometry was kept",
                    result.cells, result.cells_by_odometry));
    for (Sweep& sweep : result.log.forward) sweep.pose = sweep.odometry;
    result.cells = result.cells_by_odometry;
  }
  if (result.matched < 0.6)
    result.doubts.push_back("walls were matched on only " + percent(result.matched) +
                            " of the way; on the rest of it the path is that of the odometry");
  else if (result.determined < 0.25)
    result.doubts.push_back("the walls determine the position on only " + percent(result.determined) +
                            " of the way; elsewhere the odometry decides along them");
  if (passed_again_ > 20 && real(agreed_) < 0.6 * real(passed_again_))
    result.doubts.push_back("where the robot passed again, the walls agree in only " +
                            percent(real(agreed_) / real(passed_again_)) + " of the views");
  std::size_t bent = 0;
  for (const PoseEdge& edge : links_) bent += squared_error(edge, poses_[edge.from], poses_[edge.to]) > 10 * tolerance;
  if (real(bent) > 0.1 * real(links_.size()))
    result.doubts.push_back(
        fmt::format("{} of {} matches between two places do not fit the path", bent, links_.size()));
}

}  // namespace

Result<Located> locate(const ScanLog& log, const Progress& progress) {
  if (log.forward.empty())
    return Error("the log has no sweeps of the horizontal laser (FLASER)",
                 "record one: without it the robot cannot be located");
  Located result = Locator(log).run(progress);
  std::size_t before = 0;
  for (Sweep& sweep : result.log.side) {
    while (before + 1 < result.log.forward.size() && result.log.forward[before + 1].time <= sweep.time) ++before;
    const Sweep& known = result.log.forward[before];
    sweep.pose = known.pose * (known.odometry.inverse() * sweep.odometry);
  }
  return result;
}

std::size_t map_cells(const ScanLog& log, bool by_odometry) {
  constexpr double cell = 0.1;
  std::set<std::pair<std::int64_t, std::int64_t>> cells;
  for (const Sweep& sweep : log.forward) {
    const Pose2& pose = by_odometry ? sweep.odometry : sweep.pose;
    for (const Vec2& p : view_of(sweep, log.mounting).points) {
      if (length(p) > 15) continue;  // the rays are too far apart
      const Vec2 at = pose * p;
      cells.insert(
          {truncated<std::int64_t>(std::floor(at.x / cell)), truncated<std::int64_t>(std::floor(at.y / cell))});
    }
  }
  return cells.size();
}

PathError relative_error(const std::vector<Pose2>& path, const std::vector<Pose2>& truth, double apart) {
  PathError result;
  std::size_t to = 0;
  std::vector<double> way = {0};
  for (std::size_t i = 1; i < truth.size(); ++i)
    way.push_back(way.back() + length(truth[i].position - truth[i - 1].position));
  for (std::size_t from = 0; from < path.size(); ++from) {
    to = std::max(to, from + 1);
    while (to < path.size() && way[to] - way[from] < apart) ++to;
    if (to >= path.size()) break;
    const Pose2 is = path[from].inverse() * path[to], should = truth[from].inverse() * truth[to];
    const Pose2 off = should.inverse() * is;
    result.position += length(off.position);
    result.heading += std::fabs(off.heading);
    ++result.pairs;
  }
  if (result.pairs == 0) return result;
  result.position /= real(result.pairs);
  result.heading /= real(result.pairs);
  return result;
}

}  // namespace volvox::scan
