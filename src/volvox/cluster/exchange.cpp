#include "volvox/cluster/exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "volvox/base/check.h"
#include "volvox/base/platform/clock.h"

namespace volvox::cluster {
namespace {

// A letter: what it is, whether its sender was asked to stop, the number of the exchange, the point, and the content.
constexpr char content_mark = 'x', failure_mark = 'f', missing_mark = 'm';
constexpr std::size_t head = 2 + sizeof(std::uint64_t) + 1;
constexpr int looks_at_once = 5;                 // for a letter, before it sleeps: others may need the core
constexpr double between_looks_for_dead = 0.02;  // s

std::string letter_of(char mark, bool asked, std::uint64_t round, std::string_view point, std::string_view content) {
  std::string letter;
  letter.reserve(head + point.size() + content.size());
  letter.push_back(mark);
  letter.push_back(asked ? '1' : '0');
  letter.append(reinterpret_cast<const char*>(&round), sizeof round);
  letter.push_back(static_cast<char>(point.size()));
  letter.append(point);
  letter.append(content);
  return letter;
}

}  // namespace

Exchange::Exchange(Ranks& ranks, const std::atomic<bool>* asked_to_stop, double patience)
    : ranks_(ranks),
      asked_(asked_to_stop),
      patience_(patience),
      inbox_(static_cast<std::size_t>(ranks.size())),
      gave_up_(inbox_.size()) {}

void Exchange::give_up(std::string what) {
  if (failure_) return;
  failure_ = Error(std::move(what),
                   "see what that rank and mpirun say; go on from the last snapshot with --restore FILE, which --save "
                   "FILE --save-every S writes (at any number of ranks)");
}

void Exchange::fail(const std::string& why) {
  if (failure_) return;
  for (int r = 0; r < size(); ++r)
    if (r != rank()) (void)ranks_.send(r, letter_of(failure_mark, false, round_, "", why));
  failure_ = Error(why, "");
}

void Exchange::read(Letter letter) {
  if (letter.from < 0 || letter.from >= size() || letter.text.size() < head) return;
  if (letter.text[0] == missing_mark) {
    gave_up_[static_cast<std::size_t>(letter.from)] = true;
    return;
  }
  if (letter.text[0] == failure_mark)
    return give_up(fmt::format("rank {} cannot go on: {}", letter.from, letter.text.substr(head)));
  inbox_[static_cast<std::size_t>(letter.from)].push_back(std::move(letter.text));
}

// A rank that is alive may wait for one that is not: it says so, and is not taken for dead by the first rank, which
// waits longer.
void Exchange::miss(std::vector<int> silent) {
  for (int r = 0; r < size(); ++r)
    if (r != rank()) (void)ranks_.send(r, letter_of(missing_mark, false, round_, "", ""));
  std::erase_if(silent, [&](int r) { return gave_up_[static_cast<std::size_t>(r)]; });
  died_ = true;
  if (silent.empty()) return give_up("a rank does not answer any more: it has died, or was stopped");
  give_up(fmt::format("rank {} {} not answer any more: it has died, or was stopped", fmt::join(silent, ", "),
                      silent.size() == 1 ? "does" : "do"));
}

// The content of a rank's letter of this exchange; nothing: it has not come yet.
std::optional<std::string> Exchange::next_of(int from, std::string_view point) {
  auto& letters = inbox_[static_cast<std::size_t>(from)];
  if (letters.empty()) return std::nullopt;
  const std::string letter = std::move(letters.front());
  letters.pop_front();
  std::uint64_t round = 0;
  std::memcpy(&round, letter.data() + 2, sizeof round);
  const std::size_t length = static_cast<unsigned char>(letter[head - 1]);
  const std::string_view there = std::string_view(letter).substr(head, length);
  if (round != round_ || there != point) {
    give_up(fmt::format("rank {} is at '{}' ({}) while rank {} is at '{}' ({}): all ranks must run the same command",
                        from, there, round, rank(), point, round_));
    return std::nullopt;
  }
  if (letter[1] == '1') stops_ = true;
  return letter.substr(head + length);
}

std::vector<std::string> Exchange::swap(std::string_view point, std::vector<std::string> letters) {
  VOLVOX_CHECK(std::ssize(letters) == size() && point.size() < 128, "a letter for each rank");
  std::vector<std::string> got(letters.size());
  ++round_;
  const bool asked = asked_ != nullptr && asked_->load();
  for (int r = 0; r < size() && !failure_; ++r) {
    std::string& letter = letters[static_cast<std::size_t>(r)];
    if (r == rank()) {
      got[static_cast<std::size_t>(r)] = std::move(letter);
      continue;
    }
    bytes_ += letter.size();
    if (auto sent = ranks_.send(r, letter_of(content_mark, asked, round_, point, letter)); !sent.ok())
      give_up(sent.error().text());
  }
  if (asked) stops_ = true;
  double last_news = platform::monotonic_seconds(), last_look = last_news;
  int looks = 0;
  for (int r = 0; r < size() && !failure_;) {
    if (r == rank()) {
      ++r;
      continue;
    }
    if (auto content = next_of(r, point)) {
      got[static_cast<std::size_t>(r++)] = std::move(*content);
      continue;
    }
    if (failure_) break;
    if (auto letter = ranks_.receive()) {
      if (letter->text.empty() || letter->text[0] != missing_mark) last_news = platform::monotonic_seconds();
      read(std::move(*letter));
      looks = 0;
      continue;
    }
    if (++looks < looks_at_once) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(20));
    const double now = platform::monotonic_seconds();
    if (now - last_look < between_looks_for_dead) continue;
    last_look = now;
    const bool stopped = asked_ != nullptr && asked_->load();
    if (ranks_.is_lost(r)) miss({r});
    if (!stopped || now - last_news < patience_ * (rank() == 0 ? 1 : 0.5)) continue;
    std::vector<int> silent;
    for (int other = r; other < size(); ++other)
      if (other != rank() && inbox_[static_cast<std::size_t>(other)].empty()) silent.push_back(other);
    miss(std::move(silent));
  }
  if (failure_) got.assign(letters.size(), {});
  return got;
}

std::vector<std::string> Exchange::tell_all(std::string_view point, const std::string& letter) {
  return swap(point, std::vector<std::string>(static_cast<std::size_t>(size()), letter));
}

std::uint64_t Exchange::sum(std::string_view point, std::uint64_t own) {
  std::uint64_t total = 0;
  for (const std::string& letter : tell_all(point, std::string(reinterpret_cast<const char*>(&own), sizeof own))) {
    std::uint64_t one = 0;
    if (letter.size() == sizeof one) std::memcpy(&one, letter.data(), sizeof one);
    total += one;
  }
  return failure_ ? own : total;
}

}  // namespace volvox::cluster
