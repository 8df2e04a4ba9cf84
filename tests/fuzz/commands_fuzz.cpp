// What a client of the viewer sends over its WebSocket, a message a line: the viewer takes it, and a run acts on it.
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "fuzz.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/mind/behavior.h"
#include "volvox/view/web/viewed_run.h"

namespace {

using namespace volvox;
namespace fs = std::filesystem;

constexpr const char* world_text = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="w"><volvox:run duration="1e5" dt="1/60"/>
<volvox:parameter name="mass" value="2" min="1" max="9">of the foot, in kg</volvox:parameter>
<model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
<model name="a"><pose>0 0 0.1 0 0 0</pose><link name="foot"><inertial><mass>${mass}</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.006</izz></inertia></inertial>
<collision name="c"><geometry><box><size>0.2 0.2 0.1</size></box></geometry></collision></link>
<link name="head"><pose>0 0 0.08 0 0 0</pose><inertial><mass>0.2</mass><inertia><ixx>0.0002</ixx><iyy>0.0002</iyy><izz>0.0003</izz></inertia></inertial></link>
<joint name="neck" type="continuous"><parent>foot</parent><child>head</child><axis><xyz>0 0 1</xyz><limit><effort>1</effort><velocity>6</velocity></limit></axis></joint>
<volvox:motor joint="neck" kp="2" kd="0.2"/><volvox:dock name="tip" link="head" pose="0 0 0.05 0 0 0"/>
<volvox:mind behavior="turn"><volvox:parameter name="speed" value="1"/></volvox:mind></model>
</world></sdf>)";

class Turn final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override { tune(agent); }
  void step(mind::Agent& agent) override { agent.turn("neck", speed_); }
  void tune(mind::Agent& agent) override { speed_ = agent.parameter("speed", 1.0); }
  VOLVOX_STATE(speed_)

 private:
  double speed_ = 1;
};

// A page and a world of our own, so that nothing but this program is needed.
struct Folder : TemporaryFolder {
  Folder() {
    fs::create_directories(path() / "web/dist");
    std::ofstream(path() / "web/dist/index.html") << "<html></html>";
    std::ofstream(path() / "world.sdf") << world_text;
    setenv("VOLVOX_RESOURCE_PATH", path().c_str(), 1);
  }
};

struct Stage {
  Folder folder;
  sim::Library library;
  Log log;
  std::unique_ptr<view::Viewer> viewer;
  std::unique_ptr<view::ViewedRun> viewed;

  Stage() {
    library.minds.behaviors.add("turn", [] { return std::make_unique<Turn>(); });
    view::ViewerOptions options;
    options.open_browser = false;
    auto started = view::Viewer::start(options);
    fuzz::require(started.ok());
    viewer = std::move(*started);
    auto run = prepare({});
    fuzz::require(run.ok());
    viewed = std::make_unique<view::ViewedRun>(
        *viewer, std::move(*run), [this](const auto& settings) { return prepare(settings); }, [](sim::Run&) {});
  }
  Result<std::unique_ptr<sim::Run>> prepare(const std::map<std::string, std::string>& settings) {
    sim::RunOptions options;
    options.experiment = (folder / "world.sdf").string();
    options.settings = settings;
    return sim::Run::prepare(options, library, log);
  }
  void turn() {
    viewed->turn();
    fuzz::require(!viewed->lost());  // a reset falls back to the settings of the start
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Stage stage;
  std::string_view text = fuzz::text_of(data, size);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    stage.viewer->take_message(1, std::string(line));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  // Whatever they said, the next tick is due at once, and shows what the inputs did.
  stage.viewer->take_message(2, R"({"type":"speed","factor":0})");
  stage.viewer->take_message(2, R"({"type":"play"})");
  stage.turn();
  // A run that has ended, by an input that it refuses, would wait for people.
  if (stage.viewed->run().report().status != "done") stage.viewer->take_message(2, R"({"type":"reset"})"), stage.turn();
  return 0;
}
