#include "gait_roles.h"

#include "volvox/base/index.h"

namespace volvox::robots {
namespace {

using mind::Situation;

constexpr double T = 180;  // steps, about 2.5 s

double wave(double (*function)(double), double t) { return function(2 * pi * t / T); }

// In the paper positive pitch is up; positive pitch of our CONRO turns the head down (robots/conro/README.md).
double pitch_up(double degrees) { return radians(-degrees); }
double yaw_west(double degrees) { return radians(degrees); }

double leg_pitch(double t) { return pitch_up(35 * wave(volvox::cos, t) - 55); }
double leg_yaw(double t) { return yaw_west(40 * wave(volvox::sin, t)); }

bool at_side(const Situation& s, const char* side) { return s.neighbor("s") == side; }
bool is_side(const Situation& s) { return at_side(s, "e") || at_side(s, "w"); }
bool has_sides(const Situation& s) { return s.connected("e") || s.connected("w"); }

}  // namespace

mind::RoleBook conro_roles() {
  mind::RoleBook book;
  book.parent = "s";
  book.step = 2.5 / T;
  book.roles = {
      {"sw",
       T,
       {{"pitch", [](double t) { return pitch_up(20 * wave(volvox::cos, t)); }},
        {"yaw", [](double t) { return yaw_west(50 * wave(volvox::sin, t)); }}},
       {{"n", T / 5}}},
      {"sp",
       T,
       {{"pitch", [](double) { return 0.0; }}, {"yaw", [](double t) { return yaw_west(-25 * wave(volvox::cos, t)); }}},
       {{"e", T / 4}, {"n", 2 * T / 4}, {"w", 3 * T / 4}},
       T / 4},
      // Spine and legs stand until they are in step: a leg that is up when others step overloads the middle dock.
      {"eleg", T, {{"pitch", leg_pitch}, {"yaw", leg_yaw}}, {}, T / 2},
      {"wleg",
       T,
       {{"pitch", [](double t) { return leg_pitch(T - t); }}, {"yaw", [](double t) { return leg_yaw(T - t); }}},
       {},
       T / 2}};
  // Not in the paper: a chain that winds may turn over, and the quadruped that is made of it then lies on its back. Its
  // legs feel that and move the other way up; seen from the ground, the gait is the same.
  for (const std::string leg : {"eleg", "wleg"}) {
    mind::Role over = book.roles[narrow<std::size_t>(book.role_index(leg))];
    over.name = leg + " over";
    over.motion["pitch"] = [pitch = over.motion["pitch"]](double t) { return -pitch(t); };
    book.roles.push_back(std::move(over));
  }

  const std::vector<std::string> legs = {"eleg", "wleg", "eleg over", "wleg over"};
  const auto lies_over = [](double sign) {  // half of the weight: steps shake it less than that
    return [sign](const Situation& s) { return sign * s.percept<Vec3>("accelerometer").z < -4.9; };
  };
  const auto follows = [](const char* role) {
    return [role](const Situation& s) { return at_side(s, "n") && s.neighbor_role("s") == role; };
  };
  book.rules = {
      // Not in the paper: a module at the side of another stays a leg, even if it has modules at its own sides.
      {{"sw"}, "sp", [](const Situation& s) { return has_sides(s) && !is_side(s); }},
      {{"sp"}, "sw", [](const Situation& s) { return !has_sides(s); }},
      {{"sw", "sp"}, "wleg", [](const Situation& s) { return at_side(s, "w"); }},
      {{"sw", "sp"}, "eleg", [](const Situation& s) { return at_side(s, "e"); }},
      {legs, "sw", follows("sw")},
      {legs, "sp", follows("sp")},
      {legs, "sw", [](const Situation& s) { return s.is_root() && s.connected("n"); }},
      // The paper leaves out the leg that changes sides.
      {{"eleg", "eleg over"}, "wleg", [](const Situation& s) { return at_side(s, "w"); }},
      {{"wleg", "wleg over"}, "eleg", [](const Situation& s) { return at_side(s, "e"); }},
      {{"eleg"}, "eleg over", lies_over(1)},
      {{"wleg"}, "wleg over", lies_over(1)},
      {{"eleg over"}, "eleg", lies_over(-1)},
      {{"wleg over"}, "wleg", lies_over(-1)}};
  return book;
}

mind::RoleBook shuttle_roles(double near, double back) {
  mind::RoleBook book = conro_roles();
  for (const std::string role : {"sp", "eleg", "wleg"}) {
    mind::Role reverse = book.roles[narrow<std::size_t>(book.role_index(role))];
    reverse.name = role + " back";
    // What swings back instead of forth while a leg is up takes the robot backwards.
    reverse.motion["yaw"] = [yaw = reverse.motion["yaw"]](double t) { return -yaw(t); };
    book.roles.push_back(std::move(reverse));
  }
  const auto is_front = [](const Situation& s) { return !s.connected("n"); };
  const auto next_plays = [](const char* role) {
    return [role](const Situation& s) { return s.connected("n") && s.neighbor_role("n") == role; };
  };
  const auto sees = [near](const Situation& s) { return s.percept<std::vector<double>>("ir_n").front() < near; };
  std::vector<mind::RoleRule> rules = {
      {{"sp"}, "sp back", [=](const Situation& s) { return is_front(s) && sees(s); }},
      {{"sp back"}, "sp", [=](const Situation& s) { return is_front(s) && s.time_in_role() >= back; }},
      {{"sp"}, "sp back", next_plays("sp back")},
      {{"sp back"}, "sp", next_plays("sp")}};
  for (const std::string leg : {"eleg", "wleg"}) {
    rules.push_back({{leg}, leg + " back", [](const Situation& s) { return s.neighbor_role("s") == "sp back"; }});
    rules.push_back({{leg + " back"}, leg, [](const Situation& s) { return s.neighbor_role("s") == "sp"; }});
  }
  book.rules.insert(book.rules.end(), rules.begin(), rules.end());
  return book;
}

mind::RoleBook caterpillar_roles(const std::string& parent, const std::string& child, const std::string& joint,
                                 const std::vector<std::string>& held) {
  mind::RoleBook book;
  book.parent = parent;
  book.step = 2.5 / T;
  book.roles = {
      {"caterpillar", T, {{joint, [](double t) { return radians(25) * wave(volvox::sin, t); }}}, {{child, T / 5}}}};
  for (const std::string& still : held) book.roles.front().motion[still] = [](double) { return 0.0; };
  return book;
}
mind::RoleBook conro_caterpillar() { return caterpillar_roles("s", "n", "pitch", {"yaw"}); }
mind::RoleBook superbot_caterpillar() { return caterpillar_roles("back", "front", "pitch", {"yaw", "roll"}); }

mind::RoleBook arm_roles() {
  // The posture on an upright base, and the amplitude of the wave, largest at the wrist.
  struct Part {
    const char* name;
    double pitch, wave;  // degrees, up
  };
  constexpr Part parts[] = {
      {"shoulder", 10, 5}, {"upper arm", 10, 5}, {"elbow", -35, 10}, {"lower arm", -25, 10}, {"wrist", 0, 40}};
  mind::RoleBook book;
  book.parent = "s";
  book.step = 2.5 / T;
  book.roles.push_back(
      {"unknown", T, {{"pitch", [](double) { return 0.0; }}, {"yaw", [](double) { return 0.0; }}}, {}});
  for (const Part& part : parts)
    book.roles.push_back({part.name,
                          T,
                          {{"pitch", [part](double) { return pitch_up(part.pitch); }},
                           {"yaw", [part](double t) { return yaw_west(part.wave * wave(volvox::sin, t)); }}},
                          {{"n", T / 8}}});
  // The shoulder is the root, or stands on a base: something that is there but plays no role and says nothing. A module
  // would have been heard by then.
  book.rules.push_back({{}, "shoulder", [](const Situation& s) {
                          return s.is_root() || (s.neighbor_role("s").empty() && s.time_in_role() > 0.04);
                        }});
  for (std::size_t k = 1; k < std::size(parts); ++k) {
    const std::string parent = parts[k - 1].name;
    book.rules.push_back({{}, parts[k].name, [parent](const Situation& s) { return s.neighbor_role("s") == parent; }});
  }
  return book;
}

}  // namespace volvox::robots
