#include "volvox/model/sdf_matter.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/model/closed_mesh.h"
#include "volvox/model/mesh.h"

namespace volvox::model {
namespace {

constexpr std::int64_t most_particles = 1'000'000'000;
constexpr double most_speed = 1000;  // m/s, of what is emitted: each layer on its way is made, or found to be outside
const Range from_ten_microns{1e-5, 1e3, false}, densities{1e-3, 1e6, false};

}  // namespace

bool MatterReader::read(const XMLElement& e) {
  const std::string_view name = e.Name();
  if (name == "volvox:fluid") read_fluid(e);
  else if (name == "volvox:debris") read_debris(e);
  else if (name == "volvox:cloth") read_cloth(e);
  else if (name == "volvox:particles") read_bounds(e);
  else return false;
  return true;
}

std::shared_ptr<const Matter> MatterReader::matter() const {
  if (!any_) return nullptr;
  auto matter = std::make_shared<Matter>(matter_);
  matter->file = report_.file();
  return matter;
}

Color MatterReader::color_of(const XMLElement& e, const Color& fallback) {
  if (e.Attribute("color") == nullptr) return fallback;
  const auto rgb = Attributes(e, report_).numbers("color", 3);
  if (!rgb) return fallback;
  for (const double part : *rgb)
    if (!(part >= 0 && part <= 1)) {
      report_.error(e, fmt::format("color=\"{}\" is no colour", e.Attribute("color")),
                    "write red, green and blue from 0 to 1");
      return fallback;
    }
  return {(*rgb)[0], (*rgb)[1], (*rgb)[2], 1};
}

Volume MatterReader::volume_of(const XMLElement& e) {
  const Attributes attributes(e, report_);
  Volume volume;
  volume.pose = attributes.pose("pose").value_or(Pose{});
  volume.line = e.GetLineNum();
  if (const auto v = attributes.numbers("velocity", 3)) volume.velocity = {(*v)[0], (*v)[1], (*v)[2]};
  if (attributes.has("size") == attributes.has("mesh")) {
    report_.error(e, "a <volvox:volume> is a box or a mesh", "give it either size=\"x y z\" in m, or mesh=\"FILE\"");
    return volume;
  }
  if (attributes.has("size")) {
    if (const auto size = attributes.numbers("size", 3)) volume.size = {(*size)[0], (*size)[1], (*size)[2]};
    if (!(volume.size.x > 0 && volume.size.y > 0 && volume.size.z > 0))
      report_.error(e, "the size of a <volvox:volume> is not positive", "give three lengths in m");
    return volume;
  }
  const std::string uri = attributes.required("mesh");
  const auto place = [&](const Error& error) {
    for (const Diagnostic& d : error.diagnostics())
      report_.error(e, d.file.empty() ? d.what : fmt::format("{}: {}", d.file, d.what), d.fix);
  };
  const auto file = library_.find_resource(uri, folder_);
  if (!file.ok()) return place(file.error()), volume;
  const auto bytes = library_.read(*file);
  if (!bytes.ok()) return place(bytes.error()), volume;
  const double scale = attributes.number("scale", 1, Range::positive());
  const auto mesh = mesh_of(*bytes, *file, {scale, scale, scale});
  if (!mesh.ok()) return place(mesh.error()), volume;
  if (const auto hole = hole_in(**mesh))
    report_.error(e, fmt::format("{}: {}", file->string(), *hole), "close the mesh: what has holes has no inside");
  volume.mesh = *mesh;
  return volume;
}

Emitter MatterReader::emitter_of(const XMLElement& e) {
  const Attributes attributes(e, report_);
  Emitter emitter;
  emitter.pose = attributes.pose("pose").value_or(Pose{});
  emitter.radius = attributes.number("radius", emitter.radius, Range::positive());
  emitter.speed = attributes.number("speed", emitter.speed, Range{0, most_speed, true});
  emitter.start = attributes.number("start", emitter.start, Range::not_negative());
  emitter.stop = attributes.number("stop", emitter.stop, Range::not_negative());
  if (emitter.stop <= emitter.start)
    report_.error(e, fmt::format("the <volvox:emitter> stops at {} s, but starts at {} s", emitter.stop, emitter.start),
                  "let stop= be later than start=");
  if (attributes.required("most").empty()) return emitter;
  emitter.most = narrow<std::uint32_t>(attributes.integer("most", 1, 1, most_particles));
  emitter.line = e.GetLineNum();
  return emitter;
}

void MatterReader::read_places(const XMLElement& e, std::vector<Volume>& volumes, std::vector<Emitter>& emitters) {
  for (const XMLElement* child : children(e, "volvox:volume")) volumes.push_back(volume_of(*child));
  for (const XMLElement* child : children(e, "volvox:emitter")) emitters.push_back(emitter_of(*child));
  if (volumes.empty() && emitters.empty())
    report_.error(e, fmt::format("<{}> has no particles", e.Name()), "give it a <volvox:volume> or a <volvox:emitter>");
  any_ = true;
}

void MatterReader::read_fluid(const XMLElement& e) {
  if (matter_.fluid) return report_.error(e, "there are two <volvox:fluid>", "keep one, with several <volvox:volume>");
  const Attributes attributes(e, report_);
  Fluid fluid;
  fluid.spacing = attributes.number("spacing", fluid.spacing, from_ten_microns);
  fluid.density = attributes.number("density", fluid.density, densities);
  fluid.viscosity = attributes.number("viscosity", fluid.viscosity, Range::not_negative());
  fluid.surface_tension = attributes.number("surface_tension", fluid.surface_tension, Range::not_negative());
  fluid.color = color_of(e, fluid.color);
  fluid.line = e.GetLineNum();
  read_places(e, fluid.volumes, fluid.emitters);
  matter_.fluid = std::move(fluid);
}

void MatterReader::read_debris(const XMLElement& e) {
  const Attributes attributes(e, report_);
  Debris debris;
  debris.radius = attributes.number("radius", debris.radius, from_ten_microns);
  debris.spread = attributes.number("spread", debris.spread, Range::between(0, 0.9));
  debris.density = attributes.number("density", debris.density, densities);
  debris.friction = attributes.number("friction", debris.friction, Range::not_negative());
  debris.seed = attributes.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max());
  debris.color = color_of(e, debris.color);
  debris.line = e.GetLineNum();
  read_places(e, debris.volumes, debris.emitters);
  matter_.debris.push_back(std::move(debris));
}

void MatterReader::read_cloth(const XMLElement& e) {
  const Attributes attributes(e, report_);
  Cloth cloth;
  cloth.pose = attributes.pose("pose").value_or(Pose{});
  cloth.width = attributes.required_number("width", Range::positive());
  cloth.columns = narrow<std::uint32_t>(attributes.integer("columns", cloth.columns, 2, 100'000));
  cloth.rows = narrow<std::uint32_t>(attributes.integer("rows", cloth.rows, 1, 100'000));
  cloth.height = cloth.rows > 1 ? attributes.required_number("height", Range::positive()) : 0;
  cloth.density = attributes.number("density", cloth.density, densities);
  cloth.friction = attributes.number("friction", cloth.friction, Range::not_negative());
  cloth.thickness = attributes.number("thickness", cloth.thickness, Range::not_negative());
  cloth.stretch = attributes.number("stretch", cloth.stretch, Range::positive());
  cloth.shear = attributes.number("shear", cloth.shear, Range::not_negative());
  cloth.bend = attributes.number("bend", cloth.bend, Range::not_negative());
  cloth.strength = attributes.number("strength", cloth.strength, Range::not_negative());
  cloth.pins = static_cast<Cloth::Pins>(
      attributes.choice("pins", 0, {"none", "corners", "first_row", "last_row", "first_column", "edges"}));
  cloth.color = color_of(e, cloth.color);
  cloth.line = e.GetLineNum();
  matter_.cloths.push_back(cloth);
  any_ = true;
}

void MatterReader::read_bounds(const XMLElement& e) {
  if (bounded_) report_.error(e, "there are two <volvox:particles>", "keep one");
  bounded_ = true;
  const Attributes attributes(e, report_);
  const auto corner = [&](const char* name, Vec3& value) {
    if (const auto v = attributes.numbers(name, 3)) value = {(*v)[0], (*v)[1], (*v)[2]};
  };
  corner("low", matter_.low);
  corner("high", matter_.high);
  for (int k = 0; k < 3; ++k)
    if (!(matter_.low[k] < matter_.high[k])) {
      report_.error(e, "low= of <volvox:particles> is not below high=", "give two opposite corners of a box, in m");
      break;
    }
  matter_.max_substep = attributes.number("substep", matter_.max_substep, {1e-6, 1, false});
  matter_.heap_layers = attributes.number("heap_layers", matter_.heap_layers, Range::between(0, 1e4));
  matter_.rolling_resistance = attributes.number("rolling_resistance", 0, Range::between(0, 1));
  matter_.air_drag = attributes.number("air_drag", 0, Range::between(0, 1e6));
  for (const XMLElement* child : children(e, "volvox:drain")) {
    const Attributes drain(*child, report_);
    Drain box{drain.pose("pose").value_or(Pose{}), {}, child->GetLineNum()};
    drain.required("size");
    if (const auto size = drain.numbers("size", 3)) box.size = {(*size)[0], (*size)[1], (*size)[2]};
    if (!(box.size.x > 0 && box.size.y > 0 && box.size.z > 0))
      report_.error(*child, "the size of a <volvox:drain> is not positive", "give three lengths in m");
    matter_.drains.push_back(box);
  }
}

}  // namespace volvox::model
