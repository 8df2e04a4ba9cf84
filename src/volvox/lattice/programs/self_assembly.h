// A heap becomes a given shape: programmable self-assembly by edge following (Rubenstein, Cornejo and Nagpal,
// "Programmable self-assembly in a thousand-robot swarm", Science 345, 2014), for catoms that roll on a hexagonal
// lattice. Everybody knows the shape and nothing of the others but what neighbours tell:
// - gradient: links from the seed, over catoms that stay;
// - place: from neighbours that stay, who have it from the seed;
// - who has no neighbour with a larger gradient, and none that moves, begins to roll along the edge of those that stay;
// - within the shape it stays where the next step would lead out of it, or beside one that stays in the shape with the
//   same or a larger gradient.
// They keep a distance: those that stay tell of others that move beside them. One that cannot go around a corner
// because of the next one behind it asks that one to go back a step: rolling needs the cell beyond, too, which the
// paper's robots do not. So the shape grows in layers around the seed. It must be one piece with the seed at its rim,
// and the heap beside it. Places are in cells. The same seed gives the same run at any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "volvox/lattice/code_module.h"
#include "volvox/lattice/motion.h"

namespace volvox::lattice {

// The cells of a shape, from the seed's, which is in an even row.
class TargetShape {
 public:
  TargetShape() = default;
  explicit TargetShape(std::vector<Cell> cells) : cells_(std::move(cells)) { std::sort(cells_.begin(), cells_.end()); }
  bool has(const Cell& cell) const { return std::binary_search(cells_.begin(), cells_.end(), cell); }
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  std::vector<Cell> cells_;
};

struct Beacon {
  std::uint8_t role = 0;
  std::uint32_t gradient = 0;
  std::int32_t x = 0, y = 0;  // of the sender
  // Its neighbours that move, and those beside whom somebody moves next along the edge: a bit a port.
  std::uint8_t guests = 0, hosts = 0;
};
VOLVOX_TYPE(Beacon, role, gradient, x, y, guests, hosts)

struct GoBack {
  std::uint8_t steps = 1;
};
VOLVOX_TYPE(GoBack, steps)

struct SelfAssembly {
  enum Role : std::uint8_t { waiting, moving, placed };
  static constexpr Mailbox beacons = 5, requests = 6;
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  static constexpr std::uint8_t listening = 2, after_going_back = 8;  // ticks

  const TargetShape* shape = nullptr;  // the same for all, and no state
  std::uint8_t role = waiting;         // the seed is placed from the start
  bool seed = false;
  std::uint8_t wait = 0;  // ticks, until it has heard its new neighbours
  std::uint32_t gradient = unknown;
  std::int32_t x = 0, y = 0;     // its cell, once a neighbour has told
  std::uint32_t pivot = nobody;  // about whom it rolled last
  std::int32_t was_x = 0, was_y = 0;
  bool asked = false;  // to roll, from there
  // What it heard in this tick: gradients of neighbours that stay, which of them are in the shape, and a request.
  std::array<std::uint32_t, 6> near = {unknown, unknown, unknown, unknown, unknown, unknown};
  std::uint8_t stays = 0, in_shape = 0, guests = 0, hosts = 0;  // a bit a port
  std::array<std::uint8_t, 6> near_guests{}, near_hosts{};      // what they told of theirs
  bool go_back = false;

  void new_tick(Catom& catom) {
    const std::uint8_t own_guests = guests, own_hosts = hosts;
    near.fill(unknown);
    near_guests.fill(0), near_hosts.fill(0);
    stays = in_shape = guests = hosts = 0;
    go_back = false;
    if (asked && !catom.moving()) {
      const Cell now = catom.cell();  // it feels whether it has rolled
      if (now.x != was_x || now.y != was_y) role = moving;
      asked = false;
    }
    if (seed) gradient = 0;
    if (gradient != unknown) catom.broadcast(Beacon{role, gradient, x, y, own_guests, own_hosts}, beacons);
  }

  void heard(Catom& catom, int port, const Beacon& beacon) {
    // One of us may have moved since.
    if (catom.sender() != catom.neighbor(port)) return;
    if (beacon.role == moving) {
      guests = narrow<std::uint8_t>(guests | 1 << port);
      return;
    }
    near[port] = beacon.gradient;
    near_guests[port] = beacon.guests, near_hosts[port] = beacon.hosts;
    // Of its guests, the one that would be just ahead of somebody who comes around the two of us.
    if ((beacon.guests >> turned(Lattice::opposite(port), 2) & 1) != 0) hosts = narrow<std::uint8_t>(hosts | 1 << port);
    stays = narrow<std::uint8_t>(stays | 1 << port);
    if (beacon.role == placed) in_shape = narrow<std::uint8_t>(in_shape | 1 << port);
    if (seed) return;
    const Cell own = hex().neighbor({beacon.x, beacon.y, 0}, Lattice::opposite(port));
    x = own.x, y = own.y;
  }

  void asked_back(Catom&, int, const GoBack&) { go_back = role == moving; }

  void end_tick(Catom& catom) {
    if (stays == 0 || seed || catom.moving()) return;
    if (wait > 0) --wait;
    if (wait > 0 && !go_back) return;
    gradient = 1 + *std::min_element(near.begin(), near.end());
    if (role == placed || (role == waiting && !may_begin(catom))) return;
    const Turn turn = go_back ? Turn::clockwise : Turn::counter_clockwise;
    const int about = next_pivot(catom, turn);
    if (about == no_port) return;
    const Cell here{x, y, 0}, next = hex().neighbor(here, turned(about, -1));
    if (role == moving && !go_back && shape->has(here) && (!shape->has(next) || beside_a_layer())) {
      role = placed;
      return;
    }
    if (!go_back && is_close_behind(about)) return;
    const Cell from = catom.cell();
    was_x = from.x, was_y = from.y;
    asked = catom.roll(about, turn);
    pivot = catom.neighbor(about);
    wait = go_back ? after_going_back : listening;
  }

  static void mailboxes(Mailboxes<SelfAssembly>& boxes) {
    boxes.link<&SelfAssembly::heard>(beacons);
    boxes.link<&SelfAssembly::asked_back>(requests);
  }

 private:
  static const Lattice& hex() {
    static const Lattice lattice(Kind::hex);
    return lattice;
  }

  bool may_begin(const Catom& catom) const {
    int neighbors = 0;
    for (int port = 0; port < 6; ++port) {
      if (!catom.has_neighbor(port)) continue;
      if ((stays >> port & 1) == 0 || near[port] > gradient || near_guests[port] != 0) return false;
      ++neighbors;
    }
    return neighbors <= 3;  // from the ends of a row, so that no notch is left in which others are caught
  }

  bool beside_a_layer() const {
    for (int port = 0; port < 6; ++port)
      if ((in_shape >> port & 1) != 0 && near[port] >= gradient) return true;
    return false;
  }

  // Whether another one moves just ahead of where it would come: at the same neighbour, or at the next along the edge.
  bool is_close_behind(int about) const {
    const int ahead = turned(Lattice::opposite(about), 2);
    return ((near_guests[about] | near_hosts[about]) >> ahead & 1) != 0;
  }

  // The neighbour about which it goes on along the edge of those that stay, from the one about which it rolled last;
  // none while somebody who moves is in the way. A gap of one cell is passed over: nobody can roll into it.
  int next_pivot(Catom& catom, Turn turn) const {
    const int on = turn == Turn::counter_clockwise ? -1 : 1;
    int from = no_port;
    for (int port = 0; port < 6; ++port)
      if ((stays >> port & 1) != 0 && catom.neighbor(port) == pivot) from = port;
    for (int port = 0; from == no_port && port < 6; ++port)
      if ((stays >> port & 1) != 0 && !catom.has_neighbor(turned(port, on))) from = port;
    for (int step = 0; from != no_port && step < 6; ++step) {
      const int to = turned(from, on), beyond = turned(from, 2 * on);
      const bool is_free = !catom.has_neighbor(to);
      if (is_free && !catom.has_neighbor(beyond)) return from;
      const int other = is_free ? beyond : to;
      if ((stays >> other & 1) == 0) {
        if (role == moving && (is_free || go_back)) catom.send(other, GoBack{}, requests);
        return no_port;
      }
      from = other;
    }
    return no_port;
  }
};
VOLVOX_TYPE(SelfAssembly, role, seed, wait, gradient, x, y, pivot, was_x, was_y, asked, near, stays, in_shape, guests,
            hosts, near_guests, near_hosts, go_back)

}  // namespace volvox::lattice
