// Units, frames, threads and determinism: physics/engine.h.
#pragma once

#include <functional>

#include "volvox/physics/engine.h"

namespace volvox::physics {
namespace native {
class Simulator;
}

// Volvox's own engine: joints and docks solved directly, contacts by an exact sweep. See
// native/README.md and docs/decisions/0010-native-engine.md.
std::unique_ptr<Engine> make_native_engine(const EngineSettings& settings);

// What is behind such an engine, for what moves its worlds in its place (lone.h). Null: it is another one.
native::Simulator* native_simulator(Engine& engine);
// Says that contacts are others than before.
void native_contacts_changed(Engine& engine);
// While somebody else moves the engine's world, its arrays are kept true, and all else is behind: `come_home` is called
// before anything else is read, and with `changes` before anything but motors and forces is changed. Empty: the world
// is at home again. Where several threads may read the engine, come_home may be called by several at once.
void native_set_away(Engine& engine, std::function<void(bool changes)> come_home);

}  // namespace volvox::physics
