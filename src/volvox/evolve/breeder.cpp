#include "volvox/evolve/breeder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/model/names.h"

namespace volvox::evolve {
namespace {

constexpr int most_tries = 20;

// The part and everything that hangs on it.
std::vector<char> subtree(const Tree& tree, int root) {
  VOLVOX_ASSERT(root >= 0 && root < std::ssize(tree));
  std::vector<char> in(tree.size(), 0);
  in[root] = 1;
  for (std::size_t i = narrow<std::size_t>(root) + 1; i < tree.size(); ++i)
    if (tree[i].on >= 0) in[i] = in[tree[i].on];
  return in;
}

void remove_parts(Genome& genome, const std::vector<char>& remove) {
  VOLVOX_ASSERT(remove.size() == genome.tree.size() && genome.parts.size() == genome.tree.size());
  Genome kept;
  kept.genes = std::move(genome.genes);
  std::vector<int> becomes(genome.tree.size(), -1);
  for (std::size_t i = 0; i < genome.tree.size(); ++i) {
    if (remove[i] != 0) continue;
    becomes[i] = narrow<int>(kept.tree.size());
    Part part = genome.tree[i];
    if (part.on >= 0) part.on = becomes[part.on];
    VOLVOX_ASSERT(part.on >= 0 || i == 0);  // what hangs on a part goes with it
    kept.tree.push_back(std::move(part));
    kept.parts.push_back(std::move(genome.parts[i]));
  }
  genome = std::move(kept);
}

int pick(std::size_t count, RandomStream& random) {
  VOLVOX_ASSERT(count > 0);
  return narrow<int>(random.below(count));
}

}  // namespace

Result<Breeder> Breeder::create(const Task& task, std::shared_ptr<model::ModelLibrary> library, std::size_t modules) {
  Breeder breeder(task, std::move(library));
  breeder.modules_ = modules;
  if (task.robot.empty()) return breeder;
  const auto here = [&](const Error& error) {
    Error located;
    for (Diagnostic one : error.diagnostics()) {
      if (one.file.empty()) one.file = task.file;
      located.add(std::move(one));
    }
    return located;
  };
  auto model = breeder.library_->load(task.robot);
  if (!model.ok()) return here(model.error());
  breeder.model_ = *model;
  const std::vector<std::string> known = model::names_of((*model)->docks);
  breeder.docks_ = task.docks.empty() ? known : task.docks;
  for (const std::string& dock : breeder.docks_)
    if (std::ranges::find(known, dock) == known.end())
      return Diagnostic{task.file, 0, fmt::format("{} has no dock '{}'", task.robot, dock),
                        fmt::format("use some of: {}", fmt::join(known, ", "))};
  if (task.most > 1 && known.empty())
    return Diagnostic{task.file, 0, fmt::format("{} has no docks", task.robot), "give \"modules\": [1, 1]"};
  if (!task.given.empty()) {
    auto found = clashes(task.given, task.robot, *breeder.library_);
    if (!found.ok()) return here(found.error());
    if (!found->empty())
      return Diagnostic{task.file, 0,
                        fmt::format("modules {} and {} of the given body overlap by {:.3g} mm", found->front().a,
                                    found->front().b, found->front().depth * 1e3),
                        "dock one of them elsewhere"};
  }
  if (auto found = breeder.find_smallest(); !found.ok()) return found.error();
  return breeder;
}

std::vector<double> Breeder::random_genes(std::size_t count, RandomStream& random) const {
  std::vector<double> genes(count);
  for (double& gene : genes) gene = random.uniform();
  return genes;
}

std::vector<std::string> Breeder::free_docks(const Genome& genome, int part) const {
  std::set<std::string> used;
  for (std::size_t i = 0; i < genome.tree.size(); ++i) {
    if (genome.tree[i].on == part) used.insert(genome.tree[i].dock);
    if (narrow<int>(i) == part) used.insert(genome.tree[i].by);
  }
  std::vector<std::string> free;
  for (const std::string& dock : docks_)
    if (!used.contains(dock)) free.push_back(dock);
  return free;
}

// Docks one more module somewhere; false: the place does not do.
bool Breeder::grow(Genome& genome, RandomStream& random) {
  const int on = pick(genome.tree.size(), random);
  const std::vector<std::string> places = free_docks(genome, on);
  if (places.empty()) return false;
  const std::string& dock = places[pick(places.size(), random)];
  const model::Dock& there = model_->docks[model_->dock_index(dock)];
  std::vector<std::string> own;
  for (const std::string& name : docks_)
    if (model::fit(there, model_->docks[model_->dock_index(name)])) own.push_back(name);
  if (own.empty()) return false;
  Part part{on, dock, own[pick(own.size(), random)], 0};
  const int symmetry = std::max(1, there.symmetry);
  part.turn =
      task_->turns.empty() ? pick(symmetry, random) : task_->turns[pick(task_->turns.size(), random)] % symmetry;
  Genome larger = genome;
  larger.tree.push_back(part);
  larger.parts.push_back(random_genes(task_->each_genes(), random));
  auto found = clashes(larger.tree, task_->robot, *library_);
  if (!found.ok() || !found->empty()) return false;
  genome = std::move(larger);
  return true;
}

bool Breeder::grow_to_least(Genome& genome, RandomStream& random) {
  for (int tries = 0; std::ssize(genome.tree) < task_->least; ++tries) {
    if (tries >= most_tries * task_->least) return false;
    (void)grow(genome, random);
  }
  return true;
}

bool Breeder::repair(Genome& genome) {
  if (!task_->evolves_body()) return true;
  std::vector<char> remove(genome.tree.size(), 0);
  std::set<std::pair<int, std::string>> used;
  bool cut = false;
  const auto cut_off = [&](int root) {
    const std::vector<char> gone = subtree(genome.tree, root);
    for (std::size_t i = 0; i < gone.size(); ++i) remove[i] = static_cast<char>(remove[i] | gone[i]);
    cut = true;
  };
  for (std::size_t i = 1; i < genome.tree.size(); ++i) {
    if (remove[i] != 0) continue;
    const Part& part = genome.tree[i];
    const int a = model_->dock_index(part.dock), b = model_->dock_index(part.by);
    const bool fits = a >= 0 && b >= 0 && model::fit(model_->docks[a], model_->docks[b]);
    if (!fits || !used.insert({part.on, part.dock}).second || !used.insert({narrow<int>(i), part.by}).second ||
        narrow<int>(i) >= task_->most)
      cut_off(narrow<int>(i));
  }
  if (cut) remove_parts(genome, remove);
  for (;;) {
    const auto found = clashes(genome.tree, task_->robot, *library_);
    if (!found.ok()) return false;
    if (found->empty()) break;
    const int later = std::ranges::min(*found, {}, &Clash::b).b;
    remove_parts(genome, subtree(genome.tree, later));
    cut = true;
  }
  if (cut) ++counts_.repaired;
  return within_limits(genome);
}

bool Breeder::is_valid(const Genome& genome) const {
  const std::size_t modules = task_->robot.empty() ? modules_ : genome.tree.size();
  const auto in_range = [](const std::vector<double>& genes, std::size_t count) {
    return genes.size() == count && std::ranges::all_of(genes, [](double gene) { return gene >= 0 && gene <= 1; });
  };
  if (genome.parts.size() != modules || !in_range(genome.genes, task_->shared_genes())) return false;
  for (const auto& part : genome.parts)
    if (!in_range(part, task_->each_genes())) return false;
  if (!task_->evolves_body()) return genome.tree == task_->given;
  std::set<std::pair<int, std::string>> used;
  for (std::size_t i = 1; i < genome.tree.size(); ++i) {
    const Part& part = genome.tree[i];
    const int a = model_->dock_index(part.dock), b = model_->dock_index(part.by);
    if (part.on < 0 || part.on >= narrow<int>(i) || a < 0 || b < 0 || !model::fit(model_->docks[a], model_->docks[b]) ||
        !used.insert({part.on, part.dock}).second || !used.insert({narrow<int>(i), part.by}).second)
      return false;
  }
  const auto found = clashes(genome.tree, task_->robot, *library_);
  return within_limits(genome) && found.ok() && found->empty();
}

bool Breeder::within_limits(const Genome& genome) const {
  return std::ssize(genome.tree) >= task_->least && std::ssize(genome.tree) <= task_->most &&
         model_->mass() * real(genome.tree.size()) <= task_->largest_mass;
}

// A body of the least size, which random() falls back on.
Result<void> Breeder::find_smallest() {
  if (!task_->evolves_body()) return {};
  const double mass = model_->mass() * task_->least;
  if (mass > task_->largest_mass)
    return Diagnostic{task_->file, 0,
                      fmt::format("{} of {} weigh {:.4g} kg, but the largest mass of the task is {:.4g} kg",
                                  task_->least, task_->robot, mass, task_->largest_mass),
                      "give fewer \"modules\" or a larger \"largest_mass\""};
  RandomStream random(1, 0, "smallest");
  for (int tries = 0; tries < most_tries; ++tries) {
    Genome genome;
    genome.tree.push_back({}), genome.parts.push_back({});
    if (!grow_to_least(genome, random)) continue;
    smallest_ = std::move(genome.tree);
    return {};
  }
  return Diagnostic{task_->file, 0,
                    fmt::format("no body of {} {} was found: with these docks and turns they overlap, or do not fit",
                                task_->least, task_->robot),
                    "give fewer \"modules\", or more \"docks\" and \"turns\""};
}

Genome Breeder::random(RandomStream& random) {
  Genome genome;
  genome.genes = random_genes(task_->shared_genes(), random);
  if (!task_->evolves_body()) {
    genome.tree = task_->given;
    const std::size_t count = task_->robot.empty() ? modules_ : task_->given.size();
    for (std::size_t i = 0; i < count; ++i) genome.parts.push_back(random_genes(task_->each_genes(), random));
    VOLVOX_ASSERT(is_valid(genome));
    return genome;
  }
  const std::size_t wanted = task_->least + random.below(task_->most - task_->least + 1);
  genome.tree.push_back({});
  genome.parts.push_back(random_genes(task_->each_genes(), random));
  for (int tries = 0; genome.tree.size() < wanted && tries < most_tries * task_->most; ++tries) {
    if (model_->mass() * real(genome.tree.size() + 1) > task_->largest_mass) break;
    (void)grow(genome, random);
  }
  if (std::ssize(genome.tree) < task_->least) {
    genome.tree = smallest_;
    genome.parts.resize(1);
    while (genome.parts.size() < genome.tree.size()) genome.parts.push_back(random_genes(task_->each_genes(), random));
  }
  VOLVOX_ASSERT(is_valid(genome));
  return genome;
}

void Breeder::change_genes(std::vector<double>& genes, RandomStream& random) const {
  for (double& gene : genes) {
    if (!random.chance(task_->algorithm.rate)) continue;
    // Now and then a jump, so that a range is left that all have come to share.
    gene = random.chance(0.05) ? random.uniform() : clamp(gene + task_->algorithm.step * random.normal(), 0, 1);
  }
}

// Copies the part `root` of the donor, with all that hangs on it, to a dock of the genome.
bool Breeder::graft(Genome& genome, int on, const std::string& dock, const Genome& donor, int root) const {
  const std::vector<char> in = subtree(donor.tree, root);
  if (std::ssize(genome.tree) + std::ranges::count(in, 1) > task_->most) return false;
  std::vector<int> becomes(donor.tree.size(), -1);
  for (std::size_t i = 0; i < donor.tree.size(); ++i) {
    if (in[i] == 0) continue;
    becomes[i] = narrow<int>(genome.tree.size());
    Part part = donor.tree[i];
    if (narrow<int>(i) == root) {
      part.on = on, part.dock = dock;
      if (part.by.empty()) part.by = docks_.front();
    } else {
      part.on = becomes[part.on];
    }
    genome.tree.push_back(std::move(part));
    genome.parts.push_back(donor.parts[i]);
  }
  return true;
}

void Breeder::change_body(Genome& genome, RandomStream& random) {
  const double which = random.uniform();
  const int part = pick(genome.tree.size(), random);
  if (which < 0.35) {
    for (int tries = 0; tries < 5 && std::ssize(genome.tree) < task_->most && !grow(genome, random); ++tries) {}
  } else if (which < 0.55) {
    if (part > 0) remove_parts(genome, subtree(genome.tree, part));
  } else if (which < 0.75) {
    if (part == 0) return;
    // Turned, or docked by another of its docks.
    Part& turned = genome.tree[part];
    const int symmetry = std::max(1, model_->docks[model_->dock_index(turned.dock)].symmetry);
    if (random.chance(0.5)) {
      turned.turn =
          task_->turns.empty() ? pick(symmetry, random) : task_->turns[pick(task_->turns.size(), random)] % symmetry;
    } else {
      turned.by = docks_[pick(docks_.size(), random)];
    }
  } else {
    // Doubled: the same limb at another dock, which is how symmetric bodies come about.
    if (part == 0) return;
    const int on = random.chance(0.5) ? genome.tree[part].on : pick(genome.tree.size(), random);
    const std::vector<std::string> places = free_docks(genome, on);
    if (places.empty()) return;
    const Genome donor = genome;
    (void)graft(genome, on, places[pick(places.size(), random)], donor, part);
  }
}

Genome Breeder::mutated(const Genome& parent, RandomStream& random) {
  Genome child = parent;
  if (task_->evolves_body() && random.chance(task_->algorithm.body)) {
    change_body(child, random);
    if (!repair(child) && !(std::ssize(child.tree) < task_->least && grow_to_least(child, random))) {
      ++counts_.refused;
      child = parent;
    }
  }
  change_genes(child.genes, random);
  for (auto& part : child.parts) change_genes(part, random);
  VOLVOX_ASSERT(is_valid(child));
  return child;
}

Genome Breeder::crossed(const Genome& a, const Genome& b, RandomStream& random) {
  VOLVOX_ASSERT(is_valid(a) && is_valid(b));
  Genome child = a;
  for (std::size_t i = 0; i < child.genes.size(); ++i) {
    const double share = random.uniform();
    child.genes[i] = random.chance(0.5) ? clamp(a.genes[i] + share * (b.genes[i] - a.genes[i]), 0, 1) : a.genes[i];
  }
  if (!task_->evolves_body()) {
    for (std::size_t p = 0; p < child.parts.size(); ++p)
      for (std::size_t i = 0; i < child.parts[p].size(); ++i)
        if (random.chance(0.5)) child.parts[p][i] = b.parts[p][i];
    return child;
  }
  if (b.tree.size() < 2) return child;
  const int root = 1 + pick(b.tree.size() - 1, random);
  if (child.tree.size() > 1 && random.chance(0.5))
    remove_parts(child, subtree(child.tree, 1 + pick(child.tree.size() - 1, random)));
  const int on = pick(child.tree.size(), random);
  const std::vector<std::string> places = free_docks(child, on);
  const bool grafted = !places.empty() && graft(child, on, places[pick(places.size(), random)], b, root);
  if (!(grafted ? repair(child) : within_limits(child))) {
    ++counts_.refused;
    child.tree = a.tree, child.parts = a.parts;
  }
  VOLVOX_ASSERT(is_valid(child));
  return child;
}

}  // namespace volvox::evolve
