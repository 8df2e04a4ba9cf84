// What modules say to each other. A message is sent to a dock, not to a module: whoever is
// attached there receives it.
#pragma once

#include "volvox/base/time.h"
#include "volvox/base/type.h"

namespace volvox::mind {

struct Message {
  int dock = 0;  // of the receiver: where it came in
  Time sent, arrived;
  Payload payload;

  // The content, if it is of this type: if (auto signal = message.as<Signal>()) ...
  template <class T>
  std::optional<T> as() const { return payload.as<T>(); }

  template <class A>
  void archive(A& ar) {
    ar("dock", dock);
    ar("sent", sent);
    ar("arrived", arrived);
    ar("payload", payload);
  }
};

// On its way out of a module.
struct Outgoing {
  int dock = 0;  // of the sender
  Payload payload;

  template <class A>
  void archive(A& ar) {
    ar("dock", dock);
    ar("payload", payload);
  }
};

}  // namespace volvox::mind
