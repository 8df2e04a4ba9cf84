#include "volvox/meld/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "volvox/meld/meld_modules.h"

namespace volvox::meld {
namespace {

constexpr Word minus_bit = 1 << 16, all_bit = 1 << 17;

bool equal_words(const Word* a, const Word* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace

Machine& Machine::of_this_thread() {
  thread_local Machine machine;
  return machine;
}

void Machine::begin(MeldModules& modules, lattice::Catom& catom, std::uint32_t id, std::int64_t tick) {
  if (epoch_ == modules.epoch_ && id_ == id && facts_) return;
  epoch_ = modules.epoch_;
  modules_ = &modules;
  program_ = modules.program_.get();
  catom_ = &catom;
  id_ = id;
  tick_ = tick;
  facts_.emplace(modules.store_, modules.states_[id]);
  steps_ = 0;
  most_steps_ = modules.options_.most_steps;
  agenda_.clear();
  agenda_at_ = 0;
  choices_.clear();
  used_.clear();
  marked_.assign((program_->rules.size() + 63) / 64, 0);
  any_marked_ = false;
  unsettled_.clear();
  losing_ = 0xffffffff;
  outbox_.clear();
}

void Machine::never_stops() const {
  throw lattice::CatomError(fmt::format("the rule at {} does not stop: more than {} steps in one tick",
                                        program_->rules.empty() ? program_->name : program_->where(rule_),
                                        most_steps_));
}

void Machine::end() {
  do run_derivations();
  while (use_linear_facts());
  flush();
  facts_.reset();  // another catom may be processed next, or this one in another tick
}

void Machine::push(const Change& change, const Word* fact) {
  const Predicate& p = program_->predicates[change.predicate];
  const Word flags = (change.plus ? 0 : minus_bit) | (change.all ? all_bit : 0);
  agenda_.push_back(change.predicate | flags);
  agenda_.push_back(change.support);
  agenda_.insert(agenda_.end(), fact, fact + p.words);
}

void Machine::run_derivations() {
  do {
    while (agenda_at_ < agenda_.size()) process_next();
    agenda_.clear();
    agenda_at_ = 0;
  } while (settle_aggregates());
}

void Machine::process_next() {
  const Word head = agenda_[agenda_at_];
  const Support support = agenda_[agenda_at_ + 1];
  const auto predicate = static_cast<std::uint16_t>(head);
  const Predicate& p = program_->predicates[predicate];
  std::copy_n(agenda_.data() + agenda_at_ + 2, p.words, fact_);
  agenda_at_ += std::size_t{2} + p.words;
  count_step();
  if (p.linear) add_linear(predicate, fact_);
  else if ((head & minus_bit) == 0) derive(predicate, support, fact_);
  else withdraw(predicate, support, fact_, (head & all_bit) != 0);
}

Word* Machine::insert(std::uint16_t predicate) {
  Word* at = facts_->insert(predicate);
  if (at != nullptr) return at;
  throw lattice::CatomError(fmt::format("its facts need more than {} words; the last one was a {}, of the rule at {}",
                                        FactStore::most_words, program_->predicates[predicate].name,
                                        program_->rules.empty() ? "-" : program_->where(rule_)));
}

void Machine::add_linear(std::uint16_t predicate, const Word* fact) {
  const Predicate& p = program_->predicates[predicate];
  std::copy_n(fact, p.words, insert(predicate));
  mark_rules(p);
}

void Machine::derive(std::uint16_t predicate, Support support, const Word* fact) {
  const Predicate& p = program_->predicates[predicate];
  const std::uint32_t count = facts_->count(predicate);
  steps_ += count;
  std::uint32_t seen_one = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    Word* record = facts_->at(predicate, i);
    if (!equal_words(record + 2, fact, p.words)) continue;
    if (record[0] == support) {
      record[1] += one_more;
      if (p.aggregate != Aggregate::none) unsettled_.push_back(predicate);
      return;
    }
    if ((record[1] & seen) != 0) seen_one = i;
  }
  Word* record = insert(predicate);
  record[0] = support;
  record[1] = one_more;
  std::copy_n(fact, p.words, record + 2);
  if (p.aggregate != Aggregate::none) {
    unsettled_.push_back(predicate);
  } else if (seen_one == count) {
    record[1] |= seen;
    fire(true, predicate, count, Which::all);
  } else if (depth_of(support) < depth_of(*facts_->at(predicate, seen_one))) {
    see_instead(predicate, seen_one, count);
  }
}

// Another record of the same fact is seen. Only what depends on its depth changes.
void Machine::see_instead(std::uint16_t predicate, std::uint32_t old, std::uint32_t other) {
  const bool deeper = depth_of(*facts_->at(predicate, old)) != depth_of(*facts_->at(predicate, other));
  if (deeper) fire(false, predicate, old, Which::recursive);
  facts_->at(predicate, old)[1] &= ~seen;
  facts_->at(predicate, other)[1] |= seen;
  if (deeper) fire(true, predicate, other, Which::recursive);
}

void Machine::withdraw(std::uint16_t predicate, Support support, const Word* fact, bool all) {
  const Predicate& p = program_->predicates[predicate];
  const std::uint32_t count = facts_->count(predicate);
  steps_ += count;
  std::uint32_t gone = count, other = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Word* record = facts_->at(predicate, i);
    if (!equal_words(record + 2, fact, p.words)) continue;
    if (record[0] == support) gone = i;
    else if (other == count || depth_of(*record) < depth_of(*facts_->at(predicate, other))) other = i;
  }
  if (gone == count) return;  // it was dropped with a lost neighbour
  Word* record = facts_->at(predicate, gone);
  if (derivations(record[1]) == 0) return;
  record[1] = all ? record[1] & seen : record[1] - one_more;
  if (p.aggregate != Aggregate::none) unsettled_.push_back(predicate);
  if (derivations(record[1]) > 0) return;
  const bool is_seen = (record[1] & seen) != 0;
  if (is_seen && p.aggregate != Aggregate::none) return;  // settling it removes it
  if (is_seen) {
    if (other < count) see_instead(predicate, gone, other);
    else fire(false, predicate, gone, Which::all);
  }
  facts_->erase(predicate, gone);
}

void Machine::mark_rules(const Predicate& p) {
  for (const std::uint16_t rule : p.rules) marked_[rule / 64] |= std::uint64_t{1} << rule % 64;
  any_marked_ = any_marked_ || !p.rules.empty();
}

// What follows from a fact that is there, and from that it is not any more: it is still there then.
void Machine::fire(bool plus, std::uint16_t predicate, std::uint32_t record, Which which) {
  const Predicate& p = program_->predicates[predicate];
  if (plus && which == Which::all) mark_rules(p);
  for (const std::uint32_t number : p.plans) {
    const Plan& plan = program_->plans[number];
    if (which == Which::recursive && !plan.recursive) continue;
    registers_[0] = id_;
    rule_ = plan.rule;
    count_step();
    if (!matches(program_->patterns[plan.trigger], facts_->at(predicate, record) + p.header)) continue;
    plus_ = plus;
    for_good_ = false;
    trigger_predicate_ = predicate;
    trigger_ = record;
    execute(plan.code, RuleKind::derives);
  }
}

// The first rule of the program that can. False: none can.
bool Machine::use_linear_facts() {
  if (!any_marked_) return false;
  for (std::size_t word = 0; word < marked_.size(); ++word) {
    while (marked_[word] != 0) {
      rule_ = static_cast<std::uint16_t>(64 * word + static_cast<std::size_t>(std::countr_zero(marked_[word])));
      registers_[0] = id_;
      plus_ = true;
      for_good_ = true;
      trigger_predicate_ = no_predicate;
      if (execute(program_->rules[rule_].code, RuleKind::uses)) {
        erase_used();
        return true;  // it stays marked: it may match again
      }
      marked_[word] &= marked_[word] - 1;
    }
  }
  any_marked_ = false;
  return false;
}

void Machine::erase_used() {
  std::sort(used_.begin(), used_.end());
  for (auto it = used_.rbegin(); it != used_.rend(); ++it) facts_->erase(it->first, it->second);
  used_.clear();
}

bool Machine::settle_aggregates() {
  if (unsettled_.empty()) return false;
  std::sort(unsettled_.begin(), unsettled_.end());
  unsettled_.erase(std::unique(unsettled_.begin(), unsettled_.end()), unsettled_.end());
  const std::uint16_t predicate = unsettled_.front();
  unsettled_.erase(unsettled_.begin());
  const Aggregate how = program_->predicates[predicate].aggregate;
  if (how == Aggregate::sum || how == Aggregate::count) settle_sums(predicate);
  else settle_best(predicate);
  return true;
}

bool Machine::same_group(const Predicate& p, const Word* a, const Word* b) const {
  const std::size_t at = p.fields[p.aggregate_field].word,
                    size = p.fields[p.aggregate_field].type == Type::real ? 2 : 1;
  return equal_words(a + 2, b + 2, at) && equal_words(a + 2 + at + size, b + 2 + at + size, p.words - at - size);
}

// Of two records of a group; the older one of equals is kept.
bool Machine::better(const Predicate& p, const Word* a, const Word* b) const {
  const Field& field = p.fields[p.aggregate_field];
  const Word *x = a + 2 + field.word, *y = b + 2 + field.word;
  if (p.aggregate == Aggregate::first) return false;
  if (field.type == Type::real) {
    double u = 0, v = 0;
    std::memcpy(&u, x, sizeof u);
    std::memcpy(&v, y, sizeof v);
    if (u != v) return p.aggregate == Aggregate::min ? u < v : u > v;
  } else {
    const auto u = static_cast<std::int32_t>(*x), v = static_cast<std::int32_t>(*y);
    if (u != v) return p.aggregate == Aggregate::min ? u < v : u > v;
  }
  return depth_of(a[0]) < depth_of(b[0]);
}

// The best record of the group of this one; the number of records: none has a derivation.
std::uint32_t Machine::best_like(std::uint16_t predicate, std::uint32_t record) const {
  const Predicate& p = program_->predicates[predicate];
  const std::uint32_t count = facts_->count(predicate);
  std::uint32_t best = count;
  const Word* like = facts_->at(predicate, record);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Word* other = facts_->at(predicate, i);
    if (derivations(other[1]) == 0 || !same_group(p, like, other)) continue;
    if (best == count || better(p, other, facts_->at(predicate, best))) best = i;
  }
  return best;
}

void Machine::settle_best(std::uint16_t predicate) {
  while (settle_one_best(predicate)) count_step();
}

// False: in all groups the best is seen.
bool Machine::settle_one_best(std::uint16_t predicate) {
  const Predicate& p = program_->predicates[predicate];
  const std::uint32_t count = facts_->count(predicate);
  for (std::uint32_t i = 0; i < count; ++i) {
    Word* record = facts_->at(predicate, i);
    if ((record[1] & seen) != 0) {
      const std::uint32_t best = best_like(predicate, i);
      if (best == i) continue;
      const bool same = best < count && equal_words(record + 2, facts_->at(predicate, best) + 2, p.words);
      if (same) {
        see_instead(predicate, i, best);
      } else {
        fire(false, predicate, i, Which::all);
        record[1] &= ~seen;
        if (best < count) {
          facts_->at(predicate, best)[1] |= seen;
          fire(true, predicate, best, Which::all);
        }
      }
      if (derivations(record[1]) == 0) facts_->erase(predicate, i);
      return true;
    }
    const bool group_is_seen = [&] {
      for (std::uint32_t k = 0; k < count; ++k)
        if (const Word* other = facts_->at(predicate, k); (other[1] & seen) != 0 && same_group(p, record, other))
          return true;
      return false;
    }();
    if (group_is_seen) continue;
    const std::uint32_t best = best_like(predicate, i);
    facts_->at(predicate, best)[1] |= seen;
    fire(true, predicate, best, Which::all);
    return true;
  }
  return false;
}

void Machine::settle_sums(std::uint16_t predicate) {
  const Predicate& p = program_->predicates[predicate];
  // Sums whose parts are all gone.
  for (std::uint32_t i = facts_->count(p.result); i-- > 0;) {
    const std::uint32_t count = facts_->count(predicate);
    std::uint32_t k = 0;
    while (k < count && !same_group(p, facts_->at(p.result, i), facts_->at(predicate, k))) ++k;
    if (k < count) continue;
    fire(false, p.result, i, Which::all);
    facts_->erase(p.result, i);
  }
  for (std::uint32_t i = 0; i < facts_->count(predicate); ++i) {
    std::uint32_t k = 0;
    while (k < i && !same_group(p, facts_->at(predicate, i), facts_->at(predicate, k))) ++k;
    if (k == i) settle_sum(predicate, i);
  }
}

void Machine::settle_sum(std::uint16_t predicate, std::uint32_t first) {
  const Predicate& p = program_->predicates[predicate];
  const Field& field = p.fields[p.aggregate_field];
  Word total[128];
  std::copy_n(facts_->at(predicate, first) + 2, p.words, total);
  std::uint32_t whole = 0;
  double sum = 0;
  for (std::uint32_t i = first; i < facts_->count(predicate); ++i) {
    const Word* record = facts_->at(predicate, i);
    if (!same_group(p, record, facts_->at(predicate, first))) continue;
    const std::uint32_t times = derivations(record[1]);
    double value = 0;
    if (field.type == Type::real) std::memcpy(&value, record + 2 + field.word, sizeof value);
    sum += value * times;
    whole += p.aggregate == Aggregate::count ? times : times * record[2 + field.word];
  }
  if (field.type == Type::real) std::memcpy(total + field.word, &sum, sizeof sum);
  else total[field.word] = whole;
  for (std::uint32_t i = 0; i < facts_->count(p.result); ++i) {
    if (!same_group(p, facts_->at(p.result, i), facts_->at(predicate, first))) continue;
    if (equal_words(facts_->at(p.result, i) + 2, total, p.words)) return;
    fire(false, p.result, i, Which::all);
    facts_->erase(p.result, i);
    break;
  }
  Word* record = insert(p.result);
  record[0] = support_of(0, from_itself);
  record[1] = one_more | seen;
  std::copy_n(total, p.words, record + 2);
  fire(true, p.result, facts_->count(p.result) - 1, Which::all);
}

}  // namespace volvox::meld
