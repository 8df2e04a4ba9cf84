// Where things are on this system.
// Read from the system and the environment at every call. Any thread may call them while nobody changes the
// environment.
#pragma once

#include <filesystem>
#include <vector>

namespace volvox::platform {

std::filesystem::path executable();
// The file that contains this code: the shared library, or a program that is linked with it.
std::filesystem::path library();

// The folders that hold robots/ and experiments/, first one first: those of
// VOLVOX_RESOURCE_PATH (separated by ':'), then Volvox's own: share/volvox if it is installed,
// or the source tree in which it was built.
std::vector<std::filesystem::path> resource_path();

// The folders that are searched for plugins: those of VOLVOX_PLUGIN_PATH (separated by ':'), then
// volvox/plugins beside the Volvox library, which has the plugins of Volvox itself.
std::vector<std::filesystem::path> plugin_path();
// Only the folders of VOLVOX_PLUGIN_PATH.
std::vector<std::filesystem::path> users_plugin_path();

}  // namespace volvox::platform
