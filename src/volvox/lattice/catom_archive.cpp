#include <fmt/format.h>

#include "volvox/lattice/catom_world.h"

namespace volvox::lattice {
namespace {

// The catoms of a set in ascending order, then nobody; `visit` archives what belongs to each.
template <class Visit>
void archive_catoms(Archive& ar, const Ensemble& ensemble, const Region& region, const ActiveSet& set,
                    const Visit& visit) {
  std::uint32_t end = nobody;
  if (!ar.loading()) {
    region.archive_parts(ar, [&](Archive& part) {
      set.each([&](std::uint32_t catom) {
        part("catom", catom);
        visit(part, catom);
      });
    });
    ar("catom", end);
    return;
  }
  while (ar.ok()) {
    std::uint32_t catom = nobody;
    ar("catom", catom);
    if (!ar.ok() || catom == nobody) return;
    if (ensemble.there(catom)) visit(ar, catom);
    else ar.fail("the snapshot names a catom that is not there");
  }
}

}  // namespace

void CatomWorld::archive(Archive& ar) {
  if (ar.loading() || region_.leads()) ensemble_.archive(ar);  // all ranks know it
  if (ar.loading()) {
    post_.clear();
    waiting_.clear();
    cut_region();
    post_.resize(ensemble_.count(), region_);
    waiting_.resize(ensemble_.count());
    for (ActiveSet& woken : woken_) {
      woken.clear();
      woken.resize(ensemble_.count());
    }
    failed_ = false;
    surely_busy_ = false;
    failure_ = {};
    wishes_.clear();
    peers_.clear(), blocked_.clear();  // place_loose() says them again
    has_peers_ = {};
  }
  ar.section("lattice", "world");
  if (!ar.hashing()) archive_options(ar);
  ar("seed", options_.seed);
  ar("tick", tick_);
  // Numbers of ticks are added to it.
  if (ar.loading() && (tick_ < 0 || tick_ > std::int64_t{1} << 62)) {
    ar.fail("the snapshot has a damaged tick");
    tick_ = 0;
  }
  ar("started", started_);
  ar("traffic", traffic_);
  ar("motion", motion_);
  archive_motion(ar);
  std::uint64_t code_modules = modules_.size();
  ar("code_modules", code_modules);
  if (code_modules != modules_.size()) ar.fail("the snapshot has other code modules");
  for (const auto& modules : modules_) {
    std::uint64_t key = modules->type().key;
    ar("type", key);
    if (key != modules->type().key)
      ar.fail(fmt::format("the snapshot was made with another code module than {}", modules->type().name));
    if (ar.loading()) modules->resize(ar.ok() ? ensemble_.count() : 0);
    modules->archive(ar);
  }
  if (ar.loading()) begin_keys();
  ar.section("lattice", "messages");
  archive_messages(ar);
  ar.section("lattice", "waiting");
  archive_waiting(ar);
  if (somebody_wakes_) archive_woken(ar);
  if (ar.loading() && !ar.ok())
    for (const auto& modules : modules_) modules->resize(ensemble_.count());
}

// Of the world that was saved; they are no state, but another world would go on in another way.
void CatomWorld::archive_options(Archive& ar) {
  const auto same = [&](const char* name, auto own) {
    auto saved = own;
    ar(name, saved);
    if (ar.ok() && saved != own) ar.fail(fmt::format("the snapshot has another {}: {}, not {}", name, saved, own));
  };
  same("capacity", options_.capacity);
  same("most_waiting", options_.most_waiting);
  same("radio_range", options_.radio_range);
  same("pitch", ensemble_.lattice().pitch());
  same("motion", std::string(name(motions_.model())));
  same("motion_ticks", options_.motion.ticks);
  same("keep_connected", options_.motion.keep_connected);
}

std::uint64_t CatomWorld::hash() {
  HashArchive ar;
  archive(ar);
  return ar.value();
}

void CatomWorld::archive_woken(Archive& ar) {
  ar.section("lattice", "woken");
  archive_catoms(ar, ensemble_, region_, woken_[0], [&](Archive&, std::uint32_t catom) {
    if (ar.loading()) wake(catom);
  });
}

// Receivers in ascending order, then nobody; for each its messages in the order in which they will be read.
void CatomWorld::archive_messages(Archive& ar) {
  if (ar.loading()) {
    load_messages(ar);
    return;
  }
  std::vector<Arrived> arrived;
  region_.archive_parts(ar, [&](Archive& part) {
    post_.receivers().each([&](std::uint32_t to) {
      list_arriving(to, arrived);
      if (arrived.empty()) return;
      part("to", to);
      std::uint32_t count = narrow<std::uint32_t>(arrived.size());
      part("count", count);
      for (const Arrived& a : arrived) {
        Envelope e = post_.envelope(a.message);
        part("sender", e.sender), part("size", e.size), part("port", e.port), part("mailbox", e.mailbox);
        part.raw(const_cast<std::byte*>(post_.content(a.message)), e.size);
      }
    });
  });
  std::uint32_t end = nobody;
  ar("to", end);
}

void CatomWorld::load_messages(Archive& ar) {
  Post::Writer& writer = post_.writer(0);
  std::vector<std::byte> content(largest_message);
  for (;;) {
    std::uint32_t to = nobody, count = 0;
    ar("to", to);
    if (!ar.ok() || to == nobody) break;
    ar("count", count);
    for (std::uint32_t i = 0; i < count && ar.ok(); ++i) {
      Envelope e;
      ar("sender", e.sender), ar("size", e.size), ar("port", e.port), ar("mailbox", e.mailbox);
      const bool sound = ensemble_.there(to) && e.sender < ensemble_.count() && e.size <= largest_message &&
                         (e.port < ensemble_.lattice().ports() || e.port == far_port);
      if (!sound) ar.fail("the snapshot has a damaged message");
      if (!ar.ok()) break;
      ar.raw(content.data(), e.size);
      if (ar.ok() && region_.has(to)) post_.send(writer, to, e, content.data());
    }
  }
  post_.turn();
}

void CatomWorld::archive_waiting(Archive& ar) {
  archive_catoms(ar, ensemble_, region_, waiting_.who(), [&](Archive& part, std::uint32_t catom) {
    PortQueues elsewhere;  // another rank has them
    PortQueues& queues = region_.has(catom) ? waiting_.get(catom) : elsewhere;
    for (int port = 0; port < ensemble_.lattice().ports(); ++port) queues[port].archive(part);
    if (ar.loading() && region_.has(catom)) post_.wake_now(catom);
  });
}

}  // namespace volvox::lattice
