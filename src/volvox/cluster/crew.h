// Does pieces of work in processes: children of this one, and those of the other ranks of a job. An order is a text,
// and so is what comes of it; whoever is given an order makes the same of it. For one thread.
//
// A piece whose process or rank has died comes back as lost or failed; the caller decides whether it is given out
// again. What a rank answers that had been thought dead is dropped: nothing comes twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/platform/child_process.h"
#include "volvox/cluster/ranks.h"

namespace volvox::cluster {

using Work = std::function<std::string(const std::string& order)>;

struct Finished {
  std::size_t piece = 0;
  int rank = 0;
  std::string text, failure;  // one of them
  bool lost = false;          // with its rank: nobody knows what would have come of it
};

// Rank 0, or a process alone. Its children end with it; the other ranks wait for another crew, or for say_over().
class Crew {
 public:
  // `identity`: what this is about; ranks that were started for something else are refused. `ranks` may be null.
  Crew(Work work, int jobs, Ranks* ranks, const std::string& identity);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool has_room() const;  // somebody is idle
  std::size_t running() const { return running_.size(); }
  std::size_t places() const;  // that can work at the same time, as far as is known
  // The error: no process can be started, and nobody else has room.
  Result<void> start(std::size_t piece, const std::string& order);
  // What has ended since; waits up to that many seconds for the first.
  std::vector<Finished> wait(double seconds);
  void abandon();  // all that is running

  const std::vector<std::int64_t>& done_by_rank() const { return done_; }
  // What people should know: a rank that was refused, lost, or came back. Each is said once.
  std::vector<std::string> news();

 private:
  struct Running {
    std::size_t piece = 0;
    int rank = 0;
    std::unique_ptr<platform::ChildProcess> child;  // null: elsewhere
  };
  struct Helper {
    int places = 0, busy = 0;
    std::string begun;      // which of its lives
    std::int64_t sent = 0;  // orders, in this life
    double ordered = 0;     // when the last of them was sent, s
    int short_hellos = 0;   // in a row, that know of fewer orders
    bool known = false, lost = false;
  };
  void read_letters(std::vector<Finished>& finished);
  void greet(int rank, const std::string& words, std::vector<Finished>& finished);
  void lose(int rank, std::vector<Finished>& finished);
  void take_own(std::vector<Finished>& finished);

  Work work_;
  int jobs_;
  Ranks* ranks_;
  std::string identity_, nonce_;
  std::map<std::uint64_t, Running> running_;  // by number of the order
  std::uint64_t orders_ = 0;
  std::vector<Helper> helpers_;  // by rank; [0] is this process
  std::vector<std::int64_t> done_;
  std::vector<std::string> news_;
  double pause_;  // s until the next look for letters
};

// Rank 0 tells the others that nothing more will come. Once for a job: a second one would wait for whoever is started
// later under the same name.
void say_over(Ranks& ranks);

// The other ranks: works until rank 0 says that it is over (true), or `stop` becomes true (false). Waits for a rank 0
// that is not there yet, or is started again.
Result<bool> serve(Ranks& ranks, const Work& work, int jobs, const std::string& identity,
                   const std::atomic<bool>& stop);

}  // namespace volvox::cluster
