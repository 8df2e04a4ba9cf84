// Runs a fuzz target without libFuzzer: first with the inputs of a corpus, then with mutations of them. Where the
// readers are compiled with -fsanitize-coverage=trace-pc,trace-cmp (GCC has it), an input that reaches new code joins
// the corpus, and numbers that the code compares with are tried as bytes. The same rounds give the same inputs.
//
//   TARGET ROUNDS FILE|FOLDER...                     for a test
//   TARGET --seconds S [--seed N] [--keep FOLDER] FILE|FOLDER...  for hours; FOLDER gets the inputs that reach new code
//   TARGET --least FILE|FOLDER...  prints, from small to large, the files that reach what those before did not
//
// With --keep, FOLDER/current holds the input that is being tried, also after a crash: its size and the inputs tried
// before it, 8 bytes each, then the input.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "volvox/base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#define NOT_COVERED __attribute__((no_sanitize_coverage, no_sanitize("address", "undefined")))

namespace {

namespace fs = std::filesystem;
constexpr std::size_t largest = 1 << 20;  // bytes of an input
// s for one input, of the processor and on the wall: more counts as no end. On a machine with much else to do the wall
// says little.
constexpr unsigned longest = 60, longest_on_the_wall = 1800;

std::uint8_t reached[1 << 16];         // how often each edge was taken by the present input
std::uint8_t reached_before[1 << 16];  // classes of counts of all inputs so far, one bit each
std::uintptr_t last_place = 0;
std::uint64_t compared[256];  // the last numbers that the code has compared with
std::size_t comparisons = 0;

}  // namespace

// The compiler calls these from the readers.
extern "C" {
NOT_COVERED void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uint8_t& count = reached[(place ^ (place >> 16) ^ last_place) % sizeof reached];
  if (count < 255) ++count;
  last_place = place >> 1;
}
NOT_COVERED void note(std::uint64_t a) { compared[comparisons++ % std::size(compared)] = a; }
NOT_COVERED void __sanitizer_cov_trace_cmp1(std::uint8_t, std::uint8_t) {}
NOT_COVERED void __sanitizer_cov_trace_cmp2(std::uint16_t a, std::uint16_t) { note(a); }
NOT_COVERED void __sanitizer_cov_trace_cmp4(std::uint32_t a, std::uint32_t b) { note(a), note(b); }
NOT_COVERED void __sanitizer_cov_trace_cmp8(std::uint64_t a, std::uint64_t b) { note(a), note(b); }
NOT_COVERED void __sanitizer_cov_trace_const_cmp1(std::uint8_t a, std::uint8_t) { note(a); }
NOT_COVERED void __sanitizer_cov_trace_const_cmp2(std::uint16_t a, std::uint16_t) { note(a); }
NOT_COVERED void __sanitizer_cov_trace_const_cmp4(std::uint32_t a, std::uint32_t) { note(a); }
NOT_COVERED void __sanitizer_cov_trace_const_cmp8(std::uint64_t a, std::uint64_t) { note(a); }
NOT_COVERED void __sanitizer_cov_trace_cmpf(float, float) {}
NOT_COVERED void __sanitizer_cov_trace_cmpd(double, double) {}
NOT_COVERED void __sanitizer_cov_trace_switch(std::uint64_t, std::uint64_t* cases) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(cases[0], 16); ++i) note(cases[2 + i]);
}
}

namespace {

// A file in which the present input lies, for whoever finds it after a crash.
class Current {
 public:
  explicit Current(const std::string& folder) {
    if (folder.empty()) return;
    const int file = open((folder + "/current").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, head + largest) != 0) return;
    void* memory = mmap(nullptr, head + largest, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<char*>(memory);
    close(file);
  }
  void set(const std::string& bytes) {
    if (memory_ == nullptr) return;
    const std::uint64_t numbers[] = {bytes.size(), tried_++};
    static_assert(sizeof numbers == head);
    std::memcpy(memory_, numbers, head);
    std::memcpy(memory_ + head, bytes.data(), bytes.size());
  }

 private:
  static constexpr std::size_t head = 16;
  char* memory_ = nullptr;
  std::uint64_t tried_ = 0;
};

void limit_time(unsigned processor, unsigned wall) {
  itimerval time{};
  time.it_value.tv_sec = processor;
  setitimer(ITIMER_PROF, &time, nullptr);
  alarm(wall);
}

// Runs the target; true: this input has reached what no input had reached before.
bool run_target(const std::string& bytes, Current& current) {
  current.set(bytes);
  std::memset(reached, 0, sizeof reached);
  last_place = 0;
  limit_time(longest, longest_on_the_wall);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  limit_time(0, 0);
  bool is_new = false;
  for (std::size_t i = 0; i < sizeof reached; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, reached + i, 8);
    if (word == 0) continue;
    for (std::size_t k = i; k < i + 8; ++k) {
      const unsigned count = reached[k];
      if (count == 0) continue;
      const unsigned kind = count < 4     ? count - 1
                            : count < 8   ? 3
                            : count < 16  ? 4
                            : count < 32  ? 5
                            : count < 128 ? 6
                                          : 7;
      const auto bit = static_cast<std::uint8_t>(1u << kind);
      is_new = is_new || (reached_before[k] & bit) == 0;
      reached_before[k] |= bit;
    }
  }
  return is_new;
}

std::string mutated(std::string bytes, const std::vector<std::string>& corpus, volvox::RandomStream& random) {
  static const std::string numbers[] = {
      "0",     "-1",        "99999999999999999999", "1e308", "nan", "inf", "4294967295", " ", "\n", "1e-320",
      "65536", "2147483648"};
  if (bytes.empty()) bytes = "0";
  for (std::uint64_t change = random.below(random.below(4) == 0 ? 32 : 5) + 1; change > 0 && !bytes.empty(); --change) {
    const std::uint64_t at = random.below(bytes.size());
    switch (random.below(9)) {
      case 0:
        bytes.resize(random.below(4) == 0 ? at : bytes.size() - random.below(std::min<std::size_t>(bytes.size(), 8)));
        break;
      case 1: bytes[at] = static_cast<char>(random.below(256)); break;
      case 2: bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(40))); break;
      case 3: bytes.erase(at, random.below(20)); break;
      case 4: bytes.replace(at, random.below(4), numbers[random.below(std::size(numbers))]); break;
      case 5: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))); break;
      case 6: {  // the end of another
        const std::string& other = corpus[random.below(corpus.size())];
        if (!other.empty()) bytes = bytes.substr(0, at) + other.substr(random.below(other.size()));
        break;
      }
      case 7: bytes.insert(at, bytes.substr(at, random.below(200))); break;  // twice
      default: {
        const std::uint64_t number = compared[random.below(std::size(compared))] + random.below(3) - 1;
        std::string text(reinterpret_cast<const char*>(&number), std::size_t{1} << random.below(4));
        if (random.below(4) == 0) text = std::to_string(number);
        if (random.below(4) == 0) std::reverse(text.begin(), text.end());
        bytes.replace(at, random.below(2) * text.size(), text);
      }
    }
    if (bytes.size() > largest) bytes.resize(largest);
  }
  return bytes;
}

void read_corpus(const fs::path& path, std::vector<std::string>& corpus, std::vector<fs::path>* names = nullptr) {
  std::vector<fs::path> files{path};
  if (fs::is_directory(path)) {
    files.clear();
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.is_regular_file() && entry.path().filename() != "current") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  }
  for (const fs::path& name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s cannot be opened\n", name.c_str());
      std::exit(2);
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (names != nullptr) names->push_back(name);
  }
}

void no_end(int) {
  static const char said[] = "an input needs more than a minute\n";
  if (write(2, said, sizeof said - 1) > 0) abort();
  abort();
}

void print_least(const std::vector<std::string>& paths) {
  std::vector<std::string> corpus;
  std::vector<fs::path> names;
  for (const std::string& path : paths) read_corpus(path, corpus, &names);
  std::vector<std::size_t> order(corpus.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return corpus[a].size() < corpus[b].size(); });
  Current nowhere("");
  for (const std::size_t i : order)
    if (run_target(corpus[i], nowhere)) std::puts(names[i].c_str());
}

double processor_seconds() {
  rusage own{}, children{};
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(own.ru_utime) + seconds(own.ru_stime) + seconds(children.ru_utime) + seconds(children.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  long rounds = 0;
  bool least = false;
  std::uint64_t seed = 1;
  std::string keep;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" && i + 1 < argc) seconds = std::atof(argv[++i]);
    else if (word == "--seed" && i + 1 < argc) seed = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--keep" && i + 1 < argc) keep = argv[++i];
    else if (word == "--least") least = true;
    else if (i == 1) rounds = std::atol(argv[i]);
    else paths.push_back(word);
  }
  if (least) return print_least(paths), 0;
  std::vector<std::string> corpus;
  for (const std::string& path : paths) read_corpus(path, corpus);
  if (corpus.empty() || (rounds <= 0 && seconds <= 0)) {
    std::fputs(
        "usage: TARGET ROUNDS FILE|FOLDER...\n"
        "       TARGET --seconds S [--seed N] [--keep FOLDER] FILE|FOLDER...\n"
        "       TARGET --least FILE|FOLDER...\n",
        stderr);
    return 2;
  }
  for (const int over : {SIGPROF, SIGALRM}) signal(over, no_end);
  if (!keep.empty()) fs::create_directories(keep), read_corpus(keep, corpus);
  Current current(keep);
  for (const std::string& bytes : corpus) run_target(bytes, current);
  volvox::RandomStream random(seed, 0, "fuzz");
  const std::size_t given = corpus.size();
  long done = 0;
  for (double begin = processor_seconds(); rounds > 0 ? done < rounds : processor_seconds() - begin < seconds; ++done) {
    // New ones lead further more often.
    const std::size_t first = random.below(3) == 0 && corpus.size() > 20 ? corpus.size() - 20 : 0;
    std::string bytes = mutated(corpus[first + random.below(corpus.size() - first)], corpus, random);
    if (!run_target(bytes, current)) continue;
    if (!keep.empty()) {
      char name[60];
      std::snprintf(name, sizeof name, "/%llu_%06zu", static_cast<unsigned long long>(seed), corpus.size());
      std::ofstream(keep + name, std::ios::binary) << bytes;
    }
    corpus.push_back(std::move(bytes));
  }
  long edges =
      std::count_if(std::begin(reached_before), std::end(reached_before), [](std::uint8_t b) { return b != 0; });
  std::printf("no crash in %ld rounds; %zu inputs were given, %zu found, %ld edges reached\n", done, given,
              corpus.size() - given, edges);
  return 0;
}
