// Plugins for plugins_test.py, out of one source: what PLUGIN_KIND says. The good one offers something of
// everything, and things that go wrong at run time.
#include <volvox/exchange/neighborhood.h>
#include <volvox/physics/none/none_engine.h>
#include <volvox/plugin/plugin.h>

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <thread>

using namespace volvox;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Appends a line to the file VOLVOX_TEST_JOURNAL: the order in which objects are made and destroyed.
void write_down(const std::string& line) {
  const char* name = std::getenv("VOLVOX_TEST_JOURNAL");
  if (std::FILE* file = name == nullptr ? nullptr : std::fopen(name, "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

struct Unloaded {
  ~Unloaded() { write_down("library gone"); }
} unloaded;

// A process that leaves the group and the session of its parent, and keeps its output open.
int start_daemon() {
  const pid_t child = fork();
  if (child != 0) return child;
  setsid();
  for (;;) pause();
}

// Writes garbage over all memory that is shared with other processes, as a stray pointer does, again and again.
void fill_shared_memory() {
  static std::thread writer([] {
    std::ifstream maps("/proc/self/maps");
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> shared;
    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t begin = 0, end = 0;
      char rights[8] = "";
      if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights) == 3 && std::string(rights) == "rw-s")
        shared.emplace_back(begin, std::min(end, begin + 100'000));
    }
    for (int pattern = 1;; pattern = pattern * 75 % 65537)
      for (const auto& [begin, end] : shared) std::memset(reinterpret_cast<void*>(begin), pattern, end - begin);
  });
}

void eat_memory() {
  static std::vector<std::unique_ptr<char[]>> eaten;
  for (;;) std::memset(eaten.emplace_back(new char[1 << 24]).get(), 1, 1 << 24);
}

// Turns its neck; after 0.1 s it does what its parameter says.
class Actor final : public mind::Behavior {
 public:
  Actor() { write_down("behavior made"); }
  ~Actor() override { write_down("behavior gone"); }
  void start(mind::Agent& agent) override {
    deed_ = agent.parameter("deed", "none");
    speed_ = agent.parameter("speed", 1.0);
    if (deed_ == "throw in start") throw std::runtime_error("thrown in start");
  }
  void step(mind::Agent& agent) override {
    ++steps_;
    agent.turn("neck", speed_ * (1 + 0.1 * agent.random().uniform()));
    if (agent.time() < 0.1) return;
    if (deed_ == "throw" || (deed_ == "first throws" && agent.name() == "first"))
      throw std::runtime_error("thrown on purpose");
    if (deed_ == "throw a number") throw 42;
    if (deed_ == "nan") agent.turn("neck", not_a_number);
    if (deed_ == "crash") std::raise(SIGSEGV);
    if (deed_ == "hang")
      for (volatile bool forever = true; forever;) {}
    if (deed_ == "exit") std::_Exit(7);
    if (deed_ == "daemon" && daemon_ == 0) daemon_ = start_daemon();
    if (deed_ == "garbage") fill_shared_memory();
    if (deed_ == "eat memory") eat_memory();
    if (deed_ == "talk")
      for (int i = 0; i < 200'000; ++i) agent.log("line {}", i);
  }
  VOLVOX_STATE(deed_, speed_, steps_)

 private:
  std::string deed_;
  double speed_ = 0;
  int steps_ = 0;
  int daemon_ = 0;
};

class ThrowsWhenMade final : public mind::Behavior {
 public:
  ThrowsWhenMade() { throw std::runtime_error("no behavior today"); }
  void step(mind::Agent&) override {}
};

// Observes the other module's neck angle by a callback, and copies it.
class Mimic final : public mind::Behavior {
 public:
  bool omniscient() const override { return true; }
  void start(mind::Agent& agent) override {
    agent.observe<double>(0, "neck.angle", [this](const double& angle) { seen_ = &angle; });
  }
  void step(mind::Agent& agent) override {
    if (seen_ != &agent.other<double>(0, "neck.angle")) throw std::runtime_error("the reading was copied");
    agent.move_to("neck", *seen_);
  }
  bool lists_state() const override { return true; }

 private:
  const double* seen_ = nullptr;
};

class Reading final : public mind::Sensor {
 public:
  explicit Reading(double value) : value_(value) {}
  const TypeInfo& type() const override { return type_of<double>(); }
  void read(const mind::SenseContext& context, Value& reading) const override {
    if (value_ < 0) throw std::runtime_error("the sensor is blind");
    *reading.get<double>() = value_ + context.world.link_pose(context.link(0)).position.z;
  }

 private:
  double value_;
};

// Uses rays, contacts, neighbours and the world in one reading. At its 30th reading it does what its parameter says.
class Lookout final : public mind::Sensor {
 public:
  explicit Lookout(const Parameters& p) : deed_(p.text("deed", "")), range_(p.number("max_range", 5, 0.1, 100)) {}
  const TypeInfo& type() const override { return type_of<std::vector<double>>(); }
  bool casts_rays() const override { return true; }
  void rays(const mind::SenseContext& c, std::vector<mind::Ray>& rays) const override {
    rays.push_back({c.world.link_pose(c.link(1)).position, {0.6, 0, -0.8}, range_, c.module + 1});
  }
  bool needs_contacts() const override { return true; }
  double neighbor_range() const override { return range_; }
  void read(const mind::SenseContext& c, Value& reading) const override {
    if (++readings_ == 30) act();
    std::vector<exchange::Neighborhood::Near> near;
    c.neighborhood->near(c.world.link_pose(c.link(0)).position, range_, c.module, near);
    *reading.get<std::vector<double>>() = {c.hits[0].distance,
                                           near.empty() ? -1 : near[0].distance,
                                           c.contact_forces[c.link(0)],
                                           c.world.link_velocity(c.link(1)).angular.z,
                                           c.world.last_velocity(c.link(1)).angular.z,
                                           c.world.joint_state(c.joint(0)).torque};
  }

 private:
  void act() const {
    if (deed_ == "crash") std::raise(SIGSEGV);
    if (deed_ == "hang")
      for (volatile bool forever = true; forever;) {}
    if (deed_ == "throw") throw std::runtime_error("blinded");
  }
  std::string deed_;
  double range_;
  mutable int readings_ = 0;
};

// The distance of the nearest module, without rays.
class Crowd final : public mind::Sensor {
 public:
  const TypeInfo& type() const override { return type_of<double>(); }
  double neighbor_range() const override { return 5; }
  void read(const mind::SenseContext& c, Value& reading) const override {
    std::vector<exchange::Neighborhood::Near> near;
    c.neighborhood->near(c.world.link_pose(c.link(0)).position, 5, c.module, near);
    *reading.get<double>() = near.empty() ? -1 : near[0].distance;
  }
};

struct Own {
  double value = 0;
};
VOLVOX_TYPE(Own, value)
class ReadsOwnType final : public mind::Sensor {
 public:
  const TypeInfo& type() const override { return type_of<Own>(); }
  void read(const mind::SenseContext&, Value&) const override {}
};

// Turns its neck by on-board control, at every substep.
class OnBoardActor final : public mind::Behavior {
 public:
  void step(mind::Agent&) override {}
  OnBoard on_board() const override { return {{"neck.angle"}, {"neck"}}; }
  void control(mind::Agent& agent, double step) override {
    agent.turn("neck", 1 + agent.angle("neck"));
    time_ += step;
  }
  VOLVOX_STATE(time_)

 private:
  double time_ = 0;
};

class Shift final : public mind::Noise {
 public:
  explicit Shift(double by) : by_(by) {}
  void apply(Value& value, RandomStream&) override {
    value.each_number([this](double& x) { x += by_; });
  }
  bool lists_state() const override { return true; }
  void archive_state(Archive&) override {}

 private:
  double by_;
};

class Constant final : public net::Propagation {
 public:
  explicit Constant(double gain) : gain_(gain) {}
  void gains(const net::LinkBlock& block, double* gain) const override {
    for (std::size_t i = 0; i < block.count; ++i) gain[i] = gain_;
  }

 private:
  double gain_;
};

class Journal final : public mind::Extension {
 public:
  Journal(std::string name, std::string deed) : name_(std::move(name)), deed_(std::move(deed)) {}
  ~Journal() override { write_down(name_ + " gone"); }
  Result<void> init() override {
    if (deed_ == "fail") return Error("the journal is full", "turn the page");
    if (deed_ == "throw") throw std::runtime_error("no ink");
    write_down(name_ + " init");
    return {};
  }
  void after_tick(const sim::Simulation&) override {
    if (deed_ == "throw later") throw std::runtime_error("out of ink");
  }
  void shutdown() override { write_down(name_ + " shutdown"); }

 private:
  std::string name_, deed_;
};

// The engine `none`, which logs its construction and destruction, and can produce a NaN position.
class Still final : public physics::Engine {
 public:
  Still(const physics::EngineSettings& settings, bool loses_its_way)
      : Still(physics::make_none_engine(settings), loses_its_way) {}
  Still(std::unique_ptr<physics::Engine> inner, bool loses_its_way)
      : Engine(state_of(*inner)), inner_(std::move(inner)), loses_its_way_(loses_its_way) {
    info_ = inner_->info();
    info_.name = "still";
    write_down("engine made");
  }
  ~Still() override { write_down("engine gone"); }
  const physics::EngineInfo& info() const override { return info_; }
  Result<physics::BodyId> add_body(const physics::BodyDesc& desc) override { return inner_->add_body(desc); }
  void remove_body(physics::BodyId id) override { inner_->remove_body(id); }
  physics::JointId add_joint(const physics::JointDesc& desc) override { return inner_->add_joint(desc); }
  void remove_joint(physics::JointId id) override { inner_->remove_joint(id); }
  void set_body(physics::BodyId id, const Pose& pose, const Twist& velocity) override {
    inner_->set_body(id, pose, velocity);
  }
  void set_gravity(const Vec3& gravity) override { inner_->set_gravity(gravity); }
  StepStatus advance(Time begin, Time end) override {
    StepStatus status = inner_->advance(begin, end);
    if (loses_its_way_) state_of(*inner_).poses.back().position.x = not_a_number;
    return status;
  }
  bool has(physics::JointId id) const override { return inner_->has(id); }
  void contacts(std::vector<physics::Contact>& out) const override { inner_->contacts(out); }
  void archive(Archive& ar) override { inner_->archive(ar); }

 private:
  std::unique_ptr<physics::Engine> inner_;
  physics::EngineInfo info_;
  bool loses_its_way_;
};

// Draws a grey picture.
class Fog final : public view::RenderEngine {
 public:
  explicit Fog(const Parameters& parameters)
      : width_(narrow<int>(parameters.integer("width", 16))), height_(narrow<int>(parameters.integer("height", 16))) {}
  const view::RenderEngineInfo& info() const override { return info_; }
  Result<void> load(std::shared_ptr<const view::RenderTree>) override { return {}; }
  Result<void> show(const view::Frame&) override { return {}; }
  Result<view::Image> image(const view::Camera&, std::span<const view::Frame>) override {
    return view::Image{width_, height_, std::vector<std::uint8_t>(3 * width_ * height_, 128)};
  }

 private:
  view::RenderEngineInfo info_{"fog", "grey", "nothing", true};
  int width_, height_;
};

}  // namespace

#if PLUGIN_KIND == 1  // good
VOLVOX_PLUGIN("good", "something of everything") {
  plugin.behaviors.add(
      "actor", [] { return std::make_unique<Actor>(); }, "turns its neck");
  plugin.behaviors.add("throws_when_made", [] { return std::make_unique<ThrowsWhenMade>(); });
  plugin.behaviors.add("nothing", [] { return std::unique_ptr<mind::Behavior>(); });
  plugin.behaviors.add("mimic", [] { return std::make_unique<Mimic>(); });
  const auto reading = [](double value) {
    return [value](const model::Sensor&, const Parameters&) { return std::make_unique<Reading>(value); };
  };
  plugin.sensors.add("altitude", reading(0), "height above the ground, in m");
  plugin.sensors.add("altitude_nan", reading(not_a_number));
  plugin.sensors.add("altitude_blind", reading(-1));
  const auto shift = [](double by) {
    return [by](const Parameters&, const TypeInfo*) { return std::make_unique<Shift>(by); };
  };
  plugin.noise.add("shift", shift(0.5), "adds 0.5");
  plugin.noise.add("shift_nan", shift(not_a_number));
  const auto constant = [](double gain) {
    return [gain](double, const Parameters& p) { return std::make_unique<Constant>(p.number("gain", gain)); };
  };
  plugin.propagations.add("constant", constant(1), "the same everywhere: gain");
  plugin.engines.add(
      "still", [](const physics::EngineSettings& s) { return std::make_unique<Still>(s, false); }, "nothing moves");
  plugin.engines.add("lost", [](const physics::EngineSettings& s) { return std::make_unique<Still>(s, true); });
  plugin.renderers.add(
      "fog",
      [](const Parameters& p) -> Result<std::unique_ptr<view::RenderEngine>> {
        return std::unique_ptr<view::RenderEngine>(std::make_unique<Fog>(p));
      },
      "grey pictures");
  for (const char* name : {"journal_a", "journal_b"})
    plugin.extensions.add(name, [name](const sim::ExtensionSetup& setup) {
      return std::make_unique<Journal>(name, setup.parameters.text("deed", ""));
    });
}
#elif PLUGIN_KIND == 2  // fails while it is loaded
VOLVOX_PLUGIN("moody", "fails while it is loaded") {
  if (std::getenv("VOLVOX_TEST_CRASH") != nullptr) std::raise(SIGSEGV);
  throw std::runtime_error("not in the mood");
}
#else                   // only behaviours and sensors, so that all of it can be isolated from the run's process
VOLVOX_PLUGIN("actors", "behaviors and sensors alone") {
  plugin.behaviors.add(
      "actor", [] { return std::make_unique<Actor>(); }, "turns its neck");
  plugin.behaviors.add("mimic", [] { return std::make_unique<Mimic>(); });
  plugin.behaviors.add("on_board", [] { return std::make_unique<OnBoardActor>(); });
  plugin.sensors.add(
      "lookout", [](const model::Sensor&, const Parameters& p) { return std::make_unique<Lookout>(p); },
      "what is below and near");
  plugin.sensors.add("altitude", [](const model::Sensor&, const Parameters&) { return std::make_unique<Reading>(0); });
  plugin.sensors.add("crowd", [](const model::Sensor&, const Parameters&) { return std::make_unique<Crowd>(); });
  plugin.sensors.add("own", [](const model::Sensor&, const Parameters&) { return std::make_unique<ReadsOwnType>(); });
}
#endif
