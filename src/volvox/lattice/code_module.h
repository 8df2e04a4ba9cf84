// Programs of catoms. A code module is a class whose members are the state of one catom:
//
//   struct Wave { std::uint32_t hops = 0; };
//   VOLVOX_TYPE(Wave, hops)
//
//   struct Flood {
//     bool source = false;
//     std::uint32_t hops = 0;
//     void start(Catom& catom);                               // once, before the first tick (DPRSim: simulationStart)
//     void new_tick(Catom& catom);                            // in every tick, before sending
//     void heard(Catom& catom, int port, const Wave& wave);   // a callback of a mailbox
//     void end_tick(Catom& catom);                            // after all messages of the tick
//     static void mailboxes(Mailboxes<Flood>& boxes) { boxes.link<&Flood::heard>(0); }
//   };
//   VOLVOX_TYPE(Flood, source, hops)
//
// A code module can also run as the mind of a physical module (robots/behaviors/code_module.h). Then it lists the
// fields of its state that a world may set. If it needs to know the port at which a message arrives, it says so: a
// message by radio has none.
//
//     template <class Visitor> void visit_inputs(Visitor& visit) { visit("source", source); }
//     static constexpr bool needs_ports = true;
//
// All of these functions may be left out. A code module without new_tick acts on messages only: in a tick without
// messages for it, it is not called at all, and end_tick neither. One with new_tick and `bool rests() const` does so
// whenever a tick begins and rests() is true. Catoms are processed in parallel: code modules must not share data that
// changes.
// The world owns the states, and a module must draw from Catom::random(): then the same seed gives the same run.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/archive_plain.h"
#include "volvox/base/platform/memory.h"
#include "volvox/base/type.h"
#include "volvox/lattice/catom.h"
#include "volvox/lattice/region.h"

namespace volvox::lattice {

// The states of one code module on all catoms, and how to call it.
class CodeModules {
 public:
  // False: these bytes are no such message.
  using Callback = bool (*)(void* state, Catom& catom, int port, std::span<const std::byte> content);
  struct Link {
    Mailbox mailbox = 0;
    Callback call = nullptr;
    const TypeInfo* type = nullptr;  // of its messages
  };

  virtual ~CodeModules() = default;
  virtual const TypeInfo& type() const = 0;
  // So many catoms are in the world; those of the region have states, new ones that of the prototype.
  virtual void resize(std::size_t catoms) = 0;
  virtual void reset(std::uint32_t catom) = 0;  // one of the region
  virtual void archive(Archive& ar) = 0;
  virtual std::size_t memory_bytes() const = 0;

  void* state(std::uint32_t catom) const { return data_ + std::size_t{catom - first_} * stride_; }  // of the region
  // The catoms whose states it has; before the first resize. Without this call it has all.
  void belong_to(const Region& region) { region_ = &region, first_ = region.first(); }
  // What it has counted on its catoms since the last call, and the sums over all ranks: for numbers that concern the
  // whole ensemble. Once a tick, by the thread of the world. add_counts returns how many of the numbers are its own.
  virtual std::vector<std::uint64_t> take_counts() { return {}; }
  virtual std::size_t add_counts(std::span<const std::uint64_t> /*of_all*/) { return 0; }
  virtual std::string describe(std::uint32_t catom) const {
    std::string out;
    type().describe(out, state(catom));
    return out;
  }
  // The same for people, a line each.
  virtual std::vector<std::string> describe_lines(std::uint32_t catom) const { return {describe(catom)}; }
  // Numbers of a state, for viewers that colour catoms by them. NaN: this catom has none.
  virtual std::vector<std::string> values() const { return {}; }
  virtual double value(std::uint32_t /*catom*/, std::size_t /*value*/) const { return NAN; }
  const std::vector<Link>& links() const { return links_; }

  // Null: it has no such function.
  using Function = void (*)(void* state, Catom& catom);
  Function start = nullptr, new_tick = nullptr, end_tick = nullptr;
  bool (*rests)(const void* state) = nullptr;
  // Brings what a catom's state refers to into the cache. Null: nothing lies elsewhere.
  void (*prefetch)(const CodeModules& modules, std::uint32_t catom) = nullptr;
  // Called before new_tick for a catom that is new, whose surroundings have changed, or that was woken
  // (CatomWorld::wake, Catom::wake_next). With it, end_tick is called, too.
  Function woken = nullptr;
  // By one thread, before the catoms of a tick: it may wake some of them.
  virtual void begin_tick(CatomWorld& /*world*/) {}
  virtual bool waits() const { return false; }  // it will wake somebody in a later tick

  // Whether it does something in a tick without messages.
  bool acts(std::uint32_t catom) const { return new_tick != nullptr && (rests == nullptr || !rests(state(catom))); }

 protected:
  const Region& region() const {
    static const Region all;
    return region_ == nullptr ? all : *region_;
  }

  std::byte* data_ = nullptr;
  std::size_t stride_ = 0;
  std::uint32_t first_ = 0;  // catom of the region
  std::size_t catoms_ = 0;   // of the world
  std::vector<Link> links_;

 private:
  const Region* region_ = nullptr;
};

namespace detail {
// The numbers among the fields of a type.
struct Numbers {
  std::vector<std::pair<std::string, double>> found{};
  template <class T>
  void operator()(const char* name, T& field) {
    if constexpr (std::is_arithmetic_v<T>) {
      // By convention the largest of the large numbers without a sign means that it is not known.
      const bool unknown = std::is_unsigned_v<T> && sizeof(T) >= 4 && field == std::numeric_limits<T>::max();
      found.emplace_back(name, unknown ? double{NAN} : static_cast<double>(field));
    }
  }
};

template <class Function>
struct CallbackOf;
template <class P, class T>
struct CallbackOf<void (P::*)(Catom&, int, const T&)> {
  using Message = T;
};
}  // namespace detail

// Links mailboxes of a code module to its callbacks. A mailbox holds messages of one type; several code modules of a
// catom may be linked to one, and each is called.
template <class Program>
class Mailboxes {
 public:
  explicit Mailboxes(std::vector<CodeModules::Link>& links) : links_(links) {}
  template <auto callback>
  void link(Mailbox mailbox) {
    using Message = typename detail::CallbackOf<decltype(callback)>::Message;
    links_.push_back({mailbox,
                      [](void* state, Catom& catom, int port, std::span<const std::byte> content) {
                        Message message{};
                        if (!read_message(content, message)) return false;
                        (static_cast<Program*>(state)->*callback)(catom, port, message);
                        return true;
                      },
                      &type_of<Message>()});
  }

 private:
  std::vector<CodeModules::Link>& links_;
};

template <class Program>
class ProgramArray final : public CodeModules {
 public:
  explicit ProgramArray(const Program& prototype) : prototype_(prototype) {
    stride_ = sizeof(Program);
    if constexpr (requires(Program p, Catom & c) { p.start(c); })
      start = [](void* state, Catom& catom) { static_cast<Program*>(state)->start(catom); };
    if constexpr (requires(Program p, Catom & c) { p.new_tick(c); })
      new_tick = [](void* state, Catom& catom) { static_cast<Program*>(state)->new_tick(catom); };
    if constexpr (requires(const Program p) { p.rests(); })
      rests = [](const void* state) -> bool { return static_cast<const Program*>(state)->rests(); };
    if constexpr (requires(Program p, Catom & c) { p.end_tick(c); })
      end_tick = [](void* state, Catom& catom) { static_cast<Program*>(state)->end_tick(catom); };
    if constexpr (requires(Mailboxes<Program> & boxes) { Program::mailboxes(boxes); }) {
      Mailboxes<Program> boxes(links_);
      Program::mailboxes(boxes);
    }
  }
  const TypeInfo& type() const override { return type_of<Program>(); }
  void resize(std::size_t catoms) override {
    catoms_ = catoms;
    const std::size_t own = region().count(catoms);
    if (states_.empty()) {
      states_.reserve(own);
      platform::prefer_huge_pages(states_);
    }
    states_.resize(own, prototype_);
    data_ = reinterpret_cast<std::byte*>(states_.data());
  }
  void reset(std::uint32_t catom) override { states_[catom - first_] = prototype_; }
  void archive(Archive& ar) override {
    ar.section(type().name, "state");
    if (ar.loading()) return load(ar);
    region().archive_parts(ar, [&](Archive& part) {
      if constexpr (std::is_trivially_copyable_v<Program> && sizeof(Program) <= 4096)  // archive_plain takes no larger
        archive_plain(part, states_, [](auto& to, Program& state) { volvox_visit_fields(to, state); });
      else
        for (Program& state : states_) part("state", state);
    });
  }
  std::size_t memory_bytes() const override { return states_.capacity() * sizeof(Program); }
  std::vector<std::string> values() const override {
    std::vector<std::string> names;
    for (const auto& [name, value] : numbers(prototype_)) names.push_back(name);
    return names;
  }
  double value(std::uint32_t catom, std::size_t value) const override {
    return numbers(states_[catom - first_])[value].second;
  }

 private:
  void load(Archive& ar) {
    Program elsewhere;  // of a catom that another rank has
    for (std::uint32_t catom = 0; catom < catoms_; ++catom) {
      if (!region().has(catom)) elsewhere = prototype_;
      ar("state", region().has(catom) ? states_[catom - first_] : elsewhere);
    }
  }
  static std::vector<std::pair<std::string, double>> numbers(Program state) {
    detail::Numbers visitor;
    volvox_visit_fields(visitor, state);
    return std::move(visitor.found);
  }

  Program prototype_;
  std::vector<Program> states_;
};

}  // namespace volvox::lattice
