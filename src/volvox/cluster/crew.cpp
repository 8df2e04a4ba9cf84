// The letters between rank 0 and the others, the first word of each:
//   hello IDENTITY BEGUN PLACES RECEIVED    I am idle; I have got so many orders since I began
//   order NONCE NUMBER\n...                 of the crew with this nonce
//   done NONCE NUMBER\n..., failed NONCE NUMBER\n...
//   leave                                   I go, my orders are not done
//   over, refused
#include "volvox/cluster/crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <sstream>
#include <thread>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/file_sync.h"

namespace volvox::cluster {
namespace {

constexpr double shortest_pause = 0.005;  // s between two looks for letters
constexpr double say_hello = 2;           // s between two greetings of an idle rank

// Short after a letter, because others follow; longer and longer as long as none comes.
double longer(double pause, const Ranks& ranks) {
  return std::max(shortest_pause, std::min(1.5 * pause, ranks.longest_pause()));
}

std::string own_nonce() { return fmt::format("{}-{:.6f}", platform::process_number(), platform::monotonic_seconds()); }

// The first line in words, and what follows it.
struct Parsed {
  std::vector<std::string> words;
  std::string rest;
};
Parsed parsed(const std::string& text) {
  Parsed result;
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::istringstream line(text.substr(0, end));
  for (std::string word; line >> word;) result.words.push_back(word);
  if (end < text.size()) result.rest = text.substr(end + 1);
  return result;
}

std::uint64_t number_of(const std::string& word) { return std::strtoull(word.c_str(), nullptr, 10); }

}  // namespace

Crew::Crew(Work work, int jobs, Ranks* ranks, const std::string& identity)
    : work_(std::move(work)),
      jobs_(jobs),
      ranks_(ranks),
      identity_(identity),
      nonce_(own_nonce()),
      pause_(shortest_pause) {
  const auto count = static_cast<std::size_t>(ranks == nullptr ? 1 : ranks->size());
  helpers_.resize(count), done_.resize(count);
  helpers_[0].places = jobs;
}

void say_over(Ranks& ranks) {
  for (int rank = 1; rank < ranks.size(); ++rank) (void)ranks.send(rank, "over");
}

bool Crew::has_room() const {
  return std::ranges::any_of(helpers_, [](const Helper& one) { return one.busy < one.places; });
}

std::size_t Crew::places() const {
  int sum = 0;
  // Ranks that have not said hello yet will soon.
  for (const Helper& one : helpers_) sum += one.lost ? 0 : std::max(one.places, 1);
  return static_cast<std::size_t>(sum);
}

Result<void> Crew::start(std::size_t piece, const std::string& order) {
  const std::uint64_t number = ++orders_;
  for (int rank = narrow<int>(helpers_.size()) - 1; rank >= 0; --rank) {
    Helper& helper = helpers_[rank];
    if (helper.busy >= helper.places) continue;
    if (rank > 0) {
      if (!ranks_->send(rank, fmt::format("order {} {}\n{}", nonce_, number, order)).ok()) continue;
      ++helper.sent, helper.ordered = platform::monotonic_seconds(), helper.short_hellos = 0;
      running_[number] = {piece, rank, nullptr};
    } else {
      auto child = platform::ChildProcess::start([&] { return work_(order); });
      if (!child.ok()) return child.error();
      running_[number] = {piece, 0, std::move(*child)};
    }
    ++helper.busy;
    return {};
  }
  return Error("nobody has room for a piece of work", "");
}

void Crew::take_own(std::vector<Finished>& finished) {
  std::erase_if(running_, [&](auto& entry) {
    const Running& one = entry.second;
    if (!one.child || !one.child->poll()) return false;
    const platform::ChildOutcome& outcome = one.child->outcome();
    finished.push_back({one.piece, 0, outcome.failure.empty() ? outcome.text : "", outcome.failure, false});
    --helpers_[0].busy, ++done_[0];
    return true;
  });
}

void Crew::lose(int rank, std::vector<Finished>& finished) {
  helpers_[rank].busy = 0;
  std::erase_if(running_, [&](auto& entry) {
    if (entry.second.rank != rank || entry.second.child) return false;
    finished.push_back({entry.second.piece, rank, "", "its rank went away", true});
    return true;
  });
}

void Crew::greet(int rank, const std::string& words, std::vector<Finished>& finished) {
  const Parsed letter = parsed(words);
  Helper& helper = helpers_[rank];
  if (letter.words.size() != 5 || letter.words[1] != identity_) {
    if (!helper.known)
      news_.push_back(
          fmt::format("rank {} was started with other arguments, other files or another build: it does nothing", rank));
    helper.known = true;
    (void)ranks_->send(rank, "refused");
    return;
  }
  const bool new_life = helper.begun != letter.words[2];
  const auto received = static_cast<std::int64_t>(number_of(letter.words[4]));
  if (!new_life && received < helper.sent) {
    // Orders are on their way to it, or were when it wrote this. If it goes on saying so, they have been lost.
    if (platform::monotonic_seconds() - helper.ordered < 2 * say_hello || ++helper.short_hellos < 2) return;
    news_.push_back(fmt::format("rank {} did not get what was sent to it: it is sent again", rank));
  }
  if (helper.known && new_life) news_.push_back(fmt::format("rank {} is back", rank));
  // It is idle: what it was given before is lost.
  lose(rank, finished);
  helper.sent = received, helper.short_hellos = 0;
  helper.begun = letter.words[2],
  helper.places = static_cast<int>(std::min<std::uint64_t>(1024, number_of(letter.words[3])));
  helper.known = true, helper.lost = false;
}

void Crew::read_letters(std::vector<Finished>& finished) {
  if (ranks_ == nullptr) return;
  pause_ = longer(pause_, *ranks_);
  while (auto letter = ranks_->receive()) {
    pause_ = shortest_pause;
    const auto from = static_cast<std::size_t>(letter->from);
    if (letter->from <= 0 || from >= helpers_.size()) continue;
    if (letter->text.starts_with("hello ")) {
      greet(letter->from, letter->text, finished);
      continue;
    }
    Parsed answer = parsed(letter->text);
    if (answer.words.empty()) continue;
    if (answer.words[0] == "leave") {
      lose(letter->from, finished);
      helpers_[from].places = 0;
      continue;
    }
    if (answer.words.size() != 3 || answer.words[1] != nonce_) continue;
    const auto found = running_.find(number_of(answer.words[2]));
    if (found == running_.end() || found->second.rank != letter->from) continue;
    const bool failed = answer.words[0] == "failed";
    finished.push_back({found->second.piece, letter->from, failed ? "" : std::move(answer.rest),
                        failed ? std::move(answer.rest) : "", false});
    running_.erase(found);
    --helpers_[from].busy, ++done_[from];
  }
  for (int rank = 1; rank < ranks_->size(); ++rank) {
    Helper& helper = helpers_[rank];
    if (!helper.known || helper.lost || helper.places == 0 || !ranks_->is_lost(rank)) continue;
    news_.push_back(fmt::format("rank {} has not been heard of for long: others do its work", rank));
    lose(rank, finished);
    helper.lost = true, helper.places = 0, helper.begun.clear();
  }
}

std::vector<Finished> Crew::wait(double seconds) {
  std::vector<Finished> finished;
  const double end = platform::monotonic_seconds() + seconds;
  for (;;) {
    take_own(finished);
    read_letters(finished);
    if (!finished.empty() || platform::monotonic_seconds() >= end) return finished;
    // Somebody who came while it waited may be given something.
    if (ranks_ != nullptr && has_room()) seconds = std::min(seconds, 0.0);
    std::vector<const platform::ChildProcess*> children;
    for (const auto& [number, one] : running_)
      if (one.child) children.push_back(one.child.get());
    const double left = std::max(0.0, end - platform::monotonic_seconds());
    platform::ChildProcess::wait_for_any(children, ranks_ == nullptr ? left : std::min(left, pause_));
    if (seconds <= 0) {
      take_own(finished);
      read_letters(finished);
      return finished;
    }
  }
}

void Crew::abandon() {
  running_.clear();
  for (Helper& helper : helpers_) helper.busy = 0;
}

std::vector<std::string> Crew::news() { return std::exchange(news_, {}); }

Result<bool> serve(Ranks& ranks, const Work& work, int jobs, const std::string& identity,
                   const std::atomic<bool>& stop) {
  struct Order {
    std::string nonce, number, text;
    std::unique_ptr<platform::ChildProcess> child{};
  };
  const std::string begun = own_nonce();
  std::vector<Order> running;
  std::deque<Order> waiting;
  std::int64_t received = 0;
  double greeted = -say_hello, pause = shortest_pause;
  for (;;) {
    if (stop.load()) return (void)ranks.send(0, "leave"), false;
    pause = longer(pause, ranks);
    while (auto letter = ranks.receive()) {
      pause = shortest_pause;
      if (letter->from != 0) continue;
      if (letter->text == "over") return true;
      if (letter->text == "refused")
        return Error("rank 0 was started with other arguments, other files or another build",
                     "start all ranks by the same command");
      Parsed order = parsed(letter->text);
      if (order.words.size() != 3 || order.words[0] != "order") continue;
      waiting.push_back({order.words[1], order.words[2], std::move(order.rest)});
      ++received;
    }
    while (std::ssize(running) < jobs && !waiting.empty()) {
      Order next = std::move(waiting.front());
      waiting.pop_front();
      auto child = platform::ChildProcess::start([&] { return work(next.text); });
      if (!child.ok()) return child.error();
      next.child = std::move(*child);
      running.push_back(std::move(next));
    }
    std::vector<const platform::ChildProcess*> children;
    for (const Order& one : running) children.push_back(one.child.get());
    platform::ChildProcess::wait_for_any(children, pause);
    std::erase_if(running, [&](Order& one) {
      if (!one.child->poll()) return false;
      const platform::ChildOutcome& outcome = one.child->outcome();
      const bool failed = !outcome.failure.empty();
      pause = shortest_pause;  // an answer may come soon
      (void)ranks.send(0, fmt::format("{} {} {}\n{}", failed ? "failed" : "done", one.nonce, one.number,
                                      failed ? outcome.failure : outcome.text));
      return true;
    });
    if (const double now = platform::monotonic_seconds(); running.empty() && now - greeted > say_hello) {
      greeted = now;
      if (auto sent = ranks.send(0, fmt::format("hello {} {} {} {}", identity, begun, jobs, received)); !sent.ok())
        return sent.error();
    }
  }
}

}  // namespace volvox::cluster
