// Worlds of one small robot on planes that stand, out of the engine and into it again: what moves such robots by the
// thousand (LoneTick, on the processor or a GPU) takes their states as rows of words, and gives back what the engine
// would have come to, bit by bit.
// One thread for each engine. The caller owns the words; kinds and engines must outlive them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/physics/native/lone_kernel.h"

namespace volvox::physics {
class Engine;
}

namespace volvox::physics::native {

class Simulator;
class Tree;
struct Shape;

// What all robots of a kind share, with the memory that the tables lie in.
class LoneKind {
 public:
  LoneKind() = default;
  LoneKind(LoneKind&&) = default;
  LoneKind& operator=(LoneKind&&) = default;

  const LonePattern& pattern() const { return pattern_; }
  LoneLayout layout() const { return layout_of(pattern_); }
  // Whether a robot of the other kind has the same tables, to the bit.
  bool same_as(const LoneKind& other) const { return numbers_ == other.numbers_; }

 private:
  friend class LoneWorld;
  struct ShapeTables {
    std::vector<double> x, y, z, radius;
    std::vector<int> convex, point;
    std::vector<LoneConvex> convexes;
    void add_to(LoneShape& out, const Shape& shape);
  };
  void add_plan(const Tree& tree);
  void add_numbers();
  std::vector<std::unique_ptr<ShapeTables>> shapes_;  // by node
  std::vector<NodeShape> nodes_;
  std::vector<int> columns_, own_;
  std::vector<std::size_t> first_;
  std::vector<LoneLink> links_;
  std::vector<LoneGround> grounds_;
  std::vector<LonePlane> planes_;
  LonePattern pattern_;
  std::vector<std::uint64_t> numbers_;  // of all tables, as bits
};

// The world of an engine, seen so. The engine must outlive it, and must not be stepped while the words are elsewhere.
class LoneWorld {
 public:
  // An error says what of this world cannot be moved so.
  static Result<LoneWorld> of(Engine& engine);

  Result<LoneKind> kind() const;
  // The state, in layout.all_words() words.
  Result<void> read(const LoneLayout& layout, std::span<double> words) const;
  // The same back. `seen`: with what others want to know; without it, the engine must be stepped before it is asked. Of
  // a robot that sleeps it is always in the words, and needed: it wakes with the contacts that it had. `motors`: the
  // commands too; else those of the engine are newer than the words.
  void write(const LoneKind& kind, std::span<const double> words, bool seen, bool motors = true);

  // For worlds that are moved elsewhere tick by tick, while minds and observers look at the arrays of the engine:
  // whether nothing but motors acts on it in the next tick; and what changes in the arrays, as words that are named by
  // watched_words(). The engine itself stays behind (native_set_away).
  bool only_motors_act() const;
  void write_watched(const LoneKind& kind, std::span<const double> watched);

 private:
  LoneWorld(Engine& engine, Simulator& simulator) : engine_(&engine), simulator_(&simulator) {}

  Result<const Tree*> only_tree() const;
  Result<void> add_grounds(LoneKind& kind) const;
  Result<void> links_keep_apart(const Tree& tree) const;
  Result<void> add_link(LoneKind& kind, const Tree& tree, int node) const;
  void read_contacts(const LoneLayout& layout, std::span<double> words) const;
  void write_bodies(const LoneKind& kind, std::span<const double> words);
  void write_joints(const LoneKind& kind, std::span<const double> words, bool seen, bool motors);
  void write_contacts(const LoneKind& kind, std::span<const double> words, bool seen);

  Engine* engine_;
  Simulator* simulator_;
};

// One tick on the processor: what a GPU does, for tests and where there is none. Nothing is kept in the room.
LoneEnd tick_lone(const LonePattern& pattern, LargestLoneRoom& room, std::span<double> words,
                  std::span<const MotorCommand> commands, double tick, bool publish);

// The words that LoneWorld::write_watched() takes, in its order.
std::vector<int> watched_words(const LoneLayout& layout);

// In words: why a robot was left to the engine.
const char* name(LoneEnd end);

}  // namespace volvox::physics::native
