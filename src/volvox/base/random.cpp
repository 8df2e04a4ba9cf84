#include "volvox/base/random.h"

#include <cmath>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/math.h"

namespace volvox {
namespace {

struct Block {
  std::uint32_t word[4];
};

Block philox(std::uint64_t key, std::uint64_t counter) {
  std::uint32_t k0 = low_word(key), k1 = high_word(key);
  Block x{{low_word(counter), high_word(counter), 0, 0}};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x.word[2];
    x = {{high_word(b) ^ x.word[1] ^ k0, low_word(b), high_word(a) ^ x.word[3] ^ k1, low_word(a)}};
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

double RandomStream::uniform() { return real(bits() >> 11) * 0x1p-53; }

double RandomStream::normal() {
  // Box-Muller; the second number of the pair is discarded, because storing it would add to the state.
  const double u = 1.0 - uniform();  // in (0, 1]
  const double v = uniform();
  return std::sqrt(-2.0 * volvox::log(u)) * volvox::cos(2 * pi * v);
}

std::uint64_t RandomStream::below(std::uint64_t n) {
  if (n == 0) return 0;
  const std::uint64_t threshold = (0 - n) % n;  // rejecting smaller numbers removes the bias
  for (;;) {
    const std::uint64_t x = bits();
    if (x >= threshold) return x % n;
  }
}

}  // namespace volvox
