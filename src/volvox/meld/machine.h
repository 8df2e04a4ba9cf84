// Runs a program on one catom after another; each thread has one machine. In a tick, a catom takes what it senses and
// what arrived, and goes on until nothing new follows:
//   1  derived facts come and go, one after another, with all that follows from each by rules without linear facts
//   2  then aggregates change, and 1 goes on
//   3  then the first rule of the program whose linear facts are there uses them up, and 1 goes on
// What was told to neighbours is sent at the end; what was told and taken back in one tick is not sent at all.
#pragma once

#include <span>

#include "volvox/lattice/catom.h"
#include "volvox/meld/derivation.h"
#include "volvox/meld/fact_store.h"

namespace volvox::meld {

class MeldModules;

class Machine {
 public:
  static Machine& of_this_thread();

  // Before anything else in a tick of a catom; does nothing if it has begun with it.
  void begin(MeldModules& modules, lattice::Catom& catom, std::uint32_t id, std::int64_t tick);
  void sense();          // neighbours that came or went, and the axioms of a catom that is new
  void take_due();       // delayed facts, taps
  void tell(Role role);  // something else happened to it, such as a move
  bool receive(int port, std::span<const std::byte> content);  // false: it is no message of this program
  void end();

 private:
  enum class Which : std::uint8_t { all, recursive };
  struct Choice {  // a fact that was matched; others may match, too
    std::uint32_t pc = 0, pattern = 0, next = 0;
  };
  static constexpr std::uint32_t is_loop = 0xffffffff;  // in place of the pattern: pc is where it goes on

  struct Change {
    std::uint16_t predicate = 0;
    bool plus = true, all = false;  // all: with this support, however many derivations there are
    Support support = 0;
  };
  void push(const Change& change, const Word* fact);
  void run_derivations();
  void process_next();
  void derive(std::uint16_t predicate, Support support, const Word* fact);
  void withdraw(std::uint16_t predicate, Support support, const Word* fact, bool all);
  void see_instead(std::uint16_t predicate, std::uint32_t old, std::uint32_t other);
  void add_linear(std::uint16_t predicate, const Word* fact);
  Word* insert(std::uint16_t predicate);

  // Whether rules may see a record: one that is deeper than all facts there are has lost its source (derivation.h).
  bool may_be_seen(const Word* record) const;
  void see(std::uint16_t predicate, std::uint32_t record, bool is_seen);

  bool settle_aggregates();
  struct Group {  // of records that are equal but for the aggregate; `key`: the seen one, or the oldest
    std::uint32_t key = 0, seen = 0, best = 0;
  };
  void find_groups(std::uint16_t predicate);
  void settle_best(std::uint16_t predicate);
  void settle_group(std::uint16_t predicate, const Group& group);
  bool same_group(const Predicate& p, const Word* a, const Word* b) const;
  bool better(const Predicate& p, const Word* a, const Word* b) const;
  void settle_sums(std::uint16_t predicate);
  void settle_sum(std::uint16_t predicate, std::uint32_t first);
  void replace_sum(const Predicate& p, Support support, const Word* total);

  void fire(bool plus, std::uint16_t predicate, std::uint32_t record, Which which);
  void mark_rules(const Predicate& p);
  bool use_linear_facts();
  bool execute(std::uint32_t pc, RuleKind kind);
  bool go_back(std::uint32_t& pc);
  bool next_match(Choice& choice);
  // Writes the variables of the pattern into registers as far as it matches; false: it does not.
  bool match_and_bind(const Pattern& pattern, const Word* fact);
  bool is_used(const Choice& choice, std::uint16_t predicate, std::uint32_t record) const;
  void commit();
  bool next_of_loop(std::uint32_t& pc);
  void erase_used();
  void call(const Instruction& in);
  // Lists (machine_lists.cpp).
  Register cons(Type element, Register first, Register rest);
  Register first_of(Type element, Register list) const;
  Register rest_of(Register list) const;
  std::vector<Register> elements_of(Type element, Register list);
  Register list_from(Type element, const std::vector<Register>& elements, Register rest = 0);
  Register joined(Type element, Register a, Register b);
  bool is_in(Type element, Register one, Register list);
  Register call_of_list(FunctionId function, Type element, Register list, Register other);
  void write_list(Type element, Register list, std::vector<Word>& to);
  bool read_list(Type element, std::span<const Word>& from, Register& list);
  void forget_unused_lists();
  template <class Function>
  void for_each_of_match(Function&& function) const;
  std::uint64_t random_bits();
  std::uint64_t hash_of_match();
  void emit(const Instruction& in);
  std::uint32_t depth_of_match() const;
  void deliver(std::uint32_t node, const Change& change, const Word* fact);
  void delay(std::uint32_t node, const Change& change, const Word* fact, std::int64_t ms);
  void act(const Predicate& p, const Word* fact);
  bool begin_motion(Role role, const Word* fact);
  void send(std::uint32_t node, const Change& change, const Word* fact);
  void flush();
  void count_step() {
    if (++steps_ > most_steps_) never_stops();
  }
  [[noreturn]] void never_stops() const;

  void sense_losses(const std::uint32_t* around);
  void sense_news(const std::uint32_t* around);
  void lose_neighbor(std::uint32_t record);
  void sense_fact(std::uint16_t predicate, std::initializer_list<Word> fact);
  void unsense(std::uint16_t predicate, std::uint32_t record);
  void run_axioms();

  MeldModules* modules_ = nullptr;
  const Program* program_ = nullptr;
  lattice::Catom* catom_ = nullptr;
  std::uint32_t id_ = 0;
  std::int64_t tick_ = -1;
  std::uint64_t epoch_ = 0;  // of the modules, which no other tick of any world has
  std::optional<Facts> facts_;
  std::uint64_t steps_ = 0, most_steps_ = 0;
  std::uint16_t rule_ = 0;  // that runs
  bool plus_ = true;
  Word losing_ = 0xffffffff;  // the interface of a neighbour that is gone while what it was told is taken back
  bool for_good_ = false;
  Which which_ = Which::all;
  std::uint32_t most_depth_ = 0;  // of a fact that is seen, as far as other catoms' facts count
  std::int64_t seen_change_ = 0;  // of recursive facts that are seen, in this tick
  std::uint16_t trigger_predicate_ = no_predicate;
  std::uint32_t trigger_ = 0;  // a record

  Register registers_[256] = {};
  Word fact_[128] = {};       // that is processed
  std::vector<Word> agenda_;  // changes: predicate and flags, support, fact
  std::size_t agenda_at_ = 0;
  std::vector<Choice> choices_;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> used_;  // linear facts, by predicate and record
  std::vector<std::uint64_t> marked_;                          // rules with linear facts to try, a bit each
  bool any_marked_ = false;
  std::vector<std::uint16_t> unsettled_;  // predicates with aggregates
  std::vector<std::uint32_t> by_group_;   // records
  std::vector<Group> groups_;
  std::vector<Word> outbox_;  // port or node, length, and the message
  bool new_lists_ = false;    // some were made in this tick
  std::vector<std::uint32_t> used_lists_;
};

}  // namespace volvox::meld
