// What a file's name says about what is in it.
// A pure function of the name; the file need not exist.
#pragma once

#include <filesystem>
#include <string>

namespace volvox {

// ".png" for Photo.PNG; empty if the name has no ending.
inline std::string file_ending(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending;
}

}  // namespace volvox
