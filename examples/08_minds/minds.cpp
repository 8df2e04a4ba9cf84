// Three kinds of mind: one that reasons, one that plans and one that learns.
#include <fmt/format.h>
#include <volvox/base/index.h>
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>
#include <volvox/sim/run.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

using volvox::mind::Agent;
using volvox::mind::Behavior;

// --- Reasoning: facts and rules, applied until nothing new follows --------------------------------
// What a module of a chain can conclude, and what it tells its neighbours. 0: not known.
struct Facts {
  int number = 0;  // of this module, from the back
  int length = 0;  // of the chain
};
VOLVOX_TYPE(Facts, number, length)

class Reasoning : public Behavior {
 public:
  void step(Agent& agent) override {
    Facts behind, ahead;  // what the neighbours said in the last tick
    while (const auto message = agent.read())
      if (const auto facts = message->as<Facts>()) (agent.where(*message) == "back" ? behind : ahead) = *facts;
    Facts& known = agent.model<Facts>();
    const Facts before = known;
    const auto conclude = [&](int& fact, bool because, int value) { fact = fact == 0 && because ? value : fact; };
    for (int last = -1; last != known.number + known.length;) {
      last = known.number + known.length;
      conclude(known.number, !agent.dock("back").engaged, 1);        // nobody is behind me: I am the first
      conclude(known.number, behind.number > 0, behind.number + 1);  // I come after the one behind me
      conclude(known.length, known.number > 0 && !agent.dock("front").engaged, known.number);  // I am the last
      conclude(known.length, ahead.length > 0, ahead.length);                                  // the one ahead knows it
      conclude(known.length, behind.length > 0, behind.length);
    }
    if (known.number == before.number && known.length == before.length) return;
    for (const char* dock : {"front", "back"}) agent.send(dock, known);
  }
  VOLVOX_STATE()
};

// --- The body of the other two: cells of 10 cm that a gantry can reach ------------------------------
constexpr int cells = 5;  // in each direction
constexpr double width = 0.1;
struct Cell {
  int x = 0, y = 0;
};
constexpr Cell home{0, 0}, goal{4, 0}, steps[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
bool operator==(Cell a, Cell b) { return a.x == b.x && a.y == b.y; }
int index(Cell c) { return c.y * cells + c.x; }
Cell cell(int index) { return {index % cells, index / cells}; }
bool inside(Cell c) { return c.x >= 0 && c.x < cells && c.y >= 0 && c.y < cells; }
Cell where(const Agent& agent) {
  return {static_cast<int>(std::lround(agent.angle("x") / width)),
          static_cast<int>(std::lround(agent.angle("y") / width))};
}
void go(Agent& agent, Cell c) {
  agent.move_to("x", c.x * width);
  agent.move_to("y", c.y * width);
}

struct Journey {  // what both write down
  int moves = 0;  // to the goal, the last time
  bool arrived = false;
};
VOLVOX_TYPE(Journey, moves, arrived)

// --- Planning: it knows the map, searches a way (breadth first) and follows it -----------------------
class Planning : public Behavior {
 public:
  void start(Agent&) override {
    std::vector<int> from(cells * cells, -1), open{index(goal)};
    from[index(goal)] = index(goal);
    for (std::size_t i = 0; i < open.size(); ++i)
      for (const Cell step : steps) {
        const Cell next{cell(open[i]).x + step.x, cell(open[i]).y + step.y};
        const bool wall = next.x == 2 && next.y <= 3;
        if (!inside(next) || wall || from[index(next)] >= 0) continue;
        from[index(next)] = open[i];
        open.push_back(index(next));
      }
    for (int at = index(home); at != index(goal);) plan_.push_back(at = from[at]);
  }
  void step(Agent& agent) override {
    if (plan_.empty()) return;
    const Cell next = cell(plan_.front());
    go(agent, next);
    if (volvox::length(agent.angle("x") - next.x * width, agent.angle("y") - next.y * width) > 0.005) return;
    plan_.erase(plan_.begin());
    ++agent.model<Journey>().moves;
    agent.model<Journey>().arrived = plan_.empty();
  }
  VOLVOX_STATE(plan_)

 private:
  std::vector<int> plan_;  // cells still to visit
};

// --- Learning: it knows no map; Q-learning finds the way by trial and error -------------------------
class Learning : public Behavior {
 public:
  void step(Agent& agent) override {
    if (value_.empty()) value_.assign(cells * cells * 4, 0);
    if (agent.time() < next_) return;
    next_ = agent.time() + 0.3;  // s, for a move
    const Cell here = where(agent);
    if (!way_.empty()) {  // on the way home, as it came
      go(agent, cell(way_.back()));
      way_.pop_back();
      return;
    }
    if (action_ >= 0 && learn(agent, here)) return;
    // Mostly what seems best, at times something else, and less and less so.
    const double curiosity = 0.4 * std::max(0.0, 1 - agent.time() / 600);
    action_ = agent.random().chance(curiosity) ? static_cast<int>(agent.random().below(4)) : best(here);
    from_ = index(here);
    const Cell to{here.x + steps[action_].x, here.y + steps[action_].y};
    if (inside(to)) go(agent, to);
    ++moves_;
  }
  VOLVOX_STATE(value_, visited_, way_, next_, action_, from_, moves_)

 private:
  double& value(int at, int action) { return value_[at * 4 + action]; }
  int best(Cell c) {
    int found = 0;
    for (int a = 1; a < 4; ++a)
      if (value(index(c), a) > value(index(c), found)) found = a;
    return found;
  }
  // From what the last action led to. True: it has arrived.
  bool learn(Agent& agent, Cell here) {
    const bool arrived = here == goal, blocked = index(here) == from_;
    const double reward = arrived ? 1 : blocked ? -0.1 : -0.02;
    const double then = arrived ? 0 : value(index(here), best(here));
    value(from_, action_) += 0.5 * (reward + 0.95 * then - value(from_, action_));
    if (blocked) go(agent, here);  // let go of the wall
    else visited_.push_back(from_);
    action_ = -1;
    if (!arrived) return false;
    agent.model<Journey>() = {moves_, true};
    // Home without detours: back to the last visit of each cell.
    for (std::size_t i = visited_.size(); i-- > 0;) {
      way_.insert(way_.begin(), visited_[i]);
      const auto first = std::find(visited_.begin(), visited_.end(), visited_[i]);
      i = static_cast<std::size_t>(first - visited_.begin());
    }
    visited_.clear();
    moves_ = 0;
    return true;
  }

  std::vector<double> value_;  // of an action in a cell
  std::vector<int> visited_, way_;
  double next_ = 0;  // s
  int action_ = -1, from_ = 0, moves_ = 0;
};

int main(int argc, char** argv) {
  if (argc < 2) return 2;  // it wants its world.sdf
  auto library = volvox::cli::standard_library();
  library.minds.behaviors.add("reasoning", [] { return std::make_unique<Reasoning>(); });
  library.minds.behaviors.add("planning", [] { return std::make_unique<Planning>(); });
  library.minds.behaviors.add("learning", [] { return std::make_unique<Learning>(); });
  volvox::Log log;
  volvox::sim::RunOptions options;
  options.experiment = argv[1];  // world.sdf
  if (argc > 2) options.seed = std::strtoull(argv[2], nullptr, 10);
  auto run = volvox::sim::Run::prepare(options, library, log);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error().text());
    return 2;
  }
  (*run)->finish();
  const auto& minds = std::as_const((*run)->simulation()).minds();
  bool right = true;
  for (std::size_t i = 0; i < minds.size(); ++i) {
    const Agent& agent = minds.agent(i);
    if (const auto* facts = agent.find_model<Facts>()) {
      fmt::print("{} concludes that it is number {} of {}\n", agent.name(), facts->number, facts->length);
      right = right && facts->number == static_cast<int>(i) + 1 && facts->length == 4;
    } else if (const auto* journey = agent.find_model<Journey>()) {
      fmt::print("the {} took {} moves to the goal\n", agent.name(), journey->moves);
      right = right && journey->arrived && journey->moves == 12;  // around the wall and no detour
    }
  }
  return right ? 0 : 1;
}
