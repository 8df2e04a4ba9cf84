#include "plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "volvox/base/index.h"
#include "volvox/model/world_builder.h"
#include "volvox/net/power.h"
#include "volvox/net/propagation.h"

namespace volvox::experiments::vouivre {
namespace {

// Simulation 7: relays picked by hand for the board of 20 x 20 and a range of four spacings. One line of relays, four
// apart, winds through the board in three rows, seven apart, which together reach every catom. A relay hears only the
// relay before it, so there are no collisions. (Parallel rows would be faster, but they interfere at the edge of the
// range.)
std::vector<Cell> hand_picked() {
  std::vector<Cell> cells = {{1, 7}, {17, 14}};
  for (const int y : {3, 10, 17})
    for (const int x : {17, 13, 9, 5, 1}) cells.push_back({x, y});
  return cells;
}

bool contains(const std::vector<Cell>& cells, const Cell& cell) {
  return std::find(cells.begin(), cells.end(), cell) != cells.end();
}

bool on_grid(const Cell& cell, int pitch) { return cell.x % pitch == pitch / 2 && cell.y % pitch == pitch / 2; }

}  // namespace

Plan checkerboard(int simulation, const Assumptions& assumed, int side) {
  Plan plan;
  plan.name = std::to_string(simulation);
  plan.assumed = assumed;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) plan.cells.push_back({x, y});
  plan.source = simulation == 1 ? side / 2 * side + side / 2 : side - 1;  // others: the lower right corner
  plan.wired = simulation == 1 || simulation == 2 || simulation == 8;
  plan.power = simulation == 3 ? 2e-3 : 1e-3;
  if (simulation == 6) plan.slot = 1.5e-6, plan.radio_bit_rate = 6e6;
  const bool has_radio = simulation >= 3;
  const std::vector<Cell> picked = hand_picked();
  for (const Cell& cell : plan.cells) {
    plan.radio.push_back(has_radio);
    plan.relays.push_back(simulation == 3 || simulation == 4 ? true
                          : simulation == 7                  ? contains(picked, cell)
                                                             : has_radio && on_grid(cell, assumed.pitch));
  }
  static constexpr const char* descriptions[] = {
      "wired, from the middle", "wired, from the corner",     "radio 2 mW, all relay", "radio 1 mW, all relay",
      "radio, regular grid",    "radio 6 Mb/s, regular grid", "radio, hand-picked",    "wired and radio, regular grid"};
  plan.description = descriptions[simulation - 1];
  return plan;
}

Plan nano_checkerboard(const Assumptions& assumed, int side) {
  Plan plan = checkerboard(4, assumed, side);  // the same radios, at the same places
  plan.name = "nano";
  plan.description = fmt::format("nano-radio, all relay, a bit takes {} pulses", assumed.spread);
  plan.pulses = true;
  plan.longest = 1;
  return plan;
}

Plan cross(int simulation, const Assumptions& assumed) {
  // The outline, one catom thick, of four arms of this length and width. The wave reaches the inner corners, two hops
  // more than the arm is long from the middle of the first arm's tip, after 14 s, the time of the jump in figure 12:
  // that are 198 hops of 70.667 ms, or 56 ticks of 1/4 s.
  constexpr int width = 4;
  const int arm = assumed.delayed_wires ? 54 : 196;
  const int low = arm, high = arm + width - 1, size = 2 * arm + width;
  const auto inside = [&](int x, int y) {
    if (x < 0 || y < 0 || x >= size || y >= size) return false;
    return (x >= low && x <= high) || (y >= low && y <= high);
  };
  Plan plan;
  plan.name = fmt::format("T{}", simulation);
  plan.assumed = assumed;
  plan.wired = true;
  plan.longest = 75;
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      bool edge = false;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) edge = edge || !inside(x + dx, y + dy);
      if (inside(x, y) && edge) plan.cells.push_back({x, y});
    }
  const auto at = [&](const Cell& cell) {
    return std::find(plan.cells.begin(), plan.cells.end(), cell) - plan.cells.begin();
  };
  plan.source = narrow<int>(at({low + 1, 0}));
  // T1: radios at the four inner corners. T2: also at every third catom of the first arm. T4: of all arms.
  for (const Cell& cell : plan.cells) {
    const bool inner_x = cell.x == low || cell.x == high, inner_y = cell.y == low || cell.y == high;
    const bool corner = inner_x && inner_y;
    const int along = cell.x < low    ? low - cell.x
                      : cell.x > high ? cell.x - high
                      : cell.y < low  ? low - cell.y
                                      : cell.y - high;
    const bool first_arm = cell.y < low;
    const bool on_arm = along > 0 && along % 3 == 0 && (simulation == 4 || (simulation == 2 && first_arm));
    const bool relay = simulation != 3 && (corner || on_arm);
    plan.radio.push_back(relay);
    plan.relays.push_back(relay);
  }
  static constexpr const char* descriptions[] = {"radio at the inner corners", "radio also along the first arm",
                                                 "wired only", "radio also along all arms"};
  plan.description = descriptions[simulation - 1];
  return plan;
}

namespace {

// A catom with or without the plan's radio, and with wires if the plan has them.
model::Model catom_for(const Plan& plan, const model::ModuleModel& catom, bool radio) {
  auto model = std::make_shared<model::ModuleModel>(catom);
  for (model::Wire& wire : model->wires) {
    if (plan.assumed.delayed_wires) {
      wire.timing = model::WireTiming::delayed;
      wire.capacity = truncated<std::uint32_t>(plan.wired_bit_rate / 8 * dprsim_tick.seconds());
    } else {
      wire.bit_rate = plan.wired_bit_rate;
    }
  }
  if (!plan.wired) model->wires.clear();
  const Assumptions& a = plan.assumed;
  model::Radio& r = model->radios.front();
  const double weakest = 1e-3 * net::Friis(a.frequency).gain({}, {a.range * a.spacing, 0, 0});
  const double noise = weakest / a.capture_ratio;
  r.power = plan.power;
  r.slot = plan.slot;
  r.bit_rate = r.bandwidth = plan.radio_bit_rate;
  if (plan.pulses) {
    r.modulation = model::Modulation::ts_ook;
    r.spread = narrow<std::uint32_t>(a.spread);
    r.window = 1;
    r.bandwidth = 1e12;  // Hz
  }
  r.noise_factor = std::max(1.0, noise / net::thermal_noise_w(r.bandwidth));
  r.receive_threshold = weakest;
  r.carrier_threshold = noise + a.carrier * weakest;
  r.capture_ratio = a.capture_ratio;
  if (!radio) model->radios.clear();
  return model;
}

}  // namespace

Result<model::WorldModel> make_world(const Plan& plan, model::ModelLibrary& library) {
  const auto catom = library.load("catom");
  if (!catom.ok()) return catom.error();
  const model::Model models[] = {catom_for(plan, **catom, false), catom_for(plan, **catom, true)};
  model::WorldBuilder builder("vouivre");
  builder.set_gravity({});
  builder.set_run(
      {Time::seconds(plan.longest), plan.assumed.delayed_wires ? dprsim_tick : TickLength{1, 10}, 1.0 / 240, "none"});
  if (std::find(plan.radio.begin(), plan.radio.end(), true) != plan.radio.end())
    builder.add_channel({.name = "air", .frequency = plan.assumed.frequency});
  const auto text = [](bool flag) { return std::string(flag ? "true" : "false"); };
  const auto name = [](const Cell& cell) { return fmt::format("c{}_{}", cell.x, cell.y); };
  for (const int i : indices<int>(plan.cells)) {
    model::PlacementOptions options;
    options.mind = model::Mind{"flood",
                               {{"source", text(i == plan.source)},
                                {"relay", text(plan.relays[i])},
                                {"wired", text(plan.wired)},
                                {"one_at_a_time", text(plan.assumed.one_link_at_a_time)}},
                               "plan.cpp",
                               0};
    const Cell& cell = plan.cells[i];
    builder.add(models[plan.radio[i] ? 1 : 0],
                Pose{{cell.x * plan.assumed.spacing, cell.y * plan.assumed.spacing, 0.005}, {}}, name(cell), options);
  }
  // Feature 0 points along x, feature 3 along y; 6 and 9 are opposite.
  for (const Cell& cell : plan.cells) {
    if (const Cell right{cell.x + 1, cell.y}; builder.find(name(right)) >= 0)
      builder.connect(name(cell) + ".f0", name(right) + ".f6");
    if (const Cell above{cell.x, cell.y + 1}; builder.find(name(above)) >= 0)
      builder.connect(name(cell) + ".f3", name(above) + ".f9");
  }
  return builder.build();
}

}  // namespace volvox::experiments::vouivre
