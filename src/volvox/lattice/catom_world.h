// Catoms on a lattice and DPRSim's main loop (seed 001, figure 3). In every tick:
//   A  neighbours: looked up in the ensemble, which changes only between ticks
//   B  for every catom:
//      1  its adapters' newTick: their capacity in bytes is renewed
//      2  its code modules' new_tick
//      3  what waits is sent until the capacity is used up; a larger message takes as many ticks as it needs
//      4  the callbacks of its mailboxes, for what was sent to it in the tick before
//      5  its code modules' end_tick
//   C, D  catoms that asked for it move to other cells (motion.h); magnets and physics are not here
// Catoms are processed in parallel. No order can matter: a catom sees its own state only, and messages that arrive in
// the same tick are read in the order of their senders' random keys. The same seed gives the same state hash at any
// number of threads, and after a snapshot. Messages sent in steps 4 and 5 use what is left of the tick's capacity.
// Several processes can share a world (region.h): each has the states and messages of some of the catoms, and all call
// the same functions of the world in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/lattice/code_module.h"
#include "volvox/lattice/ensemble.h"
#include "volvox/lattice/region.h"
#include "volvox/lattice/work_shares.h"

namespace volvox::lattice {

inline constexpr std::uint32_t unlimited = ~std::uint32_t{0};

struct MotionOptions {
  std::optional<MotionModel> model{};  // none given: usual_motion of the lattice
  std::uint32_t ticks = 1;             // of the shortest motion; others take longer (Motion::steps), rounded up
  bool keep_connected = false;         // motions that would cut the ensemble in two are refused
  bool usual() const { return !model && ticks == 1 && !keep_connected; }
};

struct WorldOptions {
  std::uint64_t seed = 1;
  std::uint32_t capacity = unlimited;    // of each adapter, bytes a tick
  double radio_range = 0;                // m: who is not farther away hears a radio message; 0: there is no radio
  std::uint32_t most_steps = 100'000;    // calls of Catom in a tick, a broadcast at each port; more is endless
  std::uint32_t most_waiting = 100'000;  // messages at one port
  // False: all catoms are processed in every tick, also those with nothing to do. For tests: the results are the same.
  bool active_sets = true;
  MotionOptions motion{};
  Occupancy::Store store = Occupancy::Store::automatic;
  cluster::Exchange* ranks = nullptr;  // other processes that share the world; it must outlive the world
};

// A catom on its way. Until it arrives it is in its old cell, and what its motion needs is kept for it.
struct UnderWay {
  std::uint32_t catom = 0;
  std::uint8_t motion = 0;
  std::int64_t begun = 0, ends = 0;  // the tick after which it left, and after which it arrives
};
VOLVOX_TYPE(UnderWay, catom, motion, begun, ends)

// A catom that is in no cell: something else moves it (volvox/mixed), and says where it is and whom it touches.
struct LooseCatom {
  std::uint32_t catom = 0;
  Vec3 position;          // m
  bool moving = false;    // Catom::moving
  bool can_move = false;  // whoever moves it takes its wishes: CatomWorld::loose_wishes
};
// Two catoms, one of them loose at least, whose features face each other.
struct Touch {
  std::uint32_t a = 0, b = 0;
  std::uint8_t port_a = 0, port_b = 0;
};

class CatomWorld {
 public:
  explicit CatomWorld(const Lattice& lattice, const WorldOptions& options = {}, ThreadPool* threads = nullptr);
  ~CatomWorld();

  const Ensemble& ensemble() const { return ensemble_; }
  const WorldOptions& options() const { return options_; }
  // Between ticks. Code modules of a catom that is added while the world runs are started at once. One that is on its
  // way, or holds one that is, cannot be moved; if it is removed, those that it holds stay where they were.
  Result<void> add(std::span<const Cell> cells);
  Result<void> add_box(const Cell& low, const Cell& high);
  Result<void> remove(CatomId catom);
  Result<void> move(CatomId catom, const Cell& to);
  // Out of its cell, with its number, its programs and its messages. A motion of its own, or of one that it holds, ends
  // where it began. And back, into a free cell. Whoever does this calls place_loose() before the next tick.
  Result<void> loosen(CatomId catom);
  Result<void> settle(CatomId catom, const Cell& cell);
  // All loose catoms by their numbers, the pairs that touch, and the free cells, ascending, into which nobody may move
  // because something is in the way. It holds until it is said again, and is no part of a snapshot. `tell`: who has
  // other neighbours than before is woken; not after a restore, which knows who is awake.
  void place_loose(std::vector<LooseCatom> loose, std::span<const Touch> touches, std::vector<PackedCell> blocked,
                   bool tell = true);
  // What loose catoms that can move asked for in the last tick, by their numbers.
  const std::vector<Move>& loose_wishes() const { return loose_wishes_; }
  std::uint32_t neighbor(CatomId catom, int port) const;  // nobody: none; of one that is there
  Vec3 place(CatomId catom) const;  // of one that is there, in m; where its cell is, if it is in one

  // Every catom runs this code module, from a copy of the prototype. Before start().
  template <class Program>
  Result<void> load(const Program& prototype = {}) {
    return add_code_modules(std::make_unique<ProgramArray<Program>>(prototype));
  }
  // One of another kind, such as a program in another language.
  Result<void> load_modules(std::unique_ptr<CodeModules> modules) { return add_code_modules(std::move(modules)); }
  void use_threads(ThreadPool* threads) { threads_ = threads; }  // between ticks; the result does not depend on them
  // In the next tick, `woken` of its code modules is called; between ticks.
  void wake(CatomId catom);

  // The state of a code module on a catom, for those who watch or set up. Null: it was not loaded, or another rank has
  // this catom.
  template <class Program>
  Program* state(CatomId catom) {
    if (!region_.has(catom)) return nullptr;
    for (const auto& modules : modules_)
      if (modules->type().key == type_of<Program>().key) return static_cast<Program*>(modules->state(catom));
    return nullptr;
  }
  const std::vector<std::unique_ptr<CodeModules>>& code_modules() const { return modules_; }

  // visit(catom, state) for all that are there and that this process has, in ascending order.
  template <class Program, class Visit>
  void each_state(const Visit& visit) {
    const std::size_t end = region_.first() + region_.count(ensemble_.count());
    for (std::uint32_t catom = region_.first(); catom < end; ++catom)
      if (Program* program = ensemble_.has(catom) ? state<Program>(catom) : nullptr) visit(catom, *program);
  }
  const Region& region() const { return region_; }

  Result<void> start();  // simulationStart of every code module
  // An error names catom and code module, and ends the run.
  Result<void> tick();
  // Ticks until nothing is on its way and nobody acts by itself, or so many.
  Result<void> run(std::int64_t most_ticks);
  bool idle() const;  // nothing would happen in the next tick

  std::int64_t ticks() const { return tick_; }
  const Traffic& traffic() const { return traffic_; }
  const MotionCount& motion() const { return motion_; }
  std::uint64_t cuts_refused() const { return cuts_refused_; }
  const MotionTable& motions() const { return motions_; }
  const std::vector<UnderWay>& under_way() const { return under_way_; }  // by catom
  Vec3 position(const UnderWay& catom) const;                            // where it is seen, in m
  std::size_t processed() const { return processed_; }                   // catoms in the last tick
  std::uint64_t hash();  // where ranks share the world, that of the first of them is whole
  std::size_t memory_bytes() const;

  // Save and load: into a world of the same lattice, pitch, capacity, most_waiting, motions and code modules; another
  // is refused. The seed comes with the snapshot.
  void archive(Archive& ar);

 private:
  friend class Catom;
  struct Arrived {
    std::uint64_t key = 0;
    std::uint32_t sender = 0, message = 0;
  };
  // The neighbours of a loose catom, or of one beside it.
  struct Peers {
    std::uint32_t catom = nobody;
    bool loose = false, moving = false, can_move = false;
    Vec3 position;
    std::array<std::uint32_t, most_ports> at{};
    std::array<std::uint8_t, most_ports> port{};  // of theirs
  };
  const Peers* peers(std::uint32_t catom) const {
    return peers_.empty() || !has_peers_.contains(catom) ? nullptr : find_peers(catom);
  }
  const Peers* find_peers(std::uint32_t catom) const;
  bool needs_blocked(const Move& move) const;
  void stop_motions(CatomId catom, const Cell& cell);
  struct Failure {
    std::uint32_t catom = nobody;
    std::string code_module, what;
  };

  // What a thread has done in a tick.
  struct Worked {
    std::size_t processed = 0;
    Failure failure;
  };

  Result<void> has_not_failed() const;
  Result<void> add_code_modules(std::unique_ptr<CodeModules> modules);
  Result<void> added(std::size_t first);
  void cut_region();
  void send_away(std::vector<std::string>& away, std::uint32_t to, const Envelope& envelope,
                 const std::byte* content) const;
  // What was counted, wished and sent to other ranks since the last time; an error if a catom of any rank has failed.
  Result<void> meet();
  std::string news() const;
  bool take_news(std::string_view letter, std::vector<std::uint64_t>& counts);
  bool sends_something() const;  // that arrives in the next tick
  void take_messages(std::string_view letter);
  void wake_next(std::uint32_t catom);  // thread-safe, within a tick
  // visit(catom) for all others that hear its radio, in a fixed order.
  void each_in_reach(std::uint32_t catom, const std::function<void(std::uint32_t)>& visit) const;
  void wake_around(const Cell& cell);
  void archive_woken(Archive& ar);
  bool rests() const;  // nothing would happen on the catoms of this process
  bool everyone() const { return somebody_ticks_ || !options_.active_sets; }
  bool has_something_to_do(std::uint32_t catom) const;
  // work(catom) for the active catoms, or for all of them.
  template <class Work>
  void each_catom(bool all, const Work& work);
  template <class Work>
  void each_of_chunk(bool all, std::size_t chunk, Catom::Shared& shared, Worked& worked, const Work& work);
  void prefetch(std::span<const std::uint32_t> coming) const;
  void start_code_modules(Catom& catom);
  void process(Catom& catom);
  void move_catoms();
  void arrive(std::uint32_t catom, int motion);
  std::int64_t duration(int motion) const;
  bool is_held_by(const UnderWay& moving, const Cell& holder) const;
  void archive_motion(Archive& ar);
  using Called = std::uint64_t;  // a bit for each code module
  Called deliver(Catom& catom);
  Called read(Catom& catom, std::uint32_t message);
  // In the order in which they are read.
  void list_arriving(std::uint32_t catom, std::vector<Arrived>& arrived) const;
  void begin_keys();
  void archive_options(Archive& ar);
  void archive_messages(Archive& ar);
  void load_messages(Archive& ar);
  void archive_waiting(Archive& ar);
  Error error(const Failure& failure) const;

  WorldOptions options_;
  Region region_;
  ThreadPool* threads_;
  Ensemble ensemble_;
  std::vector<std::unique_ptr<CodeModules>> modules_;
  struct Linked {
    CodeModules* modules = nullptr;
    std::size_t index = 0;  // of the code module
    CodeModules::Callback call = nullptr;
  };
  struct Box {
    const TypeInfo* type = nullptr;
    std::vector<Linked> linked;
  };
  std::vector<Box> mailboxes_;   // by number
  bool somebody_ticks_ = false;  // a code module has new_tick
  bool somebody_wakes_ = false;  // a code module has `woken`
  ActiveSet woken_[2];           // in this tick and in the next
  Post post_;
  Waiting waiting_;
  std::int64_t tick_ = 0;
  std::uint64_t key_ = 0, last_key_ = 0;  // of the tick to come, or that runs, and of the one before
  std::uint64_t start_key_ = 0;           // for code modules that are started before it
  bool started_ = false, failed_ = false;
  bool sending_ = false;               // false before the first tick: there is no capacity yet
  Traffic traffic_, new_traffic_;      // of all ranks; of this one since they met last
  bool surely_busy_ = false;           // a rank has something for the next tick: idle() need not ask
  std::vector<std::string> outbox_;    // messages for other ranks
  std::vector<std::uint64_t> counts_;  // of the code modules, one after another, since then
  MotionCount motion_;
  std::vector<Move> wishes_;
  MotionTable motions_;
  Referee referee_;
  std::vector<UnderWay> under_way_;
  std::vector<Peers> peers_;  // by catom
  ActiveSet has_peers_;
  std::vector<PackedCell> blocked_;
  std::vector<Move> loose_wishes_;
  std::uint64_t cuts_refused_ = 0;
  std::size_t processed_ = 0;
  std::vector<std::uint32_t> active_;
  WorkShares shares_;
  std::mutex mutex_;  // of failure_, traffic_ and wishes_ within a tick
  Failure failure_;
};

}  // namespace volvox::lattice
