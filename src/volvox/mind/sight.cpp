#include "volvox/mind/sight.h"

namespace volvox::mind {

Sight::Sight(const world::World& world) {
  for (std::uint32_t placement = 0; placement < world.placements(); ++placement) {
    const model::ModuleModel& model = world.module_model(placement);
    for (std::uint32_t i = 0; i < model.links.size(); ++i) {
      const std::uint32_t link = world.part(placement).first_link + i;
      // The owner is that of the body in the engine: the placement, plus one.
      caster_.add({world.link_model(link).geometry, world.link_pose(link), placement + 1, !model.fixed_in_place});
    }
  }
}

void Sight::look(const world::World& world, std::span<const physics::Ray> rays, std::span<physics::RayHit> hits,
                 ThreadPool& threads) {
  parallel_for(&threads, world.links(), 128, [&](std::size_t link) {
    caster_.place(static_cast<std::uint32_t>(link), world.link_pose(static_cast<std::uint32_t>(link)));
  });
  caster_.update();
  rays_.clear();
  for (const physics::Ray& ray : rays) rays_.push_back({ray.origin, ray.direction, ray.range, ray.ignore_owner});
  hits_.resize(rays.size());
  caster_.cast(rays_, hits_, &threads);
  parallel_for(&threads, hits.size(), 4096, [&](std::size_t i) {
    hits[i] = {};
    if (hits_[i].hit()) hits[i] = {hits_[i].distance, world.body(hits_[i].body), hits_[i].normal};
  });
}

}  // namespace volvox::mind
