// What joins the machine to the world: sensing, acting, messages and delays.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/meld/machine.h"
#include "volvox/meld/meld_modules.h"
#include "volvox/meld/registers.h"

namespace volvox::meld {
namespace {

using lattice::nobody;

constexpr Word minus_flag = 1 << 16, for_good_flag = 1 << 17;  // of a message, beside the predicate
constexpr Word far_flag = 1u << 31;                            // of an address in the outbox: a node, not a port

// The colours of setColor2.
constexpr std::array<std::uint32_t, 8> palette = {0xff0000, 0xff8000, 0xffff00, 0x00c000,
                                                  0x00ffff, 0x0000ff, 0xffffff, 0x8000ff};

std::uint32_t channel(Word value) { return narrow<std::uint32_t>(std::clamp(signed_word(value), 0, 255)); }

}  // namespace

void Machine::sense_fact(std::uint16_t predicate, std::initializer_list<Word> fact) {
  std::copy(fact.begin(), fact.end(), insert(predicate));
  fire(true, predicate, facts_->count(predicate) - 1, Which::all);
}

void Machine::unsense(std::uint16_t predicate, std::uint32_t record) {
  fire(false, predicate, record, Which::all);
  facts_->erase(predicate, record);
}

// With a neighbour goes what it told: it cannot take it back any more.
void Machine::lose_neighbor(std::uint32_t record) {
  const Word port = facts_->at(modules_->neighbor_, record)[1];
  losing_ = port;
  unsense(modules_->neighbor_, record);
  losing_ = 0xffffffff;
  for (const std::uint16_t k : indices<std::uint16_t>(program_->predicates)) {
    const Predicate& p = program_->predicates[k];
    if (p.header == 0) continue;
    for (std::uint32_t i = 0; i < facts_->count(k); ++i) {
      const Word* fact = facts_->at(k, i);
      if (source_of(fact[0]) == port && derivations(fact[1]) > 0) push({k, false, true, fact[0]}, fact + 2);
    }
  }
}

void Machine::sense_losses(const std::uint32_t* around) {
  if (modules_->neighbor_ != no_predicate)
    for (std::uint32_t i = facts_->count(modules_->neighbor_); i-- > 0;) {
      const Word* fact = facts_->at(modules_->neighbor_, i);
      if (around[fact[1]] != fact[0]) lose_neighbor(i);
    }
  if (modules_->vacant_ != no_predicate)
    for (std::uint32_t i = facts_->count(modules_->vacant_); i-- > 0;)
      if (around[*facts_->at(modules_->vacant_, i)] != nobody) unsense(modules_->vacant_, i);
}

void Machine::sense_news(const std::uint32_t* around) {
  const auto has = [&](std::uint16_t predicate, std::size_t word, Word value) {
    for (std::uint32_t i = 0; i < facts_->count(predicate); ++i)
      if (facts_->at(predicate, i)[word] == value) return true;
    return false;
  };
  Word neighbors = 0;
  for (int port = 0; port < catom_->ports(); ++port) {  // an interface
    const Word p = narrow<Word>(port);
    if (around[port] != nobody) {
      ++neighbors;
      if (modules_->neighbor_ != no_predicate && !has(modules_->neighbor_, 1, p))
        sense_fact(modules_->neighbor_, {around[port], p});
    } else if (modules_->vacant_ != no_predicate && !has(modules_->vacant_, 0, p)) {
      sense_fact(modules_->vacant_, {p});
    }
  }
  const std::uint16_t count = modules_->neighbor_count_;
  if (count == no_predicate || has(count, 0, neighbors)) return;
  if (facts_->any(count)) unsense(count, 0);
  sense_fact(count, {neighbors});
}

void Machine::sense() {
  std::array<std::uint32_t, lattice::most_ports> around{};
  for (int port = 0; port < catom_->ports(); ++port) around[port] = catom_->neighbor(modules_->port_of_[port]);
  // What is lost is lost before anything new is known: facts for a neighbour that came back elsewhere must not reach it
  // there.
  if (facts_->catom().begun != 0) {
    sense_losses(around.data());
    run_derivations();
  }
  sense_news(around.data());
  if (facts_->catom().begun == 0) run_axioms();
}

void Machine::run_axioms() {
  facts_->catom().begun = 1;
  const auto run = [&](std::uint16_t rule) {
    rule_ = rule;
    registers_[0] = id_;
    plus_ = true;
    for_good_ = true;
    trigger_predicate_ = no_predicate;
    execute(program_->rules[rule].code, RuleKind::begins);
  };
  for (const std::uint16_t rule : modules_->axioms_) run(rule);
  const auto& own = modules_->axioms_of_node_;
  for (auto it = std::lower_bound(own.begin(), own.end(), std::pair<std::uint32_t, std::uint16_t>(id_, 0));
       it != own.end() && it->first == id_; ++it)
    run(it->second);
  erase_used();
}

void Machine::tell(Role role) {
  const std::uint16_t predicate = program_->with(role);
  const Word nothing = 0;
  if (predicate != no_predicate) push({predicate, true, false, support_of(0, for_good)}, &nothing);
}

// A delayed fact: the tick when it is due, its node, flags and support, and its words.
void Machine::delay(std::uint32_t node, const Change& change, const Word* fact, std::int64_t ms) {
  const std::uint16_t later = program_->predicates[program_->predicates[change.predicate].result].later;
  const std::int64_t wait = std::max<std::int64_t>(1, modules_->options_.tick.ticks_in({ms * 1'000'000}));
  const std::uint64_t now = tick_, due = now + wait;  // unsigned: what is too far away wraps around
  Word* record = insert(later);
  record[0] = low_word(due);
  record[1] = high_word(due);
  record[2] = node;
  record[3] = change.support << 1 | (change.plus ? 1 : 0);
  std::copy_n(fact, program_->predicates[change.predicate].words, record + 4);
  modules_->wake_at(tick_in(record), id_);
}

void Machine::take_due() {
  for (const std::uint16_t later : modules_->later_) {
    const std::uint16_t target = program_->predicates[later].delays;
    for (std::uint32_t i = 0; i < facts_->count(later);) {
      Word record[132];
      std::copy_n(facts_->at(later, i), program_->predicates[later].words, record);
      if (tick_in(record) > tick_) {
        ++i;
        continue;
      }
      facts_->erase(later, i);
      const Change change{program_->predicates[target].keeps, (record[3] & 1) != 0, false, record[3] >> 1};
      deliver(record[2], change, record + 4);
    }
  }
}

void Machine::deliver(std::uint32_t node, const Change& change, const Word* fact) {
  const Predicate& p = program_->predicates[change.predicate];
  if (node != id_) send(node, change, fact);
  else if (p.action) act(p, fact);
  else push(change, fact);
}

void Machine::act(const Predicate& p, const Word* fact) {
  CatomFacts& own = facts_->catom();
  if (p.role == Role::set_color_number) {
    own.color = palette[fact[0] % palette.size()];
  } else if (p.role == Role::set_color) {
    own.color = channel(fact[0]) << 16 | channel(fact[1]) << 8 | channel(fact[2]);
  } else if (p.role == Role::roll || p.role == Role::slide || p.role == Role::rotate) {
    const bool begins = begin_motion(p.role, fact);
    const std::lock_guard lock(modules_->mutex_);
    modules_->rolling_.push_back({id_, catom_->cell(), begins});
  }
}

// About or along the neighbour at an interface. Without one it is blocked.
bool Machine::begin_motion(Role role, const Word* fact) {
  const auto port_of = [&](Word interface) {
    return interface < narrow<Word>(catom_->ports()) ? modules_->port_of_[interface] : lattice::no_port;
  };
  const int pivot = port_of(fact[0]);
  if (!catom_->has_neighbor(pivot)) return false;
  if (role == Role::slide) return catom_->slide(pivot, port_of(fact[1]));
  if (role == Role::rotate) return catom_->rotate(pivot, port_of(fact[1]));
  return catom_->roll(pivot, fact[1] == 0 ? lattice::Turn::counter_clockwise : lattice::Turn::clockwise);
}

void Machine::send(std::uint32_t node, const Change& change, const Word* fact) {
  const Predicate& p = program_->predicates[change.predicate];
  const bool good = source_of(change.support) == for_good;
  Word address = far_flag | node;
  bool reachable = modules_->options_.reach_all && node < far_flag;
  const std::uint16_t neighbor = modules_->neighbor_;
  for (std::uint32_t i = 0; neighbor != no_predicate && i < facts_->count(neighbor); ++i)
    if (const Word* link = facts_->at(neighbor, i); link[0] == node && link[1] != losing_)
      address = link[1], reachable = true;
  if (!reachable) {
    if (change.plus) modules_->new_lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::size_t begin = outbox_.size();
  outbox_.push_back(address);
  outbox_.push_back(p.words + (p.recursive ? 2u : 1u));
  outbox_.push_back(change.predicate | (change.plus ? 0 : minus_flag) | (good ? for_good_flag : 0));
  if (p.recursive) outbox_.push_back(depth_of(change.support));
  outbox_.insert(outbox_.end(), fact, fact + p.words);
  if (change.plus || good) return;
  // What this takes back may not have been sent yet.
  const std::size_t size = outbox_.size() - begin;
  outbox_[begin + 2] ^= minus_flag;
  std::size_t match = begin;
  for (std::size_t at = 0; at < begin; at += outbox_[at + 1] + 2)
    if (outbox_[at + 1] + 2 == size &&
        std::equal(outbox_.begin() + at, outbox_.begin() + at + size, outbox_.begin() + begin))
      match = at;
  steps_ += begin / 8;  // about as many messages were looked at
  outbox_[begin + 2] ^= minus_flag;
  if (match == begin) return;
  outbox_.resize(begin);
  outbox_.erase(outbox_.begin() + match, outbox_.begin() + match + size);
}

void Machine::flush() {
  for (std::size_t at = 0; at < outbox_.size(); at += outbox_[at + 1] + 2) {
    std::span<const Word> message = std::span(outbox_).subspan(at + 2, outbox_[at + 1]);
    std::vector<Word> with_lists;
    if (const Predicate& p = program_->predicates[message[0] & 0xffff]; p.has_lists) {
      with_lists.assign(message.begin(), message.end());
      for (const Field& field : p.fields)
        if (is_list(field.type)) {
          Word& word = with_lists[message.size() - p.words + field.word];
          const Register list = std::exchange(word, 0);
          write_list(element_of(field.type), list, with_lists);
        }
      message = with_lists;
    }
    const std::span content = std::as_bytes(message);
    if ((outbox_[at] & far_flag) == 0) catom_->send_bytes(modules_->port_of_[outbox_[at]], content, fact_mailbox);
    else catom_->send_far(outbox_[at] & ~far_flag, content, fact_mailbox);
  }
  outbox_.clear();
}

bool Machine::receive(int port, std::span<const std::byte> content) {
  if (content.size() < 4 || content.size() % 4 != 0) return false;
  Word few[132];
  std::vector<Word> many;
  if (content.size() > sizeof few) many.resize(content.size() / 4);
  Word* words = many.empty() ? few : many.data();
  std::memcpy(words, content.data(), content.size());
  const std::uint16_t predicate = words[0] & 0xffff;
  if (predicate >= program_->predicates.size()) return false;
  const Predicate& p = program_->predicates[predicate];
  const std::size_t size = std::size_t{1} + (p.recursive ? 1 : 0) + p.words;
  if (content.size() < 4 * size || senses(p.role) || p.delays != no_predicate || predicate == program_->lists)
    return false;
  std::span<const Word> lists(words + size, content.size() / 4 - size);
  for (const Field& field : p.fields) {
    Register list = 0;
    if (!is_list(field.type)) continue;
    if (!read_list(element_of(field.type), lists, list)) return false;
    words[size - p.words + field.word] = low_word(list);
  }
  if (!lists.empty()) return false;
  const bool good = (words[0] & for_good_flag) != 0 || p.linear || p.action;
  const std::uint32_t depth = p.recursive ? words[1] : 0;
  if (depth > deepest_support) return false;
  const bool is_far = port == lattice::far_port;
  const std::uint8_t interface = is_far ? std::uint8_t{0} : modules_->interface_of_[port];
  const auto known = [&] {
    for (std::uint32_t i = 0; modules_->neighbor_ != no_predicate && i < facts_->count(modules_->neighbor_); ++i)
      if (const Word* link = facts_->at(modules_->neighbor_, i); link[0] == catom_->sender() && link[1] == interface)
        return true;
    return false;
  };
  // The neighbour went away in the meantime, so that it could never take the fact back.
  if (!good && !is_far && !known()) return true;
  const std::uint8_t source = good ? for_good : is_far ? from_afar : interface;
  const Change change{predicate, (words[0] & minus_flag) == 0, false, support_of(depth, source)};
  deliver(id_, change, words + size - p.words);
  return true;
}

}  // namespace volvox::meld
