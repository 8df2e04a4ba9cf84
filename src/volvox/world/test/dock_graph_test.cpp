#include "volvox/world/dock_graph.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <numeric>

#include "volvox/base/random.h"

namespace volvox::world {
namespace {

DockGraph graph_of(std::size_t modules, std::size_t docks_each) {
  std::vector<PlacementIndex> owner;
  for (std::uint32_t m = 0; m < modules; ++m) owner.insert(owner.end(), docks_each, m);
  DockGraph graph;
  graph.reset(owner, modules);
  return graph;
}

TEST(DockGraph, KnowsPartnersAndOrganisms) {
  DockGraph graph = graph_of(4, 2);
  EXPECT_EQ(graph.organism_count(), 4u);
  graph.join(1, 2);  // 0 - 1
  graph.join(3, 4);  // 1 - 2
  graph.refresh();
  EXPECT_EQ(graph.organism_count(), 2u);
  EXPECT_EQ(graph.neighbor(1), 1u);
  EXPECT_EQ(graph.neighbor(0), nobody);
  EXPECT_EQ(graph.organisms()[2], 0u);
  EXPECT_EQ(graph.organisms()[3], 3u);
  graph.part(2);
  graph.refresh();
  EXPECT_EQ(graph.organism_count(), 3u);
  EXPECT_EQ(graph.organisms()[2], 1u);
  EXPECT_EQ(graph.connections(), 1u);
}

TEST(DockGraph, ModulesWithoutDocksAreAlone) {
  DockGraph graph;
  graph.reset({1, 1, 3}, 5);
  EXPECT_EQ(graph.organism_count(), 5u);
  graph.join(1, 2);
  graph.refresh();
  EXPECT_EQ(graph.organism_count(), 4u);
  EXPECT_EQ(graph.organisms()[3], 1u);
}

// Random joining and parting, compared with components computed from scratch.
TEST(DockGraph, OrganismsStayRightUnderChange) {
  RandomStream random(5, 0, "graph");
  constexpr std::uint32_t modules = 30, docks = 4;
  DockGraph graph = graph_of(modules, docks);
  for (int step = 0; step < 2000; ++step) {
    const DockIndex a(random.below(modules * docks));
    const DockIndex b(random.below(modules * docks));
    if (graph.partner(a) != nobody) graph.part(a);
    else if (a != b && graph.partner(b) == nobody) graph.join(a, b);
    graph.refresh();
    std::vector<std::uint32_t> root(modules);
    std::iota(root.begin(), root.end(), 0u);
    for (int pass = 0; pass < narrow<int>(modules); ++pass)
      for (std::uint32_t d = 0; d < modules * docks; ++d)
        if (graph.partner(d) != nobody) {
          const std::uint32_t low = std::min(root[graph.owner(d)], root[graph.neighbor(d)]);
          root[graph.owner(d)] = root[graph.neighbor(d)] = low;
        }
    for (std::uint32_t m = 0; m < modules; ++m) ASSERT_EQ(graph.organisms()[m], root[m]);
  }
}

}  // namespace
}  // namespace volvox::world
