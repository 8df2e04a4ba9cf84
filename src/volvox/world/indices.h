// The kinds of things that are numbered over the whole world: 0, 1, ... in the order of the description. The compiler
// refuses a dock where a link is expected.
#pragma once

#include <fmt/core.h>

#include "volvox/base/index.h"

namespace volvox::world {

using PlacementIndex = Index<struct PlacementTag>;  // a module or an obstacle
using LinkIndex = Index<struct LinkTag>;
using JointIndex = Index<struct JointTag>;
using DockIndex = Index<struct DockTag>;
using AgentIndex = Index<struct AgentTag>;  // in World::modules(): a module that has a mind

// No placement, link, joint, dock or agent.
inline constexpr NoIndex nobody;

}  // namespace volvox::world

template <class Tag>
struct fmt::formatter<volvox::Index<Tag>> : fmt::formatter<std::uint32_t> {};
