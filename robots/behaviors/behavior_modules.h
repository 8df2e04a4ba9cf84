// Behaviours on the catoms of a lattice world (src/volvox/lattice): the same class as on a physical module, unchanged.
// It is the reverse of code_module.h.
//
// Such a catom has a dock for each port ("p0", "p1", ...), engaged where a neighbour is; messages through them, each of
// which takes a tick; where the world has a radio, an outlet "radio", which is ideal; a lamp ("lamp"), the colour by
// which viewers show it; and what every agent has: mailboxes, a model, parameters, a clock, random numbers. It has no
// joints, motors, sensors, dock loads and latches, signals, buses and extensions: a behaviour that asks for one ends
// the run with an error that names it. One that is omniscient or runs on board is refused before.
//
// The order within a tick is that of a physical world: messages that were sent in the tick before are received,
// end_tick of that tick; then the docks are sensed, step is called, and what was sent leaves. Every catom has an Agent
// and a Behavior of its own, about 2.5 kB: for thousands and ten thousands. Code modules (lattice/code_module.h) are
// for millions. Owns them. Catoms are processed by several threads, each by one. The same seed gives the same run at
// any number of threads and ranks, and after a snapshot if the behaviour lists its state (VOLVOX_STATE).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "volvox/base/time.h"
#include "volvox/lattice/catom_world.h"
#include "volvox/mind/behavior.h"

namespace volvox::robots {

inline constexpr lattice::Mailbox behavior_mailbox = 8;

class BehaviorModules final : public lattice::CodeModules {
 public:
  // `mind`: the behaviour and its parameters. One whose name begins with a number and a dot, as in "0.source", is that
  // of this catom alone.
  static Result<std::unique_ptr<BehaviorModules>> make(const model::Mind& mind, const mind::BehaviorRegistry& registry,
                                                       const lattice::CatomWorld& world);

  void set_tick(const TickLength& tick) { tick_ = tick; }  // before the first one
  // Of a catom that this process has.
  const mind::Agent& agent(std::uint32_t catom) const { return minds_[catom - first_]->agent; }
  std::optional<std::array<double, 3>> light(std::uint32_t catom) const;  // 0 to 1; nothing: the lamp was never set

  const TypeInfo& type() const override;
  std::string describe(std::uint32_t catom) const override;
  void resize(std::size_t catoms) override;
  void reset(std::uint32_t catom) override;
  void archive(Archive& ar) override;
  std::size_t memory_bytes() const override;

 private:
  struct Mind {
    mind::Agent agent;
    std::unique_ptr<mind::Behavior> behavior;
    bool started = false;
  };
  BehaviorModules(const model::Mind& mind, mind::BehaviorFactory factory, const lattice::CatomWorld& world);
  Result<void> read_parameters();
  std::unique_ptr<Mind> make_mind(std::uint32_t catom) const;
  Time begin_of(std::int64_t tick) const { return tick_.start_of(tick); }
  void sense(Mind& mind, const lattice::Catom& catom) const;
  void send(Mind& mind, lattice::Catom& catom) const;
  void archive_mind(Archive& ar, Mind& mind) const;
  template <class Call>
  void guarded(const char* doing, const Call& call) const;

  static BehaviorModules& of(lattice::Catom& catom) { return static_cast<BehaviorModules&>(catom.running()); }
  static Mind& mind_of(void* state) { return **static_cast<std::unique_ptr<Mind>*>(state); }
  static void start_catom(void* state, lattice::Catom& catom);
  static void begin_tick_of_catom(void*, lattice::Catom&) {}  // so that end_tick is called in every tick
  static bool heard(void* state, lattice::Catom& catom, int port, std::span<const std::byte> content);
  static void end_tick_of_catom(void* state, lattice::Catom& catom);

  model::Mind mind_;
  mind::BehaviorFactory factory_;
  std::uint64_t seed_;
  int ports_;
  bool has_radio_;
  TickLength tick_{};
  std::map<std::string, std::string> parameters_;                              // of all
  std::map<std::uint32_t, std::map<std::string, std::string>> parameters_of_;  // of single catoms
  std::shared_ptr<const mind::Anatomy> anatomy_;
  std::vector<std::unique_ptr<Mind>> minds_;
};

}  // namespace volvox::robots
