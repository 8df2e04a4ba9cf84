#include "volvox/evolve/genome.h"

#include <algorithm>

#include "volvox/base/hash.h"

namespace volvox::evolve {

Json to_json(const Genome& genome) {
  Json tree = Json::array();
  for (const Part& part : genome.tree) tree.push_back({part.on, part.dock, part.by, part.turn});
  return {{"tree", tree}, {"genes", genome.genes}, {"parts", genome.parts}};
}

Result<Genome> genome_from(const Json& json) {
  Genome genome;
  try {
    for (const Json& part : json.at("tree"))
      genome.tree.push_back(
          {part.at(0).get<int>(), part.at(1).get<std::string>(), part.at(2).get<std::string>(), part.at(3).get<int>()});
    genome.genes = json.at("genes").get<std::vector<double>>();
    genome.parts = json.at("parts").get<std::vector<std::vector<double>>>();
  } catch (const Json::exception&) {
    return Error("a genome of the state is damaged", "use another state");
  }
  for (std::size_t i = 0; i < genome.tree.size(); ++i)
    if (genome.tree[i].on >= static_cast<int>(i) || (i > 0 && genome.tree[i].on < 0))
      return Error("a genome of the state is damaged", "use another state");
  return genome;
}

std::vector<double> flat(const Genome& genome) {
  std::vector<double> all = genome.genes;
  for (const auto& part : genome.parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Genome with_flat(Genome genome, const std::vector<double>& numbers) {
  std::size_t next = 0;
  const auto take = [&](double& gene) { gene = clamp(numbers.at(next++), 0, 1); };
  std::ranges::for_each(genome.genes, take);
  for (auto& part : genome.parts) std::ranges::for_each(part, take);
  return genome;
}

std::uint64_t shape_hash(const Genome& genome) {
  Hasher hasher;
  for (const Part& part : genome.tree) {
    hasher.add(static_cast<std::uint64_t>(part.on + 1)), hasher.add(static_cast<std::uint64_t>(part.turn));
    hasher.add(part.dock.data(), part.dock.size()), hasher.add(part.by.data(), part.by.size());
  }
  return hasher.value();
}

}  // namespace volvox::evolve
