#include "volvox/meld/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "volvox/meld/meld_modules.h"
#include "volvox/meld/registers.h"

namespace volvox::meld {
namespace {

constexpr Word minus_bit = 1 << 16, all_bit = 1 << 17;
constexpr std::size_t most_done = 1 << 20;  // words of the agenda that are kept behind, so that it seldom moves

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
  facts_.emplace(modules.store_, modules.of(id));
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
  which_ = Which::all;
  most_depth_ = modules.most_depth_;
  seen_change_ = 0;
  outbox_.clear();
  new_lists_ = false;
}

void Machine::never_stops() const {
  throw lattice::CatomError(fmt::format("the rule at {} does not stop: more than {} steps in one tick",
                                        program_->rules.empty() ? program_->name : program_->where(rule_),
                                        most_steps_));
}

void Machine::end() {
  do run_derivations();
  while (use_linear_facts());
  VOLVOX_ASSERT(agenda_.empty() && used_.empty() && unsettled_.empty() && !any_marked_);  // nothing more follows
  flush();
  if (new_lists_) forget_unused_lists();
  if (seen_change_ != 0) modules_->new_seen_.fetch_add(seen_change_, std::memory_order_relaxed);
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
    while (agenda_at_ < agenda_.size()) {
      process_next();
      if (agenda_at_ < most_done) continue;
      agenda_.erase(agenda_.begin(), agenda_.begin() + agenda_at_);
      agenda_at_ = 0;
    }
    agenda_.clear();
    agenda_at_ = 0;
  } while (settle_aggregates());
}

void Machine::process_next() {
  const Word head = agenda_[agenda_at_];
  const Support support = agenda_[agenda_at_ + 1];
  const std::uint16_t predicate = head & 0xffff;
  const Predicate& p = program_->predicates[predicate];
  VOLVOX_ASSERT(p.words <= std::size(fact_) && agenda_at_ + 2 + p.words <= agenda_.size());
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
  VOLVOX_ASSERT(p.header == 2);  // it has a support and a count
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
  } else if (!may_be_seen(record)) {
    return;
  } else if (seen_one == count) {
    see(predicate, count, true);
    fire(true, predicate, count, Which::all);
  } else if (depth_of(support) < depth_of(*facts_->at(predicate, seen_one))) {
    see_instead(predicate, seen_one, count);
  }
}

bool Machine::may_be_seen(const Word* record) const {
  return depth_of(*record) <=
         std::min(most_depth_ + narrow<std::uint32_t>(std::max<std::int64_t>(0, seen_change_)), deepest_support - 1);
}

void Machine::see(std::uint16_t predicate, std::uint32_t record, bool is_seen) {
  VOLVOX_ASSERT(record < facts_->count(predicate));
  Word* words = facts_->at(predicate, record);
  VOLVOX_ASSERT(((words[1] & seen) != 0) != is_seen);  // or seen_change_ would be wrong
  words[1] = is_seen ? words[1] | seen : words[1] & ~seen;
  if (program_->predicates[predicate].recursive) seen_change_ += is_seen ? 1 : -1;
}

// Another record of the same fact is seen. Only what depends on its depth changes; that comes anew before it goes, so
// that nothing vanishes in between.
void Machine::see_instead(std::uint16_t predicate, std::uint32_t old, std::uint32_t other) {
  const auto show = [&](std::uint32_t shown, std::uint32_t hidden) {
    see(predicate, hidden, false);
    see(predicate, shown, true);
  };
  show(other, old);
  if (depth_of(*facts_->at(predicate, old)) == depth_of(*facts_->at(predicate, other))) return;
  fire(true, predicate, other, Which::recursive);
  show(old, other);
  fire(false, predicate, old, Which::recursive);
  show(other, old);
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
    else if (!may_be_seen(record)) continue;
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
    else fire(false, predicate, gone, Which::all), see(predicate, gone, false);
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
  VOLVOX_ASSERT(record < facts_->count(predicate));
  if (plus && which == Which::all) mark_rules(p);
  for (const std::uint32_t number : p.plans) {
    const Plan& plan = program_->plans[number];
    if (which == Which::recursive && !plan.recursive) continue;
    registers_[0] = id_;
    rule_ = plan.rule;
    count_step();
    if (!match_and_bind(program_->patterns[plan.trigger], facts_->at(predicate, record) + p.header)) continue;
    plus_ = plus;
    which_ = which;
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
      rule_ = narrow<std::uint16_t>(64 * word + std::countr_zero(marked_[word]));
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
    const std::int32_t u = signed_word(*x), v = signed_word(*y);
    if (u != v) return p.aggregate == Aggregate::min ? u < v : u > v;
  }
  return depth_of(a[0]) < depth_of(b[0]);
}

// Groups whose seen record is not the best, in the order in which they are settled.
void Machine::find_groups(std::uint16_t predicate) {
  const Predicate& p = program_->predicates[predicate];
  const std::uint32_t count = facts_->count(predicate);
  steps_ += count;
  by_group_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) by_group_[i] = i;
  const std::size_t at = p.fields[p.aggregate_field].word,
                    end = at + (p.fields[p.aggregate_field].type == Type::real ? 2 : 1);
  std::sort(by_group_.begin(), by_group_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Word *x = facts_->at(predicate, a) + 2, *y = facts_->at(predicate, b) + 2;
    for (std::size_t k = 0; k < p.words; ++k)
      if ((k < at || k >= end) && x[k] != y[k]) return x[k] < y[k];
    return a < b;
  });
  groups_.clear();
  for (std::uint32_t i = 0; i < count;) {
    const std::uint32_t first = by_group_[i];
    Group group{first, count, count};
    for (; i < count && same_group(p, facts_->at(predicate, first), facts_->at(predicate, by_group_[i])); ++i) {
      const Word* record = facts_->at(predicate, by_group_[i]);
      if ((record[1] & seen) != 0) group.key = group.seen = by_group_[i];
      if (derivations(record[1]) == 0 || !may_be_seen(record)) continue;
      if (group.best == count || better(p, record, facts_->at(predicate, group.best))) group.best = by_group_[i];
    }
    if (group.seen != group.best) groups_.push_back(group);
  }
  std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) { return a.key < b.key; });
}

void Machine::settle_best(std::uint16_t predicate) {
  find_groups(predicate);
  for (const Group& group : groups_) {
    count_step();
    settle_group(predicate, group);
  }
  for (std::uint32_t i = facts_->count(predicate); i-- > 0;)
    if (const Word* record = facts_->at(predicate, i); derivations(record[1]) == 0 && (record[1] & seen) == 0)
      facts_->erase(predicate, i);
}

// What follows may insert facts, so no pointer is kept; but none of this predicate before all groups are settled.
void Machine::settle_group(std::uint16_t predicate, const Group& group) {
  const std::uint32_t none = facts_->count(predicate);
  const bool same = group.seen < none && group.best < none &&
                    equal_words(facts_->at(predicate, group.seen) + 2, facts_->at(predicate, group.best) + 2,
                                program_->predicates[predicate].words);
  if (same) return see_instead(predicate, group.seen, group.best);
  if (group.seen < none) {
    fire(false, predicate, group.seen, Which::all);
    see(predicate, group.seen, false);
  }
  if (group.best == none) return;
  see(predicate, group.best, true);
  fire(true, predicate, group.best, Which::all);
}

void Machine::settle_sums(std::uint16_t predicate) {
  const Predicate& p = program_->predicates[predicate];
  // Sums whose parts are all gone.
  for (std::uint32_t i = facts_->count(p.result); i-- > 0;) {
    const std::uint32_t count = facts_->count(predicate);
    std::uint32_t k = 0;
    while (k < count &&
           !(may_be_seen(facts_->at(predicate, k)) && same_group(p, facts_->at(p.result, i), facts_->at(predicate, k))))
      ++k;
    steps_ += k;
    if (k < count) continue;
    fire(false, p.result, i, Which::all);
    see(p.result, i, false);
    facts_->erase(p.result, i);
  }
  for (std::uint32_t i = 0; i < facts_->count(predicate); ++i) {
    if (!may_be_seen(facts_->at(predicate, i))) continue;
    std::uint32_t k = 0;
    while (k < i && !(may_be_seen(facts_->at(predicate, k)) &&
                      same_group(p, facts_->at(predicate, i), facts_->at(predicate, k))))
      ++k;
    steps_ += k;
    count_step();
    if (k == i) settle_sum(predicate, i);
  }
}

void Machine::settle_sum(std::uint16_t predicate, std::uint32_t first) {
  const Predicate& p = program_->predicates[predicate];
  const Field& field = p.fields[p.aggregate_field];
  Word total[128];
  std::copy_n(facts_->at(predicate, first) + 2, p.words, total);
  std::uint32_t whole = 0, depth = 0;
  double sum = 0;
  for (std::uint32_t i = first; i < facts_->count(predicate); ++i) {
    const Word* record = facts_->at(predicate, i);
    if (!may_be_seen(record) || !same_group(p, record, facts_->at(predicate, first))) continue;
    depth = std::max(depth, depth_of(*record));
    const std::uint32_t times = derivations(record[1]);
    double value = 0;
    if (field.type == Type::real) std::memcpy(&value, record + 2 + field.word, sizeof value);
    sum += value * times;
    whole += p.aggregate == Aggregate::count ? times : times * record[2 + field.word];
  }
  if (field.type == Type::real) std::memcpy(total + field.word, &sum, sizeof sum);
  else total[field.word] = whole;
  replace_sum(p, support_of(depth, from_itself), total);
}

// `p` holds the parts. A sum is as deep as the deepest of them.
void Machine::replace_sum(const Predicate& p, Support support, const Word* total) {
  Which which = Which::all;
  for (std::uint32_t i = 0; i < facts_->count(p.result); ++i) {
    const Word* old = facts_->at(p.result, i);
    Word as_record[130];
    std::copy_n(total, p.words, as_record + 2);
    if (!same_group(p, old, as_record)) continue;
    if (equal_words(old + 2, total, p.words)) {
      if (old[0] == support) return;
      which = Which::recursive;
    }
    fire(false, p.result, i, which);
    see(p.result, i, false);
    facts_->erase(p.result, i);
    break;
  }
  Word* record = insert(p.result);
  record[0] = support;
  record[1] = one_more;
  std::copy_n(total, p.words, record + 2);
  const std::uint32_t last = facts_->count(p.result) - 1;
  see(p.result, last, true);
  fire(true, p.result, last, which);
}

}  // namespace volvox::meld
