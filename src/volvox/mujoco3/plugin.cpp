// The plugin `mujoco3`: the engine of physics/mujoco with the MuJoCo of PyPI (3 or later).
#include "volvox/plugin/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "volvox/mujoco3/functions.h"
#include "volvox/physics/mujoco/mujoco_engine.h"

namespace volvox::mujoco3 {

Functions functions;

namespace {

// RTLD_DEEPBIND: its own calls must not find Debian's MuJoCo, which was loaded before it. It is never closed: data of
// its threads may outlive the plugin.
void load() {
  const char* given = std::getenv("VOLVOX_MUJOCO3");
  const std::string file = given != nullptr ? given : VOLVOX_MUJOCO3_LIBRARY;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr)
    throw std::runtime_error("the MuJoCo of PyPI cannot be loaded (" + std::string(dlerror()) +
                             "): install it with pip install mujoco, and name its libmujoco.so in VOLVOX_MUJOCO3");
  fill(functions, [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(file + " has no function " + name);
  });
  if (const std::string version = mj_versionString(); version != VOLVOX_MUJOCO3_VERSION)
    throw std::runtime_error(file + " is MuJoCo " + version +
                             ", and the plugin was built for " VOLVOX_MUJOCO3_VERSION
                             ": build it again (cmake/mujoco3)");
}

}  // namespace
}  // namespace volvox::mujoco3

VOLVOX_PLUGIN("mujoco3", "the physics engine mujoco3: the MuJoCo of PyPI") {
  volvox::mujoco3::load();
  plugin.engines.add("mujoco3", volvox::physics::make_mujoco_engine, "the MuJoCo of PyPI, " VOLVOX_MUJOCO3_VERSION);
}
