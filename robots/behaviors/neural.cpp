#include "neural.h"

#include <sstream>

#include "volvox/base/parse.h"

namespace volvox::robots {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  std::istringstream in(text);
  for (std::string word; in >> word;) list.push_back(word);
  return list;
}

// With fixed bits on every machine, unlike the library's tanh.
double squashed(double x) { return 1 - 2 / (volvox::exp(2 * clamp(x, -20, 20)) + 1); }

}  // namespace

void Neural::start(mind::Agent& agent) {
  for (const std::string& name : words(agent.parameter("inputs", "")))
    inputs_.push_back(agent.find_percept<double>(name));
  outputs_ = words(agent.parameter("outputs", ""));
  for (const std::string& joint : outputs_) (void)agent.find_action<mind::JointCommand>(joint);
  const int hidden = agent.parameter("hidden", 4);
  if (hidden < 1 || hidden > 1000) throw mind::AgentError("hidden is a number of neurons, from 1 to 1000");
  hidden_.resize(static_cast<std::size_t>(hidden));
  values_.resize(inputs_.size() + 3);
  frequency_ = agent.parameter("frequency", 0.5);
  reach_ = agent.parameter("reach", 1.0);
  for (const std::string& word : words(agent.parameter("weights", ""))) {
    const auto weight = to_number<double>(word);
    if (!weight) throw mind::AgentError("'" + word + "' among its weights is no number");
    weights_.push_back(*weight);
  }
  const std::size_t wanted = values_.size() * hidden_.size() + (hidden_.size() + 1) * outputs_.size();
  if (weights_.size() != wanted)
    throw mind::AgentError(fmt::format("its network needs {} weights, and has {}", wanted, weights_.size()));
}

void Neural::step(mind::Agent& agent) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) values_[i] = agent.percept(inputs_[i]);
  const double angle = 2 * pi * frequency_ * agent.time();
  values_[inputs_.size()] = volvox::sin(angle);
  values_[inputs_.size() + 1] = volvox::cos(angle);
  values_[inputs_.size() + 2] = 1;
  const double* weight = weights_.data();
  for (double& neuron : hidden_) {
    double sum = 0;
    for (const double value : values_) sum += *weight++ * value;
    neuron = squashed(sum);
  }
  for (const std::string& joint : outputs_) {
    double sum = *weight++;
    for (const double neuron : hidden_) sum += *weight++ * neuron;
    agent.move_to(joint, reach_ * squashed(sum));
  }
}

}  // namespace volvox::robots
