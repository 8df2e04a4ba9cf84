// What ranks tell each other at the same point of their work, such as the end of a tick of a world that they share.
// Every rank calls the same functions in the same order; a rank that is elsewhere, says that it cannot go on, or has
// died is an error, which stays: from then on nothing is sent, and letters are empty.
// For one thread. The order of the letters is that of the ranks, so that no chance gets into a result.
#pragma once

#include <atomic>
#include <deque>
#include <optional>

#include "volvox/cluster/ranks.h"

namespace volvox::cluster {

class Exchange {
 public:
  // `asked_to_stop` may become true at any time, by a signal. Both must outlive this. `patience`: so many s are ranks
  // waited for once it is true: mpirun asks all to stop when one has died.
  explicit Exchange(Ranks& ranks, const std::atomic<bool>* asked_to_stop = nullptr, double patience = 0.25);

  int rank() const { return ranks_.rank(); }
  int size() const { return ranks_.size(); }

  // Gives letters[r] to rank r. What each rank had for this one, by rank; its own comes back. `point` says where the
  // caller is: all must be at the same.
  std::vector<std::string> swap(std::string_view point, std::vector<std::string> letters);
  // The same letter for everybody.
  std::vector<std::string> tell_all(std::string_view point, const std::string& letter);
  std::uint64_t sum(std::string_view point, std::uint64_t own);  // wraps around

  // This rank cannot go on: whoever waits for it gets this as an error.
  void fail(const std::string& why);
  const std::optional<Error>& failure() const { return failure_; }
  bool somebody_died() const { return died_; }  // as far as this one knows
  // Whether a rank was asked to stop. All ranks learn of it in the same exchange.
  const std::atomic<bool>& stops() const { return stops_; }
  std::uint64_t bytes_sent() const { return bytes_; }  // to other ranks, so far

 private:
  void read(Letter letter);
  std::optional<std::string> next_of(int rank, std::string_view point);
  void give_up(std::string what);
  void miss(std::vector<int> silent);

  Ranks& ranks_;
  const std::atomic<bool>* asked_;
  double patience_;
  std::vector<std::deque<std::string>> inbox_;  // by rank
  std::uint64_t round_ = 0, bytes_ = 0;
  std::atomic<bool> stops_ = false;
  std::optional<Error> failure_;
  bool died_ = false;
  std::vector<bool> gave_up_;  // by rank: it misses another one, and so is alive
};

}  // namespace volvox::cluster
