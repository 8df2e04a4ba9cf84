// Extensions of Volvox for humans and hardware in the loop.
#pragma once

#include "volvox/sim/extension.h"

namespace volvox::device {

// joystick: axes and buttons of a Linux input device become percepts or joint targets, and a percept drives its force
// feedback. udp, serial: text lines become inputs, and percepts and a force are sent back.
void register_extensions(sim::ExtensionRegistry& extensions);

std::unique_ptr<mind::Extension> make_joystick(const sim::ExtensionSetup& setup);
std::unique_ptr<mind::Extension> make_udp(const sim::ExtensionSetup& setup);
std::unique_ptr<mind::Extension> make_serial(const sim::ExtensionSetup& setup);

}  // namespace volvox::device
