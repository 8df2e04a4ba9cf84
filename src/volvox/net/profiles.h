// Options that many interfaces share are stored once: a million radios have one RadioOptions. Internal.
// Owns copies, and never drops one: a number always means the same options. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/base/index.h"

namespace volvox::net {

template <class Options>
class Profiles {
 public:
  std::uint32_t intern(const Options& options) {
    // Newest first, because equal interfaces are usually added one after another.
    for (std::size_t i = all_.size(); i-- > 0;)
      if (all_[i] == options) return narrow<std::uint32_t>(i);
    all_.push_back(options);
    return narrow<std::uint32_t>(all_.size() - 1);
  }
  const Options& operator[](std::uint32_t profile) const { return all_[profile]; }

 private:
  std::vector<Options> all_;
};

}  // namespace volvox::net
