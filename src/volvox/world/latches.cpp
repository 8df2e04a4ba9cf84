#include "volvox/world/latches.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/archive_plain.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/world/world.h"

namespace volvox::world {

std::unique_ptr<Latches> Latches::create(const World& world) {
  auto made = std::make_unique<Latches>();
  for (DockIndex dock = 0; dock < world.docks(); ++dock) {
    const auto& latch = world.dock_model(dock).latch;
    made->models_.push_back(latch ? &*latch : nullptr);
    if (latch) made->latched_.push_back(dock);
  }
  if (made->latched_.empty()) return nullptr;
  made->jaws_.resize(world.docks());
  made->pairs_.resize(world.docks());
  for (const DockIndex dock : made->latched_)
    if (world.dock_status(dock).phase == DockPhase::engaged) made->jaws_[dock].opening = 0;
  return made;
}

bool Latches::form(DockIndex a, DockIndex b) const {
  bool form = false;
  each_of(a, b, [&](DockIndex dock) { form = form || models_[dock]->form; });
  return form;
}

bool Latches::let_go(const World& world, DockIndex a, DockIndex b) const {
  bool open = true;
  each_of(a, b, [&](DockIndex dock) { open = open && !world.dock_status(dock).enabled && jaws_[dock].opening >= 1; });
  return open;
}

bool Latches::jammed(DockIndex a, DockIndex b) const {
  bool jammed = false;
  each_of(a, b, [&](DockIndex dock) { jammed = jammed || jaws_[dock].jammed; });
  return jammed;
}

double Latches::held_by_friction(DockIndex a, DockIndex b) const {
  double held = 0;
  each_of(a, b, [&](DockIndex dock) {
    if (jaws_[dock].opening <= 0 || jaws_[dock].jammed) held += models_[dock]->friction * models_[dock]->force;
  });
  return held;
}

double Latches::force(DockIndex a, DockIndex b) const {
  double sum = 0;
  each_of(a, b, [&](DockIndex dock) { sum += models_[dock]->force; });
  return sum;
}

double Latches::depth(DockIndex a, DockIndex b) const {
  double depth = 0;
  each_of(a, b, [&](DockIndex dock) { depth = std::max(depth, models_[dock]->depth); });
  return depth;
}

double Latches::close_time(DockIndex a, DockIndex b) const {
  double time = 0;
  each_of(a, b, [&](DockIndex dock) { time = std::max(time, models_[dock]->travel / models_[dock]->speed); });
  return time;
}

double Latches::misfit(DockIndex a, DockIndex b, double aside, double angle) const {
  double worst = 0;
  each_of(a, b, [&](DockIndex dock) {
    worst = std::max({worst, aside / models_[dock]->jam_distance, angle / models_[dock]->jam_angle});
  });
  return worst;
}

void Latches::move(const World& world, double time) {
  VOLVOX_ASSERT(time > 0 && jaws_.size() == world.docks());
  for (const DockIndex dock : latched_) {
    const DockStatus& status = world.dock_status(dock);
    if (status.phase == DockPhase::free || !status.enabled) open(world, dock, time);
    else close(world, dock, time);
  }
}

// Teeth rub on their edge when they are drawn back under load, axial or shear. Jaws that hold by friction rub only
// under shear: an axial load does not press on them.
void Latches::open(const World& world, DockIndex dock, double time) {
  const model::Latch& latch = *models_[dock];
  Jaws& jaws = jaws_[dock];
  jaws.stuck = false;
  if (world.dock_status(dock).phase != DockPhase::free) {
    const DockIndex partner = world.graph().partner(dock);
    const DockLoad load = world.dock_load(dock);
    const double share = models_[partner] != nullptr ? 0.5 : 1;
    const double pressed = load.shear + (latch.form ? std::max(0.0, load.axial) : 0);
    jaws.stuck = latch.friction * pressed * share > latch.force;
  }
  if (jaws.stuck) return;
  jaws.jammed = false;
  jaws.opening = std::min(1.0, jaws.opening + time * latch.speed / latch.travel);
}

void Latches::close(const World& world, DockIndex dock, double time) {
  const model::Latch& latch = *models_[dock];
  Jaws& jaws = jaws_[dock];
  jaws.stuck = false;
  if (jaws.jammed || jaws.opening <= 0) return;
  const DockIndex partner = world.graph().partner(dock);
  const Pair& pair = pairs_[world.dock_status(dock).carrier ? dock : partner];
  const double stop = pair.grip == Grip::askew ? pair.stop : 0;
  jaws.opening = std::max(stop, jaws.opening - time * latch.speed / latch.travel);
  if (jaws.opening < 1e-9) jaws.opening = 0;  // the sum of the steps may miss 0 by rounding
  jaws.jammed = pair.grip == Grip::askew && jaws.opening <= stop;
}

void Latches::archive(Archive& ar) {
  ar.section("", "latches");
  archive_plain(ar, jaws_, [](auto& fields, Jaws& jaws) {
    fields("opening", jaws.opening);
    fields("jammed", jaws.jammed);
    fields("stuck", jaws.stuck);
  });
  archive_plain(ar, pairs_, [](auto& fields, Pair& pair) {
    fields("grip", pair.grip);
    fields("friction", pair.friction);
    fields("slip", pair.slip);
    fields("stop", pair.stop);
    fields("told", pair.told);
  });
  if (!ar.loading()) return;
  for (const Jaws& jaws : jaws_)
    if (!(jaws.opening >= 0 && jaws.opening <= 1)) ar.fail("its latches are damaged");
  for (const Pair& pair : pairs_)
    if (pair.grip > Grip::slide || !(pair.friction >= 0 && pair.slip >= 0 && pair.stop >= 0))
      ar.fail("its latches are damaged");
}

std::size_t Latches::memory_bytes() const {
  return sizeof *this + models_.capacity() * sizeof models_[0] + latched_.capacity() * sizeof latched_[0] +
         jaws_.capacity() * sizeof jaws_[0] + pairs_.capacity() * sizeof pairs_[0];
}

}  // namespace volvox::world
