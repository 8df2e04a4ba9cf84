// The volvox: elements of a model: motors, docks, sensors, noise, the mind.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "volvox/base/index.h"
#include "volvox/model/elongate.h"
#include "volvox/model/names.h"
#include "volvox/model/sdf_model.h"

namespace volvox::model {
namespace {

class OurElements {
 public:
  OurElements(ModuleModel& model, const ModelSource& source, Report& report)
      : model_(model), source_(source), report_(report) {}

  void add() {
    for (const XMLElement* e : model_children(source_.element, "volvox:motor")) add_motor(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:flush")) add_flush(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:dock")) add_dock(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:latch")) add_latch(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:sensor"))
      model_.sensors.push_back(read_mounted<Sensor>(*e));
    for (const XMLElement* e : model_children(source_.element, "volvox:actuator"))
      model_.actuators.push_back(read_mounted<Actuator>(*e));
    for (const XMLElement* e : model_children(source_.element, "volvox:magnet")) add_magnet(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:wire")) add_wire(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:radio")) add_radio(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:bus")) add_bus(*e);
    for (const XMLElement* e : model_children(source_.element, "volvox:driven")) {
      model_.driven = true;
      if (model_.links.size() != 1 || model_.fixed_in_place)
        report_.error(*e, "only a model of one link that is not static can be driven from outside",
                      "make it one link, or leave <volvox:driven/> out");
    }
    std::sort(model_.wires.begin(), model_.wires.end(), [](const Wire& a, const Wire& b) { return a.dock < b.dock; });
    check_names();
    add_noise("volvox:percept", "name", percepts(), model_.percept_noise);
    add_noise("volvox:action", "name", actions(), model_.action_noise);
    std::vector<std::string> outlets = model_.outlet_names();
    outlets.push_back("*");
    add_noise("volvox:message", "dock", outlets, model_.message_noise);
    for (const XMLElement* e : model_children(source_.element, "volvox:mind")) {
      if (model_.mind) report_.error(*e, "the model has two minds", "keep one <volvox:mind>");
      model_.mind = read_mind(*e->Parent()->ToElement(), report_);
    }
  }

 private:
  // The index of the link of that name, or -1 after an error. For a link of a URDF that was merged into another one,
  // the index of the latter; `pose` is then transformed into its frame.
  int resolve_link(const XMLElement& at, const std::string& name, Pose& pose) {
    std::string link = name;
    // A chain of merged links is not longer than the number of links.
    for (std::size_t guard = 0; source_.urdf != nullptr && guard <= source_.urdf->merged.size(); ++guard) {
      const auto merged = source_.urdf->merged.find(link);
      if (model_.link_index(link) >= 0 || merged == source_.urdf->merged.end()) break;
      link = merged->second.link;
      pose = merged->second.pose * pose;
    }
    const int index = model_.link_index(link);
    if (index < 0 && !name.empty()) {
      report_.error(at, fmt::format("<{}> names the link {}, which {} does not have", at.Name(), name, model_.name),
                    suggest(name, names_of(model_.links)));
    }
    return index;
  }

  void add_motor(const XMLElement& element) {
    const Attributes attributes(element, report_);
    const std::string name = attributes.required("joint");
    const Motor motor{attributes.number("kp", 0, Range::not_negative()),
                      attributes.required_number("kd", Range::positive())};
    if (name.empty()) return;
    const int index = model_.joint_index(name);
    if (index < 0) {
      return report_.error(element,
                           fmt::format("the motor drives the joint {}, which {} does not have", name, model_.name),
                           suggest(name, names_of(model_.joints)));
    }
    Joint& joint = model_.joints[index];
    if (joint.type != JointType::revolute && joint.type != JointType::prismatic) {
      return report_.error(element, fmt::format("joint {} cannot have a motor", name),
                           "only revolute and prismatic joints can");
    }
    if (joint.motor)
      return report_.error(element, fmt::format("joint {} has two motors", name), "keep one <volvox:motor>");
    joint.motor = motor;
  }

  void add_flush(const XMLElement& element) {
    const Attributes attributes(element, report_);
    const Flush flush{attributes.required_number("friction", Range::between(0, 100)),
                      attributes.number("radius", 0, {0, 100, true}),
                      attributes.number("preload", 0, Range::between(0, 1e6))};
    const std::string name = attributes.required("joint");
    if (name.empty()) return;
    const int index = model_.joint_index(name);
    if (index < 0)
      return report_.error(element,
                           fmt::format("the faces rub at the joint {}, which {} does not have", name, model_.name),
                           suggest(name, names_of(model_.joints)));
    Joint& joint = model_.joints[index];
    if (joint.type != JointType::revolute && joint.type != JointType::prismatic)
      return report_.error(element, fmt::format("joint {} has no flush faces", name),
                           "only revolute and prismatic joints can");
    const bool turns = joint.type == JointType::revolute;
    if (turns != attributes.has("radius"))
      return report_.error(element,
                           turns ? fmt::format("the faces of the hinge {} have no radius=", name)
                                 : fmt::format("the faces of the slider {} have a radius=", name),
                           turns ? "give the mean radius of the ring in which they touch, in m" : "leave it out");
    if (joint.flush)
      return report_.error(element, fmt::format("the faces of joint {} are given twice", name),
                           "keep one <volvox:flush>");
    joint.flush = flush;
  }

  void add_dock(const XMLElement& element) {
    const Attributes attributes(element, report_);
    Dock dock;
    dock.name = attributes.required("name");
    dock.pose = attributes.pose("pose").value_or(Pose{});
    dock.link = resolve_link(element, attributes.required("link"), dock.pose);
    dock.kind = attributes.text("kind", dock.kind);
    dock.symmetry = narrow<int>(attributes.integer("symmetry", dock.symmetry, 0, 360));
    dock.capture_distance = attributes.number("capture_distance", dock.capture_distance, Range::not_negative());
    dock.capture_angle = attributes.number("capture_angle", dock.capture_angle, Range::between(0, pi));
    dock.latch_time = attributes.number("latch_time", dock.latch_time, Range::not_negative());
    dock.pull_speed = attributes.number("pull_speed", dock.pull_speed, Range::positive());
    dock.strength.axial = attributes.number("axial", dock.strength.axial, Range::positive_or_infinite());
    dock.strength.shear = attributes.number("shear", dock.strength.shear, Range::positive_or_infinite());
    dock.strength.bending = attributes.number("bending", dock.strength.bending, Range::positive_or_infinite());
    dock.strength.torsion = attributes.number("torsion", dock.strength.torsion, Range::positive_or_infinite());
    dock.load_time = attributes.number("load_time", dock.load_time, Range::not_negative());
    dock.enabled = attributes.flag("enabled", dock.enabled);
    dock.extension = attributes.number("extension", 0, Range::not_negative());
    set_gender(element, attributes.text("gender", "both"), dock);
    if (dock.name.find('.') != std::string::npos) {
      report_.error(element, fmt::format("the name {} of a dock contains a point", dock.name),
                    "leave it out, because connections name docks as MODULE.DOCK");
    }
    const double mass = attributes.number("extension_mass", 0.02, Range::positive());
    const double radius = attributes.number("extension_radius", 0.01, Range::positive());
    if (dock.extension == 0 && (attributes.has("extension_mass") || attributes.has("extension_radius"))) {
      report_.error(element, fmt::format("dock {} has a bar but no extension=", dock.name),
                    "give extension= its length in m");
    }
    const double extension = dock.link >= 0 ? dock.extension : 0;
    model_.docks.push_back(std::move(dock));
    if (extension > 0) elongate(model_, model_.docks.size() - 1, extension, mass, radius);
  }

  // The docks that an element names: one, or with * all. Empty after an error.
  std::vector<int> named_docks(const XMLElement& element, const char* what, const std::string& name) {
    std::vector<int> docks;
    for (int d = 0; d < std::ssize(model_.docks); ++d)
      if (name == "*" || name == model_.docks[d].name) docks.push_back(d);
    if (docks.empty() && !name.empty() && name != "*") {
      const std::vector<std::string> known = names_of(model_.docks);
      report_.error(element, fmt::format("{} the dock {}, which {} does not have", what, name, model_.name),
                    known.empty() ? "give the model a <volvox:dock> first" : suggest(name, known));
    }
    return docks;
  }

  void add_latch(const XMLElement& element) {
    const Attributes attributes(element, report_);
    Latch latch;
    latch.travel = attributes.number("travel", latch.travel, {0, 1, true});
    latch.speed = attributes.number("speed", latch.speed, {0, 100, true});
    latch.force = attributes.number("force", latch.force, {0, 1e6, true});
    latch.friction = attributes.number("friction", latch.friction, Range::between(0, 100));
    latch.form = attributes.choice("hold", 0, {"form", "friction"}) == 0;
    latch.depth = attributes.number("depth", latch.depth, {0, 1, true});
    latch.jam_distance = attributes.number("jam_distance", latch.jam_distance, Range::positive_or_infinite());
    latch.jam_angle = attributes.number("jam_angle", latch.jam_angle, Range::positive_or_infinite());
    if (latch.form && attributes.has("depth"))
      report_.error(element, "a latch that holds by form has no depth=, because nothing slides out of it",
                    "leave it out, or write hold=\"friction\"");
    if (!latch.form && latch.friction == 0)
      report_.error(element, "a latch that holds by friction has a friction= of 0, and holds nothing",
                    "give friction= the coefficient of its jaws, such as 0.3, or write hold=\"form\"");
    if (latch.travel / latch.speed > longest)
      report_.error(element, fmt::format("the latch takes {:.4g} s to close", latch.travel / latch.speed),
                    "give it a shorter travel= (m) or more speed= (m/s)");
    for (const int d : named_docks(element, "the latch closes", attributes.required("dock"))) {
      if (model_.docks[d].capture_distance <= 0)
        report_.error(element,
                      fmt::format("the dock {} has jaws and a capture_distance of 0, so that they reach nothing",
                                  model_.docks[d].name),
                      "give the dock the distance at which its jaws reach, in m");
      if (model_.docks[d].latch)
        return report_.error(element, fmt::format("dock {} has two latches", model_.docks[d].name),
                             "keep one <volvox:latch> per dock");
      model_.docks[d].latch = latch;
    }
  }

  void set_gender(const XMLElement& element, const std::string& text, Dock& dock) {
    if (text == "male") dock.gender = Gender::male;
    else if (text == "female") dock.gender = Gender::female;
    else if (text == "both") dock.gender = Gender::both;
    else
      report_.error(element, fmt::format("there is no gender \"{}\"", text), suggest(text, {"male", "female", "both"}));
  }

  // A sensor or an actuator: name, type and link; further attributes become its parameters.
  template <class Mounted>
  Mounted read_mounted(const XMLElement& element) {
    const Attributes attributes(element, report_);
    Mounted mounted;
    mounted.name = attributes.required("name");
    mounted.type = attributes.required("type");
    mounted.pose = attributes.pose("pose").value_or(Pose{});
    mounted.line = element.GetLineNum();
    // link= may be left out in a model of one link.
    const bool ambiguous = model_.links.size() != 1;
    mounted.link =
        attributes.has("link") || ambiguous ? resolve_link(element, attributes.required("link"), mounted.pose) : 0;
    for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
      const std::string_view name = a->Name();
      if (name != "name" && name != "type" && name != "pose" && name != "link")
        mounted.parameters[a->Name()] = a->Value();
    }
    return mounted;
  }

  void add_magnet(const XMLElement& element) {
    const Attributes attributes(element, report_);
    Magnet magnet;
    magnet.name = attributes.required("name");
    Pose pose = attributes.pose("pose").value_or(Pose{});
    const bool ambiguous = model_.links.size() != 1;
    magnet.link = attributes.has("link") || ambiguous ? resolve_link(element, attributes.required("link"), pose) : 0;
    magnet.position = pose.position;
    magnet.strength = attributes.required_number("strength", {0, 1e6, true});
    magnet.size = attributes.number("size", magnet.size, {1e-6, 1, false});
    magnet.range = attributes.required_number("range", {0, 10, true});
    magnet.line = element.GetLineNum();
    if (magnet.range < magnet.size)
      report_.error(element,
                    fmt::format("magnet {} reaches {} m, which is less than its size of {} m", magnet.name,
                                magnet.range, magnet.size),
                    "give it a longer range= (beyond which poles do not feel each other)");
    model_.magnets.push_back(std::move(magnet));
  }

  static std::uint32_t count(const Attributes& attributes, const char* name, std::uint32_t fallback, std::uint32_t low,
                             std::uint32_t high) {
    return narrow<std::uint32_t>(attributes.integer(name, fallback, low, high));
  }
  // The enumerator at the place of the value among the choices; the first if there is no such attribute.
  template <class Enum>
  static Enum choose(const Attributes& attributes, const char* name, const std::vector<std::string>& choices) {
    return static_cast<Enum>(attributes.choice(name, 0, choices));
  }
  static constexpr std::uint32_t most_frames = 1'000'000, most_bytes = 1'000'000, most_slots = 1'000'000;
  static constexpr double longest = 3600;  // s, for all delays and timeouts of networks

  void add_wire(const XMLElement& element) {
    const Attributes attributes(element, report_);
    const std::string name = attributes.required("dock");
    Wire wire;
    wire.bit_rate = attributes.number("bit_rate", wire.bit_rate, Range::positive_or_infinite());
    wire.delay = attributes.number("delay", wire.delay, Range::between(0, longest));
    wire.timing = choose<WireTiming>(attributes, "timing", {"live", "delayed"});
    wire.capacity = count(attributes, "capacity", wire.capacity, 1, 1'000'000'000);
    wire.queue = count(attributes, "queue", wire.queue, 1, most_frames);
    wire.largest_payload = count(attributes, "largest_payload", wire.largest_payload, 1, most_bytes);
    wire.overhead = count(attributes, "overhead", wire.overhead, 0, most_bytes);
    wire.line = element.GetLineNum();
    if (wire.timing == WireTiming::delayed && !attributes.has("capacity"))
      report_.error(element, "a wire with delayed timing has no capacity=",
                    "give the number of bytes that it carries per tick, such as capacity=\"64\"");
    if (wire.timing == WireTiming::live && attributes.has("capacity"))
      report_.error(element, "a live wire has no capacity=",
                    "leave it out, because bit_rate= gives its speed; or write timing=\"delayed\"");
    for (const int d : named_docks(element, "the wire ends at", name)) {
      wire.dock = d;
      if (model_.wire_of(wire.dock) != nullptr)
        return report_.error(element, fmt::format("dock {} has two wires", model_.docks[d].name),
                             "keep one <volvox:wire> per dock");
      model_.wires.push_back(wire);
    }
  }

  void add_radio(const XMLElement& element) {
    const Attributes attributes(element, report_);
    Radio radio;
    radio.name = attributes.required("name");
    radio.pose = attributes.pose("pose").value_or(Pose{});
    const bool ambiguous = model_.links.size() != 1;
    radio.link =
        attributes.has("link") || ambiguous ? resolve_link(element, attributes.required("link"), radio.pose) : 0;
    radio.channel = attributes.text("channel", radio.channel);
    radio.power = attributes.number("power", radio.power, {0, 1000, true});
    radio.gain = attributes.number("gain", radio.gain, Range::positive());
    radio.bit_rate = attributes.number("bit_rate", radio.bit_rate, Range::positive());
    radio.bandwidth = attributes.number("bandwidth", attributes.has("bit_rate") ? radio.bit_rate : radio.bandwidth,
                                        Range::positive());
    radio.noise_factor = attributes.number("noise_factor", radio.noise_factor, Range::between(1, 1e30));
    radio.receive_threshold = attributes.number("receive_threshold", radio.receive_threshold, Range::positive());
    radio.carrier_threshold =
        attributes.number("carrier_threshold", radio.receive_threshold, Range::positive_or_infinite());
    radio.capture_ratio = attributes.number("capture_ratio", radio.capture_ratio, Range::between(1, 60000));
    radio.window = count(attributes, "window", radio.window, 1, most_slots);
    radio.largest_window = count(attributes, "largest_window", radio.largest_window, 0, most_slots);
    radio.slot = attributes.number("slot", radio.slot, {1e-9, longest, false});
    radio.queue = count(attributes, "queue", radio.queue, 1, most_frames);
    radio.largest_payload = count(attributes, "largest_payload", radio.largest_payload, 1, most_bytes);
    radio.overhead = count(attributes, "overhead", radio.overhead, 0, most_bytes);
    radio.acknowledge = attributes.flag("acknowledge", radio.acknowledge);
    radio.turnaround = attributes.number("turnaround", radio.turnaround, Range::between(0, longest));
    radio.timeout = attributes.number("timeout", radio.timeout, {0, longest, true});
    radio.retries = count(attributes, "retries", radio.retries, 0, 250);
    radio.modulation = choose<Modulation>(attributes, "modulation", {"carrier", "ts-ook"});
    radio.pulse = attributes.number("pulse", radio.pulse, {1e-15, 1e-6, false});
    radio.spread = count(attributes, "spread", radio.spread, 1, 1'000'000);
    radio.repairs = count(attributes, "repairs", radio.repairs, 0, 1'000'000);
    if (radio.modulation == Modulation::ts_ook) {
      if (attributes.has("bit_rate"))
        report_.error(element, fmt::format("radio {} sends pulses, and has no bit_rate=", radio.name),
                      "leave it out: a bit takes pulse= times spread=");
      if (attributes.has("acknowledge"))
        report_.error(element, fmt::format("radio {} sends pulses, and cannot acknowledge=", radio.name),
                      "leave it out, or write modulation=\"carrier\"");
      radio.bit_rate = 1 / (radio.pulse * radio.spread);
      if (const double air = 8 * (real(radio.largest_payload) + real(radio.overhead)) / radio.bit_rate; air > longest)
        report_.error(
            element,
            fmt::format("a frame of radio {} with largest_payload= and overhead= takes {:.4g} s", radio.name, air),
            fmt::format("give shorter pulses, a smaller spread= or largest_payload=: at most {} s", longest));
      if (!attributes.has("bandwidth")) radio.bandwidth = 1 / radio.pulse;
    } else if (attributes.has("pulse") || attributes.has("spread") || attributes.has("repairs")) {
      report_.error(element,
                    fmt::format("radio {} sends on a carrier, and has no pulse=, spread= or repairs=", radio.name),
                    "leave them out, or write modulation=\"ts-ook\"");
    }
    radio.line = element.GetLineNum();
    model_.radios.push_back(std::move(radio));
  }

  void add_bus(const XMLElement& element) {
    const Attributes attributes(element, report_);
    Bus bus;
    bus.name = attributes.required("name");
    bus.kind = choose<BusKind>(attributes, "kind", {"can", "serial"});
    bus.scope = choose<BusScope>(attributes, "scope", {"organism", "world"});
    bus.bit_rate = attributes.number("bit_rate", bus.bit_rate, Range::positive());
    bus.stuffing = choose<BusStuffing>(attributes, "stuffing", {"none", "exact", "worst"});
    bus.queue = count(attributes, "queue", bus.queue, 1, most_frames);
    bus.largest_payload = count(attributes, "largest_payload", bus.largest_payload, 1, most_bytes);
    bus.master = attributes.flag("master", bus.master);
    bus.line = element.GetLineNum();
    if (bus.kind == BusKind::can && bus.master)
      report_.error(element, fmt::format("the CAN bus {} has no master", bus.name),
                    "leave master= out, or write kind=\"serial\"");
    if (bus.kind == BusKind::serial && bus.stuffing != BusStuffing::none)
      report_.error(element, fmt::format("the serial bus {} has no bit stuffing", bus.name),
                    "leave stuffing= out, or write kind=\"can\"");
    model_.buses.push_back(std::move(bus));
  }

  std::vector<std::string> percepts() const {
    std::vector<std::string> names = names_of(model_.sensors);
    for (const Joint& joint : model_.joints) {
      if (joint.type != JointType::revolute && joint.type != JointType::prismatic) continue;
      names.push_back(joint.name + ".angle");
      names.push_back(joint.name + ".velocity");
      if (joint.motor) names.push_back(joint.name + ".torque");
    }
    for (const Dock& dock : model_.docks) {
      names.push_back(dock.name + ".dock");
      names.push_back(dock.name + ".load");
      if (dock.latch) names.push_back(dock.name + ".latch");
    }
    for (const Wire& wire : model_.wires) names.push_back(model_.docks[wire.dock].name + ".link");
    for (const Radio& radio : model_.radios) names.push_back(radio.name + ".signal");
    for (const Bus& bus : model_.buses) names.push_back(bus.name + ".link");
    return names;
  }

  std::vector<std::string> actions() const {
    std::vector<std::string> names = names_of(model_.docks);
    for (const Joint& joint : model_.joints) {
      if (joint.motor) names.push_back(joint.name);
    }
    for (const Actuator& actuator : model_.actuators) names.push_back(actuator.name);
    for (const Magnet& magnet : model_.magnets) names.push_back(magnet.name);
    return names;
  }

  // Behaviours refer to percepts and actions by name, so names must be unique.
  void check_names() {
    const auto check = [&](const std::vector<std::string>& names, const char* what) {
      std::set<std::string> seen;
      for (const std::string& name : names) {
        if (name.empty() || seen.insert(name).second) continue;
        report_.error(line_of(name), fmt::format("there are two {} named {}", what, name),
                      "give every dock, sensor, actuator, magnet, motor, radio and bus of the model its own name");
      }
    };
    check(percepts(), "percepts");
    check(actions(), "actions");
    check(model_.outlet_names(), "docks, radios or buses");
  }

  // The line of the last of our elements with that name: of two equal names, the second is the mistake.
  int line_of(const std::string& name) const {
    int line = source_.element.GetLineNum();
    for (const char* kind :
         {"volvox:dock", "volvox:sensor", "volvox:actuator", "volvox:magnet", "volvox:radio", "volvox:bus"}) {
      for (const XMLElement* e : model_children(source_.element, kind)) {
        const char* own = e->Attribute("name");
        if (own != nullptr && (name == own || name == std::string(own) + ".dock")) line = e->GetLineNum();
      }
    }
    return line;
  }

  void add_noise(const char* kind, const char* key, const std::vector<std::string>& known,
                 std::map<std::string, NoiseChainSpec>& chains) {
    for (const XMLElement* element : model_children(source_.element, kind)) {
      const std::string name = Attributes(*element, report_).required(key);
      if (name.empty()) continue;
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        report_.error(*element, fmt::format("<{}> names {}, which {} does not have", kind, name, model_.name),
                      suggest(name, known));
      }
      for (const XMLElement* noise : children(*element, "volvox:noise")) chains[name].push_back(read_noise(*noise));
    }
  }

  NoiseSpec read_noise(const XMLElement& element) {
    NoiseSpec noise;
    noise.type = Attributes(element, report_).required("type");
    noise.line = element.GetLineNum();
    for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
      if (std::string_view(a->Name()) != "type") noise.parameters[a->Name()] = a->Value();
    }
    return noise;
  }

  ModuleModel& model_;
  const ModelSource& source_;
  Report& report_;
};

}  // namespace

void add_our_elements(ModuleModel& model, const ModelSource& source, Report& report) {
  OurElements(model, source, report).add();
}

namespace {

Mind read_behavior(const XMLElement& element, const char* name_attribute, Report& report) {
  Mind mind;
  mind.behavior = Attributes(element, report).required(name_attribute);
  mind.file = report.file();
  mind.line = element.GetLineNum();
  for (const XMLElement* e : children(element, "volvox:parameter")) {
    const Attributes attributes(*e, report);
    const std::string name = attributes.required("name");
    if (!attributes.has("value")) attributes.required("value");
    if (!mind.parameters.emplace(name, attributes.text("value")).second) {
      report.error(*e, fmt::format("the parameter {} is given twice", name), "keep one of them");
    }
  }
  return mind;
}

}  // namespace

void read_plugin(const XMLElement& element, std::vector<PluginSpec>& plugins, Report& report) {
  PluginSpec spec{Attributes(element, report).required("filename"),
                  Attributes(element, report).required("name"),
                  {},
                  report.file(),
                  element.GetLineNum()};
  // Models made for Gazebo name Gazebo's plugins.
  for (const char* theirs :
       {"libgazebo", "gazebo", "libgz-", "gz-", "libignition", "ignition-", "libIgn", "libhector_gazebo"})
    if (spec.filename.starts_with(theirs))
      return report.warn(element, fmt::format("the plugin {} of another simulator is not run", spec.filename),
                         "give the model a <volvox:mind>");
  for (const XMLElement* child = element.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    if (child->FirstChildElement() != nullptr)
      report.error(*child, fmt::format("<{}> in a <plugin> contains elements", child->Name()),
                   "give it a text: parameters have a name and a value");
    if (!spec.parameters.emplace(child->Name(), text_of(child)).second)
      report.error(*child, fmt::format("<{}> is given twice", child->Name()), "keep one of them");
  }
  plugins.push_back(std::move(spec));
}

std::optional<Mind> read_mind(const XMLElement& parent, Report& report) {
  const XMLElement* element = parent.FirstChildElement("volvox:mind");
  if (element == nullptr) return std::nullopt;
  Mind mind = read_behavior(*element, "behavior", report);
  mind.replaces_base = Attributes(*element, report).choice("base", 0, {"keep", "replace"}) == 1;
  for (const XMLElement* e : children(*element, "volvox:behavior"))
    mind.further.push_back(read_behavior(*e, "name", report));
  return mind;
}

}  // namespace volvox::model
