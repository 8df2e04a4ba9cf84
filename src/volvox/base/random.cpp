#include "volvox/base/random.h"

#include <cmath>

#include "volvox/base/hash.h"
#include "volvox/base/math.h"

namespace volvox {
namespace {

struct Block {
  std::uint32_t word[4];
};

Block philox(std::uint64_t key, std::uint64_t counter) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  Block x{{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x.word[2];
    x = {{static_cast<std::uint32_t>(b >> 32) ^ x.word[1] ^ k0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ x.word[3] ^ k1, static_cast<std::uint32_t>(a)}};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t entity, std::string_view purpose) {
  Hasher hasher;
  hasher.add(seed);
  hasher.add(entity);
  hasher.add(purpose.data(), purpose.size());
  key_ = hasher.value();
}

std::uint64_t RandomStream::bits() {
  const Block block = philox(key_, counter_++);
  return block.word[0] | std::uint64_t{block.word[1]} << 32;
}

double RandomStream::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double RandomStream::normal() {
  // Box and Muller, one of the pair: keeping the other would be state beyond the counter.
  const double u = 1.0 - uniform();  // in (0, 1]
  const double v = uniform();
  return std::sqrt(-2.0 * volvox::log(u)) * volvox::cos(2 * pi * v);
}

std::uint64_t RandomStream::below(std::uint64_t n) {
  if (n == 0) return 0;
  const std::uint64_t threshold = (0 - n) % n;  // reject the uneven rest at the bottom
  for (;;) {
    const std::uint64_t x = bits();
    if (x >= threshold) return x % n;
  }
}

}  // namespace volvox
