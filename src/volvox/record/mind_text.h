// What is in a module's mind, as text: percepts, actions, model and mailbox, for viewers and recordings.
#pragma once

#include <set>
#include <string>

#include "volvox/mind/agent.h"

namespace volvox::record {

// Appends a JSON object: percepts{}, actions{} (those that were set), knows{type, value} if it has a
// model, mailbox[] (the first few), waiting (how many there are).
void describe_mind(std::string& out, const mind::Agent& agent);

// The same without what is long, such as images: its place (of a percept, or after the last of them
// the model) is kept in `too_long`, so that it is not made again only to be thrown away.
void describe_mind_briefly(std::string& out, const mind::Agent& agent, std::set<std::size_t>& too_long);

}  // namespace volvox::record
