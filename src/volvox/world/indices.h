// The kinds of things that are numbered over the whole world: 0, 1, ... in the order of the description. The compiler
// refuses a dock where a link is expected.
// Plain values; they mean the same thing during a whole run, on every machine.
#pragma once

#include <fmt/core.h>

#include "volvox/base/index.h"

namespace volvox::world {

// Declared here, so that no tag of an enclosing namespace is meant.
struct PlacementTag;
struct LinkTag;
struct JointTag;
struct DockTag;
struct AgentTag;

using PlacementIndex = Index<PlacementTag>;  // a module or an obstacle
using LinkIndex = Index<LinkTag>;
using JointIndex = Index<JointTag>;
using DockIndex = Index<DockTag>;
using AgentIndex = Index<AgentTag>;  // in World::modules(): a module that has a mind

// No placement, link, joint, dock or agent.
inline constexpr NoIndex nobody;

}  // namespace volvox::world

template <class Tag>
struct fmt::formatter<volvox::Index<Tag>> : fmt::formatter<std::uint32_t> {};
