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
  sim::InputRecord read;
  words >> read.kind >> read.module;
  if (!words || read.module.size() > longest_word) return std::nullopt;
  if (read.kind == "pose") {
    std::getline(words, read.text);
    if (read.text.size() > 2 * longest_word) return std::nullopt;
  } else {
    words >> read.name;
    if (read.kind == "parameter") words >> read.text;
    else if (read.kind == "push") words >> read.force.x >> read.force.y >> read.force.z;
    else words >> read.value;
    std::string rest;
    if (!words || read.name.size() > longest_word || (words >> rest)) return std::nullopt;
  }
  if (read.kind == "parameter" && read.module == "*") read.module.clear();
  auto input = sim::input_of(read);
  return input.ok() ? std::optional(std::move(*input)) : std::nullopt;
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
