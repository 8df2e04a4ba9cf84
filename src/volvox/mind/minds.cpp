#include "volvox/mind/minds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace volvox::mind {

Result<std::unique_ptr<Minds>> Minds::create(const world::World& world, const Registries& registries,
                                             std::uint64_t seed) {
  std::unique_ptr<Minds> minds(new Minds);
  minds->agent_of_placement_.assign(world.placements(), world::nobody);
  minds->agents_.reserve(world.modules().size());
  std::map<const model::ModuleModel*, std::shared_ptr<const Anatomy>> anatomies;
  for (const std::uint32_t placement : world.modules()) {
    auto& anatomy = anatomies[&world.module_model(placement)];
    if (!anatomy) {
      auto made = Anatomy::make(world.model().placements[placement].model, registries);
      if (!made.ok()) return made.error();
      anatomy = *made;
    }
    minds->agent_of_placement_[placement] = static_cast<std::uint32_t>(minds->agents_.size());
    minds->agents_.emplace_back();
    minds->agents_.back().anatomy_ = anatomy;
    if (auto added = minds->add(world, placement, registries, seed); !added.ok()) return added.error();
  }
  minds->failures_.resize(minds->agents_.size());
  return minds;
}

Result<void> Minds::add(const world::World& world, std::uint32_t placement, const Registries& registries,
                        std::uint64_t seed) {
  const model::Placement& placed = world.model().placements[placement];
  const model::Mind& mind = *placed.effective_mind();
  Agent& agent = agents_.back();
  const Anatomy& anatomy = *agent.anatomy_;
  agent.name_ = placed.name;
  agent.placement_ = placement;
  agent.clock_ = placed.clock;
  agent.random_ = RandomStream(seed, placement, "behavior");
  for (const auto& sensor : anatomy.sensors) agent.percepts_.push_back(Value::of(sensor->type()));
  for (const auto& actuator : anatomy.actuators) agent.actions_.push_back(Value::of(actuator->type()));
  agent.action_set_.assign(agent.actions_.size(), 0);
  if (anatomy.needs_contacts) needs_contacts_ = true;
  if (!anatomy.ray_sensors.empty()) casts_rays_ = true;

  behaviors_.emplace_back();
  behavior_names_.push_back(mind.behavior);
  agent.parameters_ = Parameters(mind.parameters, fmt::format("behavior '{}'", mind.behavior), mind.file, mind.line);
  if (!mind.behavior.empty()) {
    const auto factory = registries.behaviors.find(mind.behavior, mind.file, mind.line);
    if (!factory.ok()) return factory.error();
    behaviors_.back() = (**factory)();
    if (behaviors_.back()->omniscient()) agent.everyone_ = &agents_;
  } else if (auto checked = agent.parameters_.check(); !checked.ok()) {
    return checked;
  }
  return add_noise(agent, registries, seed);
}

Result<void> Minds::add_noise(const Agent& agent, const Registries& registries, std::uint64_t seed) {
  const Anatomy& anatomy = *agent.anatomy_;
  const model::ModuleModel& model = *anatomy.model;
  Noises noises;
  const auto add_slot = [&](std::vector<NoiseSlot>& slots, int index, const model::NoiseChainSpec& specs,
                            const TypeInfo* type, const std::string& purpose) -> Result<void> {
    auto chain = NoiseChain::make(specs, registries.noise, type, RandomStream(seed, agent.placement_, purpose), model.file);
    if (!chain.ok()) return chain.error();
    slots.push_back({index, std::move(*chain)});
    return {};
  };
  for (const auto& [name, specs] : model.percept_noise) {
    const int index = anatomy.percepts.find(name)->second;
    if (auto ok = add_slot(noises.percepts, index, specs, &anatomy.sensors[index]->type(), "percept:" + name); !ok.ok()) return ok;
  }
  for (const auto& [name, specs] : model.action_noise) {
    const int index = anatomy.actions.find(name)->second;
    if (auto ok = add_slot(noises.actions, index, specs, &anatomy.actuators[index]->type(), "action:" + name); !ok.ok()) return ok;
  }
  for (const auto& [name, specs] : model.message_noise) {
    for (std::size_t d = 0; d < model.docks.size(); ++d) {
      if (name != "*" && name != model.docks[d].name) continue;
      if (auto ok = add_slot(noises.messages, static_cast<int>(d), specs, nullptr, "message:" + name + ":" + model.docks[d].name); !ok.ok()) return ok;
    }
  }
  noises_.push_back(std::move(noises));
  return {};
}

// Runs a behaviour's code; what it throws stops the run with a message, not the program.
template <class Call>
void Minds::guarded(std::size_t i, const char* doing, Call&& call) {
  try {
    call(*behaviors_[i], agents_[i]);
  } catch (const std::exception& error) {
    failures_[i] = fmt::format("behavior '{}' failed in {}: {}", behavior_names_[i], doing, error.what());
  } catch (...) {
    failures_[i] = fmt::format("behavior '{}' failed in {} with an exception of an unknown type", behavior_names_[i], doing);
  }
}

MindFailure Minds::first_failure() {
  for (std::size_t i = 0; i < failures_.size(); ++i)
    if (!failures_[i].empty()) return {agents_[i].name_, std::exchange(failures_[i], {})};
  return {};
}

Result<void> Minds::start(const world::World& world, double dt) {
  ThreadPool alone(1);
  sense(world, dt, alone);
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    agents_[i].dt_ = dt;
    if (!behaviors_[i]) continue;
    guarded(i, "start", [](Behavior& b, Agent& a) {
      b.start(a);
      a.period_ = b.period();
      if (!(a.period_ >= 0 && a.period_ < 1e9)) throw AgentError(fmt::format("its period is {} s; give 0 or a positive time", a.period_));
    });
    if (const MindFailure failure = first_failure(); !failure.ok()) {
      const model::Mind& mind = *world.model().placements[agents_[i].placement_].effective_mind();
      return Diagnostic{mind.file, mind.line, fmt::format("module '{}': {}", failure.module, failure.what),
                        "correct the behavior, or give the module what it asks for"};
    }
    if (auto checked = agents_[i].parameters_.check(); !checked.ok()) return checked;
  }
  return {};
}

void Minds::cast_rays(const world::World& world, double dt) {
  rays_.clear();
  ray_spans_.clear();
  first_ray_span_.assign(agents_.size() + 1, 0);
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    first_ray_span_[i] = ray_spans_.size();
    const Anatomy& anatomy = *agents_[i].anatomy_;
    for (const int percept : anatomy.ray_sensors) {
      const std::size_t first = rays_.size();
      anatomy.sensors[percept]->rays({world, agents_[i].placement_, dt, {}, {}}, rays_);
      ray_spans_.push_back({percept, first, rays_.size() - first});
    }
  }
  first_ray_span_[agents_.size()] = ray_spans_.size();
  hits_.assign(rays_.size(), {});
  world.engine().cast_rays(rays_, hits_);
}

// Sums forces by link; -1 where nothing touches.
void Minds::collect_contacts(const world::World& world) {
  contacts_.clear();
  world.engine().contacts(contacts_);
  contact_forces_.assign(world.links(), -1);
  for (const physics::Contact& contact : contacts_) {
    for (const physics::BodyId body : {contact.a, contact.b}) {
      const std::uint32_t link = world.link_of(body);
      if (link == world::nobody) continue;
      contact_forces_[link] = std::max(contact_forces_[link], 0.0) + contact.force;
    }
  }
}

void Minds::sense_one(const world::World& world, double dt, std::size_t i) {
  Agent& agent = agents_[i];
  const Anatomy& anatomy = *agent.anatomy_;
  SenseContext context{world, agent.placement_, dt, {}, contact_forces_};
  std::size_t span = casts_rays_ ? first_ray_span_[i] : 0;
  for (std::size_t p = 0; p < anatomy.sensors.size(); ++p) {
    if (casts_rays_ && span < first_ray_span_[i + 1] && ray_spans_[span].percept == static_cast<int>(p)) {
      context.hits = std::span(hits_).subspan(ray_spans_[span].first, ray_spans_[span].count);
      ++span;
    }
    anatomy.sensors[p]->read(context, agent.percepts_[p]);
  }
  for (NoiseSlot& slot : noises_[i].percepts) slot.chain.apply(agent.percepts_[static_cast<std::size_t>(slot.index)]);
}

void Minds::sense(const world::World& world, double dt, ThreadPool& threads) {
  if (casts_rays_) cast_rays(world, dt);
  if (needs_contacts_) collect_contacts(world);
  threads.parallel_for(agents_.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sense_one(world, dt, i);
  });
}

MindFailure Minds::think(Time tick_begin, double dt, ThreadPool& threads) {
  threads.parallel_for(agents_.size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = order_.empty() ? k : order_[k];
      if (!behaviors_[i]) continue;
      Agent& agent = agents_[i];
      agent.now_ = tick_begin;
      agent.dt_ = dt;
      // Both are rounded to whole nanoseconds: a period of one tick must not miss one.
      if (tick_begin + Time{1} < agent.next_step_) continue;
      if (agent.period_ > 0) {
        const double periods = std::floor(((tick_begin - agent.next_step_).seconds() + 1e-9) / agent.period_) + 1;
        agent.next_step_ += Time::seconds(periods * agent.period_);
      }
      guarded(i, "step", [](Behavior& b, Agent& a) { b.step(a); });
    }
  });
  return first_failure();
}

// The ideal network: what is sent in a tick to a dock arrives, at the start of the next tick,
// at the module that was attached when it was sent.
void Minds::send(const world::World& world, std::int64_t tick) {
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    Agent& agent = agents_[i];
    for (Outgoing& out : agent.outbox_) {
      ++network_.sent;
      const std::uint32_t dock = world.part(agent.placement_).first_dock + static_cast<std::uint32_t>(out.dock);
      const std::uint32_t partner = world.graph().partner(dock);
      const std::uint32_t neighbor = partner == world::nobody ? world::nobody : world.graph().owner(partner);
      // A dock that is still being pulled together carries nothing yet.
      const bool closed = world.dock_status(dock).phase == world::DockPhase::engaged;
      if (!closed || agent_of_placement_[neighbor] == world::nobody) {
        ++network_.lost;
        continue;
      }
      MessageFate fate;
      for (NoiseSlot& slot : noises_[i].messages)
        if (slot.index == out.dock) {
          const MessageFate step = slot.chain.apply(out.payload);
          fate.lost = fate.lost || step.lost;
          fate.delay_ticks += step.delay_ticks;
        }
      if (fate.lost) {
        ++network_.lost;
        continue;
      }
      Message message;
      message.dock = static_cast<int>(partner - world.part(neighbor).first_dock);
      message.sent = agent.now_;
      message.payload = std::move(out.payload);
      in_flight_.push_back({tick + fate.delay_ticks, agent_of_placement_[neighbor], std::move(message)});
    }
    agent.outbox_.clear();
  }
}

MindFailure Minds::act(world::World& world, ActStage stage) {
  Value noisy;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    Agent& agent = agents_[i];
    const Anatomy& anatomy = *agent.anatomy_;
    const auto end = noises_[i].actions.end();
    for (std::size_t a = 0; a < agent.actions_.size(); ++a) {
      if (!agent.action_set_[a] || anatomy.actuators[a]->stage() != stage) continue;
      const Value* command = &agent.actions_[a];
      const auto noise = std::find_if(noises_[i].actions.begin(), end, [&](const NoiseSlot& s) { return s.index == static_cast<int>(a); });
      if (noise != end) {
        noisy = *command;
        noise->chain.apply(noisy);
        command = &noisy;
      }
      bool good = true;
      const_cast<Value*>(command)->each_number([&](double& x) { good = good && std::isfinite(x); });
      if (!good)
        return {agent.name_, fmt::format("behavior '{}' commanded {} for the action '{}'", behavior_names_[i],
                                         "a value that is not a number", anatomy.action_names[a])};
      anatomy.actuators[a]->apply({world, agent.placement_}, *command);
    }
  }
  return {};
}

MindFailure Minds::deliver(Time tick_end, std::int64_t tick) {
  // By receiver, and for one receiver in the order of sending: that is the order they are in.
  std::stable_sort(in_flight_.begin(), in_flight_.end(), [](const InFlight& a, const InFlight& b) {
    return a.due != b.due ? a.due < b.due : a.receiver < b.receiver;
  });
  std::size_t arrived = 0;
  arrivals_.clear();
  for (; arrived < in_flight_.size() && in_flight_[arrived].due <= tick; ++arrived) {
    InFlight& flight = in_flight_[arrived];
    Agent& agent = agents_[flight.receiver];
    flight.message.arrived = tick_end;
    ++network_.delivered;
    if (watch_arrivals_)
      arrivals_.push_back({flight.receiver, flight.message.dock, flight.message.sent, tick_end,
                           static_cast<std::uint32_t>(flight.message.payload.size())});
    bool taken = false;
    if (behaviors_[flight.receiver]) {
      agent.now_ = tick_end;
      guarded(flight.receiver, "receive", [&](Behavior& b, Agent& a) { taken = b.receive(a, flight.message); });
    }
    if (taken) continue;
    if (agent.mailbox_.size() >= Agent::mailbox_capacity) {
      agent.mailbox_.erase(agent.mailbox_.begin());
      ++agent.dropped_;
      ++network_.lost;
    }
    agent.mailbox_.push_back(std::move(flight.message));
  }
  in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(arrived));
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (!behaviors_[i]) continue;
    agents_[i].now_ = tick_end;
    guarded(i, "end_tick", [](Behavior& b, Agent& a) { b.end_tick(a); });
  }
  return first_failure();
}

void Minds::publish_logs(Log& log, Time tick_begin) {
  log_lines_.clear();
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    for (std::string& line : agents_[i].log_) {
      log.info(fmt::format("{:9.3f} s  {}: {}", tick_begin.seconds(), agents_[i].name_, line));
      log_lines_.push_back({static_cast<std::uint32_t>(i), std::move(line)});
    }
    agents_[i].log_.clear();
  }
}

bool Minds::tune(std::size_t i, const std::string& name, const std::string& value) {
  Agent& agent = agents_[i];
  if (!behaviors_[i] || !agent.parameters_.asked().contains(name)) return false;
  const auto& given = agent.parameters_.given();
  const auto before = given.contains(name) ? std::optional(given.at(name)) : std::nullopt;
  const auto tell = [&] { guarded(i, "tune", [](Behavior& b, Agent& a) { b.tune(a); }); };
  agent.parameters_.set(name, value);
  tell();
  if (failures_[i].empty() && agent.parameters_.check().ok()) {
    agent.tuned_[name] = value;
    return true;
  }
  failures_[i].clear();
  agent.parameters_.forget_errors();
  if (before) agent.parameters_.set(name, *before);
  else agent.parameters_.unset(name);
  tell();
  return false;
}

std::string Minds::cannot_save() const {
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (behaviors_[i] && !behaviors_[i]->lists_state())
      return fmt::format("behavior '{}' of module '{}' does not list its state; add VOLVOX_STATE(its members) to the class",
                         behavior_names_[i], agents_[i].name_);
    for (const auto* slots : {&noises_[i].percepts, &noises_[i].actions, &noises_[i].messages})
      for (const NoiseSlot& slot : *slots)
        if (slot.chain.unlisted() != nullptr)
          return fmt::format("a noise model of module '{}' does not list its state; add VOLVOX_STATE(its members) to the class",
                             agents_[i].name_);
  }
  return {};
}

void Minds::archive(Archive& ar) {
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    agents_[i].archive(ar);
    ar.section(agents_[i].name_, "behavior and noise");
    if (behaviors_[i] && behaviors_[i]->lists_state()) behaviors_[i]->archive_state(ar);
    noises_[i].archive(ar);
  }
  ar.section("", "messages in flight");
  ar("in flight", in_flight_);
  ar("network", network_);
  if (!ar.loading() || !ar.ok()) return;
  const auto has_dock = [&](std::size_t i, int dock) {
    return dock >= 0 && static_cast<std::size_t>(dock) < agents_[i].docks().size();
  };
  bool good = true;
  for (const InFlight& flight : in_flight_)
    good = good && flight.receiver < agents_.size() && has_dock(flight.receiver, flight.message.dock);
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    const Agent& agent = agents_[i];
    good = good && agent.percepts_.size() == agent.anatomy_->sensors.size() &&
           agent.actions_.size() == agent.anatomy_->actuators.size() && agent.action_set_.size() == agent.actions_.size();
    for (const Message& message : agent.mailbox_) good = good && has_dock(i, message.dock);
    for (const Outgoing& out : agent.outbox_) good = good && has_dock(i, out.dock);
  }
  for (std::size_t i = 0; i < agents_.size(); ++i)
    for (const auto& [name, value] : std::map(agents_[i].tuned_)) good = tune(i, name, value) && good;
  if (!good) ar.fail("it refers to docks or modules that are not there");
}

std::size_t Minds::memory_bytes() const {
  std::size_t bytes = sizeof *this + agents_.capacity() * (sizeof(Agent) + sizeof(Noises) + sizeof(std::string) * 2 + 16);
  for (const Agent& agent : agents_)
    bytes += (agent.percepts_.capacity() + agent.actions_.capacity()) * sizeof(Value) + agent.action_set_.capacity() +
             agent.mailbox_.capacity() * sizeof(Message) + agent.outbox_.capacity() * sizeof(Outgoing) + agent.name_.capacity();
  return bytes + in_flight_.capacity() * sizeof(InFlight);
}

}  // namespace volvox::mind
