// The part of MixedWorld that decides which catoms change to dynamics and which change back.
#include <algorithm>
#include <cmath>
#include <queue>

#include "volvox/mixed/mixed_world.h"

namespace volvox::mixed {

using lattice::Cell;

namespace {

// A cube lies on the lattice if its edges are this parallel to it (cosine; 5.7 degrees), a cylinder if it stands.
constexpr double upright = 0.995;

void sort_once(std::vector<std::uint32_t>& who) {
  std::sort(who.begin(), who.end());
  who.erase(std::unique(who.begin(), who.end()), who.end());
}

}  // namespace

// The reasons in their order. A catom with two reasons is counted for the first.
void MixedWorld::choose_who_goes(double dt, Who& who) {
  const auto take = [&](Who more, std::uint64_t& count) {
    sort_once(more);
    const std::size_t before = who.size();
    who.insert(who.end(), more.begin(), more.end());
    sort_once(who);
    count += who.size() - before;
  };
  Who asked;
  for (const Asked& one : asked_) asked.push_back(one.catom);
  take(std::move(asked), changes_.asked);
  if (!moved_ && !changed_) return;
  Who hit, loaded, pushed;
  add_hit(dt, hit);
  take(std::move(hit), changes_.hit);
  add_loaded(loaded);
  take(std::move(loaded), changes_.loaded);
  add_pushed(pushed);
  take(std::move(pushed), changes_.pushed);
}

// Before the hit, not after it: a wall would absorb momentum that the catom could not give back.
void MixedWorld::add_hit(double dt, Who& who) const {
  const double reach = 1.02 * catoms_.ensemble().lattice().pitch();
  for (const Loose& one : loose_) {
    const Vec3 velocity = bodies_.velocity(one.body).linear;
    if (length_squared(velocity) <= options_.hit_speed * options_.hit_speed) continue;
    along(one, dt, [&](const Vec3& place) {
      each_near(place, reach, [&](std::uint32_t catom, const Cell&, const Vec3& at) {
        if (catom == lattice::nobody) return;
        // The speed of approach; what passes by does not count.
        const Vec3 towards = normalized(at - place);
        if (dot(velocity, towards) > options_.hit_speed) who.push_back(catom);
      });
    });
  }
}

void MixedWorld::add_loaded(Who& who) const {
  for (const Bond& bond : bonds_) {
    if (use_of(bond) <= options_.give) continue;
    for (const std::uint32_t end : {bond.a, bond.b})
      if (catoms_.ensemble().has(end)) who.push_back(end);
  }
}

void MixedWorld::add_pushed(Who& who) const {
  if (walls_.empty()) return;
  std::vector<physics::Contact> contacts;
  bodies_.engine().contacts(contacts);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> catom_of;  // by body
  for (const Wall& wall : walls_) catom_of.emplace_back(wall.body.index, wall.catom);
  std::sort(catom_of.begin(), catom_of.end());
  std::vector<double> force(catom_of.size());
  for (const physics::Contact& contact : contacts)
    for (const physics::BodyId body : {contact.a, contact.b}) {
      const auto found = std::lower_bound(catom_of.begin(), catom_of.end(), std::pair(body.index, std::uint32_t{0}));
      if (found != catom_of.end() && found->first == body.index) force[found - catom_of.begin()] += contact.force;
    }
  for (std::size_t i = 0; i < force.size(); ++i)
    if (force[i] > options_.push) who.push_back(catom_of[i].second);
}

// Then the catoms that stood on these, until no more follow.
void MixedWorld::go_over(Who who) {
  while (!who.empty()) {
    Who beside;
    move_over(who, beside);
    sort_once(beside);
    who = unsupported(beside);
    changes_.fell += who.size();
  }
  asked_.clear();
}

void MixedWorld::move_over(const Who& who, Who& beside) {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  const int ports = ensemble.lattice().ports();
  changed_ = true;
  const auto goes = [&](std::uint32_t catom) { return std::binary_search(who.begin(), who.end(), catom); };
  std::vector<Bond> made;
  for (const std::uint32_t catom : who) {
    const auto around = ensemble.around(catom);
    for (int port = 0; port < ports; ++port) {
      const std::uint32_t other = around.at(port);
      if (other == lattice::nobody) continue;
      if (!goes(other)) beside.push_back(other);
      if (!rings_ && (!goes(other) || catom < other))
        made.push_back({std::min(catom, other), std::max(catom, other), {}});
    }
  }
  for (Bond& bond : bonds_)
    if (goes(bond.a) || goes(bond.b)) cut(bond);
  for (const std::uint32_t catom : who) {
    const Vec3 at = ensemble.lattice().position(ensemble.cell(catom));
    const auto asked = std::lower_bound(asked_.begin(), asked_.end(), catom,
                                        [](const Asked& one, std::uint32_t id) { return one.catom < id; });
    remove_wall(catom);
    const Twist velocity = asked != asked_.end() && asked->catom == catom ? asked->velocity : Twist{};
    const auto loosened = catoms_.loosen(catom);
    VOLVOX_CHECK(loosened.ok(), "a catom of the lattice can leave it");
    loose_.push_back({catom, bodies_.add(at, velocity), 0});
  }
  std::sort(loose_.begin(), loose_.end(), [](const Loose& a, const Loose& b) { return a.catom < b.catom; });
  bonds_.insert(bonds_.end(), made.begin(), made.end());
  std::sort(bonds_.begin(), bonds_.end());
  connect();
}

bool MixedWorld::stands(const Cell& cell) const {
  const lattice::Lattice& lattice = catoms_.ensemble().lattice();
  return !options_.ground ||
         lattice.position(cell).z - lattice.pitch() / 2 <= *options_.ground + 0.25 * lattice.pitch();
}

// Those that hang together with one of the seeds, and nobody of them stands on the ground. The search goes down first:
// where a column stands, it takes as many steps as that is high.
MixedWorld::Who MixedWorld::unsupported(const Who& seeds) {
  Who hanging;
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  if (!options_.ground || ensemble.lattice().flat()) return hanging;
  visited_.resize(ensemble.count());
  const std::uint32_t first = visit_ + 1;  // searches of this call; those before it are over
  using Next = std::pair<std::int32_t, std::uint32_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> open;
  Who found;
  for (const std::uint32_t seed : seeds) {
    if (visited_[seed] >= first) continue;
    const std::uint32_t own = ++visit_;
    bool on_ground = false;
    open = {};
    found.clear();
    const auto reach = [&](std::uint32_t catom) {
      if (visited_[catom] == own) return;
      // An earlier search of this call that ended there found the ground: else it would have taken all.
      if (visited_[catom] >= first) on_ground = true;
      else visited_[catom] = own, found.push_back(catom), open.emplace(ensemble.cell(catom).z, catom);
    };
    reach(seed);
    while (!open.empty() && !on_ground) {
      const auto [z, catom] = open.top();
      open.pop();
      if (stands(ensemble.cell(catom))) on_ground = true;
      const auto around = ensemble.around(catom);
      for (int port = 0; port < ensemble.lattice().ports() && !on_ground; ++port)
        if (const std::uint32_t other = around.at(port); other != lattice::nobody) reach(other);
    }
    if (!on_ground) hanging.insert(hanging.end(), found.begin(), found.end());
  }
  sort_once(hanging);
  return hanging;
}

void MixedWorld::note_rest(double dt) {
  const double pitch = catoms_.ensemble().lattice().pitch(), most = options_.rest_speed * pitch;
  for (Loose& one : loose_) {
    const Twist& velocity = bodies_.velocity(one.body);
    const bool rests = length(velocity.linear) <= most && length(velocity.angular) * pitch / 2 <= most;
    one.still = rests ? one.still + dt : 0;
  }
}

bool MixedWorld::lies_in(const Loose& one, Cell& cell) const {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  const lattice::Lattice& lattice = ensemble.lattice();
  const Pose& pose = bodies_.pose(one.body);
  cell = lattice.cell_at(pose.position);
  if (!lattice::in_range(cell) || ensemble.at(cell) != lattice::nobody) return false;
  if (length(pose.position - lattice.position(cell)) > options_.place * lattice.pitch()) return false;
  const Vec3 x = pose.rotation * Vec3{1, 0, 0}, z = pose.rotation * Vec3{0, 0, 1};
  const auto along_an_axis = [](const Vec3& v) {
    return std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}) >= upright;
  };
  switch (lattice.kind()) {
    case lattice::Kind::square:
    case lattice::Kind::cubic: return along_an_axis(x) && along_an_axis(z);
    case lattice::Kind::hex: return std::fabs(z.z) >= upright;
    case lattice::Kind::bcc:
    case lattice::Kind::fcc: return true;
  }
  return false;
}

// On the ground, or beside one of the lattice: so that whoever is on the lattice stands.
void MixedWorld::go_back() {
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  std::vector<Home> homes;
  for (const Loose& one : loose_) {
    Home home{one.catom, {}};
    const bool rolls = std::any_of(rolling_.begin(), rolling_.end(),
                                   [&](const Rolling& r) { return r.catom == one.catom || r.pivot == one.catom; });
    if (rolls || one.still < options_.rest_time || !lies_in(one, home.cell)) continue;
    bool held = stands(home.cell);
    for (int port = 0; port < ensemble.lattice().ports() && !held; ++port)
      held = ensemble.at(ensemble.lattice().neighbor(home.cell, port)) != lattice::nobody;
    const bool taken = std::any_of(homes.begin(), homes.end(), [&](const Home& h) { return h.cell == home.cell; });
    if (held && !taken) homes.push_back(home);
  }
  if (!homes.empty()) settle(homes);
}

void MixedWorld::settle(const std::vector<Home>& homes) {
  changed_ = true;
  const lattice::Ensemble& ensemble = catoms_.ensemble();
  for (const auto& [catom, cell] : homes) {
    const Loose* one = find_loose(catom);
    changes_.farthest =
        std::max(changes_.farthest, length(bodies_.pose(one->body).position - ensemble.lattice().position(cell)));
    changes_.energy_lost += bodies_.kinetic_energy(one->body);
    for (Bond& bond : bonds_)
      if (bond.of(catom)) cut(bond);
    bodies_.remove(one->body);
    loose_.erase(loose_.begin() + (one - loose_.data()));
    const auto settled = catoms_.settle(catom, cell);
    VOLVOX_CHECK(settled.ok(), "a catom can go to a free cell");
    ++changes_.back;
  }
  // Two of the lattice hold each other without a bond in the engine.
  std::erase_if(bonds_, [&](const Bond& bond) { return ensemble.has(bond.a) && ensemble.has(bond.b); });
  connect();
}

}  // namespace volvox::mixed
