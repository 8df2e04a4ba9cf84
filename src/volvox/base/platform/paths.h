// Where things are on this system.
#pragma once

#include <filesystem>
#include <vector>

namespace volvox::platform {

std::filesystem::path executable();

// The folders that hold robots/ and experiments/, first one first: those of
// VOLVOX_RESOURCE_PATH (separated by ':'), then Volvox's own: share/volvox where it is
// installed, or the source tree in which it was built.
std::vector<std::filesystem::path> resource_path();

// Where plugins are looked for: the folders of VOLVOX_PLUGIN_PATH (separated by ':'), then
// volvox/plugins beside our own library, where those that come with Volvox are.
std::vector<std::filesystem::path> plugin_path();
// Of these, those that the user has named.
std::vector<std::filesystem::path> users_plugin_path();

}  // namespace volvox::platform
