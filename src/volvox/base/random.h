// Counter-based random streams (Philox 4x32-10, Salmon et al. 2011). A stream is a key and a counter and shares
// nothing, so the numbers that one entity draws for one purpose do not depend on threads, on other entities or on
// the order of draws. The same bits on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace volvox {

class RandomStream {
 public:
  RandomStream() = default;
  // `purpose` is a short constant word: "behavior", "percept:yaw", "backoff".
  RandomStream(std::uint64_t seed, std::uint64_t entity, std::string_view purpose);

  std::uint64_t bits();  // 64 random bits
  double uniform();      // in [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal();                       // mean 0, standard deviation 1
  std::uint64_t below(std::uint64_t n);  // in {0 .. n-1}, without bias; 0 if n is 0
  bool chance(double probability) { return uniform() < probability; }

  template <class Archive>
  void archive(Archive& ar) {
    ar("key", key_);
    ar("counter", counter_);
  }

 private:
  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace volvox
