// The files that a run was read from, with a fingerprint of what was in them. Sweeps, snapshots and recordings keep
// them, so that a result is never taken for one of files that were changed since.
// Values that own their texts; in the order of the paths. Fingerprints are the same on every machine. One thread at a
// time for one list.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace volvox::model {

// By the absolute path of a file: sixteen hexadecimal digits. World, robots, meshes, images and plugins.
using Sources = std::map<std::string, std::string>;

// Notes that the file was read, and what was in it.
void note_source(Sources& sources, const std::filesystem::path& file, std::string_view bytes);
// The same, of what is in the file now; nothing is noted if it cannot be read.
void note_source(Sources& sources, const std::filesystem::path& file);

// What differs, in words, one entry a file: "a/world.sdf has changed". A file that was only moved is the same.
std::vector<std::string> changes(const Sources& then, const Sources& now);
// The same for the files as they are on the disk now. One that is not there any more may have moved, and is no change.
std::vector<std::string> changes_since(const Sources& then);

}  // namespace volvox::model
