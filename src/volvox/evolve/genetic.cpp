// (mu + lambda) with tournaments, and NSGA-II: the same with ranks and crowding in place of one fitness.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/evolve/algorithm.h"

namespace volvox::evolve {
namespace {

bool unfit(const Individual& one) {
  return std::ranges::any_of(one.outcome.objectives, [](double value) { return std::isnan(value); });
}

bool dominates(const Individual& a, const Individual& b) {
  VOLVOX_ASSERT(a.outcome.objectives.size() == b.outcome.objectives.size());
  if (unfit(a) || unfit(b)) return !unfit(a) && unfit(b);
  bool better = false;
  for (std::size_t i = 0; i < a.outcome.objectives.size(); ++i) {
    if (a.outcome.objectives[i] < b.outcome.objectives[i]) return false;
    better |= a.outcome.objectives[i] > b.outcome.objectives[i];
  }
  return better;
}

// The number of fronts that lie before each.
std::vector<int> ranks_of(const std::vector<Individual>& all) {
  std::vector<int> rank(all.size(), -1);
  std::size_t ranked = 0;
  for (int front = 0; ranked < all.size(); ++front) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (rank[i] >= 0) continue;
      bool dominated = false;
      for (std::size_t j = 0; j < all.size() && !dominated; ++j)
        dominated = rank[j] < 0 && j != i && dominates(all[j], all[i]);
      if (!dominated) members.push_back(i);
    }
    VOLVOX_ASSERT(!members.empty());  // somebody is always dominated by nobody
    for (const std::size_t i : members) rank[i] = front;
    ranked += members.size();
  }
  return rank;
}

// How much room each has in its front: infinite at the ends.
std::vector<double> crowding_of(const std::vector<Individual>& all, const std::vector<int>& rank) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> room(all.size(), 0);
  if (all.empty()) return room;
  const int fronts = *std::ranges::max_element(rank) + 1;
  for (int front = 0; front < fronts; ++front) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (rank[i] == front) members.push_back(i);
    for (std::size_t k = 0; k < all.front().outcome.objectives.size(); ++k) {
      const auto value = [&](std::size_t i) { return all[i].outcome.objectives[k]; };
      if (std::ranges::any_of(members, [&](std::size_t i) { return std::isnan(value(i)); })) break;
      std::ranges::stable_sort(members, [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
      const double span = value(members.back()) - value(members.front());
      room[members.front()] = room[members.back()] = infinite;
      for (std::size_t m = 1; m + 1 < members.size(); ++m)
        if (span > 0) room[members[m]] += (value(members[m + 1]) - value(members[m - 1])) / span;
    }
  }
  return room;
}

constexpr double immigrants = 0.1;  // share of children without parents, so that no corner is the last
constexpr double progress = 0.02;   // of the best fitness: less is no reason to go on

class Genetic final : public Algorithm {
 public:
  Genetic(const Task& task, bool many) : settings_(task.algorithm), many_(many) {}

  std::vector<Individual> ask(Breeder& breeder, std::size_t count, RandomStream& random) override {
    if (settings_.patience > 0 && waited_ >= settings_.patience) begin_anew();
    std::vector<Individual> asked;
    for (std::size_t i = 0; i < count; ++i) {
      Individual& child = asked.emplace_back();
      if (parents_.empty() || random.chance(immigrants)) child.genome = breeder.random(random);
      else child = bred(breeder, settings_.crossover, random, [&]() -> const Individual& { return chosen(random); });
    }
    return asked;
  }

  void tell(std::vector<Individual> tried) override {
    welcome(std::move(tried));
    const double best = parents_.empty() ? std::numeric_limits<double>::quiet_NaN() : parents_.front().fitness();
    if (fitter(best, best_then_ + progress * std::abs(best_then_))) best_then_ = best, waited_ = 0;
    else ++waited_;
  }

  void welcome(std::vector<Individual> tried) override {
    const auto keep = narrow<std::size_t>(many_ ? settings_.population : std::max(2, settings_.population / 4));
    std::ranges::move(tried, std::back_inserter(parents_));
    const std::vector<int> rank = many_ ? ranks_of(parents_) : std::vector<int>(parents_.size(), 0);
    const std::vector<double> room = many_ ? crowding_of(parents_, rank) : std::vector<double>(parents_.size(), 0);
    std::vector<std::size_t> order(parents_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Of two that are equally fit, the younger stays: it has moved on.
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      if (many_) return rank[a] != rank[b] ? rank[a] < rank[b] : room[a] > room[b];
      const double fa = parents_[a].fitness(), fb = parents_[b].fitness();
      if (fitter(fa, fb) || fitter(fb, fa)) return fitter(fa, fb);
      return parents_[a].number > parents_[b].number;
    });
    // One body must not crowd out all others while their minds are still young.
    const std::size_t most_alike = many_ || parents_.empty() || parents_.front().genome.tree.empty()
                                       ? parents_.size()
                                       : std::max<std::size_t>(1, keep / 3);
    std::map<std::uint64_t, std::size_t> alike;
    std::vector<std::size_t> late;
    std::vector<Individual> kept;
    for (const std::size_t i : order) {
      if (kept.size() == keep) break;
      if (alike[shape_hash(parents_[i].genome)]++ < most_alike) kept.push_back(std::move(parents_[i]));
      else late.push_back(i);
    }
    for (const std::size_t i : late)
      if (kept.size() < keep) kept.push_back(std::move(parents_[i]));
    VOLVOX_ASSERT(kept.size() == std::min(keep, order.size()));
    parents_ = std::move(kept);
  }

  std::vector<const Individual*> archive() const override { return addresses_of(parents_); }
  Json save() const override {
    Json state = {{"parents", to_json(parents_)}};
    if (settings_.patience > 0) state["waited"] = waited_, state["best_then"] = best_then_;
    return state;
  }
  Result<void> load(const Json& state) override {
    if (settings_.patience > 0) {
      const Json waited = state.value("waited", Json()), then = state.value("best_then", Json());
      if (!waited.is_number_integer() || !(then.is_number() || then.is_null()))
        return Error("the patience of the state is damaged", "use another state");
      waited_ = waited.get<int>();
      best_then_ = then.is_null() ? std::numeric_limits<double>::quiet_NaN() : then.get<double>();
    }
    return load_individuals(state, "parents", parents_);
  }

 private:
  // All parents may come to share a body that no single change makes better. The best of all is kept by the evolution.
  void begin_anew() {
    parents_.clear();
    best_then_ = std::numeric_limits<double>::quiet_NaN(), waited_ = 0;
  }

  // The better of two: the parents are sorted.
  const Individual& chosen(RandomStream& random) const {
    VOLVOX_ASSERT(!parents_.empty());
    return parents_[std::min(random.below(parents_.size()), random.below(parents_.size()))];
  }

  AlgorithmSettings settings_;
  bool many_;
  std::vector<Individual> parents_;                              // the best first
  int waited_ = 0;                                               // generations without progress
  double best_then_ = std::numeric_limits<double>::quiet_NaN();  // when there was some
};

class RandomSearch final : public Algorithm {
 public:
  std::vector<Individual> ask(Breeder& breeder, std::size_t count, RandomStream& random) override {
    std::vector<Individual> asked(count);
    for (Individual& one : asked) one.genome = breeder.random(random);
    return asked;
  }
  void tell(std::vector<Individual> tried) override {
    for (Individual& one : tried)
      if (best_.empty() || fitter(one.fitness(), best_.front().fitness())) best_.assign(1, std::move(one));
  }
  std::vector<const Individual*> archive() const override { return addresses_of(best_); }
  Json save() const override { return {{"best", to_json(best_)}}; }
  Result<void> load(const Json& state) override { return load_individuals(state, "best", best_); }

 private:
  std::vector<Individual> best_;
};

}  // namespace

std::unique_ptr<Algorithm> make_genetic(const Task& task, bool many_objectives) {
  return std::make_unique<Genetic>(task, many_objectives);
}
std::unique_ptr<Algorithm> make_random(const Task&) { return std::make_unique<RandomSearch>(); }

}  // namespace volvox::evolve
