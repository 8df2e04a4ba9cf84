// Messages between modules. A message leaves at an outlet: at a dock the attached module receives it; on a radio or bus
// every listening module does, or only the module that it is addressed to. Times are exact simulated times.
// A message owns its payload: sender and receivers share no memory, so modules may think in parallel.
// Deterministic: the time of arrival does not depend on threads.
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

// A message of this type is sent as exactly these bytes. Every other type travels with 8 more bytes, by which the
// receiver recognises the type.
using Bytes = std::vector<std::uint8_t>;

struct Message {
  int outlet = 0;  // of the receiver: docks are numbered first, then radios, then buses
  MailboxNumber mailbox = 0;
  int from = -1;     // the sender's address, if it came by radio or bus
  double power = 0;  // W, received power, if it came by radio
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
  int to = everyone;           // an address; a dock reaches only its other end
  std::uint32_t priority = 0;  // the identifier on a CAN bus: the lowest wins the arbitration
  bool report = false;         // call Behavior::sent also when the message has left, not only when it is lost
};

// The fate of a message on the network, as far as its sender can know.
using net::Fate;
struct SendReport {
  int outlet = 0;
  Fate fate = Fate::sent;
  int attempts = 1;
};

// A message in the outbox of a module.
struct Outgoing {
  int outlet = 0;  // of the sender
  Payload payload;
  SendOptions options{};
  bool poll = false;  // no message: the master of a serial bus asks a slave to send

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
