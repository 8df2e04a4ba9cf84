#include <fmt/format.h>

#include <filesystem>

#include "volvox/base/index.h"
#include "volvox/base/letters.h"
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"

namespace volvox::cli {
namespace fs = std::filesystem;

namespace {

// In the templates @name@ and @Name@ stand for the name, as a word and as a class.
constexpr const char* cmake_template = R"(cmake_minimum_required(VERSION 3.25)
project(@name@ LANGUAGES CXX)
find_package(Volvox REQUIRED)

add_executable(@name@ @name@.cpp)
target_link_libraries(@name@ PRIVATE Volvox::volvox)
)";

constexpr const char* behavior_template =
    R"(// The behavior '@name@', and a volvox command that knows it: ./build/@name@ run world.sdf
#include <volvox/cli/cli.h>
#include <volvox/mind/behavior.h>

class @Name@ : public volvox::mind::Behavior {
 public:
  void start(volvox::mind::Agent& agent) override { amplitude_ = agent.parameter("amplitude", 0.6); }

  // Called once a tick. The agent is all that the module knows: its percepts, docks, messages.
  void step(volvox::mind::Agent& agent) override {
    agent.move_to("pitch", amplitude_ * volvox::sin(2 * volvox::pi * 0.5 * agent.time()));
    agent.broadcast(agent.angle("pitch"));            // to whoever is docked to it
    while (auto message = agent.read()) {
      if (auto angle = message->as<double>()) heard_ = *angle;
    }
  }

  VOLVOX_STATE(heard_)  // what a snapshot must hold

 private:
  double amplitude_ = 0;
  double heard_ = 0;
};

int main(int argc, char** argv) {
  auto library = volvox::cli::standard_library();
  library.minds.behaviors.add("@name@", [] { return std::make_unique<@Name@>(); }, "my first behavior");
  return volvox::cli::main(argc, argv, library);
}
)";

constexpr const char* ground_template = R"(  <model name="ground">
    <static>true</static>
    <link name="ground">
      <collision name="plane"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>
    </link>
  </model>
)";

constexpr const char* behavior_world_template = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="@name@">
  <volvox:parameter name="modules" value="4" min="1" max="100">how many modules</volvox:parameter>
  <volvox:run duration="10" dt="1/60"/>
@ground@
  <volvox:population name="m" type="chain" robot="superbot" count="${modules}" pose="0 0 0.045 0 0 0" from="back" to="front">
    <volvox:mind behavior="@name@"><volvox:parameter name="amplitude" value="0.6"/></volvox:mind>
  </volvox:population>
</world>
</sdf>
)";

constexpr const char* robot_template = R"(<?xml version="1.0"?>
<!-- A module of two boxes with a hinge between them and a dock at each end. SI units; x is forward, z is up. -->
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<model name="@name@">
  <link name="tail">
    <pose>-0.025 0 0 0 0 0</pose>
    <inertial><mass>0.1</mass><inertia><ixx>4.2e-5</ixx><iyy>4.2e-5</iyy><izz>4.2e-5</izz></inertia></inertial>
    <collision name="box"><geometry><box><size>0.048 0.05 0.05</size></box></geometry></collision>
    <visual name="box">
      <geometry><box><size>0.048 0.05 0.05</size></box></geometry>
      <material><diffuse>0.2 0.5 0.8 1</diffuse></material>
    </visual>
  </link>
  <link name="head">
    <pose>0.025 0 0 0 0 0</pose>
    <inertial><mass>0.1</mass><inertia><ixx>4.2e-5</ixx><iyy>4.2e-5</iyy><izz>4.2e-5</izz></inertia></inertial>
    <collision name="box"><geometry><box><size>0.048 0.05 0.05</size></box></geometry></collision>
    <visual name="box">
      <geometry><box><size>0.048 0.05 0.05</size></box></geometry>
      <material><diffuse>0.9 0.6 0.2 1</diffuse></material>
    </visual>
  </link>
  <joint name="bend" type="revolute">
    <parent>tail</parent><child>head</child>
    <pose>-0.025 0 0 0 0 0</pose>
    <axis>
      <xyz>0 -1 0</xyz>
      <limit><lower>-1.2</lower><upper>1.2</upper><effort>1.0</effort><velocity>6</velocity></limit>
      <dynamics><damping>0.01</damping><friction>0.02</friction></dynamics>
    </axis>
  </joint>
  <volvox:motor joint="bend" kp="20" kd="1"/>
  <volvox:dock name="front" link="head" pose="0.025 0 0 0 0 0" kind="@name@" axial="100" shear="80" bending="4" torsion="4"/>
  <volvox:dock name="back" link="tail" pose="-0.025 0 0 0 0 3.14159265358979" kind="@name@" axial="100" shear="80" bending="4" torsion="4"/>
  <volvox:sensor name="accelerometer" type="accelerometer" link="head" pose="0 0 0 0 0 0"/>
  <volvox:mind behavior="alternate"/>
</model>
</sdf>
)";

constexpr const char* robot_world_template = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="@name@">
  <volvox:run duration="5" dt="1/60"/>
@ground@
  <volvox:population name="m" type="chain" robot="@name@" count="3" pose="0 0 0.03 0 0 0" from="front" to="back"/>
</world>
</sdf>
)";

constexpr const char* robot_main_template = R"(// A volvox command for this robot: ./build/@name@ run world.sdf
// Behaviors of your own join it here, as `volvox new behavior` shows.
#include <volvox/cli/cli.h>

int main(int argc, char** argv) {
  auto library = volvox::cli::standard_library();
  return volvox::cli::main(argc, argv, library);
}
)";

constexpr const char* experiment_template =
    R"(// The experiment '@name@', and a volvox command that knows it: ./build/@name@ run @name@
#include <volvox/cli/cli.h>
#include <volvox/sim/experiment.h>
#include <volvox/world/measures.h>

class @Name@ : public volvox::sim::Experiment {
 public:
  // What --set can change.
  volvox::Result<std::vector<volvox::model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<volvox::model::ParameterDesc>{{"modules", "5", 1, 1000, {}, "how many SuperBots", 0}};
  }

  // Builds the world.
  volvox::Result<volvox::model::WorldModel> init(volvox::sim::Setup& setup) override {
    const volvox::Parameters parameters(setup.settings, "@name@");
    auto robot = setup.library.load("superbot");
    if (!robot.ok()) return robot.error();
    volvox::model::PlacementOptions options;
    options.mind = volvox::model::Mind{"alternate", {{"amplitude", "0.4"}}, {}, 0};
    volvox::model::WorldBuilder builder("@name@");
    builder.add_ground();
    builder.add_chain(*robot, parameters.integer("modules", 5), "back", "front", 0,
                    volvox::Pose{{0, 0, 0.045}, {}}, "m", options);
    return builder.build();
  }

  // Looks at every tick, and reports at the end.
  void observe(const volvox::sim::Simulation& simulation) override {
    highest_ = std::max(highest_, volvox::world::highest_link(simulation.world()));
  }
  void shutdown(const volvox::sim::Simulation&, volvox::sim::Metrics& metrics) override {
    metrics.set("highest_m", highest_, "the highest centre of a link in the run");
  }
  void archive_state(volvox::Archive& ar) override { ar("highest", highest_); }

 private:
  double highest_ = 0;
};

int main(int argc, char** argv) {
  auto library = volvox::cli::standard_library();
  library.experiments.add("@name@", [] { return std::make_unique<@Name@>(); }, "my first experiment");
  return volvox::cli::main(argc, argv, library);
}
)";

constexpr const char* code_module_template =
    R"(// The code module '@name@' of catoms on a lattice, and a volvox command that runs it: ./build/@name@ run @name@
#include <volvox/cli/cli.h>
#include <volvox/lattice/catom_world.h>
#include <volvox/sim/experiment.h>

namespace lattice = volvox::lattice;

// A message between neighbours.
struct Distance {
  std::uint32_t links = 0;
};
VOLVOX_TYPE(Distance, links)

// The program of every catom; its members are the state of one. This one counts the links to catom 0.
struct @Name@ {
  std::uint32_t distance = ~std::uint32_t{0};

  void start(lattice::Catom& catom) {  // once, before the first tick
    if (catom.id() != 0) return;
    distance = 0;
    catom.broadcast(Distance{1});
  }
  void heard(lattice::Catom& catom, int port, const Distance& told) {  // a message came in at a port
    if (told.links >= distance) return;
    distance = told.links;
    catom.broadcast(Distance{distance + 1}, 0, port);
  }
  static void mailboxes(lattice::Mailboxes<@Name@>& boxes) { boxes.link<&@Name@::heard>(0); }
};
VOLVOX_TYPE(@Name@, distance)

class Catoms : public volvox::sim::Experiment {
 public:
  volvox::Result<std::vector<volvox::model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<volvox::model::ParameterDesc>{{"side", "30", 1, 300, {}, "cells along each side", 0, true}};
  }
  volvox::Result<volvox::model::WorldModel> init(volvox::sim::Setup& setup) override {
    const volvox::Parameters parameters(setup.settings, "@name@");
    const auto last = static_cast<std::int32_t>(parameters.integer("side", 30, 1, 300)) - 1;
    catoms_ = std::make_unique<lattice::CatomWorld>(lattice::Lattice(lattice::Kind::cubic),
                                                    lattice::WorldOptions{.seed = setup.seed});
    if (auto done = catoms_->load<@Name@>(); !done.ok()) return done.error();
    if (auto done = catoms_->add_box({0, 0, 0}, {last, last, last}); !done.ok()) return done.error();
    if (auto done = catoms_->start(); !done.ok()) return done.error();
    volvox::model::WorldModel world;  // no modules: the catoms are beside it
    world.name = "@name@";
    world.run.duration = volvox::Time::seconds(5);
    world.run.engine = "none";
    return world;
  }
  void before_tick(volvox::sim::Simulation&) override {
    if (auto done = catoms_->tick(); !done.ok()) throw std::runtime_error(done.error().text());
  }
  void shutdown(const volvox::sim::Simulation&, volvox::sim::Metrics& metrics) override {
    std::uint32_t farthest = 0;
    for (std::uint32_t i = 0; i < catoms_->ensemble().count(); ++i)
      if (const std::uint32_t d = catoms_->state<@Name@>(i)->distance; d != ~std::uint32_t{0})
        farthest = std::max(farthest, d);
    metrics.set("farthest", farthest, "links from catom 0");
    metrics.set("messages", static_cast<double>(catoms_->traffic().delivered), "delivered");
  }
  void archive_state(volvox::Archive& ar) override { catoms_->archive(ar); }
  bool state_is_hashed() const override { return true; }

 private:
  std::unique_ptr<lattice::CatomWorld> catoms_;
};

int main(int argc, char** argv) {
  auto library = volvox::cli::standard_library();
  library.experiments.add("@name@", [] { return std::make_unique<Catoms>(); }, "my first code module");
  return volvox::cli::main(argc, argv, library);
}
)";

constexpr const char* robot_readme_template = R"(# @name@
Made by `volvox new robot @name@`. The robot is robots/@name@/@name@.sdf, an SDF file, which needs no build; world.sdf
places three of them, and a world finds the robots in the folder robots/ beside it:

    volvox info @name@
    volvox run world.sdf

Only behaviors of your own, in @name@.cpp, are to be built (Volvox must be installed; if it is not in a standard place,
add -DCMAKE_PREFIX_PATH=WHERE to the first line):

    cmake -B build -DCMAKE_BUILD_TYPE=Release
    cmake --build build
    ./build/@name@ run @target@
)";

constexpr const char* readme_template = R"(# @name@
Made by `volvox new @kind@ @name@`. Build and run it (Volvox must be installed; if it is not in a
standard place, add -DCMAKE_PREFIX_PATH=WHERE to the first line):

    cmake -B build -DCMAKE_BUILD_TYPE=Release
    cmake --build build
    ./build/@name@ run @target@
)";

constexpr const char* task_template = R"({
  "about": "SuperBots that go as far as they can in ten seconds",
  // The world, and what --set would change in it.
  "experiment": "world.sdf",
  "settings": {"friction": 0.7},
  // Metrics of the experiment (volvox run world.sdf shows them); several are summed, each with its weight.
  "fitness": [{"metric": "moved_m", "better": "more"}],
  "bar": 0.5,
  // Two trials of each genome, on ground that is more and less slippery. The worse one counts.
  "trial": {"duration": 10, "count": 2, "friction": [0.8, 1.2], "fitness_by": "worst",
            "stop": {"after": 4, "moved_less_than": 0.02}},
  // Which bodies there are: 2 to 6 modules, docked at any dock.
  "body": {"robot": "superbot", "modules": [2, 6]},
  // What their minds can do: one frequency for all, and for each module its own motion.
  "mind": {"behavior": "oscillators",
           "shared": {"frequency": [0.3, 1.2]},
           "each": {"lag": [0, 6.283], "pitch.amplitude": [0, 1], "yaw.amplitude": [0, 0.7]}},
  "algorithm": {"name": "ga", "population": 24, "generations": 20}
}
)";

constexpr const char* task_world_template = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="@name@">
  <volvox:parameter name="friction" value="0.7" min="0" max="2">of the ground</volvox:parameter>
  <volvox:run duration="10" dt="1/60"/>
  <model name="ground">
    <static>true</static>
    <link name="ground">
      <collision name="plane">
        <geometry><plane><normal>0 0 1</normal></plane></geometry>
        <surface><friction><ode><mu>${friction}</mu></ode></friction></surface>
      </collision>
    </link>
  </model>
  <!-- In its place come the organisms. -->
  <volvox:module name="m0" robot="superbot" pose="0 0 0.0425 0 0 0"/>
</world>
</sdf>
)";

constexpr const char* task_readme_template = R"(# @name@
Made by `volvox new task @name@`. Nothing is to be built:

    volvox evolve task.json --out bred
    volvox run bred/best.json --view

task.json says what is fit and which bodies and minds there are; world.sdf is where they live. index.html in bred/ shows
how it went. docs/evolve.md of Volvox explains the rest.
)";

char upper_case(char c) { return is_small_letter(c) ? narrow<char>(c - 'a' + 'A') : c; }

std::string fill(std::string text, const std::string& kind, const std::string& name, const std::string& target) {
  std::string type = name;
  type[0] = upper_case(type[0]);
  for (std::size_t i = 0; i + 1 < type.size(); ++i)
    if (type[i] == '_') {
      type.erase(i, 1);
      type[i] = upper_case(type[i]);
    }
  const std::pair<std::string, std::string> words[] = {
      {"@ground@\n", ground_template}, {"@name@", name}, {"@Name@", type}, {"@kind@", kind}, {"@target@", target}};
  for (const auto& [mark, word] : words)
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + word.size()))
      text.replace(at, mark.size(), word);
  return text;
}

bool good_name(const std::string& name) {
  if (name.empty() || !is_small_letter(name[0])) return false;
  for (const char c : name)
    if (!is_small_letter(c) && !is_digit(c) && c != '_') return false;
  return name.back() != '_';
}

// CMake keeps some names for targets of its own.
bool is_taken(const std::string& name) {
  for (const char* taken : {"volvox", "test", "all", "install", "clean", "help", "package"})
    if (name == taken) return true;
  return false;
}

}  // namespace

int new_command(const std::string& kind, const std::string& name, const std::string& folder,
                const sim::Library& library) {
  if (kind != "behavior" && kind != "robot" && kind != "experiment" && kind != "task" && kind != "codemodule")
    return complain(
        Error(fmt::format("'{}' cannot be made", kind), "use one of: behavior, robot, experiment, task, codemodule"));
  if (!good_name(name))
    return complain(Error(fmt::format("'{}' cannot be the name of a {}", name, kind),
                          "use small letters, digits and '_', beginning with a letter, such as my_snake"));
  if (is_taken(name))
    return complain(Error(fmt::format("'{}' cannot be the name of a {}: CMake has a target of this name", name, kind),
                          fmt::format("use another, such as my_{}", name)));
  if (kind == "behavior" && library.minds.behaviors.contains(name))
    return complain(
        Error(fmt::format("there is a behavior named '{}' already, and worlds that use it would get yours", name),
              fmt::format("use another name, such as my_{}", name)));
  const fs::path root = folder.empty() ? fs::path(name) : fs::path(folder);
  std::error_code error;
  if (fs::exists(root, error) && !fs::is_empty(root, error))
    return complain(Error(fmt::format("'{}' is there already", root.string()),
                          "choose another name, or another place with --in DIR"));

  std::vector<std::pair<fs::path, std::string>> files = {
      {"CMakeLists.txt", cmake_template}, {"README.md", kind == "robot" ? robot_readme_template : readme_template}};
  std::string target = "world.sdf";
  if (kind == "task") {
    files = {{"task.json", task_template}, {"world.sdf", task_world_template}, {"README.md", task_readme_template}};
  } else if (kind == "behavior") {
    files.emplace_back(name + ".cpp", behavior_template);
    files.emplace_back("world.sdf", behavior_world_template);
  } else if (kind == "robot") {
    files.emplace_back(name + ".cpp", robot_main_template);
    files.emplace_back(fs::path("robots") / name / (name + ".sdf"), robot_template);
    files.emplace_back("world.sdf", robot_world_template);
  } else {
    files.emplace_back(name + ".cpp", kind == "codemodule" ? code_module_template : experiment_template);
    target = name;
  }
  for (const auto& [path, text] : files) {
    fs::create_directories((root / path).parent_path(), error);
    if (!write_file(root / path, fill(text, kind, name, target)).ok())
      return complain(
          Diagnostic{(root / path).string(), 0, "the file cannot be written", "choose another place with --in DIR"});
  }
  const std::string build = fmt::format(
      "  cmake -B build -DCMAKE_BUILD_TYPE=Release\n  cmake --build build\n  ./build/{} run {}\n\nVolvox must be "
      "installed for that (cmake --install). If it is not in a standard place, add -DCMAKE_PREFIX_PATH=WHERE to the "
      "first "
      "line.\n",
      name, target);
  const std::string place = printable(root.string());
  if (kind == "task")
    fmt::print(
        "Made task in {0}. Nothing is to be built:\n\n  cd {0}\n  volvox evolve task.json --out bred\n  volvox "
        "run bred/best.json --view\n",
        place);
  else if (kind == "robot")
    fmt::print(
        "Made robot in {0}. An SDF needs no build:\n\n  cd {0}\n  volvox info {1}\n  volvox run {2}\n\nWith behaviors "
        "of your own, in {1}.cpp:\n\n{3}",
        place, name, target, build);
  else fmt::print("Made {} in {}. Now:\n\n  cd {}\n{}", kind, place, place, build);
  return done;
}

}  // namespace volvox::cli
