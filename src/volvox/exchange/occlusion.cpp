#include "volvox/exchange/occlusion.h"

#include <algorithm>
#include <span>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::exchange {
namespace {

constexpr double skin = 1e-6;  // m: a ray continues this far behind its last hit

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

void Occlusion::add(std::uint32_t number, world::PlacementIndex placement) {
  VOLVOX_ASSERT(!has(number) && table_.empty());
  if (place_.size() <= number) place_.resize(number + 1, nowhere);
  place_[number] = narrow<std::uint32_t>(placements_.size());
  placements_.push_back(placement);
}

// Casts the rays from one radio to all radios after it in one batch; rays that hit something continue in the next
// batch. Every body that a ray enters weakens it once, except the two modules that communicate.
void Occlusion::look_from(const world::World& world, const Sight& sight, const std::vector<Vec3>& positions,
                          std::size_t a) {
  const std::size_t count = placements_.size();
  VOLVOX_ASSERT(a < count && positions.size() == count && table_.size() == count * count);
  const auto direction = [&](const Going& ray) { return (positions[ray.to] - positions[a]) * (1 / ray.whole); };
  going_.clear();
  for (std::size_t b = a + 1; b < count; ++b) {
    const double whole = length(positions[b] - positions[a]);
    if (whole > skin) going_.push_back({b, whole, 0, {}});
  }
  for (std::size_t bodies = 0; bodies < most_bodies && !going_.empty(); ++bodies) {
    rays_.clear();
    for (const Going& ray : going_)
      rays_.push_back(
          {positions[a] + direction(ray) * ray.done, direction(ray), ray.whole - ray.done, placements_[a] + 1});
    hits_.resize(rays_.size());
    sight.cast(rays_, hits_);
    VOLVOX_ASSERT(hits_.size() == going_.size());
    std::size_t left = 0;
    for (std::size_t i = 0; i < going_.size(); ++i) {
      if (!hits_[i].hit()) continue;
      Going ray = going_[i];
      // Rays meet a mesh where they enter and again where they leave it.
      const auto met = std::span(ray.met).first(bodies);
      const bool again = std::find(met.begin(), met.end(), hits_[i].body) != met.end();
      ray.met[bodies] = hits_[i].body;
      if (!again && world.placement_of_link(hits_[i].body) != placements_[ray.to])
        for (double* way : {&table_[a * count + ray.to], &table_[ray.to * count + a]}) *way *= passes_body_;
      ray.done += hits_[i].distance + skin;
      VOLVOX_ASSERT(hits_[i].distance >= 0 && ray.done > 0);
      if (ray.done < ray.whole) going_[left++] = ray;
    }
    going_.resize(left);
  }
}

void Occlusion::look(const world::World& world, const Sight& sight, const std::vector<Vec3>& positions) {
  VOLVOX_ASSERT(positions.size() == placements_.size() && passes_body_ >= 0 && passes_body_ <= 1);
  if (!table_.empty() && positions == looked_at_ && version_ == sight.version()) return;
  looked_at_ = positions;
  version_ = sight.version();
  const std::size_t count = placements_.size();
  table_.assign(count * count, 1);
  for (std::size_t a = 0; a < count; ++a) look_from(world, sight, positions, a);
}

std::unique_ptr<net::Propagation> dimmed(std::unique_ptr<net::Propagation> base,
                                         std::shared_ptr<const Occlusion> occlusion) {
  VOLVOX_ASSERT(base != nullptr && occlusion != nullptr);
  return std::make_unique<Dimmed>(std::move(base), std::move(occlusion));
}

}  // namespace volvox::exchange
