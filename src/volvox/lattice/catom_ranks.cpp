// The part of CatomWorld that concerns other processes that share it (region.h).
#include <algorithm>
#include <cstring>

#include "volvox/lattice/catom_world.h"

namespace volvox::lattice {
namespace {

// What a message to a catom of another rank begins with; its content follows.
struct Away {
  std::uint32_t to = 0;
  Envelope envelope;
};

void add_to(Traffic& traffic, const Traffic& more) {
  traffic.sent += more.sent, traffic.delivered += more.delivered;
  traffic.lost += more.lost, traffic.unread += more.unread;
}

}  // namespace

// When it is known how many catoms there are.
void CatomWorld::cut_region() {
  if (region_.is_cut()) return;
  region_.cut(ensemble_.count());
  for (const auto& modules : modules_) modules->belong_to(region_);
}

void CatomWorld::send_away(std::vector<std::string>& away, std::uint32_t to, const Envelope& envelope,
                           const std::byte* content) const {
  away.resize(static_cast<std::size_t>(region_.ranks()));
  std::string& letter = away[static_cast<std::size_t>(region_.owner(to))];
  const Away head{to, envelope};
  letter.append(reinterpret_cast<const char*>(&head), sizeof head);
  letter.append(reinterpret_cast<const char*>(content), envelope.size);
}

// Of one sender, messages come in the order in which it sent them: one thread processes a catom, and a letter is read
// from its beginning.
void CatomWorld::take_messages(std::string_view letter) {
  Post::Writer& writer = post_.writer(0);
  while (letter.size() >= sizeof(Away)) {
    Away head;
    std::memcpy(&head, letter.data(), sizeof head);
    letter.remove_prefix(sizeof head);
    if (head.envelope.size > letter.size() || !region_.has(head.to)) break;
    post_.send(writer, head.to, head.envelope, reinterpret_cast<const std::byte*>(letter.data()));
    letter.remove_prefix(head.envelope.size);
  }
}

bool CatomWorld::sends_something() const {
  return post_.sends_something() ||
         std::any_of(outbox_.begin(), outbox_.end(), [](const std::string& letter) { return !letter.empty(); });
}

std::string CatomWorld::news() const {
  SaveArchive ar;
  ar("traffic", new_traffic_);
  ar("busy", sends_something());
  ar("processed", std::uint64_t{processed_});
  ar("counts", counts_);
  ar("failed catom", failure_.catom), ar("code module", failure_.code_module), ar("what", failure_.what);
  ar("wishes", std::uint64_t{wishes_.size()});
  for (const Move& wish : wishes_) ar("catom", wish.catom), ar("motion", wish.motion);
  return std::string(reinterpret_cast<const char*>(ar.bytes().data()), ar.bytes().size());
}

bool CatomWorld::take_news(std::string_view letter, std::vector<std::uint64_t>& counts) {
  LoadArchive ar(std::as_bytes(std::span(letter)));
  Traffic traffic;
  bool busy = false;
  std::uint64_t processed = 0, wishes = 0;
  std::vector<std::uint64_t> counted;
  Failure failure;
  ar("traffic", traffic);
  ar("busy", busy);
  ar("processed", processed);
  ar("counts", counted);
  ar("failed catom", failure.catom), ar("code module", failure.code_module), ar("what", failure.what);
  ar("wishes", wishes);
  for (std::uint64_t i = 0; i < wishes && ar.ok(); ++i) {
    Move wish;
    ar("catom", wish.catom), ar("motion", wish.motion);
    wishes_.push_back(wish);
  }
  if (!ar.ok() || counted.size() != counts.size()) return false;
  add_to(traffic_, traffic);
  surely_busy_ = surely_busy_ || busy;
  processed_ += processed;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += counted[i];
  if (failure.catom < failure_.catom) failure_ = std::move(failure);
  return true;
}

Result<void> CatomWorld::meet() {
  counts_.clear();
  for (const auto& modules : modules_)
    for (const std::uint64_t count : modules->take_counts()) counts_.push_back(count);
  if (region_.alone()) {
    add_to(traffic_, new_traffic_);
  } else {
    const std::string news = this->news();
    std::vector<std::string> letters(outbox_.size());
    const std::uint64_t size = news.size();
    for (std::size_t rank = 0; rank < letters.size(); ++rank) {
      letters[rank].append(reinterpret_cast<const char*>(&size), sizeof size).append(news).append(outbox_[rank]);
      outbox_[rank].clear();
    }
    cluster::Exchange& ranks = *region_.exchange();
    letters = ranks.swap("tick", std::move(letters));
    if (ranks.failure()) return failed_ = true, *ranks.failure();
    wishes_.clear();
    surely_busy_ = false;
    processed_ = 0;
    std::vector<std::uint64_t> sums(counts_.size());
    for (const std::string& letter : letters) {
      std::uint64_t length = 0;
      if (letter.size() >= sizeof length) std::memcpy(&length, letter.data(), sizeof length);
      const std::string_view rest = std::string_view(letter).substr(std::min(letter.size(), sizeof length));
      if (length > rest.size() || !take_news(rest.substr(0, length), sums)) {
        failed_ = true;
        return Error("a rank runs another world than this one",
                     "start all ranks with the same command and the same files");
      }
      take_messages(rest.substr(length));
    }
    counts_ = std::move(sums);
  }
  new_traffic_ = {};
  std::span<const std::uint64_t> counts = counts_;
  for (const auto& modules : modules_) counts = counts.subspan(modules->add_counts(counts));
  if (failure_.catom == nobody) return {};
  failed_ = true;
  return error(failure_);
}

}  // namespace volvox::lattice
