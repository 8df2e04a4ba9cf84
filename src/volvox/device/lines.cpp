#include "volvox/device/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace volvox::device {
namespace {

constexpr std::size_t longest_word = 256;

Source required(Result<Source> source) {
  if (!source.ok()) throw std::runtime_error(source.error().text());
  return std::move(*source);
}

}  // namespace

std::optional<sim::Input> parse_line(const std::string& line) {
  std::istringstream words(line);
  sim::Input input;
  words >> input.kind >> input.module;
  if (!words || input.module.size() > longest_word) return std::nullopt;
  if (input.kind == "pose") {
    std::getline(words, input.text);
    return input.text.size() <= 2 * longest_word ? std::optional(input) : std::nullopt;
  }
  words >> input.name;
  if (!words || input.name.size() > longest_word) return std::nullopt;
  if (input.kind == "parameter") {
    words >> input.text;
    if (input.module == "*") input.module.clear();
  } else if (input.kind == "push") {
    words >> input.force.x >> input.force.y >> input.force.z;
  } else if (input.kind == "percept" || input.kind == "joint" || input.kind == "dock") {
    words >> input.value;
  } else {
    return std::nullopt;
  }
  std::string rest;
  if (!words || (words >> rest)) return std::nullopt;
  return input;
}

Telling::Telling(const Parameters& parameters)
    : send_text_(parameters.text("send", "")),
      force_text_(parameters.text("force", "")),
      every_(parameters.integer("every", 1, 1, 1'000'000)) {}

void Telling::begin(const sim::Simulation& simulation) {
  std::istringstream words(send_text_);
  for (std::string word; words >> word;) sources_.push_back(required(Source::find(word, simulation)));
  if (!force_text_.empty()) force_ = required(Source::find(force_text_, simulation));
}

std::string Telling::lines(const sim::Simulation& simulation) const {
  if ((sources_.empty() && !force_) || simulation.tick() % every_ != 0) return {};
  std::string text = fmt::format("time {}\n", simulation.now().seconds());
  for (const Source& source : sources_) text += source.text + " " + source.value(simulation).describe() + "\n";
  if (force_) text += fmt::format("force {:.6g}\n", std::clamp(force_->number(simulation), -1.0, 1.0));
  return text;
}

}  // namespace volvox::device
