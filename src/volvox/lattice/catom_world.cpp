#include "volvox/lattice/catom_world.h"

#include <fmt/format.h>

#include <algorithm>

namespace volvox::lattice {
namespace {

constexpr std::size_t catoms_a_chunk = 256;
constexpr std::size_t most_code_modules = 64;
constexpr std::uint32_t most_motion_ticks = 1'000'000;

// One that is not possible is refused when the world starts.
MotionModel model_of(const MotionOptions& options, Kind kind) {
  const MotionModel model = options.model.value_or(usual_motion(kind));
  return possible(model, kind) ? model : MotionModel::none;
}

}  // namespace

CatomWorld::CatomWorld(const Lattice& lattice, const WorldOptions& options, ThreadPool* threads)
    : options_(options),
      region_(options.ranks),
      threads_(threads),
      ensemble_(lattice, options.store),
      mailboxes_(256),
      motions_(lattice, model_of(options.motion, lattice.kind())),
      referee_(motions_) {
  outbox_.resize(static_cast<std::size_t>(region_.ranks()));
  begin_keys();
}
CatomWorld::~CatomWorld() = default;

Result<void> CatomWorld::added(std::size_t first) {
  const std::size_t count = ensemble_.count();
  cut_region();
  post_.resize(count, region_);
  waiting_.resize(count);
  for (ActiveSet& woken : woken_) woken.resize(count);
  if (!peers_.empty()) has_peers_.resize(count);
  for (const auto& modules : modules_) modules->resize(count);
  if (!started_) return {};
  if (somebody_wakes_)
    for (std::size_t i = first; i < count; ++i) wake_around(ensemble_.cell(narrow<std::uint32_t>(i)));
  active_.clear();
  for (std::size_t i = first; i < count; ++i)
    if (region_.has(narrow<std::uint32_t>(i))) active_.push_back(narrow<std::uint32_t>(i));
  each_catom(false, [&](Catom& catom) { start_code_modules(catom); });
  return meet();
}

Result<void> CatomWorld::add(std::span<const Cell> cells) {
  if (auto sound = has_not_failed(); !sound.ok()) return sound;
  const std::size_t first = ensemble_.count();
  if (cells.size() == 1) {
    if (const auto one = ensemble_.add(cells[0]); !one.ok()) return one.error();
  } else if (const auto all = ensemble_.add(cells); !all.ok()) {
    return all;
  }
  return added(first);
}

Result<void> CatomWorld::add_box(const Cell& low, const Cell& high) {
  if (auto sound = has_not_failed(); !sound.ok()) return sound;
  const std::size_t first = ensemble_.count();
  if (auto all = ensemble_.add_box(low, high); !all.ok()) return all;
  return added(first);
}

// Of the catom, and of those that it holds in its cell.
void CatomWorld::stop_motions(CatomId catom, const Cell& cell) {
  std::erase_if(under_way_, [&](const UnderWay& moving) {
    const bool ends = moving.catom == catom || is_held_by(moving, cell);
    if (ends) referee_.release(moving.catom);
    return ends;
  });
}

Result<void> CatomWorld::remove(CatomId catom) {
  if (auto sound = has_not_failed(); !sound.ok()) return sound;
  const bool in_cell = ensemble_.has(catom);
  const Cell cell = in_cell ? ensemble_.cell(catom) : Cell{};
  if (in_cell) stop_motions(catom, cell);
  if (auto gone = ensemble_.remove(catom); !gone.ok()) return gone;
  if (somebody_wakes_ && started_) {
    if (in_cell) wake_around(cell);
    woken_[0].erase(catom);
  }
  for (Peers& one : peers_)
    for (std::uint32_t& other : one.at)
      if (other == catom) other = nobody;
  if (peers(catom) != nullptr) {
    peers_.erase(peers_.begin() + (peers(catom) - peers_.data()));
    has_peers_.erase(catom);
  }
  if (region_.has(catom)) {
    post_.forget(catom);
    for (std::uint32_t m = post_.take(catom); m != nobody; m = post_.envelope(m).next) ++new_traffic_.lost;
    if (PortQueues* queues = waiting_.find(catom)) {
      for (const PortQueue& queue : *queues) new_traffic_.lost += queue.size();
      waiting_.forget(catom);
    }
    for (const auto& modules : modules_) modules->reset(catom);
  }
  const auto met = meet();
  surely_busy_ = false;  // what was sent may have been for this one
  return met;
}

Result<void> CatomWorld::move(CatomId catom, const Cell& to) {
  if (auto sound = has_not_failed(); !sound.ok()) return sound;
  const Cell from = ensemble_.has(catom) ? ensemble_.cell(catom) : Cell{};
  for (const UnderWay& moving : under_way_) {
    if (!ensemble_.has(catom)) break;
    if (moving.catom == catom)
      return Error(fmt::format("the catom {} is on its way from {} to {}", std::uint32_t{catom}, text(from),
                               text(motions_.target(from, moving.motion))),
                   "wait until it has arrived");
    if (is_held_by(moving, from))
      return Error(
          fmt::format("the catom {} holds the catom {}, which moves about it", std::uint32_t{catom}, moving.catom),
          "wait until that one has arrived");
  }
  if (auto moved = ensemble_.move(catom, to); !moved.ok()) return moved;
  if (!somebody_wakes_ || !started_) return {};
  wake_around(from);
  wake_around(to);
  return {};
}

Result<void> CatomWorld::loosen(CatomId catom) {
  if (auto sound = has_not_failed(); !sound.ok()) return sound;
  const Cell cell = ensemble_.has(catom) ? ensemble_.cell(catom) : Cell{};
  if (ensemble_.has(catom)) stop_motions(catom, cell);
  if (auto done = ensemble_.loosen(catom); !done.ok()) return done;
  if (somebody_wakes_ && started_) wake(catom), wake_around(cell);
  return {};
}

Result<void> CatomWorld::settle(CatomId catom, const Cell& cell) {
  if (auto sound = has_not_failed(); !sound.ok()) return sound;
  if (auto done = ensemble_.settle(catom, cell); !done.ok()) return done;
  if (somebody_wakes_ && started_) wake_around(cell);
  return {};
}

void CatomWorld::place_loose(std::vector<LooseCatom> loose, std::span<const Touch> touches,
                             std::vector<PackedCell> blocked, bool tell) {
  std::vector<Peers> before = std::move(peers_);
  peers_.clear();
  for (const LooseCatom& one : loose)
    peers_.push_back({one.catom, true, one.moving, one.can_move, one.position, {}, {}});
  for (const Touch& touch : touches)
    for (const std::uint32_t catom : {touch.a, touch.b})
      if (!ensemble_.is_loose(catom)) peers_.push_back({catom, false, false, false, {}, {}, {}});
  const auto by_catom = [](const Peers& a, const Peers& b) { return a.catom < b.catom; };
  std::sort(peers_.begin(), peers_.end(), by_catom);
  peers_.erase(
      std::unique(peers_.begin(), peers_.end(), [](const Peers& a, const Peers& b) { return a.catom == b.catom; }),
      peers_.end());
  for (Peers& one : peers_) one.at.fill(nobody);
  has_peers_.resize(ensemble_.count());
  has_peers_.clear();
  for (const Peers& one : peers_) has_peers_.insert(one.catom);
  const auto link = [&](std::uint32_t catom, int port, std::uint32_t other, int other_port) {
    Peers& own = const_cast<Peers&>(*find_peers(catom));
    own.at[port] = other, own.port[port] = narrow<std::uint8_t>(other_port);
  };
  for (const Touch& touch : touches) {
    link(touch.a, touch.port_a, touch.b, touch.port_b);
    link(touch.b, touch.port_b, touch.a, touch.port_a);
  }
  blocked_ = std::move(blocked);
  if (!tell || !somebody_wakes_ || !started_) return;
  // Whose surroundings are others than before is told.
  const auto wake_others = [&](const std::vector<Peers>& some, const std::vector<Peers>& others) {
    for (const Peers& one : some) {
      const auto found = std::lower_bound(others.begin(), others.end(), one, by_catom);
      if (found == others.end() || found->catom != one.catom || found->at != one.at) wake(one.catom);
    }
  };
  wake_others(before, peers_);
  wake_others(peers_, before);
}

const CatomWorld::Peers* CatomWorld::find_peers(std::uint32_t catom) const {
  const auto found = std::lower_bound(peers_.begin(), peers_.end(), catom,
                                      [](const Peers& one, std::uint32_t id) { return one.catom < id; });
  return found != peers_.end() && found->catom == catom ? &*found : nullptr;
}

std::uint32_t CatomWorld::neighbor(CatomId catom, int port) const {
  VOLVOX_ASSERT(ensemble_.there(catom) && port >= 0 && port < ensemble_.lattice().ports());
  const std::uint32_t beside = ensemble_.has(catom) ? ensemble_.around(catom).at(port) : nobody;
  const Peers* own = peers(catom);
  return beside != nobody || own == nullptr ? beside : own->at[port];
}

Vec3 CatomWorld::place(CatomId catom) const {
  VOLVOX_ASSERT(ensemble_.there(catom));
  if (ensemble_.has(catom)) return ensemble_.lattice().position(ensemble_.cell(catom));
  const Peers* own = peers(catom);
  return own != nullptr ? own->position : Vec3{};
}

void CatomWorld::wake(CatomId catom) {
  if (!ensemble_.there(catom) || !region_.has(catom)) return;
  woken_[0].insert(catom);
  post_.wake_now(catom);
}

void CatomWorld::wake_next(std::uint32_t catom) {
  woken_[1].insert(catom);
  post_.wake_next(catom);
}

// The cells around it, or all catoms, whichever are fewer.
void CatomWorld::each_in_reach(std::uint32_t catom, const std::function<void(std::uint32_t)>& visit) const {
  const Lattice& lattice = ensemble_.lattice();
  const Vec3 here = place(catom), spacing = lattice.spacing();
  const Cell own = ensemble_.has(catom) ? ensemble_.cell(catom) : lattice.cell_at(here);
  const double range = options_.radio_range * (1 + 1e-9);  // a neighbour at exactly the range hears it
  const auto meet = [&](std::uint32_t other, const Cell& cell) {
    if (other != catom && length_squared(lattice.position(cell) - here) <= range * range) visit(other);
  };
  for (const Peers& one : peers_)
    if (one.loose && one.catom != catom && length_squared(one.position - here) <= range * range) visit(one.catom);
  const double x = range / spacing.x + 2, y = range / spacing.y + 1, z = lattice.flat() ? 0 : range / spacing.z + 1;
  if ((2 * x + 1) * (2 * y + 1) * (2 * z + 1) >= real(ensemble_.count())) {
    for (std::uint32_t other = 0; other < ensemble_.count(); ++other)
      if (ensemble_.has(other)) meet(other, ensemble_.cell(other));
    return;
  }
  const auto far_x = truncated<std::int32_t>(x), far_y = truncated<std::int32_t>(y), far_z = truncated<std::int32_t>(z);
  for (std::int32_t dz = -far_z; dz <= far_z; ++dz)
    for (std::int32_t dy = -far_y; dy <= far_y; ++dy)
      for (std::int32_t dx = -far_x; dx <= far_x; ++dx) {
        const Cell cell{own.x + dx, own.y + dy, own.z + dz};
        if (const std::uint32_t other = ensemble_.at(cell); other != nobody) meet(other, cell);
      }
}

void CatomWorld::wake_around(const Cell& cell) {
  if (const std::uint32_t own = ensemble_.at(cell); own != nobody) wake(own);
  for (int port = 0; port < ensemble_.lattice().ports(); ++port)
    if (const std::uint32_t other = ensemble_.at(ensemble_.lattice().neighbor(cell, port)); other != nobody)
      wake(other);
}

Result<void> CatomWorld::add_code_modules(std::unique_ptr<CodeModules> modules) {
  const std::string& name = modules->type().name;
  if (started_) return Error(fmt::format("the code module {} comes too late", name), "load it before start()");
  if (modules_.size() == most_code_modules)
    return Error(fmt::format("{} is one code module too many", name), fmt::format("load at most {}", modules_.size()));
  for (const auto& other : modules_)
    if (other->type().key == modules->type().key)
      return Error(fmt::format("the code module {} is loaded twice", name), "load it once");
  for (const CodeModules::Link& link : modules->links()) {
    const TypeInfo* type = mailboxes_[link.mailbox].type;
    if (type != nullptr && type->key != link.type->key) {
      return Error(fmt::format("the code module {} links mailbox {} to messages of type {}, but it is for messages of "
                               "type {}",
                               name, link.mailbox, link.type->name, type->name),
                   "link another mailbox");
    }
  }
  for (const CodeModules::Link& link : modules->links()) {
    mailboxes_[link.mailbox].type = link.type;
    mailboxes_[link.mailbox].linked.push_back({modules.get(), modules_.size(), link.call});
  }
  somebody_ticks_ = somebody_ticks_ || modules->new_tick != nullptr;
  somebody_wakes_ = somebody_wakes_ || modules->woken != nullptr;
  if (region_.is_cut()) modules->belong_to(region_);
  modules->resize(ensemble_.count());
  modules_.push_back(std::move(modules));
  return {};
}

// After a failure catoms are half processed: nothing may go on.
Result<void> CatomWorld::has_not_failed() const {
  if (!failed_) return {};
  if (failure_.catom != nobody) return error(failure_);
  return Error("the world has failed before", "start anew, or go on from a snapshot");
}

Error CatomWorld::error(const Failure& failure) const {
  const bool in_cell = ensemble_.has(failure.catom);
  return {fmt::format("tick {}: catom {} {}, code module {}: {}", tick_, failure.catom,
                      in_cell ? "at " + text(ensemble_.cell(failure.catom)) : "in no cell", failure.code_module,
                      failure.what),
          "correct the code module, or give it a world that it is made for"};
}

// The catoms of a front lie far apart in memory: waiting for them would take most of the time. What those to come need
// is asked for in three steps, each of which needs the one before.
void CatomWorld::prefetch(std::span<const std::uint32_t> coming) const {
  constexpr std::size_t receivers = 4, neighbors = 8, own = 12;  // catoms ahead
  const int ports = ensemble_.lattice().ports();
  if (coming.size() > own) {
    const std::uint32_t id = coming[own];
    ensemble_.prefetch(id);
    post_.prefetch(id);
    for (const auto& modules : modules_) __builtin_prefetch(modules->state(id), 1);
  }
  if (coming.size() > neighbors && ensemble_.has(coming[neighbors])) {
    const std::uint32_t id = coming[neighbors];
    post_.prefetch_arriving(id);
    for (const auto& modules : modules_)
      if (modules->prefetch != nullptr) modules->prefetch(*modules, id);
    const auto around = ensemble_.around(id);
    for (int port = 0; port < ports; ++port) around.prefetch(port);
  }
  if (coming.size() > receivers && ensemble_.has(coming[receivers])) {
    const auto around = ensemble_.around(coming[receivers]);
    for (int port = 0; port < ports; ++port)
      if (const std::uint32_t other = around.at(port); other != nobody && region_.has(other))
        post_.prefetch_receiver(other);
  }
}

template <class Work>
void CatomWorld::each_of_chunk(bool all, std::size_t chunk, Catom::Shared& shared, Worked& worked, const Work& work) {
  const std::size_t count = all ? region_.count(ensemble_.count()) : active_.size();
  const std::size_t end = std::min(count, (chunk + 1) * catoms_a_chunk);
  for (std::size_t i = chunk * catoms_a_chunk; i < end; ++i) {
    const std::uint32_t id = all ? narrow<std::uint32_t>(region_.first() + i) : active_[i];
    if (!all) prefetch(std::span(active_).subspan(i, end - i));  // beyond it another thread may be writing
    else if (sending_ && options_.active_sets && !has_something_to_do(id)) continue;
    if (!ensemble_.there(id)) continue;
    ++worked.processed;
    Catom catom(*this, id, shared);
    const auto failed = [&](const char* what) {
      if (id < worked.failure.catom)
        worked.failure = {id, catom.running_ != nullptr ? catom.running_->type().name : "none", what};
    };
    try {
      work(catom);
    } catch (const std::exception& exception) {
      failed(exception.what());
    } catch (...) {
      failed("it threw something that is no exception");
    }
  }
}

// Each thread has a share of the catoms, and what it sends goes into pages of its own.
template <class Work>
void CatomWorld::each_catom(bool all, const Work& work) {
  const std::size_t count = all ? region_.count(ensemble_.count()) : active_.size();
  const std::size_t chunks = (count + catoms_a_chunk - 1) / catoms_a_chunk;
  const std::size_t threads = threads_ == nullptr ? 1 : static_cast<std::size_t>(threads_->threads());
  const std::size_t workers = std::max<std::size_t>(1, std::min(threads, chunks));
  shares_.cut(chunks, workers);
  post_.make_writers(workers);
  processed_ = 0;
  parallel_for(threads_, workers, 1, [&](std::size_t) {
    const std::size_t worker = shares_.join();
    Catom::Shared shared{post_.writer(worker)};
    Worked worked;
    while (const auto chunk = shares_.next(worker)) each_of_chunk(all, *chunk, shared, worked, work);
    const Traffic& traffic = shared.traffic;
    const std::lock_guard lock(mutex_);
    wishes_.insert(wishes_.end(), shared.moves.begin(), shared.moves.end());
    new_traffic_.sent += traffic.sent, new_traffic_.delivered += traffic.delivered;
    new_traffic_.lost += traffic.lost, new_traffic_.unread += traffic.unread;
    for (std::size_t rank = 0; rank < shared.away.size(); ++rank) outbox_[rank] += shared.away[rank];
    processed_ += worked.processed;
    if (worked.failure.catom < failure_.catom) failure_ = std::move(worked.failure);
  });
}

void CatomWorld::start_code_modules(Catom& catom) {
  for (const auto& modules : modules_) {
    if (modules->start == nullptr) continue;
    catom.running_ = modules.get();
    modules->start(modules->state(catom.id_), catom);
  }
  // What was sent waits for the first tick: before it, adapters have no capacity.
  if (catom.waiting_ != nullptr) post_.wake_now(catom.id_);
}

Result<void> CatomWorld::start() {
  if (started_) return Error("the world was started before", "call start() once");
  if (options_.capacity == 0)
    return Error("adapters with a capacity of 0 bytes a tick never send", "give 1 or more, or lattice::unlimited");
  const Kind kind = ensemble_.lattice().kind();
  if (const auto& model = options_.motion.model; model && !possible(*model, kind))
    return Error(fmt::format("catoms cannot {} on a {} lattice", name(*model), name(kind)),
                 "use roll on square, hex, bcc and fcc, slide or pivot on square and cubic");
  if (options_.motion.ticks < 1 || options_.motion.ticks > most_motion_ticks)
    return Error(fmt::format("a motion cannot take {} ticks", options_.motion.ticks),
                 fmt::format("give 1 to {}", most_motion_ticks));
  started_ = true;
  for (std::uint32_t catom = 0; somebody_wakes_ && catom < ensemble_.count(); ++catom) wake(catom);
  const bool needed =
      std::any_of(modules_.begin(), modules_.end(), [](const auto& modules) { return modules->start != nullptr; });
  if (!needed) return {};
  each_catom(true, [&](Catom& catom) { start_code_modules(catom); });
  return meet();
}

void CatomWorld::begin_keys() {
  const auto key = [&](std::int64_t tick, const char* purpose) {
    return RandomStream(options_.seed, static_cast<std::uint64_t>(tick), purpose).bits();
  };
  key_ = key(tick_, "tick");
  last_key_ = key(tick_ - 1, "tick");
  start_key_ = key(tick_, "start");
}

Result<void> CatomWorld::tick() {
  if (!started_) return Error("the world was not started", "call start() first");
  if (auto sound = has_not_failed(); !sound.ok()) return sound;
  for (const auto& modules : modules_) modules->begin_tick(*this);
  if (!everyone()) {
    active_.clear();
    post_.receivers().each([&](std::uint32_t catom) { active_.push_back(catom); });
  }
  sending_ = true;
  each_catom(everyone(), [&](Catom& catom) { process(catom); });
  sending_ = false;
  if (auto met = meet(); !met.ok()) return met;
  if (somebody_wakes_) {
    woken_[0].clear();
    std::swap(woken_[0], woken_[1]);
  }
  post_.turn();
  move_catoms();
  ++tick_;
  begin_keys();
  return {};
}

Result<void> CatomWorld::run(std::int64_t most_ticks) {
  for (std::int64_t i = 0; i < most_ticks && !idle(); ++i)
    if (auto done = tick(); !done.ok()) return done;
  return {};
}

bool CatomWorld::idle() const { return !surely_busy_ && !region_.any(!rests()); }

bool CatomWorld::rests() const {
  if (std::any_of(modules_.begin(), modules_.end(), [](const auto& modules) { return modules->waits(); })) return false;
  if (!post_.receivers().empty() || !under_way_.empty()) return false;
  const std::size_t end = region_.first() + region_.count(ensemble_.count());
  for (std::uint32_t catom = region_.first(); somebody_ticks_ && catom < end; ++catom)
    if (ensemble_.there(catom) && has_something_to_do(catom)) return false;
  return true;
}

bool CatomWorld::has_something_to_do(std::uint32_t catom) const {
  if (post_.receivers().contains(catom)) return true;
  return std::any_of(modules_.begin(), modules_.end(), [&](const auto& modules) { return modules->acts(catom); });
}

// Steps 1 to 5 of one catom; making the Catom has renewed the capacity of its adapters.
void CatomWorld::process(Catom& catom) {
  Called called = 0;
  const bool woken = somebody_wakes_ && woken_[0].contains(catom.id_);
  for (std::size_t i = 0; woken && i < modules_.size(); ++i) {
    CodeModules& modules = *modules_[i];
    if (modules.woken == nullptr) continue;
    called |= Called{1} << i;
    catom.running_ = &modules;
    modules.woken(modules.state(catom.id_), catom);
  }
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    CodeModules& modules = *modules_[i];
    if (!modules.acts(catom.id_)) continue;
    called |= Called{1} << i;
    catom.running_ = &modules;
    modules.new_tick(modules.state(catom.id_), catom);
  }
  catom.send_waiting();
  called |= deliver(catom);
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    CodeModules& modules = *modules_[i];
    if (modules.end_tick == nullptr || (called >> i & 1) == 0) continue;
    catom.running_ = &modules;
    modules.end_tick(modules.state(catom.id_), catom);
  }
  if (catom.waiting_ == nullptr) return;
  const bool waits = std::any_of(catom.waiting_->begin(), catom.waiting_->end(),
                                 [](const PortQueue& queue) { return !queue.empty(); });
  if (waits) post_.wake_next(catom.id_);
  else waiting_.forget(catom.id_);
}

CatomWorld::Called CatomWorld::deliver(Catom& catom) {
  const std::uint32_t first = post_.arriving(catom.id_);
  if (first == nobody) return 0;
  Called called = 0;
  if (post_.envelope(first).next == nobody) {
    called = read(catom, first);
  } else {
    thread_local std::vector<Arrived> arrived;
    list_arriving(catom.id_, arrived);
    for (const Arrived& a : arrived) called |= read(catom, a.message);
  }
  post_.take(catom.id_);
  return called;
}

void CatomWorld::list_arriving(std::uint32_t catom, std::vector<Arrived>& arrived) const {
  arrived.clear();
  for (std::uint32_t m = post_.arriving(catom); m != nobody; m = post_.envelope(m).next) {
    const std::uint32_t sender = post_.envelope(m).sender;
    arrived.push_back({catom_key(last_key_, sender), sender, m});
  }
  // The list has the newest first; of one sender, the oldest is read first.
  std::reverse(arrived.begin(), arrived.end());
  const auto before = [](const Arrived& a, const Arrived& b) { return a.key < b.key; };
  if (arrived.size() > 32) {
    std::stable_sort(arrived.begin(), arrived.end(), before);
    return;
  }
  for (std::size_t i = 1; i < arrived.size(); ++i)
    for (std::size_t k = i; k > 0 && before(arrived[k], arrived[k - 1]); --k) std::swap(arrived[k], arrived[k - 1]);
}

CatomWorld::Called CatomWorld::read(Catom& catom, std::uint32_t message) {
  const Envelope& envelope = post_.envelope(message);
  ++catom.shared_->traffic.delivered;
  catom.sender_ = envelope.sender;
  const Box& box = mailboxes_[envelope.mailbox];
  if (box.linked.empty()) ++catom.shared_->traffic.unread;
  Called called = 0;
  for (const Linked& linked : box.linked) {
    catom.running_ = linked.modules;
    called |= Called{1} << linked.index;
    if (!linked.call(linked.modules->state(catom.id_), catom, envelope.port, {post_.content(message), envelope.size}))
      throw CatomError(fmt::format("a message in mailbox {} is damaged", envelope.mailbox));
  }
  return called;
}

std::size_t CatomWorld::memory_bytes() const {
  std::size_t bytes = ensemble_.memory_bytes() + post_.memory_bytes() + active_.capacity() * sizeof active_[0];
  for (const auto& modules : modules_) bytes += modules->memory_bytes();
  return bytes;
}

}  // namespace volvox::lattice
