#include "volvox/physics/conformance/tolerances.h"

#include "volvox/base/check.h"

namespace volvox::physics::conformance {
namespace {

struct Row {
  std::string_view name;
  double value;
  std::string_view why;
};

// At dt = 1/60 s and substeps of 1/240 s.
constexpr Row table[] = {
    {"exact", 1e-9, "what an integrator keeps to rounding: uniform motion, speeds under gravity"},
    {"slide_position_m", 0.0105, "half a substep's fall along a joint in 1 s: g t h / 4, for first-order integrators"},
    {"fall_position_m", 1e-12, "in a fall of 1 s, by substeps of any length"},
    {"momentum", 1e-6, "relative; the issue's bar for docking, and for free collisions and spinning"},
    {"spin_energy", 1e-3, "relative, 10 s of a body that tumbles at 5 rad/s"},
    {"period", 0.005, "relative, of a pendulum, small and large swings"},
    {"swing_energy", 0.02, "relative to the largest potential energy, 10 s of a pendulum"},
    {"friction_acceleration", 0.01, "relative, down an incline"},
    {"friction_creep_m", 1e-4, "in 2 s, of a block that must stick"},
    {"stopping_distance", 0.01, "relative; half a substep's travel is 0.4 % of it"},
    {"bounce_height", 0.03, "relative to the drop"},
    {"bounce", 2e-3, "relative to the drop, of the height that a ball's energy after the first bounce reaches"},
    {"elastic_energy", 0.01, "relative, of what bounces with e = 1 for seconds"},
    {"rolling_mse", 1e-9, "m^2/s^2, mean square over all steps of a ball's and a box's velocity"},
    {"rolling_speed", 0.01, "relative, after 2 s on a body"},
    {"pile_overlap_m", 1e-4, "the deepest of 216 balls that fall on each other"},
    {"jointed_fall_m", 1e-9, "of the centre of mass of jointed bodies, in a fall of 1 s"},
    {"rest_height_m", 2e-4, "on a plane"},
    {"rest_height_surface_m", 5e-4, "on a mesh or a height field"},
    {"rest_speed", 2e-3, "m/s and rad/s, of what lies still"},
    {"contact_force", 0.02, "relative, of the weight"},
    {"joint_gap_m", 1e-4, "of joints under their own load"},
    {"joint_tip_rad", 1e-3, "of joints under their own load"},
    {"swing_gap_m", 1e-3, "of joints that swing fast"},
    {"motor_position", 2e-3, "rad or m, once it is there"},
    {"motor_velocity", 2e-3, "relative, once it is there"},
    {"motor_torque", 1e-3, "relative"},
    {"limit", 2e-3, "rad or m past a limit that is pushed against"},
    {"friction_deceleration", 0.005, "relative, of a flywheel; first order in the substep"},
    {"load", 0.01, "relative, of the weight below a joint or its moment"},
    {"dock_gap_m", 1e-4, "once it is closed"},
    {"dock_tip_rad", 1e-3, "once it is closed"},
    {"dock_energy", 0.01, "relative to the energy of the pull, above the bound while it latches"},
    {"chain_dock_tip_rad", 0.005, "the most bent dock of 20 boxes that hang out sideways"},
    {"chain_dock_gap_m", 1e-3, "the widest dock of the same"},
};

struct Exception {
  std::string_view engine, name;
  double value, measured;
  std::string_view reason;
};

// An engine that does not reach a tolerance is listed here with its measured value.
constexpr Exception exceptions[] = {
    {"native_mixed", "exact", 1e-8, 2.4e-9, "relative; gravity's speed of a substep is a float"},
    {"native_mixed", "fall_position_m", 2e-6, 4.0e-7, "the way of a substep is a float"},
    {"native_mixed", "jointed_fall_m", 2e-6, 8.9e-8, "the same"},
    {"mujoco", "fall_position_m", 0.021, 0.0204,
     "g t h / 2: what slides leaves its soft contacts in some steps, and would be lifted off"},
    {"mujoco", "rolling_mse", 0.05, 0.015, "soft contacts let what rolls creep"},
    {"mujoco", "rolling_speed", 0.15, 0.106, "the same: a cylinder slows down"},
    {"mujoco", "pile_overlap_m", 0.015, 9.5e-3, "soft contacts"},
    {"mujoco", "jointed_fall_m", 0.021, 0.0205, "the same as for single bodies"},
    {"ode", "rolling_speed", 0.03, 0.0167, "a capsule, at a substep of 1/60 s"},
    {"ode", "bounce", 0.01, 5.0e-3, "e = 0.1 at 1/240 s: what bounces lower than a substep's fall does not bounce"},
    {"ode", "pile_overlap_m", 0.012, 9.0e-3, "ODE finds contacts of overlapping bodies only"},
    {"ode", "jointed_fall_m", 0.021, 0.0204, "g t h / 2: only single bodies keep to their parabolas"},
    {"bullet", "bounce", 0.01, 5.0e-3, "e = 0.1 at 1/240 s: what bounces lower than a substep's fall does not bounce"},
    {"bullet", "pile_overlap_m", 6e-3, 3.8e-3, "what is hit passes contacts that are not seen ahead"},
    {"bullet", "jointed_fall_m", 0.021, 0.0204, "g t h / 2: only single bodies keep to their parabolas"},
    {"mujoco", "rest_speed", 0.03, 0.0176,
     "a hull's or a height field's contacts change from step to step, and soft ones never quite settle"},
    {"mujoco", "rest_height_surface_m", 1.2e-3, 7.9e-4, "the same, on a height field"},
    {"ode", "momentum", 1e-4, 3.0e-5,
     "a hinge of ODE's holds each body at its own anchor: their gap times the force is a torque"},
    {"ode", "joint_tip_rad", 2e-3, 1.05e-3, "100 sweeps of QuickStep on a cantilever of four boxes"},
    {"ode", "chain_dock_tip_rad", 0.2, 0.148, "QuickStep does not carry a load through 20 docks"},
    {"ode", "chain_dock_gap_m", 0.005, 0.0035, "the same"},
    {"bullet", "chain_dock_tip_rad", 0.8, 0.61, "sequential impulses do not carry a load through 20 docks"},
    {"bullet", "chain_dock_gap_m", 0.012, 0.0080, "the same"},
};

}  // namespace

double tolerance(const std::string& engine, std::string_view name) {
  for (const Exception& e : exceptions) {
    if (e.engine == engine && e.name == name) return e.value;
  }
  for (const Row& row : table) {
    if (row.name == name) return row.value;
  }
  VOLVOX_CHECK(false, "no such tolerance");
}

}  // namespace volvox::physics::conformance
