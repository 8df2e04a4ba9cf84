// Converging walkers (seed 001, section V.A and figure 9), on a hexagonal lattice with a radio and `keep_connected`.
//
// - A group is what hangs together. Its leader is its lowest number, which neighbours tell each other by wire.
//   Groups only grow, so that numbers only fall.
// - Three or more walk. In every round (`period` ticks) their leaders announce where they are, by radio, and everybody
//   who hears it takes the mean of these places, the barycentre of the walkers, as target.
// - One or two cannot walk: their leader calls, and names the nearest walker that it has heard. That one goes for the
//   nearest of those who call it, until it touches them; then they belong to it.
// - To walk, the catom that is farther from the target than all its neighbours rolls along the edge of its group, until
//   the next roll would lead it away from the target again. Then another one is farthest.
// - Who hears one walker only, its own, and no call, has met everybody and rests.
// - Where groups can split, as in dynamics (`patience`), a leader counts the rounds, and its number and that of the
//   round go through the group. Who hears of no new round for `patience` ticks has lost its leader: it is its own
//   again, and believes in the lost one only when that has counted on. Three or more are counted anew in every round.
// The world owns a state for each catom and runs it by one thread at a time; the same seed gives the same ways.
#pragma once

#include <bit>

#include "volvox/lattice/code_module.h"
#include "volvox/lattice/motion.h"

namespace volvox::lattice {

// A place: in half pitches along a row, and in rows.
struct Place {
  std::int32_t x = 0, y = 0;
  friend constexpr bool operator==(const Place&, const Place&) = default;
};
VOLVOX_TYPE(Place, x, y)

constexpr Place place_of(const Cell& hex) { return {2 * hex.x + (hex.y & 1), hex.y}; }
// Four times the square of the distance, in pitches.
constexpr std::int64_t far_apart(const Place& a, const Place& b) {
  const std::int64_t x = a.x - b.x, y = a.y - b.y;
  return x * x + 3 * y * y;
}

struct Greeting {  // by wire
  std::uint32_t leader = 0, round = 0;
  bool walks = false;
};
VOLVOX_TYPE(Greeting, leader, round, walks)

struct Announcement {  // by radio, of a walker
  std::uint32_t leader = 0;
  Place at;
};
VOLVOX_TYPE(Announcement, leader, at)

struct Call {  // by radio, of one who cannot walk
  std::uint32_t leader = 0, rescuer = 0;
  Place at;
};
VOLVOX_TYPE(Call, leader, rescuer, at)

struct Walker {
  static constexpr Mailbox by_wire = 5, of_walkers = 6, of_isolated = 7;
  static constexpr std::uint16_t most_rolls = 300;  // of one walk: then there is nothing better to be found
  static constexpr std::uint8_t most_refusals = 12;

  std::uint16_t period = 30;   // ticks
  std::uint32_t patience = 0;  // ticks without news of the leader; 0: groups never split
  std::uint32_t leader = nobody;
  std::uint32_t round = 0, own_round = 0;       // that the leader has counted, as far as it knows; as leader
  std::int64_t heard = 0;                       // the tick in which it heard of that
  std::uint32_t lost = nobody, lost_round = 0;  // a leader of which it heard no more, and its last round
  bool walks = false;                           // its group has three or more
  bool grown = false;                           // the same, as far as is known in this round
  bool met = false;                             // nobody else is left
  std::uint8_t around = 0;                      // neighbours in the tick before, a bit a port
  std::uint8_t friends = 0;                     // those of them that have greeted it
  Place stood;                                  // in the tick before
  std::uint32_t radioed = 0;

  // Of the round that is being heard.
  std::uint32_t walkers = 0, calls = 0;
  std::int64_t sum_x = 0, sum_y = 0;
  std::uint32_t nearest = nobody, caller = nobody;
  std::int64_t nearest_far = 0, caller_far = 0;
  Place caller_at;

  // Of the last one.
  Place leader_at, target;
  bool has_target = false;
  std::uint32_t rescuer = nobody;

  // Its own walk.
  std::int8_t turn = 0;  // 1: counter-clockwise, -1: clockwise, 0: it rests
  std::uint8_t refused = 0;
  std::uint16_t rolls = 0, wait = 0;
  std::int64_t begun_far = 0;  // from the target
  Place left;                  // where it was when it asked for a roll
  bool asked = false;

  void start(Catom& catom) { leader = catom.id(); }

  void new_tick(Catom& catom) {
    greet_neighbors(catom);
    if (patience > 0) watch_leader(catom);
    const std::int64_t phase = catom.tick() % period;
    if (phase == 0 && leader == catom.id()) announce(catom);
    if (phase == 2) end_round();
    if (walks && has_target && !catom.moving()) walk(catom);
  }

  void greeted(Catom& catom, int port, const Greeting& greeting) {
    // Who is on its way leaves those that have come meanwhile: it belongs to them only if it meets them again.
    if (catom.moving() || catom.sender() != catom.neighbor(port)) return;
    friends = narrow<std::uint8_t>(friends | 1 << port);
    if (greeting.leader == lost && greeting.round <= lost_round) return;  // from one that has not missed it yet
    const bool other = greeting.leader < leader, next = greeting.leader == leader && greeting.round > round;
    if (next) begin_round();
    if (other || next) leader = greeting.leader, round = greeting.round, heard = catom.tick();
    const bool same = greeting.leader == leader && greeting.round == round;
    const bool grows = !grown && ((greeting.walks && (same || patience == 0)) || std::popcount(friends) >= 2);
    grown = grown || grows, walks = walks || grown;
    if (other || next || grows) catom.broadcast(own_greeting(), by_wire);
    else if (!same || greeting.walks != grown) catom.send(port, own_greeting(), by_wire);
  }
  void heard_walker(Catom& catom, int, const Announcement& a) { count(catom, a); }
  void heard_call(Catom&, int, const Call& call) {
    ++calls;
    if (!walks || call.rescuer != leader) return;
    const std::int64_t far = far_apart(call.at, leader_at);
    if (caller != nobody && std::pair(far, call.leader) > std::pair(caller_far, caller)) return;
    caller = call.leader, caller_far = far, caller_at = call.at;
  }
  static void mailboxes(Mailboxes<Walker>& boxes) {
    boxes.link<&Walker::greeted>(by_wire);
    boxes.link<&Walker::heard_walker>(of_walkers);
    boxes.link<&Walker::heard_call>(of_isolated);
  }

 private:
  Greeting own_greeting() const { return {leader, round, grown}; }
  void begin_round() { walks = grown, grown = std::popcount(friends) >= 2; }

  void watch_leader(Catom& catom) {
    const std::int64_t now = catom.tick();
    const bool leads = leader == catom.id();
    if (leads ? now % period != 0 : now - heard <= patience) return;
    if (!leads) lost = leader, lost_round = round, leader = catom.id(), grown = std::popcount(friends) >= 2;
    begin_round();
    round = ++own_round, heard = now;
    catom.broadcast(own_greeting(), by_wire);
  }

  void greet_neighbors(Catom& catom) {
    if (catom.moving()) return;
    if (const Place here = place_of(catom.cell()); !(here == stood)) stood = here, around = 0, friends = 0;
    std::uint8_t now = 0;
    for (int port = 0; port < 6; ++port)
      if (catom.has_neighbor(port)) now = narrow<std::uint8_t>(now | 1 << port);
    if (now == around) return;
    for (int port = 0; port < 6; ++port)
      if ((now & ~around) >> port & 1) catom.send(port, own_greeting(), by_wire);
    friends = narrow<std::uint8_t>(friends & now);
    around = now;
  }

  void announce(Catom& catom) {
    ++radioed;
    const Place at = place_of(catom.cell());
    if (!walks) {
      ++calls;  // its own: there is somebody left
      catom.radio(Call{leader, rescuer, at}, of_isolated);
      return;
    }
    count(catom, {leader, at});  // a radio does not hear itself
    catom.radio(Announcement{leader, at}, of_walkers);
  }

  void count(Catom& catom, const Announcement& a) {
    ++walkers;
    sum_x += a.at.x, sum_y += a.at.y;
    if (a.leader == leader) leader_at = a.at;
    if (walks) return;
    const std::int64_t far = far_apart(a.at, place_of(catom.cell()));
    if (nearest != nobody && std::pair(far, a.leader) > std::pair(nearest_far, nearest)) return;
    nearest = a.leader, nearest_far = far;
  }

  void end_round() {
    rescuer = nearest;
    met = walkers <= 1 && calls == 0;
    const auto mean = [&](std::int64_t sum) { return narrow<std::int32_t>(sum / std::max<std::int64_t>(1, walkers)); };
    const Place place = caller != nobody ? caller_at : Place{mean(sum_x), mean(sum_y)};
    has_target = walkers > 1 || caller != nobody;
    target = place;
    if (!has_target) turn = 0;
    walkers = calls = 0, sum_x = sum_y = 0;
    nearest = caller = nobody;
  }

  std::int64_t far(const Cell& cell) const { return far_apart(place_of(cell), target); }

  // Farther from the target than its neighbours; of equally far ones, the highest number.
  bool is_farthest(Catom& catom) const {
    const std::int64_t own = far(catom.cell());
    for (int port = 0; port < 6; ++port) {
      if (!catom.has_neighbor(port)) continue;
      const std::int64_t other = far(beside(catom.cell(), port));
      if (other > own || (other == own && catom.neighbor(port) > catom.id())) return false;
    }
    return true;
  }

  static Cell beside(const Cell& cell, int port) { return hex().neighbor(cell, port); }
  static const Lattice& hex() {
    static const Lattice lattice(Kind::hex);
    return lattice;
  }

  struct Roll {
    int pivot = no_port;
    Cell to;
  };
  // Along the edge of what it touches.
  static Roll next_roll(Catom& catom, int turn) {
    for (int pivot = 0; pivot < 6; ++pivot) {
      const int first = turned(pivot, -turn), second = turned(pivot, -2 * turn);
      if (!catom.has_neighbor(pivot) || catom.has_neighbor(first) || catom.has_neighbor(second)) continue;
      return {pivot, beside(catom.cell(), first)};
    }
    return {};
  }

  void rest(Catom& catom, std::uint32_t ticks) {
    turn = 0;
    wait = narrow<std::uint16_t>(1 + catom.random().below(ticks));
  }

  void walk(Catom& catom) {
    if (wait > 0) {
      --wait;
      return;
    }
    const Cell here = catom.cell();
    if (asked) {
      asked = false;
      const bool rolled = !(place_of(here) == left);
      refused = rolled ? 0 : narrow<std::uint8_t>(refused + 1);
      rolls = narrow<std::uint16_t>(rolls + (rolled ? 1 : 0));
      if (refused >= most_refusals) return rest(catom, 60);
    }
    if (turn == 0 && !begin(catom)) return;
    const Roll roll = next_roll(catom, turn);
    if (roll.pivot == no_port) return rest(catom, 20);
    const bool better = far(here) < begun_far, ends = far(roll.to) >= far(here);
    if (ends && better && rolls > 0) return rest(catom, 4);
    if (rolls >= most_rolls) return rest(catom, 1000);
    left = place_of(here);
    asked = catom.roll(roll.pivot, turn > 0 ? Turn::counter_clockwise : Turn::clockwise);
  }

  bool begin(Catom& catom) {
    // Now and then also one that is not the farthest, so that nobody waits for ever for one that cannot.
    if (!is_farthest(catom) && !catom.random().chance(0.002)) return false;
    const Roll left_roll = next_roll(catom, 1), right_roll = next_roll(catom, -1);
    if (left_roll.pivot == no_port && right_roll.pivot == no_port) {
      rest(catom, 20);
      return false;
    }
    if (left_roll.pivot == no_port) turn = -1;
    else if (right_roll.pivot == no_port) turn = 1;
    else if (far(left_roll.to) != far(right_roll.to)) turn = far(left_roll.to) < far(right_roll.to) ? 1 : -1;
    else turn = catom.random().chance(0.5) ? 1 : -1;
    begun_far = far(catom.cell());
    rolls = 0, refused = 0, asked = false;
    return true;
  }
};
VOLVOX_TYPE(Walker, period, patience, leader, round, own_round, heard, lost, lost_round, walks, grown, met, around,
            friends, stood, radioed, walkers, calls, sum_x, sum_y, nearest, caller, nearest_far, caller_far, caller_at,
            leader_at, target, has_target, rescuer, turn, refused, rolls, wait, begun_far, left, asked)

}  // namespace volvox::lattice
