#include "volvox/lattice/catom.h"

#include <fmt/format.h>

#include "volvox/lattice/catom_world.h"

namespace volvox::lattice {
namespace {

// The last steps of SplitMix64: one to one, so that no two catoms have the same key.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

}  // namespace

std::uint64_t catom_key(std::uint64_t key_of_tick, std::uint32_t catom) {
  return mix(key_of_tick + 0x9E3779B97F4A7C15ull * catom);
}

Catom::Catom(CatomWorld& world, std::uint32_t id, Shared& shared)
    : world_(&world),
      id_(id),
      ports_(world.ensemble_.lattice().ports()),
      shared_(&shared),
      around_(world.ensemble_.has(id) ? world.ensemble_.around(id) : Occupancy::Around()),
      loose_(world.peers(id)),
      steps_left_(world.options_.most_steps),
      limited_(world.options_.capacity != unlimited),
      waiting_(world.waiting_.find(id)) {
  if (limited_) left_.fill(world.options_.capacity);
}

Catom::Catom(CatomHost& host, CodeModules& code_module)
    : host_(&host),
      id_(host.number()),
      ports_(host.connectors()),
      running_(&code_module),
      steps_left_(WorldOptions{}.most_steps),
      limited_(false) {}

void Catom::needs_a_lattice(const char* what) const {
  throw CatomError(fmt::format("it asks for {}, which only a lattice has", what));
}

std::int64_t Catom::tick() const {
  count_step();
  if (host_ != nullptr) return host_->ticks();
  return world_->tick_;
}

std::uint64_t Catom::key() const {
  count_step();
  if (host_ != nullptr) return host_->key();
  return catom_key(world_->sending_ ? world_->key_ : world_->start_key_, id_);
}

RandomStream& Catom::random() {
  count_step();
  if (host_ != nullptr) return host_->chance();
  if (!random_) random_.emplace(world_->sending_ ? world_->key_ : world_->start_key_, id_, "catom");
  return *random_;
}

const MotionTable& Catom::motions() const {
  count_step();
  CatomWorld& world = this->world("motions");
  return world.motions_;
}

bool Catom::moving() const {
  count_step();
  CatomWorld& world = this->world("motions");
  const auto* peers = static_cast<const CatomWorld::Peers*>(loose_);
  return peers != nullptr && peers->loose ? peers->moving : world.referee_.holds(id_);
}

bool Catom::can_move(int motion) const {
  count_step();
  CatomWorld& world = this->world("motions");
  if (motion < 0 || motion >= world.motions_.size() || world.referee_.holds(id_)) return false;
  const Move move{id_, narrow<std::uint8_t>(motion)};
  return world.ensemble_.has(id_) && !world.needs_blocked(move) && world.referee_.is_possible(world.ensemble_, move);
}

bool Catom::move(int motion) {
  count_step();
  CatomWorld& world = this->world("motions");
  const MotionTable& motions = world.motions_;
  if (motion < 0 || motion >= motions.size())
    throw CatomError(fmt::format("it wants to make motion {}, but there are {} on a {} lattice with motion={}", motion,
                                 motions.size(), name(world.ensemble_.lattice().kind()), name(motions.model())));
  if (moves_) throw CatomError("it wants to move twice in one tick");
  if (!world.sending_) throw CatomError("it wants to move before the first tick");
  if (world.referee_.holds(id_)) return false;
  if (const auto* peers = static_cast<const CatomWorld::Peers*>(loose_);
      peers != nullptr && peers->loose && (!peers->can_move || peers->moving))
    return false;
  moves_ = true;
  shared_->moves.push_back({id_, narrow<std::uint8_t>(motion)});
  return true;
}

bool Catom::roll(int pivot, Turn turn) {
  const CatomWorld& world = this->world("motions");
  const Lattice& lattice = world.ensemble_.lattice();
  if (!lattice.flat() || world.motions_.model() != MotionModel::roll)
    throw CatomError(
        fmt::format("it wants to roll on a {} lattice with motion={}; catoms roll on hex (--lattice hex), and "
                    "on square with motion=roll (--set motion=roll)",
                    name(lattice.kind()), name(world.motions_.model())));
  if (pivot < 0 || pivot >= ports_ || at(pivot) == nobody)
    throw CatomError(fmt::format("it wants to roll about port {}, where no neighbour is", pivot));
  return move(roll_about(pivot, turn));
}

void Catom::check_pivot(const char* what, int pivot, int other_port) const {
  if (pivot < 0 || pivot >= ports_ || at(pivot) == nobody)
    throw CatomError(fmt::format("it wants to {} at port {}, where no neighbour is", what, pivot));
  if (other_port < 0 || other_port >= ports_)
    throw CatomError(fmt::format("it wants to {} to port {}, but has the ports 0 to {}", what, other_port, ports_ - 1));
}

bool Catom::slide(int beside, int towards) {
  const CatomWorld& world = this->world("motions");
  const MotionModel model = world.motions_.model();
  if (model != MotionModel::slide && model != MotionModel::pivot)
    throw CatomError(
        fmt::format("it wants to slide on a {} lattice with motion={}; catoms slide on square and cubic with "
                    "motion=slide or pivot (--set motion=slide)",
                    name(world.ensemble_.lattice().kind()), name(model)));
  check_pivot("slide", beside, towards);
  const int on = world.motions_.beside(beside, towards), around = world.motions_.about(beside, towards);
  if (on == MotionTable::no_motion || around == MotionTable::no_motion)
    throw CatomError(
        fmt::format("it wants to slide along port {} towards port {}, which is not across", beside, towards));
  return move(can_move(on) ? on : around);
}

bool Catom::rotate(int pivot, int port_of_pivot) {
  const CatomWorld& world = this->world("motions");
  check_pivot("rotate", pivot, port_of_pivot);
  const int motion = world.motions_.about(pivot, port_of_pivot);
  if (motion == MotionTable::no_motion)
    throw CatomError(
        fmt::format("it wants to rotate about port {} to port {} of that neighbour; no motion={} of a {} lattice "
                    "leads there",
                    pivot, port_of_pivot, name(world.motions_.model()), name(world.ensemble_.lattice().kind())));
  return move(motion);
}

void Catom::never_stops() const {
  steps_left_ = 0;  // a code module that catches this gets no further
  throw CatomError(fmt::format("it does not stop: more than {} steps in one tick",
                               world_ != nullptr ? world_->options_.most_steps : WorldOptions{}.most_steps));
}

void Catom::check(int port, Mailbox mailbox, const TypeInfo& type) const {
  count_step();
  if (port < 0 || port >= ports_)
    throw CatomError(fmt::format("it sends at port {}, but has the ports 0 to {}", port, ports_ - 1));
  if (host_ != nullptr) return;
  const TypeInfo* expected = world_->mailboxes_[mailbox].type;
  if (expected != nullptr && expected != &type && expected->key != type.key) {
    throw CatomError(fmt::format("it sends a message of type {} to mailbox {}, which is for messages of type {}",
                                 type.name, mailbox, expected->name));
  }
}

void Catom::too_large(const TypeInfo& type, std::size_t size, std::size_t most) const {
  throw CatomError(
      fmt::format("its message of type {} has {} bytes; the type allows at most {}", type.name, size, most));
}

void Catom::put(int port, Mailbox mailbox, std::span<const std::byte> content) {
  if (host_ != nullptr) {
    host_->transmit(port, mailbox, content);
    return;
  }
  const std::uint32_t to = at(port);
  if (to == nobody) {
    ++shared_->traffic.lost;
    return;
  }
  const bool nothing_waits = waiting_ == nullptr || (*waiting_)[port].empty();
  if (world_->sending_ && nothing_waits && (!limited_ || (left_[port] > 0 && content.size() <= left_[port]))) {
    if (limited_) left_[port] -= narrow<std::uint32_t>(content.size());
    transmit(port, to, mailbox, content);
    return;
  }
  queue(port, to, mailbox, content);
  if (world_->sending_) send_waiting(port, (*waiting_)[port]);
}

void Catom::put_on_air(Mailbox mailbox, std::span<const std::byte> content) {
  CatomWorld& world = this->world("the radio of a lattice");
  if (!(world.options_.radio_range > 0))
    throw CatomError("it sends by radio in a world without: give WorldOptions::radio_range");
  if (!world.sending_) throw CatomError("it sends by radio before the first tick");
  world.each_in_reach(id_, [&](std::uint32_t to) { transmit(far_port, to, mailbox, content); });
}

void Catom::transmit(int port, std::uint32_t to, Mailbox mailbox, std::span<const std::byte> content) {
  Envelope envelope;
  envelope.sender = id_;
  envelope.size = narrow<std::uint16_t>(content.size());
  envelope.port = narrow<std::uint8_t>(port == far_port ? far_port : arrival(port));
  envelope.mailbox = mailbox;
  ++shared_->traffic.sent;
  if (world_->region_.has(to)) world_->post_.send(shared_->writer, to, envelope, content.data());
  else world_->send_away(shared_->away, to, envelope, content.data());
}

std::uint32_t Catom::loose_at(int port) const {
  const auto& peers = *static_cast<const CatomWorld::Peers*>(loose_);
  const std::uint32_t beside = peers.loose ? nobody : around_.at(port);
  return beside != nobody ? beside : peers.at[port];
}

int Catom::arrival(int port) const {
  if (loose_ == nullptr) return Lattice::opposite(port);
  const auto& peers = *static_cast<const CatomWorld::Peers*>(loose_);
  return !peers.loose && around_.at(port) != nobody ? Lattice::opposite(port) : peers.port[port];
}

void Catom::send_bytes(int port, std::span<const std::byte> content, Mailbox mailbox) {
  count_step();
  if (port < 0 || port >= ports_)
    throw CatomError(fmt::format("it sends at port {}, but has the ports 0 to {}", port, ports_ - 1));
  if (content.size() > largest_message)
    throw CatomError(fmt::format("its message has {} bytes; {} are possible", content.size(), largest_message));
  put(port, mailbox, content);
}

void Catom::radio_bytes(std::span<const std::byte> content, Mailbox mailbox) {
  count_step();
  if (content.size() > largest_message)
    throw CatomError(fmt::format("its message has {} bytes; {} are possible", content.size(), largest_message));
  put_on_air(mailbox, content);
}

void Catom::send_far(std::uint32_t catom, std::span<const std::byte> content, Mailbox mailbox) {
  count_step();
  (void)world("sending to catoms that are no neighbours");
  if (!world_->sending_ || !world_->ensemble_.there(catom) || content.size() > largest_message) {
    ++shared_->traffic.lost;
    return;
  }
  transmit(far_port, catom, mailbox, content);
}

Cell Catom::cell() const {
  const CatomWorld& world = this->world("its cell");
  if (world.ensemble_.has(id_)) return world.ensemble_.cell(id_);
  return world.ensemble_.lattice().cell_at(world.place(id_));
}

void Catom::wake_next() {
  count_step();
  world("being woken").wake_next(id_);
}

void Catom::queue(int port, std::uint32_t peer, Mailbox mailbox, std::span<const std::byte> content) {
  if (waiting_ == nullptr) waiting_ = &world_->waiting_.get(id_);
  PortQueue& waiting = (*waiting_)[port];
  if (!waiting.empty() && waiting.peer != peer) {  // they were for one that is not there any more
    shared_->traffic.lost += waiting.size();
    waiting.clear();
  }
  if (waiting.size() >= world_->options_.most_waiting) {
    throw CatomError(fmt::format("{} messages wait at its port {}: it sends more than the capacity of {} bytes a tick",
                                 waiting.size(), port, world_->options_.capacity));
  }
  waiting.push(mailbox, content);
  waiting.peer = peer;
}

void Catom::send_waiting() {
  if (waiting_ == nullptr) return;
  for (int port = 0; port < ports_; ++port) send_waiting(port, (*waiting_)[port]);
}

void Catom::send_waiting(int port, PortQueue& queue) {
  if (queue.empty()) return;
  if (at(port) != queue.peer) {
    shared_->traffic.lost += queue.size();
    queue.clear();
    return;
  }
  while (!queue.empty() && (!limited_ || left_[port] > 0)) {
    const PortQueue::Front front = queue.front();
    if (limited_) {
      const std::uint32_t size = narrow<std::uint32_t>(front.content.size());
      const std::uint32_t step = std::min(size - queue.moved, left_[port]);
      left_[port] -= step;
      queue.moved += step;
      if (queue.moved < size) return;
    }
    transmit(port, queue.peer, front.mailbox, front.content);
    queue.pop();
  }
}

}  // namespace volvox::lattice
