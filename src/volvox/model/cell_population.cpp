#include "volvox/model/cell_population.h"

#include <fmt/format.h>

#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/model/parameters.h"
#include "volvox/model/sdf_model.h"

namespace volvox::model {
namespace {

bool is_of_cells(const XMLElement& population) {
  const char* type = population.Attribute("type");
  return type != nullptr && std::string_view(type) == "cells";
}

Vec3 vector_of(const Attributes& attributes, const char* name) {
  const auto three = attributes.numbers(name, 3);
  return three ? Vec3{(*three)[0], (*three)[1], (*three)[2]} : Vec3{};
}

CellDynamics read_dynamics(const XMLElement& e, Report& report) {
  const Attributes attributes(e, report);
  CellDynamics d;
  const auto positive = [&](const char* name, double& value) {
    value = attributes.number(name, value, Range::positive());
  };
  positive("mass", d.mass), positive("axial", d.axial), positive("shear", d.shear);
  positive("bending", d.bending), positive("torsion", d.torsion);
  positive("hit_speed", d.hit_speed), positive("give", d.give), positive("push", d.push);
  positive("rest_speed", d.rest_speed), positive("rest_time", d.rest_time);
  d.friction = attributes.number("friction", d.friction, Range::not_negative());
  d.restitution = attributes.number("restitution", d.restitution, Range::between(0, 1));
  d.drag = attributes.number("drag", d.drag, Range::between(0, 10));
  d.place = attributes.number("place", d.place, {0, 0.4, true});
  if (attributes.has("ground")) d.ground = attributes.number("ground", 0, Range::any());
  d.back = attributes.flag("back", d.back);
  for (const XMLElement* child : children(e, "volvox:release")) {
    const Attributes region(*child, report);
    for (const char* corner : {"low", "high"})
      if (!region.has(corner))
        report.error(*child, fmt::format("the box has no {}=", corner), R"(give both corners in m: low="0 0 0")");
    CellDynamics::Release release{vector_of(region, "low"), vector_of(region, "high"), vector_of(region, "velocity"),
                                  region.number("at", 0, Range::not_negative())};
    if (release.low.x > release.high.x || release.low.y > release.high.y || release.low.z > release.high.z)
      report.error(*child, "the box is empty: low= is beyond high=", "give the lower corner first");
    d.releases.push_back(release);
  }
  return d;
}

CellPopulation read_population(const XMLElement& e, Report& report) {
  const Attributes attributes(e, report);
  const std::vector<std::string> lattices = {"cubic", "square", "hex", "bcc", "fcc"};
  const std::vector<std::string> motions = {"usual", "roll", "slide", "pivot"};
  CellPopulation cells;
  cells.name = attributes.required("name");
  cells.cells = attributes.required("cells");
  cells.lattice = lattices[attributes.choice("lattice", 0, lattices)];
  cells.motion = motions[attributes.choice("motion", 0, motions)];
  cells.program = attributes.text("program");
  cells.pitch = attributes.number("pitch", cells.pitch, {1e-9, 1e9, false});
  cells.capacity = narrow<std::uint32_t>(attributes.integer("capacity", 0, 0, 1'000'000));
  cells.motion_ticks = narrow<std::uint32_t>(attributes.integer("motion_ticks", 1, 1, 1'000'000));
  cells.connected = attributes.flag("connected", cells.connected);
  cells.radio_range = attributes.number("radio_range", 0, Range::not_negative());
  cells.line = e.GetLineNum();
  const auto dynamics = children(e, "volvox:dynamics");
  if (!dynamics.empty()) cells.dynamics = read_dynamics(*dynamics.front(), report);
  if (dynamics.size() > 1) report.error(*dynamics[1], "the population has two <volvox:dynamics>", "keep one");
  cells.mind = read_mind(e, report);
  if (cells.mind && !cells.program.empty())
    report.error(e, "the catoms have a program and a mind", "leave out program= or <volvox:mind>");
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next())
    for (const char* foreign : {"robot", "count", "pose", "velocity", "from", "to", "turn", "count_x", "count_y",
                                "count_z", "spacing_x", "spacing_y", "spacing_z", "jitter", "random_yaw", "seed"})
      if (std::string_view(a->Name()) == foreign)
        report.error(e, fmt::format("a population of cells has no {}=", foreign), "leave it out, or change type=");
  return cells;
}

}  // namespace

bool has_cell_population(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file);
  if (!text.ok() || text->find("cells") == std::string::npos) return false;
  Report report(file.string());  // what is wrong with the file is said by those who read it
  tinyxml2::XMLDocument document;
  if (!parse_xml(*text, document, report) || document.RootElement() == nullptr) return false;
  const XMLElement* world = document.RootElement()->FirstChildElement("world");
  if (world == nullptr) return false;
  const auto populations = children(*world, "volvox:population");
  return std::any_of(populations.begin(), populations.end(), [](const XMLElement* e) { return is_of_cells(*e); });
}

Result<CellPopulation> read_cell_population(const std::filesystem::path& file,
                                            const std::map<std::string, std::string>& settings, ModelLibrary& library) {
  const Result<std::string> read = library.read(file);
  if (!read.ok()) return read.error();
  Report report(file.string());
  tinyxml2::XMLDocument document, substituted;
  if (!parse_xml(*read, document, report)) return report.error();
  const XMLElement* world = document.RootElement()->FirstChildElement("world");
  if (world == nullptr) {
    report.error(*document.RootElement(), "the file holds no <world>", "put the population into one");
    return report.error();
  }
  const auto parameters = parameters_of(*world, *read, report);
  if (!report.ok()) return report.error();
  const auto settled = settle_values(parameters, settings, file.string());
  if (!settled.ok()) return settled.error();
  const std::string text = substitute(*read, *settled, report);
  if (!report.ok() || !parse_xml(text, substituted, report)) return report.error();
  CellPopulation cells;
  for (const XMLElement* e : children(*substituted.RootElement()->FirstChildElement("world"), "volvox:population")) {
    if (!is_of_cells(*e)) continue;
    if (cells.line > 0)
      report.error(*e, "the world has two populations of cells", "keep one: all catoms are on one lattice");
    else cells = read_population(*e, report);
  }
  if (report.ok() && cells.line == 0) report.error(0, "the world has no population of type cells", "give it one");
  if (!report.ok()) return report.error();
  return cells;
}

}  // namespace volvox::model
