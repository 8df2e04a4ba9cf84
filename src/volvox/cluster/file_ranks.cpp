// Ranks that see the same folder. A letter is a file, written beside and renamed, which the receiver removes; each rank
// counts in a file of its own as long as it lives. No clocks of different machines are compared, and no locks are used:
// file systems of clusters differ in both.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/file_sync.h"
#include "volvox/base/text.h"
#include "volvox/cluster/ranks.h"

namespace volvox::cluster {
namespace fs = std::filesystem;
namespace {

constexpr double beat = 1;  // s between two signs of life

class FileRanks final : public Ranks {
 public:
  FileRanks(const Place& place, fs::path folder, double patience)
      : place_(place),
        folder_(std::move(folder)),
        patience_(patience),
        begun_(fmt::format("{}.{:.6f}", platform::process_number(), platform::monotonic_seconds())) {}

  Result<void> begin() {
    std::error_code error;
    fs::create_directories(box(place_.rank), error);
    if (error)
      return Diagnostic{box(place_.rank).string(), 0, "the folder of the ranks cannot be made: " + error.message(),
                        "give another --out DIR"};
    // What an earlier rank 0 of this job has left: those who are there say hello again.
    for (int rank = 0; place_.rank == 0 && rank < place_.size; ++rank)
      for (fs::directory_iterator it(box(rank), error), end; !error && it != end; it.increment(error)) {
        std::error_code gone;
        fs::remove(it->path(), gone);
      }
    show_life();
    return {};
  }
  int rank() const override { return place_.rank; }
  int size() const override { return place_.size; }

  Result<void> send(int to, const std::string& text) override {
    std::error_code error;
    fs::create_directories(box(to), error);
    // Sorted by name is in the order of sending as long as the sender lives. One that is started again on another node
    // may have a clock that is behind: nothing relies on the order of letters of two lives.
    const std::string name = fmt::format("{:06}.{:020.6f}.{:09}", place_.rank, platform::monotonic_seconds(), ++sent_);
    const fs::path final_name = box(to) / name, beside = folder_ / (name + ".unfinished");
    std::ofstream file(beside, std::ios::binary);
    file << text;
    file.close();  // file systems of clusters say only here that there is no room
    if (!file) {
      fs::remove(beside, error);
      return Diagnostic{beside.string(), 0, "a letter to another rank cannot be written", "make room on the disk"};
    }
    fs::rename(beside, final_name, error);
    if (error) return Diagnostic{final_name.string(), 0, "a letter cannot be sent: " + error.message(), ""};
    return {};
  }

  std::optional<Letter> receive() override {
    show_life();
    std::error_code error;
    if (waiting_.empty()) {
      for (fs::directory_iterator it(box(place_.rank), error), end; !error && it != end; it.increment(error))
        waiting_.push_back(it->path());
      std::ranges::sort(waiting_, std::greater<>());  // the last is taken first
    }
    while (!waiting_.empty()) {
      const fs::path file = waiting_.back();
      waiting_.pop_back();
      if (taken_.contains(file)) {
        take_away(file);
        continue;
      }
      // What cannot be read yet (file systems of clusters stall, and show a name before the content) stays for the next
      // look: a letter is never empty.
      auto text = read_file(file);
      if (!text.ok() || text->empty()) continue;
      take_away(file);
      const int from = std::atoi(file.filename().string().c_str());
      if (from >= 0 && from < place_.size) return Letter{from, std::move(*text)};
    }
    return std::nullopt;
  }

  bool is_lost(int rank) override {
    Seen& seen = seen_[rank];
    const double now = platform::monotonic_seconds();
    if (now - seen.looked < beat) return now - seen.changed > patience_;
    seen.looked = now;
    std::ifstream file(life(rank));
    std::string sign((std::istreambuf_iterator<char>(file)), {});
    if (sign != seen.sign || seen.changed == 0) seen.sign = std::move(sign), seen.changed = now;
    return now - seen.changed > patience_;
  }

  bool rank_0_may_come_back() const override { return true; }
  double longest_pause() const override { return 0.2; }

 private:
  struct Seen {
    std::string sign;
    double changed = 0, looked = -beat;  // s, by this rank's clock
  };
  fs::path box(int rank) const { return folder_ / fmt::format("to_{}", rank); }
  fs::path life(int rank) const { return folder_ / fmt::format("{}.alive", rank); }

  // A letter that was read, but cannot be removed, must not be read again.
  void take_away(const fs::path& file) {
    std::error_code error;
    fs::remove(file, error);
    if (error) taken_.insert(file);
    else taken_.erase(file);
  }

  void show_life() {
    const double now = platform::monotonic_seconds();
    if (now - shown_ < beat) return;
    shown_ = now;
    std::error_code error;
    const fs::path beside = folder_ / fmt::format("{}.alive.unfinished", place_.rank);
    std::ofstream(beside) << begun_ << " " << ++beats_ << "\n";
    fs::rename(beside, life(place_.rank), error);
  }

  Place place_;
  fs::path folder_;
  double patience_;
  std::string begun_;
  double shown_ = -beat;
  std::int64_t beats_ = 0, sent_ = 0;
  std::vector<fs::path> waiting_;  // letters, the oldest last
  std::set<fs::path> taken_;       // that were read and are still there
  std::map<int, Seen> seen_;
};

}  // namespace

Result<std::unique_ptr<Ranks>> join_by_files(const Place& place, const fs::path& folder, double patience) {
  auto ranks = std::make_unique<FileRanks>(place, folder / place.job, patience);
  if (auto begun = ranks->begin(); !begun.ok()) return begun.error();
  return std::unique_ptr<Ranks>(std::move(ranks));
}

}  // namespace volvox::cluster
