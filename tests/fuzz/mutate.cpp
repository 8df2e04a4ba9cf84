// Runs a fuzz target without libFuzzer: on the given files, then on random mutations of them, ROUNDS times.
// Usage: TARGET ROUNDS FILE...
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "volvox/base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void give(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string changed(std::string bytes, volvox::RandomStream& random) {
  static const std::string numbers[] = {"0", "-1", "99999999999999999999", "1e308", "nan", "inf", "4294967295",
                                        " ", "\n"};
  for (std::uint64_t change = random.below(8) + 1; change > 0 && !bytes.empty(); --change) {
    const std::uint64_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0: bytes.resize(at); break;
      case 1: bytes[at] = static_cast<char>(random.below(256)); break;
      case 2: bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(40))); break;
      case 3: bytes.erase(at, random.below(20)); break;
      default: bytes.replace(at, random.below(4), numbers[random.below(std::size(numbers))]); break;
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: TARGET ROUNDS FILE...\n", stderr);
    return 2;
  }
  std::vector<std::string> seeds;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s cannot be opened\n", argv[i]);
      return 2;
    }
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    give(seeds.back());
  }
  volvox::RandomStream random(1, 0, "fuzz");
  for (long round = std::atol(argv[1]); round > 0; --round) give(changed(seeds[random.below(seeds.size())], random));
  std::puts("no crash");
  return 0;
}
