// The input is a list of changes to a good snapshot, each of four bytes for the place and one for the value: most
// bytes of a snapshot are numbers that may have any value. The seal is made right again, as that of somebody who means
// it would be: without that, the seal refuses everything. A snapshot that is accepted must let the run go on, and one
// that is refused must change nothing.
#include <cstring>
#include <memory>

#include "fuzz.h"
#include "volvox/mind/behavior.h"
#include "volvox/mind/roles.h"
#include "volvox/model/reader.h"
#include "volvox/sim/experiment.h"
#include "volvox/sim/snapshot_seal.h"

namespace {

using namespace volvox;

// Two modules that are docked, with all that a snapshot may hold: messages on wires, a bus and the radio, noise that
// remembers, roles.
constexpr const char* world_begin = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w">
<model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
<volvox:channel name="air"/>
)";
constexpr const char* module_text =
    R"( 0 0.06 0 0 0</pose><link name="foot"><inertial><mass>2</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.006</izz></inertia></inertial>
<collision name="c"><geometry><box><size>0.2 0.2 0.1</size></box></geometry></collision></link>
<link name="head"><pose>0 0 0.08 0 0 0</pose><inertial><mass>0.2</mass><inertia><ixx>0.0002</ixx><iyy>0.0002</iyy><izz>0.0003</izz></inertia></inertial></link>
<joint name="neck" type="continuous"><parent>foot</parent><child>head</child><axis><xyz>0 0 1</xyz><limit><effort>1</effort><velocity>6</velocity></limit></axis></joint>
<volvox:motor joint="neck" kp="2" kd="0.2"/>
<volvox:dock name="east" link="foot" pose="0.1 0 0 0 0 0"/><volvox:dock name="west" link="foot" pose="-0.1 0 0 0 0 3.141592653589793"/>
<volvox:wire dock="*" bit_rate="9600"/><volvox:bus name="can" kind="can" bit_rate="125000"/>
<volvox:radio name="radio" link="foot" channel="air" power="0.001" bit_rate="250000"/>
<volvox:sensor name="eye" type="range" link="foot" pose="0 0.11 0 0 0 1.57" max_range="1" rays="2"/>
<volvox:percept name="eye"><volvox:noise type="gaussian" deviation="0.01"/><volvox:noise type="delay" ticks="3"/></volvox:percept>
<volvox:mind behavior="player"><volvox:behavior name="turn"/></volvox:mind></model>
)";

class Turn final : public mind::Behavior {
 public:
  void step(mind::Agent& agent) override {
    agent.turn("neck", 1 + 0.1 * agent.random().uniform() + 0.01 * ++steps_);
    for (const char* outlet : {"radio", "can"}) agent.send(outlet, mind::RoleSignal{steps_, false, "", -1});
    heard_.clear();
    while (const auto message = agent.read()) heard_.push_back(message->outlet);
  }
  VOLVOX_STATE(steps_, heard_)

 private:
  int steps_ = 0;
  std::vector<int> heard_;
};

mind::RoleBook book() {
  mind::RoleBook roles;
  roles.parent = "west";
  roles.step = 1.0 / 60;
  roles.roles = {{"wave", 20, {{"neck", [](double t) { return 0.01 * t; }}}, {{"east", 3}}},
                 {"still", 20, {{"neck", [](double) { return 0.0; }}}, {}}};
  roles.rules = {{{"wave"}, "still", [](const mind::Situation& s) { return s.neighbor_role("west") == "wave"; }},
                 {{"still"}, "wave", [](const mind::Situation& s) { return s.time_in_role() > 0.1; }}};
  return roles;
}

std::unique_ptr<sim::Simulation> make_simulation() {
  static sim::Library library;
  static Log log;
  static const auto world = [] {
    library.minds.behaviors.add("turn", [] { return std::make_unique<Turn>(); });
    library.minds.behaviors.add("player", mind::role_player(book()));
    model::ModelLibrary models{std::vector<std::filesystem::path>{}};
    const std::string text = std::string(world_begin) + R"(<model name="a"><pose>0)" + module_text +
                             R"(<model name="b"><pose>0.2)" + module_text +
                             R"(<volvox:connect from="a.east" to="b.west"/></world></sdf>)";
    auto read = model::read_world_text(text, "/nowhere/world.sdf", {}, models);
    fuzz::require(read.ok());
    return std::make_shared<const model::WorldModel>(std::move(*read));
  }();
  auto made = sim::Simulation::create(world, {}, library.engines, library.minds, log);
  fuzz::require(made.ok());
  return std::move(*made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> good = [] {
    auto simulation = make_simulation();
    for (int i = 0; i < 10; ++i) fuzz::require(simulation->step().ok());
    return *simulation->save();
  }();
  static std::unique_ptr<sim::Simulation> simulation = make_simulation();  // making one takes longer than all the rest
  fuzz::require(simulation->restore(good).ok());
  const std::uint64_t before = simulation->hash();

  std::vector<std::byte> snapshot(good.begin(), good.end() - sizeof(std::uint64_t));
  for (; size >= 5; data += 5, size -= 5) {
    std::uint32_t place = 0;
    std::memcpy(&place, data, 4);
    snapshot[place % snapshot.size()] = static_cast<std::byte>(data[4]);
  }
  if (size > 0) snapshot.resize(snapshot.size() * data[0] / 256);
  sim::add_seal(snapshot);
  const auto restored = simulation->restore(snapshot);
  if (!restored.ok()) {
    fuzz::require(!restored.error().text().empty() && simulation->hash() == before);
    return 0;
  }
  bool goes_on = true;
  for (int i = 0; i < 3 && goes_on; ++i) goes_on = simulation->step().ok();
  if (goes_on) fuzz::require(simulation->save().ok());
  else simulation = make_simulation();  // a run that has failed has ended
  return 0;
}
