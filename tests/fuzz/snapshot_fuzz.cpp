// The input is a list of changes to a good snapshot, each of four bytes for the place and one for the value: most
// bytes of a snapshot are numbers that may have any value. A snapshot that is accepted must let the run go on.
#include <cstring>
#include <memory>

#include "fuzz.h"
#include "volvox/mind/behavior.h"
#include "volvox/model/reader.h"
#include "volvox/sim/experiment.h"

namespace {

using namespace volvox;

constexpr const char* world_text = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w">
<model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
<model name="a"><pose>0 0 0.1 0 0 0</pose><link name="foot"><inertial><mass>2</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.006</izz></inertia></inertial>
<collision name="c"><geometry><box><size>0.2 0.2 0.1</size></box></geometry></collision></link>
<link name="head"><pose>0 0 0.08 0 0 0</pose><inertial><mass>0.2</mass><inertia><ixx>0.0002</ixx><iyy>0.0002</iyy><izz>0.0003</izz></inertia></inertial></link>
<joint name="neck" type="continuous"><parent>foot</parent><child>head</child><axis><xyz>0 0 1</xyz><limit><effort>1</effort><velocity>6</velocity></limit></axis></joint>
<volvox:motor joint="neck" kp="2" kd="0.2"/><volvox:mind behavior="turn"/></model>
</world></sdf>)";

class Turn final : public mind::Behavior {
 public:
  void step(mind::Agent& agent) override { agent.turn("neck", 1 + 0.1 * agent.random().uniform() + 0.01 * ++steps_); }
  VOLVOX_STATE(steps_)

 private:
  int steps_ = 0;
};

std::unique_ptr<sim::Simulation> make_simulation() {
  static sim::Library library;
  if (library.minds.behaviors.names().empty())
    library.minds.behaviors.add("turn", [] { return std::make_unique<Turn>(); });
  static Log log;
  model::ModelLibrary models{std::vector<std::filesystem::path>{}};
  auto world = model::read_world_text(world_text, "/nowhere/world.sdf", {}, models);
  fuzz::require(world.ok());
  auto made = sim::Simulation::create(std::make_shared<const model::WorldModel>(std::move(*world)), {}, library.engines,
                                      library.minds, log);
  fuzz::require(made.ok());
  return std::move(*made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> good = [] {
    auto simulation = make_simulation();
    for (int i = 0; i < 10; ++i) (void)simulation->step();
    return *simulation->save();
  }();
  std::vector<std::byte> snapshot = good;
  for (; size >= 5; data += 5, size -= 5) {
    std::uint32_t place = 0;
    std::memcpy(&place, data, 4);
    snapshot[place % snapshot.size()] = static_cast<std::byte>(data[4]);
  }
  if (size > 0) snapshot.resize(snapshot.size() * data[0] / 256);
  auto simulation = make_simulation();
  const auto restored = simulation->restore(snapshot);
  if (!restored.ok()) fuzz::require(!restored.error().text().empty());
  else (void)simulation->step();
  return 0;
}
