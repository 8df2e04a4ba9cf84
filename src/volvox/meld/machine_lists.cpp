// Lists. An element is a fact of a hidden predicate: the type of its value, two words of the value, and the list that
// follows. A list is 1 + the number of its first element, and 0 is the empty one. Equal lists are the same number,
// because an element that is there already is not made again: so facts with lists are compared as all others, and have
// a fixed size. An element is made after those that follow it, so that numbers fall along a list. What no fact holds
// any more is forgotten at the end of a tick. All of it belongs to one catom; neighbours are told the values.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "volvox/meld/machine.h"
#include "volvox/meld/meld_modules.h"
#include "volvox/meld/registers.h"

namespace volvox::meld {
namespace {

enum : std::size_t { type_word, low_of_value, high_of_value, rest_word };  // of an element

Register value_of(Type type, const Word* low) {
  if (type == Type::real) return std::uint64_t{low[1]} << 32 | low[0];
  if (type == Type::integer) return whole(signed_word(low[0]));
  return low[0];
}

bool less(Type type, Register a, Register b) {
  if (type == Type::real) return real_of(a) < real_of(b);
  if (type == Type::integer) return number(a) < number(b);
  return a < b;
}

}  // namespace

Register Machine::cons(Type element, Register first, Register rest) {
  const std::uint16_t lists = program_->lists;
  const Word words[words_of_element] = {static_cast<Word>(element), low_word(first),
                                        element == Type::real ? high_word(first) : 0, low_word(rest)};
  const std::uint32_t count = facts_->count(lists);
  steps_ += count / 4;
  count_step();
  for (std::uint32_t i = count; i-- > 0;)
    if (std::equal(words, words + words_of_element, facts_->at(lists, i))) return i + 1;
  std::copy_n(words, words_of_element, insert(lists));
  new_lists_ = true;
  return count + 1;
}

Register Machine::first_of(Type element, Register list) const {
  VOLVOX_ASSERT(list > 0 && list <= facts_->count(program_->lists));
  return value_of(element, facts_->at(program_->lists, narrow<std::uint32_t>(list - 1)) + low_of_value);
}

Register Machine::rest_of(Register list) const {
  VOLVOX_ASSERT(list > 0 && list <= facts_->count(program_->lists));
  return facts_->at(program_->lists, narrow<std::uint32_t>(list - 1))[rest_word];
}

std::vector<Register> Machine::elements_of(Type element, Register list) {
  std::vector<Register> all;
  for (; list != 0; list = rest_of(list)) {
    count_step();
    all.push_back(first_of(element, list));
  }
  return all;
}

Register Machine::list_from(Type element, const std::vector<Register>& elements, Register rest) {
  for (auto it = elements.rbegin(); it != elements.rend(); ++it) rest = cons(element, *it, rest);
  return rest;
}

Register Machine::joined(Type element, Register a, Register b) {
  return list_from(element, elements_of(element, a), b);
}

bool Machine::is_in(Type element, Register one, Register list) {
  const auto all = elements_of(element, list);
  return std::any_of(all.begin(), all.end(), [&](Register other) {
    return element == Type::real ? real_of(one) == real_of(other) : one == other;
  });
}

Register Machine::call_of_list(FunctionId function, Type element, Register list, Register other) {
  std::vector<Register> all = elements_of(element, list);
  const auto same = [&](Register a, Register b) { return !less(element, a, b) && !less(element, b, a); };
  switch (function) {
    case FunctionId::length: return all.size();
    case FunctionId::element:
    case FunctionId::last: {
      const std::int64_t at = function == FunctionId::last ? std::ssize(all) - 1 : number(other);
      if (at < 0 || at >= std::ssize(all))
        throw lattice::CatomError(
            fmt::format("the rule at {} wants element {} of a list of {}", program_->where(rule_), at, all.size()));
      return all[static_cast<std::size_t>(at)];
    }
    case FunctionId::without: std::erase_if(all, [&](Register one) { return same(one, other); }); break;
    case FunctionId::reversed: std::reverse(all.begin(), all.end()); break;
    case FunctionId::sorted:
      std::stable_sort(all.begin(), all.end(), [&](Register a, Register b) { return less(element, a, b); });
      break;
    case FunctionId::without_duplicates: {
      std::vector<Register> once;
      for (const Register one : all)
        if (std::none_of(once.begin(), once.end(), [&](Register o) { return same(o, one); })) once.push_back(one);
      steps_ += all.size() * once.size() / 4;
      all = std::move(once);
      break;
    }
    default: VOLVOX_ASSERT(false);
  }
  return list_from(element, all);
}

// For a message: the number of elements, and their values.
void Machine::write_list(Type element, Register list, std::vector<Word>& to) {
  const auto all = elements_of(element, list);
  to.push_back(narrow<Word>(all.size()));
  for (const Register one : all) {
    if (is_list(element)) {
      write_list(element_of(element), one, to);
      continue;
    }
    to.push_back(low_word(one));
    if (element == Type::real) to.push_back(high_word(one));
  }
}

// False: these words are no such list.
bool Machine::read_list(Type element, std::span<const Word>& from, Register& list) {
  if (from.empty() || from[0] > from.size() - 1) return false;
  std::vector<Register> all(from[0]);
  from = from.subspan(1);
  for (Register& one : all) {
    if (is_list(element)) {
      if (!read_list(element_of(element), from, one)) return false;
      continue;
    }
    const std::size_t size = element == Type::real ? 2 : 1;
    if (from.size() < size) return false;
    const Word words[2] = {from[0], size == 2 ? from[1] : 0};
    one = value_of(element, words);
    from = from.subspan(size);
  }
  list = list_from(element, all);
  return true;
}

// Keeps the elements of all lists that facts hold, in their order, and gives them new numbers.
void Machine::forget_unused_lists() {
  const std::uint16_t lists = program_->lists;
  const std::uint32_t count = facts_->count(lists);
  std::vector<std::uint32_t>& numbers = used_lists_;  // new ones by old; 0: it is not used
  numbers.assign(count + 1, 0);
  const auto each_field = [&](const auto& visit) {
    for (const std::uint16_t k : indices<std::uint16_t>(program_->predicates)) {
      const Predicate& p = program_->predicates[k];
      const bool later = p.delays != no_predicate;
      const Predicate& of = later ? program_->predicates[p.delays] : p;
      if (!of.has_lists) continue;
      const std::size_t begin = later ? 4 : p.header;
      for (std::uint32_t i = 0; i < facts_->count(k); ++i)
        for (const Field& field : of.fields)
          if (is_list(field.type)) visit(facts_->at(k, i)[begin + field.word]);
    }
  };
  each_field([&](Word list) { numbers[list] = 1; });
  // An element is used if a fact or a used element behind it holds it.
  for (std::uint32_t i = count; i-- > 0;) {
    if (numbers[i + 1] == 0) continue;
    const Word* element = facts_->at(lists, i);
    numbers[element[rest_word]] = 1;
    if (is_list(static_cast<Type>(element[type_word]))) numbers[element[low_of_value]] = 1;
  }
  numbers[0] = 0;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (numbers[i + 1] == 0) continue;
    Word element[words_of_element];
    std::copy_n(facts_->at(lists, i), words_of_element, element);
    element[rest_word] = numbers[element[rest_word]];
    if (is_list(static_cast<Type>(element[type_word]))) element[low_of_value] = numbers[element[low_of_value]];
    std::copy_n(element, words_of_element, facts_->at(lists, kept));
    numbers[i + 1] = ++kept;
  }
  for (std::uint32_t i = count; i-- > kept;) facts_->erase(lists, i);
  each_field([&](Word& list) { list = numbers[list]; });
}

}  // namespace volvox::meld
