// Options that many interfaces share, kept once: a million radios have one RadioOptions.
#pragma once

#include <cstdint>
#include <vector>

namespace volvox::net {

template <class Options>
class Profiles {
 public:
  std::uint32_t intern(const Options& options) {
    // The newest first: interfaces are added in runs of one kind.
    for (std::size_t i = all_.size(); i-- > 0;)
      if (all_[i] == options) return static_cast<std::uint32_t>(i);
    all_.push_back(options);
    return static_cast<std::uint32_t>(all_.size() - 1);
  }
  const Options& operator[](std::uint32_t profile) const { return all_[profile]; }

 private:
  std::vector<Options> all_;
};

}  // namespace volvox::net
