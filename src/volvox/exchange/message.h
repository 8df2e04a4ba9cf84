// What modules say to each other. A message goes out at an outlet: a dock, where whoever is
// attached receives it, or a radio or bus, where all who listen do, or the one it is addressed to.
#pragma once

#include <cstddef>
#include <vector>

#include "volvox/base/time.h"
#include "volvox/base/type.h"
#include "volvox/net/types.h"

namespace volvox::exchange {

using MailboxNumber = std::uint16_t;
inline constexpr MailboxNumber largest_mailbox = 0x7fff;
inline constexpr int everyone = -1;  // as an address

// A message of this type crosses the network as these bytes and nothing else; every other type
// travels with a mark of 8 bytes by which the receiver knows it.
using Bytes = std::vector<std::uint8_t>;

struct Message {
  int outlet = 0;  // of the receiver, where it came in: its docks, then its radios, then its buses
  MailboxNumber mailbox = 0;
  int from = -1;     // the sender's address, if it came by radio or bus
  double power = 0;  // W, as received, if it came by radio
  Time sent, arrived;
  Payload payload;

  // The content, if it is of this type: if (auto signal = message.as<Signal>()) ...
  template <class T>
  std::optional<T> as() const {
    return payload.as<T>();
  }

  template <class A>
  void archive(A& ar) {
    ar("outlet", outlet);
    ar("mailbox", mailbox);
    ar("from", from);
    ar("power", power);
    ar("sent", sent);
    ar("arrived", arrived);
    ar("payload", payload);
  }
};

// How a message is sent. All members have a default: agent.send("radio", text, {.to = 7}).
struct SendOptions {
  MailboxNumber mailbox = 0;   // of the receiver
  int to = everyone;           // an address; docks have only their other end
  std::uint32_t priority = 0;  // on a CAN bus, its identifier: the lowest wins
  bool report = false;         // Behavior::sent is called when it has left, not only when it was lost
};

// What became of a message on the network, as far as its sender can know.
using net::Fate;
struct SendReport {
  int outlet = 0;
  Fate fate = Fate::sent;
  int attempts = 1;
};

// On its way out of a module.
struct Outgoing {
  int outlet = 0;  // of the sender
  Payload payload;
  SendOptions options{};
  bool poll = false;  // nothing is sent: a slave of a serial bus is asked for what it has

  template <class A>
  void archive(A& ar) {
    ar("outlet", outlet);
    ar("payload", payload);
    ar("mailbox", options.mailbox);
    ar("to", options.to);
    ar("priority", options.priority);
    ar("report", options.report);
    ar("poll", poll);
  }
};

}  // namespace volvox::exchange
