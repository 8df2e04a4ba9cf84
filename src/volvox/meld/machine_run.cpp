#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "volvox/base/hash.h"
#include "volvox/meld/machine.h"
#include "volvox/meld/meld_modules.h"
#include "volvox/meld/registers.h"

namespace volvox::meld {
namespace {

Register read_field(const Word* fact, Type type, std::uint8_t word) {
  if (type == Type::real) {
    Register r = 0;
    std::memcpy(&r, fact + word, sizeof r);
    return r;
  }
  if (type == Type::integer) return whole(signed_word(fact[word]));
  return fact[word];
}

bool same(Type type, Register a, Register b) { return type == Type::real ? real_of(a) == real_of(b) : a == b; }

}  // namespace

bool Machine::match_and_bind(const Pattern& pattern, const Word* fact) {
  for (const Pattern::Part& part : pattern.parts) {
    const Register value = read_field(fact, part.type, part.word);
    switch (part.test) {
      case Pattern::Test::bind: registers_[part.reg] = value; break;
      case Pattern::Test::same:
        if (!same(part.type, registers_[part.reg], value)) return false;
        break;
      case Pattern::Test::constant:
        if (!same(part.type, program_->constants[part.constant], value)) return false;
        break;
    }
  }
  return true;
}

// Whether a linear fact is taken, by this rule or by an earlier match of it.
bool Machine::is_used(const Choice& choice, std::uint16_t predicate, std::uint32_t record) const {
  for (const Choice& other : choices_) {
    if (&other == &choice || other.pattern == is_loop) continue;
    if (program_->patterns[other.pattern].predicate == predicate && other.next == record + 1) return true;
  }
  return std::find(used_.begin(), used_.end(), std::pair(predicate, record)) != used_.end();
}

bool Machine::next_match(Choice& choice) {
  const Pattern& pattern = program_->patterns[choice.pattern];
  const Predicate& p = program_->predicates[pattern.predicate];
  if (!facts_->any(pattern.predicate)) return false;
  const std::uint32_t count = facts_->count(pattern.predicate), stride = p.stride();
  const Word* record = facts_->at(pattern.predicate, choice.next);
  for (std::uint32_t i = choice.next; i < count; ++i, record += stride) {
    count_step();
    if (p.header > 0 && (record[1] & seen) == 0) continue;
    if (pattern.not_the_trigger && i == trigger_ && pattern.predicate == trigger_predicate_) continue;
    if (!match_and_bind(pattern, record + p.header)) continue;
    if (pattern.linear && is_used(choice, pattern.predicate, i)) continue;
    choice.next = i + 1;
    return true;
  }
  return false;
}

// The last match that has another fact goes on there. False: all were tried.
bool Machine::go_back(std::uint32_t& pc) {
  while (!choices_.empty()) {
    Choice& last = choices_.back();
    if (last.pattern == is_loop) {
      pc = last.pc;
      choices_.pop_back();
      return true;
    }
    if (next_match(last)) {
      pc = last.pc;
      return true;
    }
    choices_.pop_back();
  }
  return false;
}

// Linear facts that were matched since the loop began, or since the rule did, are used up.
void Machine::commit() {
  std::size_t first = choices_.size();
  while (first > 0 && choices_[first - 1].pattern != is_loop) --first;
  for (std::size_t i = first; i < choices_.size(); ++i) {
    const Pattern& pattern = program_->patterns[choices_[i].pattern];
    if (pattern.linear && !pattern.kept) used_.emplace_back(pattern.predicate, choices_[i].next - 1);
  }
  if (first == 0) choices_.clear();  // a rule is used for one match
}

// After a match that used facts up, the loop goes on from the first of them.
bool Machine::next_of_loop(std::uint32_t& pc) {
  std::size_t first = choices_.size();
  while (first > 0 && choices_[first - 1].pattern != is_loop) --first;
  for (std::size_t i = first; i < choices_.size(); ++i) {
    const Pattern& pattern = program_->patterns[choices_[i].pattern];
    if (!pattern.linear || pattern.kept) continue;
    choices_.resize(i + 1);
    break;
  }
  return go_back(pc);
}

// True: a rule that uses linear facts could.
bool Machine::execute(std::uint32_t pc, RuleKind kind) {
  choices_.clear();
  const Instruction* code = program_->code.data();
  Register* r = registers_;
  for (;;) {
    count_step();
    VOLVOX_ASSERT(pc < program_->code.size());
    const Instruction& in = code[pc++];
    switch (in.op) {
      case Op::match:
        choices_.push_back({pc, in.index, 0});
        if (!go_back(pc)) return false;
        break;
      case Op::test:
        if (r[in.a] == 0 && !go_back(pc)) return false;
        break;
      case Op::commit: commit(); break;
      case Op::loop: choices_.push_back({in.index, is_loop, 0}); break;
      case Op::next:
        if (!next_of_loop(pc)) return true;
        break;
      case Op::jump: pc = in.index; break;
      case Op::jump_unless:
        if (r[in.a] == 0) pc = in.index;
        break;
      case Op::emit: emit(in); break;
      case Op::constant: r[in.a] = program_->constants[in.index]; break;
      case Op::copy: r[in.a] = r[in.b]; break;
      case Op::call: call(in); break;
      case Op::add: r[in.a] = whole(number(r[in.b]) + number(r[in.c])); break;
      case Op::subtract: r[in.a] = whole(number(r[in.b]) - number(r[in.c])); break;
      case Op::multiply: r[in.a] = whole(number(r[in.b]) * number(r[in.c])); break;
      case Op::divide:
      case Op::remainder:
        if (r[in.c] == 0)
          throw lattice::CatomError(fmt::format("the rule at {} divides by zero", program_->where(rule_)));
        r[in.a] = whole(in.op == Op::divide ? number(r[in.b]) / number(r[in.c]) : number(r[in.b]) % number(r[in.c]));
        break;
      case Op::add_real: r[in.a] = of_real(real_of(r[in.b]) + real_of(r[in.c])); break;
      case Op::subtract_real: r[in.a] = of_real(real_of(r[in.b]) - real_of(r[in.c])); break;
      case Op::multiply_real: r[in.a] = of_real(real_of(r[in.b]) * real_of(r[in.c])); break;
      case Op::divide_real: r[in.a] = of_real(real_of(r[in.c]) == 0 ? 0 : real_of(r[in.b]) / real_of(r[in.c])); break;
      case Op::equal: r[in.a] = r[in.b] == r[in.c]; break;
      case Op::less: r[in.a] = number(r[in.b]) < number(r[in.c]); break;
      case Op::less_equal: r[in.a] = number(r[in.b]) <= number(r[in.c]); break;
      case Op::equal_real: r[in.a] = real_of(r[in.b]) == real_of(r[in.c]); break;
      case Op::less_real: r[in.a] = real_of(r[in.b]) < real_of(r[in.c]); break;
      case Op::less_equal_real: r[in.a] = real_of(r[in.b]) <= real_of(r[in.c]); break;
      case Op::both: r[in.a] = r[in.b] & r[in.c]; break;
      case Op::either: r[in.a] = r[in.b] | r[in.c]; break;
      case Op::negate: r[in.a] = r[in.b] ^ 1; break;
      case Op::lesser: r[in.a] = whole(std::min(number(r[in.b]), number(r[in.c]))); break;
      case Op::larger: r[in.a] = whole(std::max(number(r[in.b]), number(r[in.c]))); break;
      case Op::lesser_real: r[in.a] = of_real(std::min(real_of(r[in.b]), real_of(r[in.c]))); break;
      case Op::larger_real: r[in.a] = of_real(std::max(real_of(r[in.b]), real_of(r[in.c]))); break;
      case Op::cons: r[in.a] = cons(static_cast<Type>(in.index), r[in.b], r[in.c]); break;
      case Op::first: r[in.a] = first_of(static_cast<Type>(in.index), r[in.b]); break;
      case Op::rest: r[in.a] = rest_of(r[in.b]); break;
      case Op::join: r[in.a] = joined(static_cast<Type>(in.index), r[in.b], r[in.c]); break;
      case Op::contains: r[in.a] = is_in(static_cast<Type>(in.index), r[in.b], r[in.c]) ? 1 : 0; break;
      case Op::done:
        if (kind != RuleKind::derives) return true;
        if (!go_back(pc)) return false;
        break;
    }
  }
}

// Calls it with each fact of the body: its predicate and record.
template <class Function>
void Machine::for_each_of_match(Function&& function) const {
  function(trigger_predicate_, trigger_);
  for (const Choice& choice : choices_)
    if (choice.pattern != is_loop) function(program_->patterns[choice.pattern].predicate, choice.next - 1);
}

// What a rule without linear facts makes can be taken back only if it draws the same number again.
std::uint64_t Machine::random_bits() {
  if (for_good_) return catom_->random().bits();
  return RandomStream(modules_->seed_ ^ hash_of_match(), std::uint64_t{id_} << 16 | rule_, "meld rule").bits();
}

// The facts of the body, whichever of them came last: a sum, so that their order does not matter.
std::uint64_t Machine::hash_of_match() {
  std::uint64_t sum = 0;
  for_each_of_match([&](std::uint16_t predicate, std::uint32_t record) {
    const Predicate& p = program_->predicates[predicate];
    Hasher hasher;
    hasher.add(predicate);
    std::vector<Word> words(facts_->at(predicate, record) + p.header,
                            facts_->at(predicate, record) + p.header + p.words);
    for (const Field& field : p.fields)  // lists have other numbers in other ticks
      if (is_list(field.type)) write_list(element_of(field.type), std::exchange(words[field.word], 0), words);
    hasher.add(words.data(), words.size() * sizeof(Word));
    sum += hasher.value();
  });
  return sum;
}

void Machine::call(const Instruction& in) {
  Register& out = registers_[in.a];
  const Register x = registers_[in.b];
  switch (static_cast<FunctionId>(in.index)) {
    case FunctionId::node_to_int: out = whole(number(x)); return;
    case FunctionId::to_real: out = of_real(real(number(x))); return;
    case FunctionId::to_int: {
      const double v = std::trunc(real_of(x));
      out = whole(v >= -2147483648.0 && v <= 2147483647.0 ? truncated<std::int64_t>(v) : 0);
      return;
    }
    case FunctionId::absolute: out = whole(std::abs(number(x))); return;
    case FunctionId::absolute_real: out = of_real(std::fabs(real_of(x))); return;
    case FunctionId::power: {
      std::uint32_t result = 1, base = low_word(x);
      for (std::int64_t n = number(registers_[in.b + 1]); n > 0; n /= 2, base *= base)
        if (n % 2 == 1) result *= base;
      out = whole(result);
      return;
    }
    case FunctionId::random: out = number(x) <= 0 ? 0 : whole(narrow<std::int64_t>(random_bits() % x)); return;
    case FunctionId::square_root: out = of_real(std::sqrt(std::max(0.0, real_of(x)))); return;
    default: out = call_of_list(static_cast<FunctionId>(in.index), static_cast<Type>(in.c), x, registers_[in.b + 1]);
  }
}

// One more than that of the deepest fact of the body.
std::uint32_t Machine::depth_of_match() const {
  std::uint32_t depth = 0;
  for_each_of_match([&](std::uint16_t predicate, std::uint32_t record) {
    if (program_->predicates[predicate].header > 0) depth = std::max(depth, depth_of(*facts_->at(predicate, record)));
  });
  return depth + 1;
}

void Machine::emit(const Instruction& in) {
  const Predicate& p = program_->predicates[in.index];
  Word fact[128];
  fact[0] = 0;
  for (std::size_t i = 0; i < p.fields.size(); ++i) {
    const Register value = registers_[in.b + i];
    if (p.fields[i].type == Type::real) std::memcpy(fact + p.fields[i].word, &value, sizeof value);
    else fact[p.fields[i].word] = low_word(value);
  }
  Change change{p.keeps, plus_, false, support_of(0, for_good_ ? for_good : from_itself)};
  if (!for_good_ && program_->predicates[p.keeps].recursive) {
    change.support = support_of(std::min(depth_of_match(), deepest_support), from_itself);
  } else if (which_ == Which::recursive && !for_good_) {
    return;  // only depths have changed, and this head has none
  }
  if (!plus_ && (p.action || p.linear)) return;  // what was done stays done
  const std::uint32_t node = low_word(registers_[in.a]);
  if (in.c != 0) delay(node, change, fact, program_->delays_ms[in.c]);
  else deliver(node, change, fact);
}

}  // namespace volvox::meld
