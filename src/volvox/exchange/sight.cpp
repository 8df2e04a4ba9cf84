#include "volvox/exchange/sight.h"

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/rays/ray_caster.h"

namespace volvox::exchange {

Sight::Sight() = default;
Sight::~Sight() = default;

std::uint64_t Sight::version() const { return caster_ ? caster_->version() : 0; }

void Sight::build(const world::World& world) {
  caster_ = std::make_unique<rays::RayCaster>();
  for (const world::PlacementIndex placement : indices<world::PlacementIndex>(world.placements())) {
    const model::ModuleModel& model = world.module_model(placement);
    for (std::uint32_t i = 0; i < model.links.size(); ++i) {
      const world::LinkIndex link = world.part(placement).first_link + i;
      caster_->add({world.link_model(link).geometry, world.link_pose(link), placement + 1, !model.fixed_in_place});
    }
  }
}

void Sight::update(const world::World& world, ThreadPool* threads) {
  if (!caster_) build(world);
  VOLVOX_ASSERT(caster_ != nullptr);
  parallel_for(threads, world.links(), 128,
               [&](std::size_t link) { caster_->place(narrow<std::uint32_t>(link), world.link_pose(link)); });
  caster_->update();
}

void Sight::cast(std::span<const Ray> rays, std::span<RayHit> hits, ThreadPool* threads) const {
  VOLVOX_ASSERT(caster_ != nullptr && rays.size() == hits.size());
  caster_->cast(rays, hits, threads);
}

}  // namespace volvox::exchange
