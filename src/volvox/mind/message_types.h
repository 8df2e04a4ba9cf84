// The types of the messages that behaviours of this process have sent: a payload has only the key of its type. For
// those who watch a run; no behaviour sees it. All functions are thread-safe.
#pragma once

#include <string>

#include "volvox/base/type.h"

namespace volvox::mind {

void remember_message_type(const TypeInfo& type);

template <class T>
void remember_message_type() {
  static const bool once = (remember_message_type(type_of<T>()), true);
  (void)once;
}

struct MessageText {
  std::string type, content;  // the content as JSON
};
// Without a type: no message of its type was sent by this process. Without content: it is damaged, too long to
// describe, or not wanted.
MessageText text_of(const Payload& payload, bool with_content = true);

}  // namespace volvox::mind
