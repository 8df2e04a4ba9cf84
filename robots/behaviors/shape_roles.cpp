#include "shape_roles.h"

#include <algorithm>

#include "gait_roles.h"
#include "volvox/base/index.h"

namespace volvox::robots {
namespace {

using mind::Role;
using mind::RoleBook;
using mind::Situation;

constexpr int moves = 4;
constexpr double step = 2.5 / 180;  // s
constexpr double upright = radians(-90);

const char* side_of(int move) { return move % 2 == 0 ? "e" : "w"; }
int size_of(int move) { return narrow<int>(shape_loop(move).closed.size()); }

std::string name_of(const char* what, int move) { return std::string(what) + " " + std::to_string(move); }

Role posture(std::string name, double seconds, std::function<double(int place)> yaw) {
  Role role;
  role.name = std::move(name);
  role.period = seconds / step;
  role.postures = {{"pitch", [](int) { return 0.0; }}, {"yaw", std::move(yaw)}};
  return role;
}
Role straight(std::string name, double seconds) {
  return posture(std::move(name), seconds, [](int) { return 0.0; });
}
// The yaw of a module of the chain. `first`: the place in the loop of the root. Modules beyond the loop are straight.
Role curled(std::string name, double seconds, int move, const std::vector<double>& yaws, int first) {
  const double sign = move % 2 == 0 ? 1 : -1;
  return posture(std::move(name), seconds, [yaws, sign, first](int place) {
    const int at = place + first;
    return at >= 0 && at < std::ssize(yaws) ? sign * radians(yaws[narrow<std::size_t>(at)]) : 0.0;
  });
}
Role leg(std::string name, double seconds, double pitch) {
  Role role = straight(std::move(name), seconds);
  role.postures["pitch"] = [pitch](int) { return pitch; };
  return role;
}

class Writer {
 public:
  explicit Writer(RoleBook& book) : book_(book) {}

  Role& add(Role role) {
    book_.roles.push_back(std::move(role));
    return book_.roles.back();
  }
  // A role of the whole chain: the root decides, and every module takes it from its parent.
  Role& add_shared(Role role) {
    shared_.push_back(role.name);
    return add(std::move(role));
  }
  void rule(std::vector<std::string> from, const std::string& to, std::function<bool(const Situation&)> when) {
    book_.rules.push_back({std::move(from), to, std::move(when)});
  }
  void root_after(double seconds, const std::string& from, const std::string& to) {
    rule({from}, to, [seconds](const Situation& s) { return s.is_root() && s.time_in_role() >= seconds; });
  }
  void share() {
    for (const std::string& role : shared_) {
      std::vector<std::string> from = {"sw", "tail", "waist", "sp"};
      for (const std::string& other : shared_)
        if (other != role) from.push_back(other);
      rule(from, role, [role](const Situation& s) {
        return s.neighbor("s") == "n" && s.neighbor_role("s") == role && s.place() > 0;
      });
    }
  }

 private:
  RoleBook& book_;
  std::vector<std::string> shared_;
};

bool follows_sw(const Situation& s) { return s.neighbor("s") == "n" && s.neighbor_role("s") == "sw"; }

// A chain that winds may turn over, and then lies on its back: for its legs, up is where the pitch is positive.
struct Way {
  const char* suffix;
  double sign;
};
constexpr Way ways[] = {{"", 1}, {" over", -1}};
std::string named(const char* role, const Way& way) { return std::string(role) + way.suffix; }
bool lies(const Situation& s, const Way& way) { return s.percept<Vec3>("accelerometer").z * way.sign > 0; }

bool at_side(const Situation& s, const std::string& side) { return s.neighbor("s") == side; }
bool has_sides(const Situation& s) { return s.connected("e") || s.connected("w"); }

// The root becomes a leg at a side of the last module of its loop.
void move_forth(Writer& w, int move) {
  const ShapeLoop& loop = shape_loop(move);
  const std::string straight_k = name_of("straight", move), fold = name_of("fold", move),
                    close = name_of("close", move), part = name_of("part", move), side = side_of(move);
  w.add_shared(straight(straight_k, 3));
  w.add_shared(curled(fold, 7, move, loop.ahead, 0));
  w.add_shared(curled(close, 2, move, loop.closed, 0));
  w.add_shared(curled(part, 2, move, loop.behind, 1));  // the root is the second module of the loop
  w.root_after(4, straight_k, fold);
  w.root_after(9, fold, close);
  w.rule({close}, "release", [side](const Situation& s) { return at_side(s, side); });
  w.rule({close}, part, [](const Situation& s) { return s.is_root() && s.place_at_change() == 1; });
  w.root_after(8, close, fold);  // missed: once more
  w.root_after(4, part, name_of("straight", move + 1));
}

// The leg lies down, the root docks at its n, and the leg lets go of the side: it is the root again.
void move_back(Writer& w, int move) {
  const ShapeLoop& loop = shape_loop(move);
  const std::string refold = name_of("refold", move), reclose = name_of("reclose", move),
                    rejoin = name_of("rejoin", move), restraight = name_of("restraight", move),
                    lie = name_of("lie", move), let_go = name_of("let go", move), side = side_of(move);
  w.add_shared(curled(refold, 7, move, loop.behind, 1));
  w.add_shared(curled(reclose, 2, move, loop.closed, 1));
  w.add_shared(curled(rejoin, 2, move, loop.ahead, 0));
  w.add_shared(straight(restraight, 4)).docks = {{"s", true}};
  const double yaw = (move % 2 == 0 ? 1 : -1) * radians(loop.closed.front());
  Role lying = posture(lie, 4, [yaw](int) { return yaw; });
  lying.docks = {{"n", true}};
  w.add(lying);
  Role letting_go = posture(let_go, 1, [yaw](int) { return yaw; });
  letting_go.docks = {{"s", false}};
  w.add(letting_go);

  w.root_after(9, refold, reclose);
  w.root_after(8, reclose, refold);  // missed: once more
  const int place = size_of(move) - 1;
  w.rule({"tuck", "tuck over"}, lie, [refold, side, place](const Situation& s) {
    return at_side(s, side) && s.neighbor_role("s") == refold && s.place() == place;
  });
  w.rule({lie}, let_go, [](const Situation& s) { return !s.neighbor("n").empty(); });
  w.rule({let_go}, rejoin, [](const Situation& s) { return s.is_root(); });
  w.root_after(4, rejoin, restraight);
  w.root_after(5, restraight, move > 0 ? name_of("refold", move - 1) : "sw");
}

// The four legs, in front of a body that lies one way up or the other.
void legs(Writer& w, const RoleBook& paper, const Way& way) {
  const std::string tuck = named("tuck", way), down = named("down", way);
  w.add(leg(tuck, 3, way.sign * upright));
  w.add(leg(down, 3, -way.sign * upright));
  w.rule({"release"}, tuck, [way](const Situation& s) { return s.time_in_role() >= 4 && lies(s, way); });
  w.rule({tuck}, down, [](const Situation& s) { return s.neighbor_role("s") == "stand"; });
  for (const auto& [role, side] : {std::pair{"eleg", "e"}, std::pair{"wleg", "w"}}) {
    Role walking = paper.roles[narrow<std::size_t>(paper.role_index(role))];
    walking.name = named(role, way);
    walking.motion["pitch"] = [pitch = walking.motion["pitch"], way](double t) { return way.sign * pitch(t); };
    const std::string name = walking.name;
    w.add(std::move(walking));
    w.rule({down}, name,
           [side = std::string(side)](const Situation& s) { return at_side(s, side) && s.neighbor_role("s") == "sp"; });
    w.rule({name}, tuck, [](const Situation& s) { return s.neighbor_role("s") == "halt"; });
  }
}

// The quadruped: the roles of the paper, a waist between its two spine modules, and a tail that the root leads.
void walk(Writer& w, const RoleBook& paper, double seconds) {
  Role tail{"tail", 180, {{"pitch", [](double) { return 0.0; }}, {"yaw", [](double) { return 0.0; }}}, {{"n", 0}}};
  Role waist = tail;
  waist.name = "waist";
  const std::string whole = name_of("straight", moves);
  w.add_shared(straight(whole, 3));
  w.root_after(4, whole, "stand");
  w.add_shared(straight("stand", 4));
  Role release;  // its joints stay where they are
  release.name = "release";
  release.docks = {{"n", false}};
  w.add(release);
  w.add(tail);
  w.add(waist);
  w.add(paper.roles[narrow<std::size_t>(paper.role_index("sp"))]);
  w.add_shared(straight("halt", 3));
  w.root_after(6, "stand", "tail");
  const std::vector<std::string> standing = {"stand"};
  const auto follows = [](std::vector<std::string> parents, bool sides) {
    return [parents = std::move(parents), sides](const Situation& s) {
      return s.neighbor("s") == "n" && has_sides(s) == sides &&
             std::find(parents.begin(), parents.end(), s.neighbor_role("s")) != parents.end();
    };
  };
  w.rule(standing, "tail", follows({"tail"}, false));
  w.rule(standing, "sp", follows({"tail", "waist"}, true));
  w.rule(standing, "waist", follows({"sp"}, false));
  for (const Way& way : ways) legs(w, paper, way);
  w.root_after(seconds, "tail", "halt");
  w.root_after(5, "halt", name_of("refold", moves - 1));
}

}  // namespace

// Found by least squares in the plane; shape_roles_test checks that they close.
const ShapeLoop& shape_loop(int move) {
  static const ShapeLoop eight = {{-18.63, -30.39, -45.75, -54.60, -53.94, -39.70, -20.52, -6.47},
                                  {-21.87, -33.21, -46.74, -52.86, -50.51, -36.85, -19.73, -8.22},
                                  {-18.63, -35.21, -48.52, -53.52, -50.03, -36.05, -19.37, -8.67}};
  static const ShapeLoop seven = {{-19.34, -50.73, -54.60, -54.60, -54.60, -38.94, 2.81},
                                  {-23.52, -53.71, -53.92, -50.79, -50.55, -37.70, 0.20},
                                  {-19.34, -54.60, -54.60, -53.96, -50.34, -36.72, -0.44}};
  return move % 2 == 0 ? eight : seven;
}

RoleBook shape_roles(const ShapeTimes& times) {
  const RoleBook paper = conro_roles();
  RoleBook book;
  book.parent = "s";
  book.step = step;
  Writer w(book);
  // The chain lies straight and begins to wind from the root on, each module in step: ten modules that begin at any
  // phase twist their docks with up to 1.4 N m, and these bear 1.2.
  w.add(straight("rest", 1));
  w.add(paper.roles[narrow<std::size_t>(paper.role_index("sw"))]);
  w.rule({"rest"}, "sw", [](const Situation& s) { return s.is_root() || (follows_sw(s) && s.heard_beat()); });
  w.root_after(times.wind, "sw", name_of("straight", 0));
  for (int move = 0; move < moves; ++move) move_forth(w, move);
  walk(w, paper, times.walk);
  for (int move = moves - 1; move >= 0; --move) move_back(w, move);
  w.share();
  w.rule({name_of("restraight", 0)}, "rest", follows_sw);
  return book;
}

}  // namespace volvox::robots
