#include "volvox/mind/occlusion.h"

namespace volvox::mind {
namespace {

constexpr double skin = 1e-6;    // m: a ray that goes on starts so far inside what it has hit
constexpr int most_bodies = 64;  // that a ray passes

bool same(const std::vector<Pose>& a, std::span<const Pose> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i].position == b[i].position) || !(a[i].rotation == b[i].rotation)) return false;
  return true;
}

class Dimmed final : public net::Propagation {
 public:
  Dimmed(std::unique_ptr<net::Propagation> base, std::shared_ptr<const Occlusion> occlusion)
      : base_(std::move(base)), occlusion_(std::move(occlusion)) {}
  void gains(const net::LinkBlock& block, double* gain) const override {
    base_->gains(block, gain);
    for (std::size_t i = 0; i < block.count; ++i) gain[i] *= occlusion_->passes(block.sender, block.receiver[i]);
  }
  double added_noise_w(double d, double bandwidth) const override { return base_->added_noise_w(d, bandwidth); }
  double near_field() const override { return base_->near_field(); }

 private:
  std::unique_ptr<net::Propagation> base_;
  std::shared_ptr<const Occlusion> occlusion_;
};

}  // namespace

void Occlusion::add(std::uint32_t number, std::uint32_t placement) {
  if (place_.size() <= number) place_.resize(number + 1, nowhere);
  place_[number] = static_cast<std::uint32_t>(placements_.size());
  placements_.push_back(placement);
}

// Every body that the ray enters dims it once; the two modules that talk do not count.
double Occlusion::between(const world::World& world, std::size_t a, const Vec3& from, std::size_t b,
                          const Vec3& to) const {
  double passes = 1, done = 0;
  const double whole = length(to - from);
  if (whole <= skin) return 1;
  const Vec3 direction = (to - from) * (1 / whole);
  for (int bodies = 0; bodies < most_bodies && done < whole; ++bodies) {
    const physics::Ray ray{from + direction * done, direction, whole - done, placements_[a] + 1};
    physics::RayHit hit;
    world.cast_rays({&ray, 1}, {&hit, 1});
    if (!hit.hit()) break;
    if (world.placement_of_body(hit.body) != placements_[b]) passes *= passes_body_;
    done += hit.distance + skin;
  }
  return passes;
}

void Occlusion::look(const world::World& world, const std::vector<Vec3>& positions) {
  const std::vector<Pose>& poses = world.engine_state().poses;
  if (!table_.empty() && positions == looked_at_ && same(poses_, poses)) return;
  looked_at_ = positions;
  poses_ = poses;
  const std::size_t count = placements_.size();
  table_.assign(count * count, 1);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = a + 1; b < count; ++b)
      table_[a * count + b] = table_[b * count + a] = between(world, a, positions[a], b, positions[b]);
}

std::unique_ptr<net::Propagation> dimmed(std::unique_ptr<net::Propagation> base,
                                         std::shared_ptr<const Occlusion> occlusion) {
  return std::make_unique<Dimmed>(std::move(base), std::move(occlusion));
}

}  // namespace volvox::mind
