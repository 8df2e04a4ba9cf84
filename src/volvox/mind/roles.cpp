#include "volvox/mind/roles.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"

#include <algorithm>
#include <cmath>

namespace volvox::mind {
namespace {

// A loop of modules, closed for a moment while one dock replaces another, counts upwards until it is open again.
constexpr int largest_place = 1000000;
constexpr double patience = 0.1;              // s: what a module without signals waits before it moves
constexpr double trim_rate = 1.5;             // 1/s, of the integral term of postures
constexpr double largest_trim = radians(12);  // its bound: beyond that the joint is blocked, and pressing does not help

double smooth(double x) { return x * x * (3 - 2 * x); }

}  // namespace

const RolePlayer::Neighbor& RolePlayer::at(const Agent& agent, std::string_view dock) const {
  const std::vector<model::Dock>& docks = agent.docks();
  for (std::size_t d = 0; d < docks.size() && d < neighbors_.size(); ++d)
    if (docks[d].name == dock) return neighbors_[d];
  throw AgentError(fmt::format("a rule asked for the neighbor at '{}', but the module has no such dock", dock));
}

int RolePlayer::place() const {
  const Neighbor& parent = neighbors_[parent_];
  if (!parent.there) return 0;
  return parent.place < 0 ? -1 : std::min(parent.place + 1, largest_place);
}

std::string_view Situation::neighbor(std::string_view dock) const { return player_.at(agent_, dock).connector; }

std::string_view Situation::neighbor_role(std::string_view dock) const {
  const int role = player_.at(agent_, dock).role;
  VOLVOX_ASSERT(role < std::ssize(player_.book_->roles));
  return role < 0 ? std::string_view() : std::string_view(player_.book_->roles[role].name);
}

int Situation::place() const { return player_.place(); }

int Situation::place_at_change() const { return player_.place_at_change_; }

bool Situation::heard_beat() const { return player_.beats_ > player_.beats_at_change_; }

bool Situation::is_root() const { return !connected(player_.book_->parent); }

double Situation::time_in_role() const { return agent_.time() - player_.since_; }

int RoleBook::role_index(std::string_view name) const {
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (roles[i].name == name) return narrow<int>(i);
  return -1;
}

Result<void> RoleBook::check() const {
  const auto wrong = [](const std::string& what, const std::string& fix) {
    return Error("a book of roles: " + what, fix);
  };
  if (roles.empty()) return wrong("it has no roles", "give at least one");
  if (!(step > 0 && step < 1e9)) return wrong(fmt::format("a step of {} s", step), "give a positive time");
  for (const Role& role : roles) {
    if (role.name.empty()) return wrong("a role has no name", "name it");
    if (&role != &roles[role_index(role.name)])
      return wrong(fmt::format("there are two roles '{}'", role.name), "give each its own name");
    if (!(role.period >= 1 && role.period < 1e9))
      return wrong(fmt::format("role '{}' has a period of {} steps", role.name, role.period), "give at least 1");
    for (const auto& [dock, delay] : role.delays) {
      if (!(delay >= 0 && delay < role.period))
        return wrong(fmt::format("role '{}' signals at '{}' after {} steps", role.name, dock, delay),
                     fmt::format("give less than its period, {}", role.period));
      if (dock == parent)
        return wrong(fmt::format("role '{}' signals at '{}', where its parent is", role.name, dock),
                     "signal at docks that lead to children");
    }
    for (const auto& [joint, angle] : role.motion)
      if (!angle) return wrong(fmt::format("role '{}' has no motion for '{}'", role.name, joint), "give it a function");
    for (const auto& [joint, angle] : role.postures) {
      if (!angle)
        return wrong(fmt::format("role '{}' has no posture for '{}'", role.name, joint), "give it a function");
      if (role.motion.contains(joint))
        return wrong(fmt::format("role '{}' has both a motion and a posture for '{}'", role.name, joint), "give one");
    }
  }
  for (const RoleRule& rule : rules) {
    if (!rule.when) return wrong(fmt::format("a rule that leads to '{}' has no condition", rule.to), "give it one");
    std::vector<std::string> named = rule.from;
    named.push_back(rule.to);
    for (const std::string& name : named)
      if (role_index(name) < 0)
        return wrong(fmt::format("a rule names the role '{}', which does not exist", name), "declare it");
  }
  return {};
}

void RolePlayer::start(Agent& agent) {
  if (auto good = book_->check(); !good.ok()) throw AgentError(good.error().text());
  const std::vector<model::Dock>& docks = agent.docks();
  for (const model::Dock& dock : docks) docks_.push_back(agent.find_percept<DockState>(dock.name + ".dock"));
  const auto dock_named = [&](const std::string& name) {
    const auto at =
        std::find_if(docks.begin(), docks.end(), [&](const model::Dock& dock) { return dock.name == name; });
    if (at == docks.end())
      throw AgentError(fmt::format("its roles name the dock '{}', which the module does not have", name));
    return narrow<std::size_t>(at - docks.begin());
  };
  parent_ = dock_named(book_->parent);
  for (const Role& role : book_->roles) {
    for (const auto& [dock, delay] : role.delays) dock_named(dock);
    for (const auto& [dock, enabled] : role.docks) dock_named(dock);
    for (const auto& [joint, angle] : role.postures)
      if (std::find(joints_.begin(), joints_.end(), joint) == joints_.end()) joints_.push_back(joint);
  }
  for (const std::string& joint : joints_) angles_.push_back(agent.find_percept<double>(joint + ".angle"));
  glides_.resize(joints_.size());
  neighbors_.resize(docks.size());
  transmits_ = agent.parameter("transmits", true);
  since_ = agent.time();
  const double period = role().period * book_->step;
  zero_ = std::floor(agent.time() / period) * period;
  done_ = std::floor((agent.time() - zero_) / book_->step);
}

void RolePlayer::archive_state(Archive& ar) {
  ar("role", role_);
  ar("since", since_);
  ar("zero", zero_);
  ar("done", done_);
  ar("changes", changes_);
  ar("beats", beats_);
  ar("place at change", place_at_change_);
  ar("beats at change", beats_at_change_);
  ar("told place", told_place_);
  ar("neighbors", neighbors_);
  ar("glides", glides_);
  if (!ar.loading() || !ar.ok()) return;
  const auto known = [&](int role) { return role >= 0 && role < std::ssize(book_->roles); };
  const auto possible = [](double time) { return std::fabs(time) < 1e10; };  // centuries; false for NaN
  bool good = known(role_) && possible(since_) && possible(zero_) && std::isfinite(done_) &&
              neighbors_.size() == docks_.size() && glides_.size() == joints_.size();
  for (const Neighbor& neighbor : neighbors_) good = good && (neighbor.role == -1 || known(neighbor.role));
  for (const Glide& glide : glides_) good = good && std::isfinite(glide.from) && std::isfinite(glide.trim);
  if (!good) ar.fail("a module plays a role that does not exist");
}

void RolePlayer::step(Agent& agent) {
  VOLVOX_ASSERT(docks_.size() == neighbors_.size() && parent_ < docks_.size());
  VOLVOX_ASSERT(role_ >= 0 && role_ < std::ssize(book_->roles));
  look(agent);
  listen(agent);
  select(agent);
  play(agent);
  agent.model<RolePlayed>() = {role().name, std::max(0.0, agent.time() - zero_) / book_->step, changes_, beats_};
}

// Sends the role to new neighbours and forgets those that have left.
void RolePlayer::look(Agent& agent) {
  for (std::size_t d = 0; d < docks_.size(); ++d) {
    const bool there = agent.percept(docks_[d]).engaged;
    if (there == neighbors_[d].there) continue;
    neighbors_[d] = {there, -1, {}, -1};
    if (there) tell(agent, d, false);
  }
}

void RolePlayer::listen(Agent& agent) {
  while (const auto message = agent.read()) {
    const auto signal = message->as<RoleSignal>();
    const std::size_t dock = message->outlet;
    if (!signal || dock >= neighbors_.size() || signal->role < 0 || signal->role >= std::ssize(book_->roles)) continue;
    Neighbor& neighbor = neighbors_[dock];
    neighbor.role = signal->role;
    neighbor.connector = signal->connector;
    neighbor.place = std::clamp(signal->place, -1, largest_place);
    if (!signal->beat || dock != parent_) continue;
    zero_ = agent.time();
    done_ = -1;
    ++beats_;
  }
}

void RolePlayer::select(Agent& agent) {
  const Situation situation(agent, *this);
  const std::string& now = role().name;
  for (const RoleRule& rule : book_->rules) {
    const bool applies =
        rule.from.empty() ? rule.to != now : std::find(rule.from.begin(), rule.from.end(), now) != rule.from.end();
    if (!applies || !rule.when(situation)) continue;
    take(agent, book_->role_index(rule.to));
    return;
  }
  if (place() != told_place_)
    for (std::size_t d = 0; d < docks_.size(); ++d)
      if (neighbors_[d].there && d != parent_) tell(agent, d, false);
  told_place_ = place();
}

void RolePlayer::take(Agent& agent, int role_index) {
  VOLVOX_ASSERT(role_index >= 0);  // as RoleBook::check saw
  role_ = role_index;
  since_ = agent.time();
  place_at_change_ = told_place_ = place();
  beats_at_change_ = beats_;
  ++changes_;
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    glides_[j].from = agent.percept(angles_[j]);
    if (!role().postures.contains(joints_[j])) glides_[j].trim = 0;
  }
  for (const auto& [dock, enabled] : role().docks) agent.enable_dock(dock, enabled);
  for (std::size_t d = 0; d < docks_.size(); ++d)
    if (neighbors_[d].there) tell(agent, d, false);
}

// Moves the joints that have a posture.
void RolePlayer::glide(Agent& agent) {
  const double along = clamp((agent.time() - since_) / (role().period * book_->step), 0, 1);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const auto posture = role().postures.find(joints_[j]);
    if (posture == role().postures.end()) continue;
    Glide& glide = glides_[j];
    const double to = posture->second(place_at_change_);
    const double wanted = glide.from + (to - glide.from) * smooth(along);
    const double error = wanted - agent.percept(angles_[j]);
    glide.trim = clamp(glide.trim + trim_rate * agent.dt() * error, -largest_trim, largest_trim);
    agent.move_to(joints_[j], wanted + glide.trim);
  }
}

// Handles the steps since the last tick: sends signals when t reaches d_i, and begins a new period at its end.
void RolePlayer::play(Agent& agent) {
  const double now = agent.time();
  const double early = 0.5 * agent.dt() / book_->step;  // in steps: signals leave in the tick nearest to their time
  const bool waits = role().waits_at && beats_ == 0 && neighbors_[parent_].there;
  double t = (now - zero_) / book_->step;
  // No clock jumps so far, but a snapshot may say so: periods that nobody saw are not played one by one.
  if (const double behind = std::floor(t / role().period); behind > 1e6) {
    zero_ += behind * role().period * book_->step;
    t = (now - zero_) / book_->step;
  }
  while (t + early >= role().period) {
    if (!waits) pass(agent, role().period - 1);
    zero_ += role().period * book_->step;
    done_ = -1;
    t = (now - zero_) / book_->step;
  }
  if (!waits) pass(agent, std::floor(t + early));
  const double shown = waits ? *role().waits_at : std::max(t, 0.0);
  // The first signal of its parent, which comes a tick or two after the start, may well give the module another role.
  const bool asks =
      changes_ == 0 && neighbors_[parent_].there && neighbors_[parent_].role < 0 && now - since_ < patience;
  if (!asks)
    for (const auto& [joint, angle] : role().motion) agent.move_to(joint, angle(shown));
  glide(agent);
}

// Handles the whole steps after done_, up to `step`.
void RolePlayer::pass(Agent& agent, double step) {
  const auto crossed = [&](double at) { return std::ceil(at) > done_ && std::ceil(at) <= step; };
  const std::vector<model::Dock>& docks = agent.docks();
  for (std::size_t d = 0; d < docks.size(); ++d) {
    if (!neighbors_[d].there) continue;
    const auto delay = role().delays.find(docks[d].name);
    const bool beat = delay != role().delays.end();
    // A neighbour that gets no beat still receives the role once a period.
    if (crossed(beat ? delay->second : 0)) tell(agent, d, beat);
  }
  done_ = std::max(done_, step);
}

void RolePlayer::tell(Agent& agent, std::size_t dock, bool beat) {
  VOLVOX_ASSERT(dock < agent.docks().size());
  if (transmits_) agent.send(agent.docks()[dock].name, RoleSignal{role_, beat, agent.docks()[dock].name, place()});
}

BehaviorFactory role_player(RoleBook book) {
  auto shared = std::make_shared<const RoleBook>(std::move(book));
  return [shared] { return std::unique_ptr<Behavior>(std::make_unique<RolePlayer>(shared)); };
}

}  // namespace volvox::mind
