// A program as the code module of all catoms of a world (lattice/code_module.h): the state of a catom is its facts.
// Owns the facts and shares the program, which never changes. Its own functions belong to the thread of the world;
// those that it gives to the world are called by several threads, each for another catom. The same seed gives the same
// facts, at any number of threads.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "volvox/base/time.h"
#include "volvox/lattice/catom_world.h"
#include "volvox/meld/fact_store.h"

namespace volvox::meld {

inline constexpr lattice::Mailbox fact_mailbox = 7;

// The ports of a lattice in the order in which VisibleSim numbers the interfaces of its modules: smart blocks (square),
// 2D catoms (hex), blinky blocks (cubic), 3D catoms (fcc); bcc as in lattice/.
std::array<std::uint8_t, lattice::most_ports> ports_by_interface(lattice::Kind kind);

struct MachineOptions {
  std::uint64_t most_steps = 1'000'000;  // of a catom in a tick: instructions and facts that are tried. More is endless
  TickLength tick{};                     // for delays
  // Facts also reach catoms that are no neighbours, in the next tick. For programs on graphs of their own.
  bool reach_all = false;
};

class MeldModules final : public lattice::CodeModules {
 public:
  MeldModules(std::shared_ptr<const Program> program, const MachineOptions& options);

  const Program& program() const { return *program_; }
  const MachineOptions& options() const { return options_; }
  void set_tick(const TickLength& tick) { options_.tick = tick; }

  // Between ticks: somebody taps a catom, which wakes. False: there is no such catom, or the program feels no taps.
  bool tap(lattice::CatomWorld& world, lattice::CatomId catom);
  // 0xRRGGBB or no_color; also if another rank has the catom.
  std::uint32_t color(std::uint32_t catom) const {
    return region().has(catom) ? states_[catom - first_].color : no_color;
  }
  // The facts that rules see: "dist(3, 0.5)", in the order of the program; without what is sensed, if so wished.
  std::vector<std::string> facts(std::uint32_t catom, bool sensed = false) const;
  std::uint64_t lost() const { return lost_; }  // facts for catoms that were no neighbours
  std::uint64_t facts_stored() const;           // by the catoms of this process

  const TypeInfo& type() const override;
  std::string describe(std::uint32_t catom) const override;
  std::vector<std::string> describe_lines(std::uint32_t catom) const override { return facts(catom, true); }
  // Numbers of the first fact of a predicate that rules see: "distance", or "position 2" for the second of several.
  std::vector<std::string> values() const override;
  double value(std::uint32_t catom, std::size_t value) const override;
  void resize(std::size_t catoms) override;
  void reset(std::uint32_t catom) override;
  void archive(Archive& ar) override;
  std::size_t memory_bytes() const override;
  std::vector<std::uint64_t> take_counts() override;
  std::size_t add_counts(std::span<const std::uint64_t> of_all) override;
  void begin_tick(lattice::CatomWorld& world) override;
  bool waits() const override { return !calendar_.empty() || !rolling_.empty(); }

 private:
  friend class Machine;
  struct Rolled {
    std::uint32_t catom = 0;
    lattice::Cell from;
    bool begins = false;  // false: there was nobody to roll about, or it was still on the way
  };
  CatomFacts& of(std::uint32_t catom) { return states_[catom - first_]; }
  const CatomFacts& of(std::uint32_t catom) const { return states_[catom - first_]; }
  void wake_at(std::int64_t tick, std::uint32_t catom);
  static void woken_catom(void* state, lattice::Catom& catom);
  static bool heard(void* state, lattice::Catom& catom, int port, std::span<const std::byte> content);
  static void end_of_tick(void* state, lattice::Catom& catom);
  void end_rolls(lattice::CatomWorld& world);
  void report_rolls(lattice::Catom& catom, std::uint32_t id, class Machine& machine);
  void archive_catom(Archive& ar, CatomFacts& catom);
  void archive_rolls(Archive& ar);
  bool interfaces_are_sound(const Facts& facts) const;
  bool lists_are_sound(const Facts& facts) const;
  std::string text_of_list(const Facts& facts, Type list, Word number) const;
  void rebuild_calendar();
  std::int64_t seen_of(CatomFacts& catom);  // recursive facts that rules see
  static void prefetch_facts(const lattice::CodeModules& modules, std::uint32_t catom);
  void learn(const lattice::Lattice& lattice);
  struct Shown {  // a number that can be shown
    std::string name;
    std::uint16_t predicate = 0;
    Field field;
  };

  std::shared_ptr<const Program> program_;
  MachineOptions options_;
  FactStore store_;
  std::vector<CatomFacts> states_;
  std::map<std::int64_t, std::vector<std::uint32_t>> calendar_;  // who is to be woken, by tick
  std::vector<std::uint32_t> taps_, tapped_;                     // catoms: for the next tick, and in this one
  std::vector<Rolled> rolled_, rolling_;  // of which catoms are told in this tick, and those of which they will be
  std::uint32_t most_depth_ = 0;
  std::int64_t seen_ = 0;                   // recursive facts that rules see, of all catoms, before this tick
  std::atomic<std::int64_t> new_seen_ = 0;  // of those of this process, since
  std::uint64_t seed_ = 0;                  // of the world
  std::uint64_t epoch_ = 0;
  std::uint64_t lost_ = 0;  // likewise
  std::atomic<std::uint64_t> new_lost_ = 0;
  std::mutex mutex_;  // of calendar_ and rolling_ within a tick
  // Programs know ports by the numbers of VisibleSim's modules: interfaces.
  std::array<std::uint8_t, lattice::most_ports> port_of_{}, interface_of_{};
  bool knows_lattice_ = false;
  std::uint16_t neighbor_, vacant_, neighbor_count_, tap_, moved_, blocked_;
  std::vector<Shown> shown_;
  std::vector<std::uint16_t> later_;                                     // predicates that hold delayed facts
  std::vector<std::uint16_t> axioms_;                                    // rules that begin everywhere
  std::vector<std::pair<std::uint32_t, std::uint16_t>> axioms_of_node_;  // sorted
};

}  // namespace volvox::meld
