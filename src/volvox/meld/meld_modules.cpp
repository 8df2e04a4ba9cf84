#include "volvox/meld/meld_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "volvox/meld/machine.h"
#include "volvox/meld/registers.h"

namespace volvox::meld {

// The names by which worlds know the code module and its messages.
struct Meld {};
VOLVOX_TYPE(Meld)
struct FactMessage {};
VOLVOX_TYPE(FactMessage)

MeldModules::MeldModules(std::shared_ptr<const Program> program, const MachineOptions& options)
    : program_(std::move(program)), options_(options), store_(*program_) {
  stride_ = sizeof(CatomFacts);
  links_.push_back({fact_mailbox, heard, &type_of<FactMessage>()});
  prefetch = prefetch_facts;
  woken = woken_catom;
  end_tick = end_of_tick;
  neighbor_ = program_->with(Role::neighbor);
  vacant_ = program_->with(Role::vacant);
  neighbor_count_ = program_->with(Role::neighbor_count);
  tap_ = program_->with(Role::tap);
  moved_ = program_->with(Role::moved);
  blocked_ = program_->with(Role::blocked);
  for (const std::uint16_t i : indices<std::uint16_t>(program_->predicates))
    if (program_->predicates[i].delays != no_predicate) later_.push_back(i);
  for (const std::uint16_t i : indices<std::uint16_t>(program_->rules)) {
    const RuleInfo& rule = program_->rules[i];
    if (rule.kind != RuleKind::begins) continue;
    if (rule.node) axioms_of_node_.emplace_back(*rule.node, i);
    else axioms_.push_back(i);
  }
  std::sort(axioms_of_node_.begin(), axioms_of_node_.end());
  for (const std::uint16_t k : indices<std::uint16_t>(program_->predicates)) {
    const Predicate& p = program_->predicates[k];
    if (p.name.find('\'') != std::string::npos || p.action || p.role == Role::neighbor || p.role == Role::vacant)
      continue;
    for (std::size_t i = 0; i < p.fields.size(); ++i)
      if (const Type type = p.fields[i].type; type != Type::text && !is_list(type))
        shown_.push_back({p.fields.size() == 1 ? p.name : fmt::format("{} {}", p.name, i + 1), k, p.fields[i]});
  }
}

std::vector<std::string> MeldModules::values() const {
  std::vector<std::string> names;
  for (const Shown& shown : shown_) names.push_back(shown.name);
  return names;
}

double MeldModules::value(std::uint32_t catom, std::size_t value) const {
  const Shown& shown = shown_[value];
  const std::uint16_t header = program_->predicates[shown.predicate].header;
  const Facts facts(const_cast<FactStore&>(store_), const_cast<CatomFacts&>(of(catom)));
  for (std::uint32_t i = 0; i < facts.count(shown.predicate); ++i) {
    const Word* record = facts.at(shown.predicate, i);
    if (header > 0 && (record[1] & seen) == 0) continue;
    const Word* word = record + header + shown.field.word;
    double number = 0;
    if (shown.field.type == Type::real) std::memcpy(&number, word, sizeof number);
    else if (shown.field.type == Type::integer) number = signed_word(*word);
    else number = *word;
    return number;
  }
  return NAN;
}

std::array<std::uint8_t, lattice::most_ports> ports_by_interface(lattice::Kind kind) {
  switch (kind) {
    case lattice::Kind::square: return {2, 0, 3, 1};                         // north, east, south, west
    case lattice::Kind::hex: return {0, 2, 4, 1, 3, 5};                      // counter-clockwise from the right
    case lattice::Kind::cubic: return {5, 3, 0, 2, 1, 4};                    // bottom, back, right, front, left, top
    case lattice::Kind::fcc: return {0, 2, 4, 6, 10, 8, 1, 3, 5, 7, 11, 9};  // 2 sides, 4 above, 2 sides, 4 below
    case lattice::Kind::bcc: break;
  }
  return {0, 1, 2, 3, 4, 5, 6, 7};
}

void MeldModules::learn(const lattice::Lattice& lattice) {
  port_of_ = ports_by_interface(lattice.kind());
  for (int i = 0; i < lattice.ports(); ++i) interface_of_[port_of_[i]] = narrow<std::uint8_t>(i);
  knows_lattice_ = true;
}

void MeldModules::prefetch_facts(const lattice::CodeModules& modules, std::uint32_t catom) {
  const auto& self = static_cast<const MeldModules&>(modules);
  self.store_.prefetch(self.of(catom));
}

const TypeInfo& MeldModules::type() const { return type_of<Meld>(); }

void MeldModules::resize(std::size_t catoms) {
  catoms_ = catoms;
  const std::size_t own = region().count(catoms);
  if (states_.empty()) {
    states_.reserve(own);
    platform::prefer_huge_pages(states_);
  }
  for (std::size_t i = own; i < states_.size(); ++i) store_.release(states_[i]);
  states_.resize(own);
  data_ = reinterpret_cast<std::byte*>(states_.data());
}

void MeldModules::reset(std::uint32_t catom) {
  new_seen_ -= seen_of(of(catom));
  store_.release(of(catom));
}

std::vector<std::uint64_t> MeldModules::take_counts() {
  return {std::bit_cast<std::uint64_t>(new_seen_.exchange(0)), new_lost_.exchange(0)};
}

std::size_t MeldModules::add_counts(std::span<const std::uint64_t> of_all) {
  seen_ += std::bit_cast<std::int64_t>(of_all[0]);
  lost_ += of_all[1];
  return 2;
}

std::int64_t MeldModules::seen_of(CatomFacts& catom) {
  std::int64_t count = 0;
  const Facts facts(store_, catom);
  for (const std::uint16_t k : indices<std::uint16_t>(program_->predicates))
    for (std::uint32_t i = 0; program_->predicates[k].recursive && i < facts.count(k); ++i)
      count += facts.at(k, i)[1] & seen;
  return count;
}

std::size_t MeldModules::memory_bytes() const {
  return states_.capacity() * sizeof(CatomFacts) + store_.memory_bytes();
}

void MeldModules::wake_at(std::int64_t tick, std::uint32_t catom) {
  const std::lock_guard lock(mutex_);
  calendar_[tick].push_back(catom);
}

void MeldModules::begin_tick(lattice::CatomWorld& world) {
  while (!calendar_.empty() && calendar_.begin()->first <= world.ticks()) {
    for (const std::uint32_t catom : calendar_.begin()->second)
      if (world.ensemble().has(catom)) world.wake(catom);
    calendar_.erase(calendar_.begin());
  }
  static std::atomic<std::uint64_t> epochs = 0;
  epoch_ = ++epochs;
  if (!knows_lattice_) learn(world.ensemble().lattice());
  tapped_ = std::move(taps_);
  taps_.clear();
  std::sort(tapped_.begin(), tapped_.end());
  end_rolls(world);
  seed_ = world.options().seed;
  // The facts of which one follows from the other are all different, if one has a source.
  most_depth_ = narrow<std::uint32_t>(std::min<std::int64_t>(seen_ + 1, deepest_support));
}

// A catom is told of a roll once it has arrived, or stays where it was. Those of one catom are in the order in which it
// wished them: of several the one that was on its way comes first.
void MeldModules::end_rolls(lattice::CatomWorld& world) {
  rolled_ = std::move(rolling_);
  rolling_.clear();
  std::stable_sort(rolled_.begin(), rolled_.end(), [](const Rolled& a, const Rolled& b) { return a.catom < b.catom; });
  const auto is_under_way = [&](const Rolled& r) {
    const auto& all = world.under_way();
    const auto it = std::lower_bound(all.begin(), all.end(), r.catom,
                                     [](const lattice::UnderWay& one, std::uint32_t c) { return one.catom < c; });
    return r.begins && it != all.end() && it->catom == r.catom;
  };
  std::erase_if(rolled_, [&](const Rolled& r) {
    if (!is_under_way(r)) return false;
    rolling_.push_back(r);
    return true;
  });
  for (const Rolled& r : rolled_) world.wake(r.catom);
}

void MeldModules::report_rolls(lattice::Catom& catom, std::uint32_t id, Machine& machine) {
  auto it = std::lower_bound(rolled_.begin(), rolled_.end(), id,
                             [](const Rolled& r, std::uint32_t c) { return r.catom < c; });
  for (; it != rolled_.end() && it->catom == id; ++it)
    machine.tell(it->begins && it->from != catom.cell() ? Role::moved : Role::blocked);
}

void MeldModules::woken_catom(void*, lattice::Catom& catom) {
  auto& self = static_cast<MeldModules&>(catom.running());
  const std::uint32_t id = catom.id();
  Machine& machine = Machine::of_this_thread();
  machine.begin(self, catom, id, catom.tick());
  machine.sense();
  if (!self.later_.empty()) machine.take_due();
  const auto [first, last] = std::equal_range(self.tapped_.begin(), self.tapped_.end(), id);
  for (auto it = first; it != last; ++it) machine.tell(Role::tap);
  if (!self.rolled_.empty()) self.report_rolls(catom, id, machine);
}

bool MeldModules::heard(void*, lattice::Catom& catom, int port, std::span<const std::byte> content) {
  auto& self = static_cast<MeldModules&>(catom.running());
  Machine& machine = Machine::of_this_thread();
  machine.begin(self, catom, catom.id(), catom.tick());
  return machine.receive(port, content);
}

void MeldModules::end_of_tick(void*, lattice::Catom& catom) {
  auto& self = static_cast<MeldModules&>(catom.running());
  Machine& machine = Machine::of_this_thread();
  machine.begin(self, catom, catom.id(), catom.tick());
  machine.end();
}

bool MeldModules::tap(lattice::CatomWorld& world, lattice::CatomId catom) {
  if (tap_ == no_predicate || !world.ensemble().has(catom)) return false;
  taps_.push_back(catom);
  world.wake(catom);
  return true;
}

std::string MeldModules::text_of_list(const Facts& facts, Type list, Word number) const {
  if (!is_list(list)) return "?";
  const Type type = element_of(list);
  std::string text;
  for (; number != 0; number = facts.at(program_->lists, number - 1)[3]) {
    const Word* element = facts.at(program_->lists, number - 1);
    double real = 0;
    std::memcpy(&real, element + 1, sizeof real);
    if (!text.empty()) text += ", ";
    if (is_list(type)) text += text_of_list(facts, type, element[1]);
    else if (type == Type::real) text += fmt::format("{}", real);
    else if (type == Type::node) text += fmt::format("@{}", element[1]);
    else if (type == Type::boolean) text += element[1] != 0 ? "true" : "false";
    else if (type == Type::text) text += element[1] < program_->texts.size() ? program_->texts[element[1]] : "?";
    else text += fmt::format("{}", signed_word(element[1]));
  }
  return "[" + text + "]";
}

// Numbers fall along a list, and all of them are there.
bool MeldModules::lists_are_sound(const Facts& facts) const {
  const std::uint16_t lists = program_->lists;
  if (lists == no_predicate) return true;
  const std::uint32_t count = facts.count(lists);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Word* element = facts.at(lists, i);
    const bool holds_list = is_list(static_cast<Type>(element[0] & 0xff));
    if (element[3] > i || (holds_list && element[1] > i)) return false;
  }
  for (const std::uint16_t k : indices<std::uint16_t>(program_->predicates)) {
    const Predicate& p = program_->predicates[k];
    const bool later = p.delays != no_predicate;
    for (const Field& field : (later ? program_->predicates[p.delays] : p).fields)
      for (std::uint32_t i = 0; is_list(field.type) && i < facts.count(k); ++i)
        if (facts.at(k, i)[(later ? 4 : p.header) + field.word] > count) return false;
  }
  return true;
}

std::vector<std::string> MeldModules::facts(std::uint32_t catom, bool sensed) const {
  std::vector<std::string> out;
  const Facts facts(const_cast<FactStore&>(store_), const_cast<CatomFacts&>(of(catom)));
  for (const std::uint16_t k : indices<std::uint16_t>(program_->predicates)) {
    const Predicate& p = program_->predicates[k];
    if (p.name.find('\'') != std::string::npos || (senses(p.role) && !sensed)) continue;
    for (std::uint32_t i = 0; i < facts.count(k); ++i) {
      const Word* record = facts.at(k, i);
      if (p.header > 0 && (record[1] & seen) == 0) continue;
      std::string text;
      for (const Field& field : p.fields) {
        const Word word = record[p.header + field.word];
        double number = 0;
        if (field.type == Type::real) std::memcpy(&number, record + p.header + field.word, sizeof number);
        if (!text.empty()) text += ", ";
        switch (field.type) {
          case Type::real: text += fmt::format("{}", number); break;
          case Type::node: text += fmt::format("@{}", word); break;
          case Type::boolean: text += word != 0 ? "true" : "false"; break;
          case Type::text: text += word < program_->texts.size() ? program_->texts[word] : "?"; break;
          case Type::integer: text += fmt::format("{}", signed_word(word)); break;
          default: text += text_of_list(facts, field.type, word);
        }
      }
      out.push_back(fmt::format("{}({})", p.name, text));
    }
  }
  return out;
}

std::string MeldModules::describe(std::uint32_t catom) const {
  std::string out;
  for (const std::string& fact : facts(catom, true)) out += (out.empty() ? "" : ", ") + fact;
  return out;
}

std::uint64_t MeldModules::facts_stored() const {
  std::uint64_t count = 0;
  for (const CatomFacts& state : states_) {
    const Facts facts(const_cast<FactStore&>(store_), const_cast<CatomFacts&>(state));
    for (const std::uint16_t k : indices<std::uint16_t>(program_->predicates)) count += facts.count(k);
  }
  return count;
}

bool MeldModules::interfaces_are_sound(const Facts& facts) const {
  const auto sound = [&](std::uint16_t predicate, std::size_t word) {
    for (std::uint32_t i = 0; predicate != no_predicate && i < facts.count(predicate); ++i)
      if (facts.at(predicate, i)[word] >= lattice::most_ports) return false;
    return true;
  };
  return sound(neighbor_, 1) && sound(vacant_, 0);
}

void MeldModules::archive_catom(Archive& ar, CatomFacts& catom) {
  ar("color", catom.color);
  ar("begun", catom.begun);
  Facts facts(store_, catom);
  std::uint32_t count = facts.words();
  ar("words", count);
  if (!ar.loading()) {
    ar.raw(const_cast<Word*>(facts.data()), count * sizeof(Word));
    return;
  }
  if (count > FactStore::most_words) {
    ar.fail("the snapshot has a catom with too many facts");
    return;
  }
  std::vector<Word> words(count);
  ar.raw(words.data(), count * sizeof(Word));
  if (ar.ok() && !(facts.restore(words) && interfaces_are_sound(facts) && lists_are_sound(facts)))
    ar.fail("the snapshot has a catom with damaged facts");
}

void MeldModules::archive(Archive& ar) {
  ar.section("meld", "state");
  std::uint64_t key = program_->key;
  ar("program", key);
  if (key != program_->key) ar.fail(fmt::format("the snapshot was made with another program than {}", program_->name));
  ar("lost", lost_);
  archive_rolls(ar);
  ar("taps", taps_);
  if (!ar.loading()) {
    region().archive_parts(ar, [&](Archive& part) {
      for (CatomFacts& state : states_) archive_catom(part, state);
    });
    return;
  }
  for (std::uint32_t catom = 0; catom < catoms_; ++catom) {
    CatomFacts elsewhere;  // another rank has it
    CatomFacts& state = region().has(catom) ? of(catom) : elsewhere;
    store_.release(state);
    if (ar.ok()) archive_catom(ar, state);
    store_.release(elsewhere);
  }
  rebuild_calendar();
  std::int64_t own = 0;
  for (CatomFacts& state : states_) own += seen_of(state);
  seen_ = std::bit_cast<std::int64_t>(region().sum(std::bit_cast<std::uint64_t>(own)));
  new_seen_ = 0, new_lost_ = 0;
}

void MeldModules::archive_rolls(Archive& ar) {
  std::uint64_t rolls = ar.loading() ? 0 : region().sum(rolling_.size());
  ar("rolls", rolls);
  const auto one = [](Archive& to, Rolled& r) {
    to("catom", r.catom), to("x", r.from.x), to("y", r.from.y), to("z", r.from.z), to("begins", r.begins);
  };
  if (!ar.loading()) {
    std::stable_sort(rolling_.begin(), rolling_.end(), [](const auto& a, const auto& b) { return a.catom < b.catom; });
    region().archive_parts(ar, [&](Archive& part) {
      for (Rolled& r : rolling_) one(part, r);
    });
    return;
  }
  rolling_.clear();
  for (std::uint64_t i = 0; i < rolls && ar.ok(); ++i) {
    Rolled r;
    one(ar, r);
    if (region().has(r.catom)) rolling_.push_back(r);
  }
}

void MeldModules::rebuild_calendar() {
  calendar_.clear();
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    const Facts facts(store_, states_[i]);
    for (const std::uint16_t later : later_)
      for (std::uint32_t k = 0; k < facts.count(later); ++k) {
        const Word* record = facts.at(later, k);
        calendar_[tick_in(record)].push_back(first_ + i);
      }
  }
}

}  // namespace volvox::meld
