// The content of a module's mind as text (percepts, actions, model and mailbox), for viewers and recordings. Only
// reads; the agent must not be stepped meanwhile.
// Numbers are in the units of the percepts and actions. The same mind gives the same text.
// For the thread of the loop, between two ticks.
#pragma once

#include <set>
#include <string>

#include "volvox/mind/agent.h"

namespace volvox::record {

// Appends a JSON object: percepts{}, actions{} (those that were set), knows{type, value} if it has a
// model, mailbox[] (the first few), waiting (how many there are).
void describe_mind(std::string& out, const mind::Agent& agent);

// The same without values that are long, such as images. The indices of these (of a percept; the number of percepts
// stands for the model) are kept in `too_long`, so that their text is not made again in later calls.
void describe_mind_briefly(std::string& out, const mind::Agent& agent, std::set<std::size_t>& too_long);

}  // namespace volvox::record
