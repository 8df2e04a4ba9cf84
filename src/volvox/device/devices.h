// Extensions of Volvox for humans and hardware in the loop.
// Units are those of percepts and joints (SI, rad) times the factors of the world file. An extension owns its device
// and is called by the thread of the loop only; what devices send makes a run reproducible only from its recording.
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
