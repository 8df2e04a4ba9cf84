// Everything that a code module can know and do: its catom's ports, messages, clock and random numbers. One exists
// while a catom is processed in a tick (CatomWorld), by one thread.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "volvox/base/random.h"
#include "volvox/base/type.h"
#include "volvox/lattice/message.h"
#include "volvox/lattice/motion.h"
#include "volvox/lattice/occupancy.h"
#include "volvox/lattice/post.h"
#include "volvox/lattice/waiting.h"

namespace volvox::lattice {

class CatomWorld;
class CodeModules;

// Messages since the start. Lost ones had no receiver: no neighbour, or one that was removed before it read them.
struct Traffic {
  std::uint64_t sent = 0, delivered = 0, lost = 0;
  std::uint64_t unread = 0;  // delivered, but no code module has linked the mailbox
};
VOLVOX_TYPE(Traffic, sent, delivered, lost, unread)

using Mailbox = std::uint8_t;
inline constexpr int no_port = -1;
inline constexpr int far_port = 255;  // where a message arrives that came from no neighbour

// A code module asked for something that cannot be. The tick ends with an error that names catom and code module.
class CatomError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of a catom in a tick; no two catoms have the same.
std::uint64_t catom_key(std::uint64_t key_of_tick, std::uint32_t catom);

// Where a code module runs that is on no lattice: as the mind of a module of a physical world, or on hardware. It has
// as many ports as it has connectors, numbered as they are there, and neighbours whose numbers it does not know. Code
// modules that ask for a cell, a motion or the number of a neighbour need a lattice, and are told so.
class CatomHost {
 public:
  virtual std::uint32_t number() const = 0;
  virtual std::int64_t ticks() const = 0;
  virtual int connectors() const = 0;
  virtual bool is_connected(int port) const = 0;
  virtual void transmit(int port, Mailbox mailbox, std::span<const std::byte> content) = 0;
  virtual RandomStream& chance() = 0;
  virtual std::uint64_t key() const = 0;  // Catom::key: by the seed, the module and the tick

 protected:
  ~CatomHost() = default;
};

class Catom {
 public:
  // For one call of a code module that runs elsewhere. `code_module`: for errors; it must outlive this.
  Catom(CatomHost& host, CodeModules& code_module);

  CatomId id() const {
    count_step();
    return id_;
  }
  std::int64_t tick() const;  // the first is 0
  int ports() const {         // as many as a cell of the lattice has neighbours
    count_step();
    return ports_;
  }
  bool has_neighbor(int port) const {
    count_step();
    return port >= 0 && port < ports_ && is_taken(port);
  }

  // Sends to the neighbour at a port. The message is delivered in the next tick, or later if the capacity of the
  // adapter is used up. Without a neighbour it is lost.
  template <class T>
  void send(int port, const T& message, Mailbox mailbox = 0) {
    check(port, mailbox, type_of<T>());
    with_bytes(message, [&](std::span<const std::byte> content) {
      if (content.size() > most_bytes_of<T>()) too_large(type_of<T>(), content.size(), most_bytes_of<T>());
      put(port, mailbox, content);
    });
  }
  // To all neighbours, except the one at a port.
  template <class T>
  void broadcast(const T& message, Mailbox mailbox = 0, int except = no_port) {
    for (int port = 0; port < ports_; ++port)
      if (port != except && has_neighbor(port)) send(port, message, mailbox);
  }

  // By radio, to all catoms within WorldOptions::radio_range, who hear it in the next tick at far_port. An ideal radio:
  // nothing collides, and it has no capacity. For collisions and powers, run the code module in a physical world.
  template <class T>
  void radio(const T& message, Mailbox mailbox) {
    check(0, mailbox, type_of<T>());
    with_bytes(message, [&](std::span<const std::byte> content) {
      if (content.size() > most_bytes_of<T>()) too_large(type_of<T>(), content.size(), most_bytes_of<T>());
      put_on_air(mailbox, content);
    });
  }

  // Bytes, for programs that are not written in C++. `far`: to any catom; such messages pass no adapter.
  void send_bytes(int port, std::span<const std::byte> content, Mailbox mailbox);
  void send_far(std::uint32_t catom, std::span<const std::byte> content, Mailbox mailbox);
  void radio_bytes(std::span<const std::byte> content, Mailbox mailbox);
  // The number of the neighbour at a port, or nobody; of the sender of the message that is read.
  std::uint32_t neighbor(int port) const {
    count_step();
    if (host_ != nullptr) needs_a_lattice("the number of a neighbour");
    return port >= 0 && port < ports_ ? at(port) : nobody;
  }
  std::uint32_t sender() const {
    if (host_ != nullptr) needs_a_lattice("the number of a sender");
    return sender_;
  }
  // The port at which the neighbour at a port hears this catom. On a lattice it is the opposite one; of one that is in
  // no cell, whichever faces it. no_port: nobody is there.
  int port_of_neighbor(int port) const { return neighbor(port) == nobody ? no_port : arrival(port); }
  Cell cell() const;                                  // of one that is in none, the nearest
  CodeModules& running() const { return *running_; }  // the code module that is called
  void wake_next();                                   // its code modules' `woken` is called in the next tick

  // Asks for a motion after this tick (motion.h). Whether it could is seen in the next: it is `moving`, or in another
  // cell. False: it is still on the way, and asks for nothing.
  bool move(int motion);
  // Whether it could if nobody else moved: it feels which cells around it are free.
  bool can_move(int motion) const;
  // It stays with its neighbours and ports until it arrives.
  bool moving() const;
  const MotionTable& motions() const;
  // On square and hexagonal lattices: about the neighbour at a port.
  bool roll(int pivot, Turn turn);
  // Where catoms slide or pivot: along the neighbour at a port, towards another port: onto the next of its row, or, if
  // there is none, around its end.
  bool slide(int beside, int towards);
  // About the neighbour at a port, to another port of that one. On fcc and bcc that is how catoms roll.
  bool rotate(int pivot, int port_of_pivot);

  // Breaks ties between catoms: where chance must decide, the lowest number wins. Every catom has a different number,
  // and a new one in every tick, so no catom is preferred, and the order of processing does not matter.
  std::uint64_t key() const;
  RandomStream& random();  // begins anew in every tick

 private:
  friend class CatomWorld;
  // What the catoms that one thread processes in a tick do together.
  struct Shared {
    Post::Writer& writer;
    Traffic traffic{};
    std::vector<Move> moves{};
    std::vector<std::string> away{};  // messages to catoms of other ranks, by rank
  };
  Catom(CatomWorld& world, std::uint32_t id, Shared& shared);

  bool is_taken(int port) const { return host_ == nullptr ? at(port) != nobody : host_->is_connected(port); }
  // The neighbour at a port: in the next cell, or one that is in no cell but faces it.
  std::uint32_t at(int port) const {
    if (loose_ == nullptr) [[likely]]
      return around_.at(port);
    return loose_at(port);
  }
  std::uint32_t loose_at(int port) const;
  int arrival(int port) const;  // the neighbour's port for what leaves at one
  [[noreturn]] void needs_a_lattice(const char* what) const;
  CatomWorld& world(const char* what) const {
    if (world_ == nullptr) needs_a_lattice(what);
    return *world_;
  }

  void count_step() const {
    if (steps_left_-- == 0) never_stops();
  }
  [[noreturn]] void never_stops() const;
  void check_pivot(const char* what, int pivot, int other_port) const;
  void check(int port, Mailbox mailbox, const TypeInfo& type) const;
  [[noreturn]] void too_large(const TypeInfo& type, std::size_t size, std::size_t most) const;
  void put(int port, Mailbox mailbox, std::span<const std::byte> content);
  void put_on_air(Mailbox mailbox, std::span<const std::byte> content);
  void transmit(int port, std::uint32_t to, Mailbox mailbox, std::span<const std::byte> content);
  void queue(int port, std::uint32_t peer, Mailbox mailbox, std::span<const std::byte> content);
  void send_waiting();
  void send_waiting(int port, PortQueue& queue);

  CatomWorld* world_ = nullptr;  // null: it has a host
  CatomHost* host_ = nullptr;
  std::uint32_t id_;
  int ports_;
  Shared* shared_ = nullptr;
  Occupancy::Around around_;
  const void* loose_ = nullptr;  // CatomWorld::Peers, if a neighbour or it itself is in no cell
  CodeModules* running_ = nullptr;
  std::uint32_t sender_ = nobody;
  mutable std::uint32_t steps_left_;
  bool limited_;                                // the capacity of the adapters
  std::array<std::uint32_t, most_ports> left_;  // bytes of each adapter's capacity, if it is limited
  PortQueues* waiting_ = nullptr;
  bool moves_ = false;
  std::optional<RandomStream> random_;
};

}  // namespace volvox::lattice
