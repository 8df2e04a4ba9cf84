// What a file needs to outlive a crash of the machine.
// Any thread may call these. The state of a simulation does not depend on them.
#pragma once

#include <filesystem>

namespace volvox::platform {

// Returns when the content of the file is on the disk; false: it could not be written there.
bool sync_file(const std::filesystem::path& file);
// Likewise its name in the folder. Folders that cannot be synced (of some network file systems) are left as they are.
void sync_folder_of(const std::filesystem::path& file);

int process_number();  // of this process

}  // namespace volvox::platform
