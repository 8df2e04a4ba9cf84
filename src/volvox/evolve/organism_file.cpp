// The genome file: an organism as JSON.
#include <fmt/format.h>

#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/parse.h"
#include "volvox/evolve/organism.h"

namespace volvox::evolve {
namespace {

constexpr const char* mark = "genome 1";
constexpr std::size_t most_modules = 10'000;

Json part_json(const Part& part, std::size_t index) {
  Json json = {{"module", fmt::format("m{}", index)}};
  if (part.on >= 0) {
    json["on"] = fmt::format("m{}.{}", part.on, part.dock);
    json["by"] = part.by;
    if (part.turn != 0) json["turn"] = part.turn;
  }
  return json;
}

// "m3.left": the module 3 and its dock.
bool parse_place(const std::string& text, int& module, std::string& dock) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos || text.empty() || text[0] != 'm') return false;
  const auto number = to_number<int>(std::string_view(text).substr(1, point - 1));
  module = number.value_or(module);
  dock = text.substr(point + 1);
  return number.has_value() && !dock.empty();
}

void read_parts(Fields& body, Tree& tree) {
  std::vector<Fields> list = body.list("modules");
  if (list.empty() || list.size() > most_modules)
    return body.fail("modules", "'modules' is not a list of modules",
                     fmt::format("give 1 to {} such as {{\"module\": \"m1\", \"on\": \"m0.front\", \"by\": \"back\"}}",
                                 most_modules));
  for (Fields& one : list) {
    Part part;
    const std::size_t index = tree.size();
    const bool named = one.text("module", "") == fmt::format("m{}", index);
    bool placed = index == 0;
    if (index > 0) {
      part.by = one.text("by", "");
      placed = parse_place(one.text("on", ""), part.on, part.dock) && part.on >= 0 &&
               part.on < static_cast<int>(index) && !part.by.empty();
      part.turn = narrow<int>(one.integer("turn", 0, 0, 1000));
    }
    if (!named || !placed)
      return body.fail(
          "modules", fmt::format("module {} of the body is not understood", index),
          fmt::format("write it as {{\"module\": \"m{}\", \"on\": \"mK.DOCK\", \"by\": \"DOCK\", \"turn\": "
                      "0}}, with an earlier module mK; the first one has its name alone",
                      index));
    one.refuse_others();
    tree.push_back(part);
  }
}

void read_conditions(Fields& top, std::vector<Condition>& trials) {
  if (!top.has("trials")) return;
  std::vector<Condition> read;
  for (Fields& one : top.list("trials")) {
    Condition& condition = read.emplace_back();
    condition.friction = one.number("friction", 1, 0, 100);
    condition.noise = one.number("noise", 0, 0, 100);
    condition.settings = one.settings("settings");
    one.refuse_others();
  }
  if (read.empty()) top.fail("trials", "'trials' is not a list of objects", "leave it out, or give [{}]");
  else trials = std::move(read);
}

}  // namespace

Json to_json(const Organism& organism) {
  Json json = {{"volvox", mark}, {"task", organism.task}, {"experiment", organism.experiment}};
  if (!organism.engine.empty()) json["engine"] = organism.engine;
  if (!organism.dt.empty()) json["dt"] = organism.dt;
  if (organism.duration) json["duration"] = *organism.duration;
  if (!organism.settings.empty()) json["settings"] = organism.settings;
  if (!organism.robot.empty()) {
    Json modules = Json::array();
    for (std::size_t i = 0; i < organism.tree.size(); ++i) modules.push_back(part_json(organism.tree[i], i));
    json["body"] = {{"robot", organism.robot},
                    {"loops", organism.loops},
                    {"start",
                     {{"x", organism.start.x},
                      {"y", organism.start.y},
                      {"z", organism.start.z},
                      {"front", organism.start.by_front}}},
                    {"modules", modules}};
  }
  json["mind"] = Json::object();
  if (!organism.behavior.empty()) json["mind"]["behavior"] = organism.behavior;
  json["mind"]["parameters"] = organism.parameters;
  if (!organism.each.empty()) {
    Json each = Json::array();
    for (const auto& parameters : organism.each) each.push_back(Json(parameters));
    json["mind"]["each"] = each;
  }
  Json trials = Json::array();
  for (const Condition& condition : organism.trials) {
    Json one = Json::object();
    if (condition.friction != 1) one["friction"] = condition.friction;
    if (condition.noise != 0) one["noise"] = condition.noise;
    if (!condition.settings.empty()) one["settings"] = condition.settings;
    trials.push_back(one);
  }
  json["trials"] = trials;
  if (!organism.origin.empty()) json["origin"] = organism.origin;
  return json;
}

Result<Organism> read_organism(const std::filesystem::path& file) {
  auto document = Document::read(file);
  if (!document.ok()) return document.error();
  const Json& root = document->root();
  if (!root.is_object() || !root.contains("volvox"))
    return Diagnostic{file.string(), 1, "this file is not a genome",
                      "give one that volvox evolve wrote; a task is run with: volvox evolve FILE"};
  if (root["volvox"] != mark)
    return Diagnostic{file.string(), document->line_of({"volvox"}), "this is a genome of another version of Volvox",
                      "breed it again, or use the version that wrote it"};
  Error error;
  Organism organism;
  Fields top(*document, error);
  (void)top.text("volvox", mark);
  (void)top.raw("origin");
  organism.task = top.text("task", "");
  organism.experiment = top.text("experiment", "");
  // A world file is named as it is seen from the genome, so that both can move together.
  if (const std::filesystem::path world = organism.experiment; world.extension() == ".sdf" && world.is_relative())
    organism.experiment = (std::filesystem::absolute(file).parent_path() / world).lexically_normal().string();
  if (organism.experiment.empty()) top.fail("experiment", "the genome has no experiment", "give \"experiment\": NAME");
  organism.engine = top.text("engine", ""), organism.dt = top.text("dt", "");
  if (top.has("duration")) organism.duration = top.number("duration", 10, 0, 1e9);
  organism.settings = top.settings("settings");
  if (top.has("body")) {
    Fields body = top.child("body");
    organism.robot = body.text("robot", "");
    if (organism.robot.empty()) body.fail("", "the body has no robot", "give \"robot\": NAME");
    organism.loops = body.flag("loops", false);
    Fields start = body.child("start");
    organism.start.x = start.number("x", 0), organism.start.y = start.number("y", 0);
    organism.start.z = start.number("z", 0.001), organism.start.by_front = start.flag("front", false);
    start.refuse_others();
    read_parts(body, organism.tree);
    body.refuse_others();
  }
  Fields mind = top.child("mind");
  organism.behavior = mind.text("behavior", "");
  organism.parameters = mind.settings("parameters");
  for (const Fields& one : mind.list("each")) organism.each.push_back(one.all_settings());
  mind.refuse_others();
  read_conditions(top, organism.trials);
  top.refuse_others();
  if (!error.empty()) return error;
  return organism;
}

}  // namespace volvox::evolve
